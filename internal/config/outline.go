package config

import "strings"

// layout is where the parts of a TOML text stand. It is made from text that the TOML library accepts, so it
// looks for ends and lines only and judges nothing.
type layout struct {
	entries []entry
	tables  []table
}

type entry struct {
	key        string // with the table it is in: brief.tokens
	line       int    // of the key, from 1
	start, end int    // of the value, in bytes
}

type table struct {
	name       string
	line       int // of its header, from 1
	start, end int // of its lines, without blank and comment lines at its end
}

// outline finds the entries and tables of a TOML text.
func outline(text string) layout {
	s := &scanner{text: text, line: 1}
	var found layout
	inside := ""
	for s.pos < len(s.text) {
		s.skipBlank()
		start := s.pos
		switch s.peek() {
		case 0:
		case '[':
			line := s.line
			for s.peek() == '[' || s.peek() == ' ' || s.peek() == '\t' {
				s.pos++
			}
			inside = s.key("]")
			s.restOfLine()
			found.tables = append(found.tables, table{inside, line, start, s.pos})
		default:
			line := s.line
			key := s.key("=")
			if inside != "" {
				key = inside + "." + key
			}
			if s.peek() == '=' {
				s.pos++
			}
			s.spaces()
			from := s.pos
			s.value()
			found.entries = append(found.entries, entry{key, line, from, s.pos})
			s.restOfLine()
			if n := len(found.tables); n > 0 {
				found.tables[n-1].end = s.pos
			}
		}
	}
	return found
}

type scanner struct {
	text string
	pos  int
	line int
}

// peek is the byte at the scanner, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) next() {
	if s.peek() == '\n' {
		s.line++
	}
	s.pos++
}

func (s *scanner) spaces() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.pos++
	}
}

// skipBlank goes past white space and comments.
func (s *scanner) skipBlank() {
	for s.pos < len(s.text) {
		switch s.peek() {
		case ' ', '\t', '\r', '\n', 0:
			s.next()
		case '#':
			s.restOfLine()
		default:
			return
		}
	}
}

// restOfLine goes past the end of the line.
func (s *scanner) restOfLine() {
	for s.pos < len(s.text) {
		ended := s.peek() == '\n'
		s.next()
		if ended {
			return
		}
	}
}

// key reads a dotted key up to a closing byte, which it leaves.
func (s *scanner) key(closing string) string {
	var parts []string
	var part strings.Builder
	for s.pos < len(s.text) && s.peek() != '\n' && !strings.HasPrefix(s.text[s.pos:], closing) {
		switch c := s.peek(); c {
		case ' ', '\t', '\r':
			s.pos++
		case '.':
			parts = append(parts, part.String())
			part.Reset()
			s.pos++
		case '"', '\'':
			from := s.pos
			s.quoted()
			part.WriteString(s.text[from+1 : max(from+1, s.pos-1)])
		default:
			part.WriteByte(c)
			s.pos++
		}
	}
	return strings.Join(append(parts, part.String()), ".")
}

// value goes past one value: to the end of a text or a bracket, or to the comment or line's end.
func (s *scanner) value() {
	switch s.peek() {
	case '"', '\'':
		s.quoted()
	case '[', '{':
		depth := 0
		for s.pos < len(s.text) {
			switch s.peek() {
			case '"', '\'':
				s.quoted()
				continue
			case '#':
				s.restOfLine()
				continue
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			}
			s.next()
			if depth == 0 {
				return
			}
		}
	default:
		for s.pos < len(s.text) && !strings.ContainsRune("#\r\n", rune(s.peek())) {
			s.pos++
		}
		for s.text[s.pos-1] == ' ' || s.text[s.pos-1] == '\t' {
			s.pos--
		}
	}
}

// quoted goes past a text of one of TOML's four kinds. Up to two quotes may stand right before the closing
// three.
func (s *scanner) quoted() {
	quote := s.text[s.pos : s.pos+1]
	closing := quote
	if strings.HasPrefix(s.text[s.pos:], strings.Repeat(quote, 3)) {
		closing = strings.Repeat(quote, 3)
	}
	s.pos += len(closing)
	for s.pos < len(s.text) {
		switch {
		case s.peek() == '\\' && quote == `"`:
			s.next()
			s.next()
		case strings.HasPrefix(s.text[s.pos:], closing):
			s.pos += len(closing)
			for len(closing) == 3 && strings.HasPrefix(s.text[s.pos:], quote) {
				s.pos++
			}
			return
		default:
			s.next()
		}
	}
}
