package handover

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text of an entry fit to stand on one line of a packet: a line break
// becomes " / ", other space one blank, control and invisible characters and
// terminal colours go, and what looks like a packet's own marks, or like a tag by
// which a prompt could be closed, is none any more. Nothing else changes: quotes
// are verbatim.
func clean(s string) string {
	var b strings.Builder
	b.Grow(min(len(s), 4096))
	gap := ""
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == 0x1b {
			i += escape(s[i:])
			continue
		}
		i += n
		switch {
		case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
			gap = " / "
		case unicode.IsSpace(r):
			if gap == "" {
				gap = " "
			}
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
		default:
			if b.Len() > 0 {
				b.WriteString(gap)
			}
			gap = ""
			b.WriteRune(r)
		}
	}
	return disarm(b.String())
}

// escape is the length of the terminal sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
	}
	return len(s)
}

// tags are beginnings of names that a packet, or an agent around it, gives a
// meaning to.
var tags = [...]string{"duplex", "system", "command-", "local-command", "task-notification", "environment_context", "user_instructions"}

// staleMark begins what a line says last when the workspace contradicts it.
const staleMark = "[stale: "

func disarm(s string) string {
	s = strings.ReplaceAll(s, "[stale:", "(stale:")
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '<' && tag(s[i+1:]) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func tag(s string) bool {
	s = strings.TrimLeft(s, " /")
	for _, t := range tags {
		if len(s) >= len(t) && strings.EqualFold(s[:len(t)], t) {
			return true
		}
	}
	return false
}

// cut shortens a line to at most n characters, at a word where one ends nearby.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	end, count := 0, 0
	for i := range s {
		if count == n-1 {
			end = i
			break
		}
		count++
	}
	if s[end] != ' ' {
		if i := strings.LastIndexByte(s[:end], ' '); i > 0 && utf8.RuneCountInString(s[i:end]) <= 20 {
			end = i
		}
	}
	if amp := strings.LastIndexByte(s[:end], '&'); amp >= 0 && amp > end-len("&lt;") {
		end = amp // whole or not at all
	}
	return strings.TrimRight(s[:end], " ") + "…"
}

// opening is the first n bytes of a line, to the end of the word they end in.
func opening(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	if i := strings.IndexByte(s[end:], ' '); i >= 0 && i <= 20 {
		end += i
	}
	if amp := strings.LastIndexByte(s[:end], '&'); amp >= 0 && strings.HasPrefix(s[amp:], "&lt;") {
		end = max(end, amp+len("&lt;"))
	}
	if end >= len(s) {
		return s
	}
	return s[:end] + "…"
}

// list joins names; more is how many are not among them. A program can read it
// back: names apart by ", ", the rest as "(+14 more)".
func list(names []string, more int) string {
	s := strings.Join(names, ", ")
	if more > 0 {
		if s != "" {
			s += " "
		}
		s += "(+" + itoa(more) + " more)"
	}
	return s
}

// lists gives the short form of a list of names and the whole.
func lists(label string, names []string, more, short int) []string {
	for i, n := range names {
		names[i] = clean(n)
	}
	whole := label + list(names, more)
	if len(names) <= short {
		return []string{whole}
	}
	return []string{label + list(names[:short], more+len(names)-short), whole}
}

// several writes a count with its noun.
func several(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return itoa(n) + " " + noun
}

// content counts the words that say something: three letters or more, and where
// words are not set apart, every eight.
func content(s string) int {
	n := 0
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if r := utf8.RuneCountInString(w); r >= 3 {
			n += 1 + r/8*min(1, len(w)-r) // letters beyond ASCII only: a long English word is one
		}
	}
	return n
}
