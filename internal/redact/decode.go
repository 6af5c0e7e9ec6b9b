package redact

import "strings"

// view is text with its escapes undone to any depth at once: \" and \\\" are both quotes, \n and \\n both
// line ends. That reads truncated JSON and JSON inside a log line as well as whole documents, which a JSON
// parser would not. Rules read the view; locate finds the way back.
type view struct {
	text  string
	raw   string
	join  bool // pieces of one literal were put together
	joins bool // join was asked for
}

const (
	esc         = '\x1b'
	fullWidth   = '\xef' // first byte of the colon that Chinese and Japanese write
	punctuation = '\xe2' // first byte of characters without width
)

// escapes says which bytes may start something to undo.
var escapes = [256]bool{fullWidth: true, punctuation: true, '\\': true, esc: true, '%': true, '&': true, '"': true, '\'': true}

// decode makes the view of s. With join, literals written in pieces ("a" + "b", backslash-newline) become
// one; without, each piece keeps its own start, where a prefix can be seen.
func decode(s string, join bool) view {
	v := view{text: s, raw: s, joins: join}
	var b []byte
	done := 0
	for i := 0; i < len(s); {
		if !escapes[s[i]] {
			i++
			continue
		}
		out, n, joined := step(s, i, join)
		if n == 0 {
			i++
			continue
		}
		if b == nil {
			b = make([]byte, 0, len(s))
		}
		v.join = v.join || joined
		b = append(append(b, s[done:i]...), out...)
		i += n
		done = i
	}
	if b != nil {
		v.text = string(append(b, s[done:]...))
	}
	return v
}

// locate turns spans of the view into spans of the text, by walking it again: text in which nothing is found
// pays for no offset table. spans are in order and do not overlap, and so are the result's.
func (v view) locate(spans []span) []span {
	if v.text == v.raw || len(spans) == 0 {
		return spans
	}
	next := 0 // the next end of a span to place: two for each
	place := func(at, size, from, to int, exact bool) {
		for ; next < 2*len(spans); next++ {
			f := &spans[next/2]
			switch {
			case next%2 == 0 && f.from < at+size:
				if f.secret == "" {
					f.secret = v.text[f.from:f.to]
				}
				f.from = pick(exact, from+f.from-at, from)
			case next%2 == 1 && f.to <= at+size:
				f.to = pick(exact, from+f.to-at, to)
			default:
				return
			}
		}
	}
	s, at, done := v.raw, 0, 0
	for i := 0; i < len(s) && next < 2*len(spans); {
		if !escapes[s[i]] {
			i++
			continue
		}
		out, n, _ := step(s, i, v.joins)
		if n == 0 {
			i++
			continue
		}
		place(at, i-done, done, i, true)
		at += i - done
		place(at, len(out), i, i+n, false)
		at += len(out)
		i += n
		done = i
	}
	place(at, len(s)-done, done, len(s), true)
	return spans
}

func pick(first bool, a, b int) int {
	if first {
		return a
	}
	return b
}

// step undoes what starts at i: what it stands for and how long it is, zero when it stands for itself.
// joined tells that it put two pieces of a literal together.
func step(s string, i int, join bool) (out string, n int, joined bool) {
	switch s[i] {
	case '\\':
		return backslash(s, i, join)
	case esc:
		if end := ansi(s, i+1); end > i+1 {
			return "", end - i, false
		}
	case '%':
		if b, ok := hexByte(s, i+1); ok && urlDecoded(b) {
			if b == '"' {
				return "\x01", 3, false
			}
			return asciiString(b), 3, false
		}
	case fullWidth, punctuation:
		for _, w := range [...]struct{ text, out string }{{"：", ":"}, {"\u200b", ""}, {"\u200c", ""}, {"\u200d", ""}, {"\u2060", ""}, {"\ufeff", ""}} {
			if strings.HasPrefix(s[i:], w.text) {
				return w.out, len(w.text), false
			}
		}
	case '&':
		out, n = entity(s, i)
		return out, n, false
	default: // a quote
		if join {
			if end := glue(s, i, i+1); end > i {
				return "", end - i, true
			}
		}
	}
	return "", 0, false
}

