package install

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A settings file is a person's. It is edited by putting text in and taking text
// out, so it is read for where its values stand, not for what they are. Comments and
// trailing commas, which JSON does not have and people write, are read and noted:
// what took them in later must still be undone.

// document is a JSON text with the place of every value.
type document struct {
	text     []byte
	root     *node // nil: nothing but blanks
	liberty  string
	at       int // where that liberty stands
	position int
	depth    int
}

// node is a value: the bytes from and up to. An object has members, an array items.
type node struct {
	from, to int
	open     byte // '{', '[', '"', or 0
	members  []member
	items    []*node
}

// member is one key of an object. It stands from its key to the end of its value.
type member struct {
	key   string
	from  int
	value *node
}

// deepest is how far values may be nested: more is no settings file.
const deepest = 500

// syntaxError says where a text stops being JSON.
type syntaxError struct {
	line, column int
	says         string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.says)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads a whole text.
func parse(text []byte) (*document, error) {
	d := &document{text: text}
	if bytes.HasPrefix(text, byteOrderMark) {
		d.position = len(byteOrderMark)
	}
	if err := d.blank(); err != nil {
		return nil, err
	}
	if d.position == len(text) {
		return d, nil
	}
	root, err := d.value()
	if err != nil {
		return nil, err
	}
	d.root = root
	if err := d.blank(); err != nil {
		return nil, err
	}
	if d.position < len(text) {
		return nil, d.wrong("text after the end of the value")
	}
	return d, nil
}

func (d *document) wrong(format string, args ...any) error {
	return d.wrongAt(d.position, format, args...)
}

func (d *document) wrongAt(at int, format string, args ...any) error {
	before := d.text[:at]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(bytes.TrimPrefix(before[bytes.LastIndexByte(before, '\n')+1:], byteOrderMark))
	return &syntaxError{line, column, fmt.Sprintf(format, args...)}
}

// take notes the first thing that is not JSON.
func (d *document) take(liberty string, at int) {
	if d.liberty == "" {
		d.liberty, d.at = liberty, at
	}
}

// strict is an error when the text is not plain JSON.
func (d *document) strict() error {
	if d.liberty == "" {
		return nil
	}
	return d.wrongAt(d.at, "%s", d.liberty)
}

func (d *document) next() byte {
	if d.position < len(d.text) {
		return d.text[d.position]
	}
	return 0
}

// blank passes over white space and comments.
func (d *document) blank() error {
	for d.position < len(d.text) {
		rest := d.text[d.position:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			d.position++
		case bytes.HasPrefix(rest, []byte("//")):
			d.take("a comment", d.position)
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				d.position += end
			} else {
				d.position = len(d.text)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			d.take("a comment", d.position)
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return d.wrong("a comment without an end")
			}
			d.position += 2 + end + 2
		default:
			return nil
		}
	}
	return nil
}

func (d *document) value() (*node, error) {
	if d.depth++; d.depth > deepest {
		return nil, d.wrong("nested more than %d deep", deepest)
	}
	defer func() { d.depth-- }()
	n := &node{from: d.position}
	var err error
	switch c := d.next(); c {
	case '{':
		n.open, err = c, d.elements('}', func() error { return d.member(n) })
	case '[':
		n.open, err = c, d.elements(']', func() error {
			item, err := d.value()
			n.items = append(n.items, item)
			return err
		})
	case '"':
		n.open, err = c, d.text0()
	default:
		err = d.word()
	}
	n.to = d.position
	return n, err
}

// elements reads what stands between brackets, separated by commas.
func (d *document) elements(end byte, one func() error) error {
	d.position++
	for comma, first := -1, true; ; first = false {
		if err := d.blank(); err != nil {
			return err
		}
		if d.next() == end {
			if comma >= 0 {
				d.take("a comma before "+string(end), comma)
			}
			d.position++
			return nil
		}
		if !first && comma < 0 {
			return d.wrong("want a comma or %c", end)
		}
		if err := one(); err != nil {
			return err
		}
		if err := d.blank(); err != nil {
			return err
		}
		comma = -1
		if d.next() == ',' {
			comma = d.position
			d.position++
		}
	}
}

func (d *document) member(of *node) error {
	m := member{from: d.position}
	if d.next() != '"' {
		return d.wrong(`want a name in "`)
	}
	if err := d.text0(); err != nil {
		return err
	}
	key, err := unquote(d.text[m.from:d.position])
	if err != nil {
		return d.wrongAt(m.from, "this name cannot be read")
	}
	m.key = key
	if err := d.blank(); err != nil {
		return err
	}
	if d.next() != ':' {
		return d.wrong("want a colon")
	}
	d.position++
	if err := d.blank(); err != nil {
		return err
	}
	m.value, err = d.value()
	of.members = append(of.members, m)
	return err
}

// text0 passes over a text in quotes.
func (d *document) text0() error {
	start := d.position
	for d.position++; d.position < len(d.text); d.position++ {
		switch c := d.text[d.position]; {
		case c == '"':
			d.position++
			return nil
		case c == '\\':
			d.position++
		case c < ' ':
			return d.wrong("a control character in a text")
		}
	}
	d.position = len(d.text)
	return d.wrongAt(start, "a text without an end")
}

// word passes over a number, true, false or null.
func (d *document) word() error {
	start := d.position
	for d.position < len(d.text) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\"/"), d.text[d.position]) < 0 {
		d.position++
	}
	switch word := string(d.text[start:d.position]); word {
	case "true", "false", "null":
		return nil
	case "":
		return d.wrong("want a value")
	default:
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			d.position = start
			return d.wrong("%.20q is no value", word)
		}
	}
	return nil
}
