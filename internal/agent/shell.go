package agent

import (
	"slices"
	"strings"
)

// stage is one simple command of a shell line: its words without quotes, and
// the files that its redirections write.
type stage struct {
	words  []string
	writes []string
}

const (
	shellDepth = 4   // how deep substitutions and `sh -c` are followed
	stageWords = 400 // how many words of one command are looked at
)

// stages splits a shell line into its simple commands, those inside $(…) and
// `sh -c '…'` included, in reading order. It is no shell: nothing is expanded,
// and what it does not understand stays a word. Bodies of here-documents are
// dropped; a word made of `$(cat <<EOF …)` keeps the body, since that is how
// agents write commit messages.
func stages(line string) []stage {
	p := &shellReader{in: line}
	p.read(0)
	return p.out
}

type shellReader struct {
	in    string
	at    int
	out   []stage
	depth int

	now     stage
	word    strings.Builder
	inWord  bool
	target  bool     // the next word is the file a redirection writes
	skip    bool     // the next word is the file a redirection reads
	pending []string // here-documents whose bodies begin after the line
	bodies  []string // here-documents read so far
}

// read goes on until the closing byte (0: the end of the input).
func (p *shellReader) read(until byte) {
	for p.at < len(p.in) {
		c := p.in[p.at]
		if until != 0 && c == until {
			p.endStage()
			p.at++
			return
		}
		switch c {
		case ' ', '\t', '\r':
			p.endWord()
			p.at++
		case '\n':
			p.endStage()
			p.at++
			p.skipDocuments()
		case ';', '(', ')', '|':
			p.endStage()
			p.at++
		case '&':
			p.ampersand()
		case '#':
			if p.inWord {
				p.put(c)
				break
			}
			p.comment()
		case '>', '<':
			p.redirect(c)
		case '\'':
			p.single()
		case '"':
			p.double()
		case '\\':
			p.escape()
		case '$', '`':
			p.dollar(c)
		default:
			p.put(c)
		}
	}
	p.endStage()
}

func (p *shellReader) put(c byte) {
	p.word.WriteByte(c)
	p.inWord = true
	p.at++
}

func (p *shellReader) peek(n int) byte {
	if p.at+n < len(p.in) {
		return p.in[p.at+n]
	}
	return 0
}

func (p *shellReader) comment() {
	for p.at < len(p.in) && p.in[p.at] != '\n' {
		p.at++
	}
}

// ampersand: `&&` and `&` end a command, `&>file` writes.
func (p *shellReader) ampersand() {
	if p.peek(1) == '>' {
		p.endWord()
		p.at++
		return
	}
	p.endStage()
	p.at++
}

func (p *shellReader) redirect(c byte) {
	if w := p.word.String(); p.inWord && len(w) == 1 && w[0] >= '0' && w[0] <= '9' {
		p.word.Reset() // the number of a stream
		p.inWord = false
	}
	p.endWord()
	p.at++
	switch {
	case p.peek(0) == '(': // <(…) and >(…)
		p.at++
		p.nested(')')
	case c == '<' && p.peek(0) == '<' && p.peek(1) == '<':
		p.at, p.skip = p.at+2, true
	case c == '<' && p.peek(0) == '<':
		p.at++
		p.document()
	case c == '<':
		p.skip = true
	default:
		for p.peek(0) == '>' || p.peek(0) == '|' {
			p.at++
		}
		p.target = true
		if p.peek(0) == '&' {
			p.at, p.target, p.skip = p.at+1, false, true
		}
	}
}

// document notes the word that ends a here-document.
func (p *shellReader) document() {
	for c := p.peek(0); c == '-' || c == ' '; c = p.peek(0) {
		p.at++
	}
	from := p.at
	for p.at < len(p.in) && !strings.ContainsRune(" \t\n;|&)<>", rune(p.in[p.at])) {
		p.at++
	}
	p.pending = append(p.pending, strings.Trim(p.in[from:p.at], `'"\`))
}

// skipDocuments passes over the bodies that follow the line just ended.
func (p *shellReader) skipDocuments() {
	for _, end := range p.pending {
		var body []string
		for p.at < len(p.in) {
			line, _, _ := strings.Cut(p.in[p.at:], "\n")
			p.at = min(len(p.in), p.at+len(line)+1)
			if strings.TrimSpace(line) == end {
				break
			}
			body = append(body, line)
		}
		p.bodies = append(p.bodies, strings.Join(body, "\n"))
	}
	p.pending = nil
}

func (p *shellReader) single() {
	p.inWord = true
	p.at++
	end := strings.IndexByte(p.in[p.at:], '\'')
	if end < 0 {
		end = len(p.in) - p.at
	}
	p.word.WriteString(p.in[p.at : p.at+end])
	p.at = min(len(p.in), p.at+end+1)
}

func (p *shellReader) double() {
	p.inWord = true
	p.at++
	for p.at < len(p.in) {
		switch c := p.in[p.at]; c {
		case '"':
			p.at++
			return
		case '\\':
			p.escape()
		case '$', '`':
			p.dollar(c)
		default:
			p.put(c)
		}
	}
}

