package claude

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A transcript line is up to megabytes of which a few fields matter, so lines
// are not decoded: they are walked, and only what is wanted is taken out. That
// reads several times faster than encoding/json. The walk finds where values
// end; it does not check that what it passes over is well formed.

// raw is a JSON value as it stands in a line.
type raw []byte

var errNotJSON = errors.New("not a whole JSON object")

// fields calls do with each key and value of an object, in order, until the
// object ends or breaks off. Keys are as written, escapes unresolved.
func fields(object raw, do func(key []byte, value raw)) error {
	return walk(object, func(key []byte, value raw) bool {
		do(key, value)
		return true
	})
}

// walk is fields that ends, without looking further, once do gives false.
func walk(object raw, do func(key []byte, value raw) bool) error {
	end, err := walkAt(object, space(object, 0), do)
	if err == nil && end >= 0 && space(object, end) != len(object) {
		return errNotJSON
	}
	return err
}

// walkAt walks the object that begins at i and gives the place after it, -1 when
// do ended the walk.
func walkAt(object raw, i int, do func(key []byte, value raw) bool) (int, error) {
	if i >= len(object) || object[i] != '{' {
		return -1, errNotJSON
	}
	for i = space(object, i+1); i < len(object); i = space(object, i+1) {
		if object[i] == '}' {
			return i + 1, nil
		}
		end := skipString(object, i)
		if end < 0 {
			return -1, errNotJSON
		}
		key := object[i+1 : end-1]
		i = space(object, end)
		if i >= len(object) || object[i] != ':' {
			return -1, errNotJSON
		}
		i = space(object, i+1)
		if end = skip(object, i); end < 0 {
			return -1, errNotJSON
		}
		if !do(key, object[i:end]) {
			return -1, nil
		}
		i = space(object, end)
		if i < len(object) && object[i] == '}' {
			i--
		} else if i >= len(object) || object[i] != ',' {
			return -1, errNotJSON
		}
	}
	return -1, errNotJSON
}

// elements calls do with each value of an array; anything else has none.
func (r raw) elements(do func(value raw)) {
	i := space(r, 0)
	if i >= len(r) || r[i] != '[' {
		return
	}
	for i = space(r, i+1); i < len(r) && r[i] != ']'; i = space(r, i+1) {
		end := skip(r, i)
		if end < 0 {
			return
		}
		do(r[i:end])
		if i = space(r, end); i >= len(r) || r[i] != ',' {
			return
		}
	}
}

// get is the value of one field of an object, nil when it has none.
func (r raw) get(name string) raw {
	var found raw
	_ = walk(r, func(key []byte, value raw) bool {
		if string(key) == name {
			found = value
		}
		return found == nil
	})
	return found
}

func (r raw) isString() bool { return len(r) > 1 && r[0] == '"' }
func (r raw) isObject() bool { return len(r) > 1 && r[0] == '{' }
func (r raw) isArray() bool  { return len(r) > 1 && r[0] == '[' }
func (r raw) isTrue() bool   { return string(r) == "true" }
func (r raw) isNull() bool   { return len(r) == 0 || string(r) == "null" }

// text is the value of a string, empty for anything else.
func (r raw) text() string {
	if !r.isString() {
		return ""
	}
	inner := r[1 : len(r)-1]
	var s string
	if bytes.IndexByte(inner, '\\') < 0 {
		s = string(inner)
	} else {
		s = unescaped(inner)
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// unescaped resolves the escapes of a string. What is no escape stays as it is,
// and half a surrogate pair becomes U+FFFD.
func unescaped(inner raw) string {
	var b strings.Builder
	b.Grow(len(inner))
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+1 >= len(inner) {
			b.Write(inner)
			return b.String()
		}
		b.Write(inner[:i])
		c := inner[i+1]
		inner = inner[i+2:]
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, size := escapedRune(inner)
			b.WriteRune(r)
			inner = inner[size:]
		default:
			b.WriteByte(c)
		}
	}
}

// escapedRune reads what follows a \u, and the \u after it when the two make
// one rune.
func escapedRune(b raw) (rune, int) {
	first, ok := hex4(b)
	if !ok {
		return utf8.RuneError, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 4
	}
	if len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
		if second, ok := hex4(b[6:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 10
			}
		}
	}
	return utf8.RuneError, 4
}

func hex4(b raw) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(n), err == nil
}

// number is the value of a number without its fraction, 0 for anything else.
func (r raw) number() int64 {
	if n, err := strconv.ParseInt(string(r), 10, 64); err == nil {
		return n
	}
	return int64(max(-1<<62, min(1<<62, r.float())))
}

// float is the value of a number, 0 for anything else.
func (r raw) float() float64 {
	f, err := strconv.ParseFloat(string(r), 64)
	if err != nil || f != f {
		return 0
	}
	return f
}

// space is the first place from i on that holds no white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skip gives the place after the value that begins at i, -1 when it breaks off.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	from := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipString gives the place after the string that begins at i. A quote ends it
// unless an odd run of backslashes stands before.
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	at := i + 1
	for end := min(len(b), at+16); at < end; at++ { // most keys and values are short
		if b[at] == '"' {
			return at + 1
		}
		if b[at] == '\\' {
			break
		}
	}
	for {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		run := at
		for run > i+1 && b[run-1] == '\\' {
			run--
		}
		at++
		if (at-1-run)%2 == 0 {
			return at
		}
	}
}
