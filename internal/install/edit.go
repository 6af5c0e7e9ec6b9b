package install

import (
	"bytes"
	"encoding/json"
	"strings"
)

// splice is one edit: at an offset, New stands where Old stood. Old is empty, or a
// text of ours too: what a person wrote is never in it.
type splice struct {
	At  int    `json:"at"` // bytes, in the text before and after it
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

func (s splice) in(text []byte) []byte {
	return bytes.Join([][]byte{text[:s.At], []byte(s.New), text[s.At+len(s.Old):]}, nil)
}

// undone takes the edit back. It is false when another text stands there.
func (s splice) undone(text []byte) ([]byte, bool) {
	if s.At < 0 || s.At > len(text) || !bytes.HasPrefix(text[s.At:], []byte(s.New)) {
		return nil, false
	}
	return splice{s.At, s.New, s.Old}.in(text), true
}

// style is how a person lays out their file.
type style struct {
	newline string // "\n" or "\r\n"
	indent  string // of one level
	lines   bool   // values stand on lines of their own
}

func (d *document) style() style {
	s := style{newline: "\n", indent: "  ", lines: true}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if d.root == nil || len(d.root.members) == 0 {
		return s
	}
	if indent, ok := d.alone(d.root.members[0].from); !ok {
		s.lines = false
	} else if indent != "" {
		s.indent = indent
	}
	return s
}

// alone reports whether only blanks are before an offset on its line, and which.
func (d *document) alone(at int) (indent string, ok bool) {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line), len(line) < at && len(bytes.TrimLeft(line, " \t")) == 0
}

// indentOf is the white space that the line of an offset begins with.
func (d *document) indentOf(at int) string {
	line := bytes.TrimPrefix(d.text[bytes.LastIndexByte(d.text[:at], '\n')+1:at], byteOrderMark)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// addMember puts a key at the end of an object. value is its text, on one line.
func (d *document) addMember(to *node, key, value string) splice {
	text := quote(key) + ": " + value
	last := len(to.members) - 1
	if last < 0 {
		return d.addFirst(to, text)
	}
	return d.addNext(to.members[last].from, to.members[last].value.to, text)
}

// addItem puts a value at the end of an array.
func (d *document) addItem(to *node, value string) splice {
	last := len(to.items) - 1
	if last < 0 {
		return d.addFirst(to, value)
	}
	return d.addNext(to.items[last].from, to.items[last].to, value)
}

// addNext puts a text behind what stands from and up to, laid out as that is.
func (d *document) addNext(from, to int, text string) splice {
	if indent, ok := d.alone(from); ok {
		return splice{At: to, New: "," + d.style().newline + indent + text}
	}
	return splice{At: to, New: ", " + text}
}

// addFirst puts a text into an empty container.
func (d *document) addFirst(in *node, text string) splice {
	s := d.style()
	if s.lines {
		own := d.indentOf(in.from)
		text = s.newline + own + s.indent + text
		if !bytes.Contains(d.text[in.from:in.to], []byte("\n")) {
			text += s.newline + own
		}
	}
	return splice{At: in.from + 1, New: text}
}

// quote is a text as JSON, as a person would write it: && and not \u0026\u0026.
func quote(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a text can always be written
	return strings.TrimRight(b.String(), "\n")
}

func unquote(text []byte) (string, error) {
	var s string
	err := json.Unmarshal(text, &s)
	return s, err
}

// cut takes out what stands from and up to inside a container, with the comma and the
// blanks that go with it; a comment beside it stays. before is where the one before it
// ends, or where the container opens when it is the first.
func (d *document) cut(in *node, from, to, before int) splice {
	between := d.text[before:from]
	first := before == in.from+1
	if n := comma(between); !first && n+leading(between[n:]) == len(between) {
		return splice{At: before, Old: string(d.text[before:to])}
	}
	rest := d.text[to : in.to-1]
	n := comma(rest)
	n += leading(rest[n:])
	if first && n == len(rest) { // the only one
		from -= trailing(between)
	}
	return splice{At: from, Old: string(d.text[from : to+n])}
}

func leading(b []byte) int  { return len(b) - len(bytes.TrimLeft(b, " \t\r\n")) }
func trailing(b []byte) int { return len(b) - len(bytes.TrimRight(b, " \t\r\n")) }

// comma is how far it is behind a comma that comes after blanks only; 0 without one.
func comma(b []byte) int {
	if n := leading(b); n < len(b) && b[n] == ',' {
		return n + 1
	}
	return 0
}