func (p *shellReader) escape() {
	p.at++
	switch p.peek(0) {
	case 0:
		return
	case '\n':
		p.at++
		return
	}
	p.put(p.in[p.at])
}

// dollar follows a command substitution; variables stay as they are written.
func (p *shellReader) dollar(c byte) {
	switch {
	case c == '`':
		p.at++
		p.nested('`')
	case p.peek(1) == '(' && p.peek(2) != '(':
		p.at += 2
		p.nested(')')
	default:
		p.put(c)
	}
}

// nested reads a substitution as commands of its own. Its text is unknown, but
// for here-documents, which are written out.
func (p *shellReader) nested(until byte) {
	p.inWord = true
	if p.depth >= shellDepth {
		if end := strings.IndexByte(p.in[p.at:], until); end >= 0 {
			p.at += end + 1
		} else {
			p.at = len(p.in)
		}
		return
	}
	inner := &shellReader{in: p.in, at: p.at, depth: p.depth + 1}
	inner.read(until)
	p.at = inner.at
	p.out = append(p.out, inner.out...)
	for _, body := range inner.bodies {
		p.word.WriteString(body)
	}
}

func (p *shellReader) endWord() {
	if !p.inWord {
		return
	}
	w := p.word.String()
	p.word.Reset()
	p.inWord = false
	switch {
	case p.target:
		p.now.writes = append(p.now.writes, w)
	case p.skip || len(p.now.words) == stageWords:
	default:
		p.now.words = append(p.now.words, w)
	}
	p.target, p.skip = false, false
}

func (p *shellReader) endStage() {
	p.endWord()
	s := p.now
	p.now, p.target, p.skip = stage{}, false, false
	if len(s.words) == 0 && len(s.writes) == 0 {
		return
	}
	s.words = bare(s.words)
	if script, ok := s.script(); ok && p.depth < shellDepth {
		inner := &shellReader{in: script, depth: p.depth + 1}
		inner.read(0)
		p.out = append(p.out, inner.out...)
		s.words = nil
	}
	if len(s.words) > 0 || len(s.writes) > 0 {
		p.out = append(p.out, s)
	}
}

// bare drops what only wraps a command: keywords, assignments, sudo, timeout 60.
func bare(words []string) []string {
	for len(words) > 0 {
		switch w := words[0]; w {
		case "if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time", "command", "exec",
			"nohup", "sudo", "env", "npx", "bunx", "stdbuf", "xvfb-run":
			words = flagless(words[1:])
		case "nice", "ionice":
			words = flagless(words[1:])
			if len(words) > 0 && number(words[0]) {
				words = words[1:]
			}
		case "timeout":
			words = flagless(words[1:])
			if len(words) > 0 {
				words = words[1:]
			}
		case "for", "case", "done", "fi", "esac", "function":
			return nil
		default:
			if !assignment(w) {
				return words
			}
			words = words[1:]
		}
	}
	return nil
}

func flagless(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	return words
}

func assignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

func number(w string) bool {
	return w != "" && strings.Trim(w, "0123456789") == ""
}

// script is the text of `bash -lc '…'` and `eval '…'`.
func (s stage) script() (string, bool) {
	switch s.name() {
	case "sh", "bash", "zsh", "dash":
		for i, w := range s.words[1:] {
			if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") && i+2 < len(s.words) {
				return s.words[i+2], true
			}
		}
	case "eval":
		return strings.Join(s.words[1:], " "), true
	}
	return "", false
}

// name is the program without its folder.
func (s stage) name() string { return base(s.first()) }

// operands are the words that are neither the program nor flags; valued and long
// name the flags that take the next word.
func (s stage) operands(valued string, long ...string) []string {
	var out []string
	for i := 1; i < len(s.words); i++ {
		w := s.words[i]
		switch {
		case w == "--":
			return append(out, s.words[i+1:]...)
		case len(w) > 1 && w[0] == '-':
			if len(w) == 2 && strings.IndexByte(valued, w[1]) >= 0 || slices.Contains(long, w) {
				i++
			}
		default:
			out = append(out, w)
		}
	}
	return out
}

// flag reports whether one of the short flags in letters is given, alone or in
// a bundle such as -ni.
func (s stage) flag(letters string) bool {
	for _, w := range s.words[min(1, len(s.words)):] {
		if w == "--" {
			return false
		}
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[1:], letters) {
			return true
		}
	}
	return false
}

// has reports whether a word stands in the command.
func (s stage) has(words ...string) bool {
	for _, w := range s.words {
		for _, want := range words {
			if w == want {
				return true
			}
		}
	}
	return false
}