// backslash undoes a run of backslashes and what it escapes. Inside JSON of depth d a line end is written
// with 2^(d-1) backslashes and a quote with 2^d-1; other counts before a line end are a real backslash, which
// continues the line.
func backslash(s string, i int, join bool) (string, int, bool) {
	k := 1
	for i+k < len(s) && s[i+k] == '\\' {
		k++
	}
	end := i + k
	if end == len(s) {
		return s[i:end], k, false
	}
	simple := k&(k-1) == 0
	switch c := s[end]; c {
	case 'n', 'r':
		if simple {
			return "\x05", k + 1, false
		}
		if join {
			return "", k + 1, true
		}
	case 't':
		if simple {
			return "\t", k + 1, false
		}
	case '"', '\'':
		if k%2 == 0 {
			break
		}
		if join {
			if g := glue(s, i, end+1); g > i {
				return "", g - i, true
			}
		}
		switch {
		case c == '\'':
			return "\x04", k + 1, false
		case k == 1:
			return "\x01", k + 1, false
		case k == 3:
			return "\x02", k + 1, false
		}
		return "\x03", k + 1, false
	case '/':
		if k%2 == 1 {
			return "/", k + 1, false
		}
	case 'u':
		if hi, ok := hexByte(s, end+1); ok {
			if lo, ok := hexByte(s, end+3); ok {
				out, n := codePoint(s, rune(hi)<<8|rune(lo), end+5)
				return out, n - i, false
			}
		}
	case 'x':
		if b, ok := hexByte(s, end+1); ok {
			out, n := codePoint(s, rune(b), end+3)
			return out, n - i, false
		}
	case '0', 'e':
		if from := end + 1; strings.HasPrefix(s[end:], "033[") || strings.HasPrefix(s[end:], "e[") {
			if c == '0' {
				from += 2
			}
			if to := ansi(s, from); to > from {
				return "", to - i, false
			}
		}
	case '\n', '\r':
		if join && k%2 == 1 {
			return "", lineStart(s, i, end) - i, true
		}
	}
	return s[i:end], k, false
}

// codePoint is what an escaped character stands for in the view, and where it ends in s.
func codePoint(s string, r rune, end int) (string, int) {
	switch {
	case r == '"':
		return "\x01", end
	case r == '\n' || r == '\r':
		return "\x05", end
	case r == esc:
		return "", ansi(s, end)
	case r == '\t' || ' ' <= r && r < 0x7f:
		return asciiString(byte(r)), end
	}
	return string(r), end // half of a surrogate pair becomes U+FFFD, which no rule minds
}

// asciiString is string(rune(b)) for a printable b.
func asciiString(b byte) string {
	const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	if b < ' ' {
		return "\t"
	}
	return printable[b-' ' : b-' '+1]
}

// ansi returns where the terminal sequence ends whose body starts at i, after the escape; i when none does.
func ansi(s string, i int) int {
	if i >= len(s) {
		return i
	}
	limit := min(len(s), i+256)
	switch s[i] {
	case '[':
		for j := i + 1; j < limit; j++ {
			switch b := s[j]; {
			case '@' <= b && b <= '~':
				return j + 1
			case b < ' ' || b > '?':
				return i
			}
		}
	case ']':
		for j := i + 1; j < limit; j++ {
			if s[j] == '\a' {
				return j + 1
			}
			if s[j] == esc && j+1 < limit && s[j+1] == '\\' {
				return j + 2
			}
		}
	}
	return i
}

// urlDecoded says which bytes are undone in %XX: what credentials are made of and URLs are built with, but
// not & and space, which would end a value that goes on.
func urlDecoded(b byte) bool {
	return (wordDash | dot | plus | equals | tilde).has(b) || b == ':' || b == '@' || b == '"'
}

