package redact

import "strings"

// literal is a value as it stands in the text.
type literal struct {
	from, to int // the value without its quotes
	end      int // behind it, quotes included
	form     form
	code     bool // an opening parenthesis follows: a call, not a value
}

// literalAt reads the value that starts at i, on the same line. whole says that nothing but the value stands
// up to the end of the line, or that it is an env file's.
func (c *scan) literalAt(i int, f form) (literal, bool) {
	s := c.s
	i = c.prefixed(i)
	if i >= len(s) || newline.has(s[i]) {
		return literal{}, false
	}
	if quote.has(s[i]) {
		return c.quotedAt(i)
	}
	j := i
	for j < len(s) && !c.ends(i, j) {
		j++
	}
	if j == i {
		return literal{}, false
	}
	l := literal{from: i, to: j, end: j, form: f}
	if j < len(s) {
		if s[j-1] == '[' && quote.has(s[j]) { // config["db"]
			l.code = true
		}
		switch s[j] {
		case '(':
			l.code = true
		case ',', ';':
			if f != env && !c.names(j+1) && !(s[j] == ';' && j+1 < len(s) && quote.has(s[j+1])) {
				l.form = inline
			}
		case ')', ']', '}', '.', '?':
			if f != env {
				l.form = inline
			}
		case ' ', '\t':
			if f == line && !c.lastOnLine(j) {
				l.form = inline
			}
		}
	}
	for l.to > l.from && strings.IndexByte(".:", s[l.to-1]) >= 0 { // the end of a sentence
		l.to--
	}
	return l, l.to > l.from
}

// lastOnLine says whether nothing but a comment follows on the line.
func (c *scan) lastOnLine(j int) bool {
	j = blank.run(c.s, j)
	return j == len(c.s) || newline.has(c.s[j]) || c.s[j] == '#' || strings.HasPrefix(c.s[j:], "//") || strings.HasPrefix(c.s[j:], "&&")
}

// ends says whether an unquoted value that began at i ends before j.
func (c *scan) ends(i, j int) bool {
	s := c.s
	b := s[j]
	if b > '~' || charOf[b]&(wordDash|dot|plus|equals|tilde) != 0 {
		return false
	}
	if charOf[b]&(space|quote) != 0 {
		return true
	}
	next := byte(' ')
	if j+1 < len(s) {
		next = s[j+1]
	}
	switch b {
	case '<', '>', '|', '(', '\\':
		return true
	case ')', ']', '}':
		// A bracket that the value did not open closes something around it.
		open := strings.IndexByte("([{", opener(b))
		return open < 0 || strings.IndexByte(s[i:j], opener(b)) < 0
	case ',', ';', '&':
		if charOf[next]&alnum == 0 || b == ';' && strings.IndexByte(s[i:j], '.') > 0 && identifier(s[i:j]) && wordy(s[i:j]) {
			return true
		}
		return c.names(j + 1)
	case ':', '?', '!':
		return charOf[next]&(space|quote) != 0 && b != '!'
	}
	return false
}

// names says whether a name and a separator stand at i: the next of a list of pairs.
func (c *scan) names(i int) bool {
	k := (wordDash | dot).run(c.s, i)
	n := blank.run(c.s, k)
	return k > i && n < len(c.s) && (c.s[n] == '=' || c.s[n] == ':')
}

// opener returns the bracket that b closes.
func opener(b byte) byte {
	switch b {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}

// quotedAt reads the value between the quote at i and the next of the same kind. A shallower quote closes it
// too: it belongs to the text around.
func (c *scan) quotedAt(i int) (literal, bool) {
	s := c.s
	q := s[i]
	from := i + 1
	if strings.HasPrefix(s[i:], `"""`) || strings.HasPrefix(s[i:], "'''") || strings.HasPrefix(s[i:], "```") {
		from = i + 3
	}
	limit := min(len(s), from+4096)
	for j := from; j < limit; j++ {
		b := s[j]
		switch {
		case b == q || closesOuter(q, b):
			return literal{from: from, to: j, end: j + 1, form: quoted}, j > from
		case b == '\n', b == '\r', b == softNewline && charOf[q]&quote != 0 && q != '"':
			// No closing quote on this line: the text is cut off, or the quote is an apostrophe.
			return literal{from: from, to: j, end: j, form: quoted}, j > from && strings.IndexByte(s[from:j], ' ') < 0
		case b == '\\' && j+1 < limit && s[j+1] != '\n' && charOf[s[j+1]]&quote == 0:
			j++
		}
	}
	return literal{from: from, to: limit, end: limit, form: quoted}, limit > from && strings.IndexByte(s[from:limit], ' ') < 0
}

// closesOuter says whether quote b stands outside of what quote q opened.
func closesOuter(q, b byte) bool {
	switch q {
	case quote1:
		return b == '"'
	case quote2:
		return b == '"' || b == quote1
	case quote3:
		return b == '"' || b == quote1 || b == quote2
	case apostrophe1:
		return b == '\''
	}
	return false
}

// prefixed skips what may stand between a separator and a value: a YAML tag, the letters before a string.
func (c *scan) prefixed(i int) int {
	s := c.s
	if strings.HasPrefix(s[i:], "!!") {
		if j := letters.run(s, i+2); j < len(s) && blank.has(s[j]) {
			i = blank.run(s, j)
		}
	}
	for n := range 3 {
		if i+n < len(s) && quote.has(s[i+n]) {
			return i + n
		}
		if i+n >= len(s) || strings.IndexByte("bBrRfFuULN@$", s[i+n]) < 0 {
			break
		}
	}
	return i
}
