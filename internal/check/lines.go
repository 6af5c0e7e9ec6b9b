package check

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxLine is how much of one line is looked at; the rest of it is passed over.
const maxLine = 1 << 20

// lineWriter hands over what is written to it a line at a time, without the
// newline.
type lineWriter struct {
	line    func(string)
	pending []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte{'\n'})
		w.pending = append(w.pending, part[:min(len(part), maxLine-len(w.pending))]...)
		if whole {
			w.flush()
		}
		p = rest
	}
	return n, nil
}

// flush hands over a last line that has no newline.
func (w *lineWriter) flush() {
	if len(w.pending) > 0 {
		w.line(string(w.pending))
		w.pending = w.pending[:0]
	}
}

// plain removes what only a terminal shows: escape sequences, and what a
// carriage return wrote over.
func plain(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if !strings.ContainsRune(line, '\x1b') {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		if line[i] == '\x1b' {
			i += escapeLength(line[i:])
			continue
		}
		b.WriteByte(line[i])
		i++
	}
	return b.String()
}

// escapeLength measures the escape sequence that s begins with: CSI, which ends
// with a letter or sign, OSC, which ends with BEL or ESC \, or two bytes.
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= '@' && s[i] <= '~' {
				return i + 1
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}

// clip shortens to at most n bytes, at a whole character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