func entity(s string, i int) (string, int) {
	if i+1 < len(s) && s[i+1] != '#' && !lowers.has(s[i+1]) {
		return "", 0
	}
	rest := s[i:min(len(s), i+6)]
	for _, e := range [...]struct{ text, out string }{
		{"&quot;", "\x01"}, {"&#34;", "\x01"}, {"&#x22;", "\x01"},
		{"&apos;", "\x04"}, {"&#39;", "\x04"}, {"&#x27;", "\x04"},
		{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&#61;", "="},
	} {
		if strings.HasPrefix(rest, e.text) {
			return e.out, len(e.text)
		}
	}
	return "", 0
}

func hexByte(s string, i int) (byte, bool) {
	if i+1 >= len(s) || !anyHex.has(s[i]) || !anyHex.has(s[i+1]) {
		return 0, false
	}
	return hexDigit(s[i])<<4 | hexDigit(s[i+1]), true
}

func hexDigit(b byte) byte {
	if digit.has(b) {
		return b - '0'
	}
	return lowerByte(b) - 'a' + 10
}

// glue returns where the second literal begins when the quote s[i:end] closes one and the next thing is an
// operator (or, on the next line, nothing) and the same quote again; i otherwise.
func glue(s string, i, end int) int {
	if end == len(s) || !space.has(s[end]) && s[end] != '+' && s[end] != '\\' {
		return i
	}
	q := s[i:end]
	j, lines := gap(s, i, end)
	switch {
	case j == len(s):
		return i
	case s[j] == '+' || s[j] == '.' || s[j] == '&':
		j, _ = gap(s, i, j+1)
	case lines == 0:
		return i
	}
	if !strings.HasPrefix(s[j:], q) || strings.HasPrefix(s[j+len(q):], q) {
		return i
	}
	return j + len(q)
}

// gap skips blanks and line ends, real or escaped, with what a listing puts before each line. It stays
// within a few lines.
func gap(s string, from, j int) (end, lines int) {
	for j < len(s) && lines < 4 {
		switch {
		case blank.has(s[j]):
			j++
		case s[j] == '\n' || s[j] == '\r':
			j = lineStart(s, from, j)
			lines++
		case s[j] == '\\':
			k := j
			for k < len(s) && s[k] == '\\' {
				k++
			}
			if k == len(s) || s[k] != 'n' && s[k] != 't' && s[k] != '\n' {
				return j, lines
			}
			if s[k] == '\n' {
				k = lineStart(s, from, k) - 1
			}
			j = k + 1
			lines++
		default:
			return j, lines
		}
	}
	return j, lines
}

// lineStart returns where the text of the line after the line end at i begins: behind its listing prefix,
// when the line that from is in carries one of the same form.
func lineStart(s string, from, i int) int {
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		i++
	}
	i++
	this := strings.LastIndexByte(s[max(0, from-2000):from], '\n') + 1 + max(0, from-2000)
	if listed(s, this) > this {
		return listed(s, i)
	}
	return i
}

// listed returns the end of the prefix that a listing put before the line at i: "> " of a quotation, the
// number of cat -n and its like, the sign of a diff.
func listed(s string, i int) int {
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '>':
		if i+1 < len(s) && s[i+1] == ' ' {
			return i + 2
		}
		return i + 1
	case '+', '-':
		return i + 1
	}
	j := blank.run(s, i)
	n := digit.run(s, j)
	if n == j || n > j+7 || n == len(s) {
		return i
	}
	if s[n] == '\t' {
		return n + 1
	}
	k := blank.run(s, n)
	for _, bar := range [...]string{"| ", "|", "│ ", "│", "→", ": "} {
		if strings.HasPrefix(s[k:], bar) {
			return k + len(bar)
		}
	}
	return i
}
