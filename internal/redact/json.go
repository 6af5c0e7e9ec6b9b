package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON marshals v and takes the credentials out of every string in it, names included. Only what stands
// between quotes changes, so the result decodes into the type of v: numbers and booleans stay, and a string
// that is text in base64, as []byte fields are, stays base64. A name such as "password" is context for its
// value. The error is json.Marshal's; where a rule breaks, that string is dropped.
func (r *Redactor) JSON(v any) (JSON, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return JSON{}, fmt.Errorf("marshal for redaction: %w", err)
	}
	w := walker{r: r, in: b, secrets: bytes.Contains(b, []byte(`"kind":"Secret"`))}
	w.value(hint{})
	return JSON{w.out()}, nil
}

// walker copies a document that json.Marshal wrote, so it need not check its grammar.
type walker struct {
	r       *Redactor
	in      []byte
	secrets bool // a Kubernetes Secret is somewhere in it
	at      int
	buf     bytes.Buffer
	done    int // up to here in was copied
}

func (w *walker) out() []byte {
	if w.done == 0 {
		return w.in
	}
	w.buf.Write(w.in[w.done:])
	return w.buf.Bytes()
}

// value reads one value. h says what it is the value of.
func (w *walker) value(h hint) {
	switch w.in[w.at] {
	case '{':
		w.object()
	case '[':
		w.at++
		for w.in[w.at] != ']' {
			w.value(h)
			if w.in[w.at] == ',' {
				w.at++
			}
		}
		w.at++
	case '"':
		w.text(h)
	default: // a number, true, false, null
		for w.at < len(w.in) && w.in[w.at] != ',' && w.in[w.at] != '}' && w.in[w.at] != ']' {
			w.at++
		}
	}
}

func (w *walker) object() {
	secret := w.isSecret()
	w.at++
	named := "" // what a field "name" said, for its neighbour "value"
	for w.in[w.at] != '}' {
		name := w.text(hint{})
		w.at++ // the colon
		h := hint{name: name}
		switch {
		case secret && (name == "data" || name == "stringData") && w.in[w.at] == '{':
			w.entries()
		default:
			if (name == "value" || name == "Value") && named != "" {
				h.name = named
			}
			from := w.at
			w.value(h)
			if name == "name" || name == "Name" || name == "key" || name == "Key" {
				named = plainString(w.in[from:w.at])
			}
		}
		if w.in[w.at] == ',' {
			w.at++
		}
	}
	w.at++
}

// isSecret says whether the object at hand is a Kubernetes Secret, by its own field kind.
func (w *walker) isSecret() bool {
	if !w.secrets {
		return false
	}
	const kind = `"kind":"Secret"`
	depth := 0
	for i := w.at; i < len(w.in); i++ {
		switch w.in[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return false
			}
		case '"':
			if depth == 1 && bytes.HasPrefix(w.in[i:], []byte(kind)) {
				return true
			}
			for i++; w.in[i] != '"'; i++ {
				if w.in[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// entries replaces every string of a Secret's data.
func (w *walker) entries() {
	w.at++
	for w.in[w.at] != '}' {
		w.text(hint{})
		w.at++
		if w.in[w.at] == '"' {
			from := w.at
			w.skip()
			if v := w.decoded(from); len(v) > 2 && !reference(v) && markerEnd(v, 0) == 0 {
				w.put(from, w.r.marker("secret", v))
			}
		} else {
			w.value(hint{})
		}
		if w.in[w.at] == ',' {
			w.at++
		}
	}
	w.at++
}

// text redacts the string at hand and returns what it was.
func (w *walker) text(h hint) string {
	from := w.at
	w.skip()
	was := w.decoded(from)
	if now := w.clean(was, h); now != was {
		w.put(from, now)
	}
	return was
}

// clean redacts one string. A whole string of base64 is redacted inside and encoded again.
func (w *walker) clean(s string, h hint) (out string) {
	defer func() {
		if recover() != nil {
			out = failed
		}
	}()
	if len(s) >= 24 && len(s)%4 == 0 && (base64s | equals).only(s) && nameStrength(h.name) <= bare {
		if raw, err := base64.StdEncoding.DecodeString(s); err == nil && printable(raw) {
			if now := w.r.redact(string(raw), hint{}); now != string(raw) {
				return base64.StdEncoding.EncodeToString([]byte(now))
			}
			return s
		}
	}
	return w.r.redact(s, h)
}

// skip moves behind the string at hand.
func (w *walker) skip() {
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}

// decoded is the string in[from:at] without quotes and escapes.
func (w *walker) decoded(from int) string {
	raw := w.in[from:w.at]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 1; i < len(raw)-1; i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch raw[i] {
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
			r, n := unicodeEscapes(raw[i:])
			b.WriteRune(r)
			i += n
		default:
			b.WriteByte(raw[i])
		}
	}
	return b.String()
}

// unicodeEscapes reads uXXXX, or both halves of a surrogate pair, and returns how much of b it took after u.
func unicodeEscapes(b []byte) (rune, int) {
	half := func(i int) rune {
		hi, _ := hexByte(string(b[i:i+2]), 0)
		lo, _ := hexByte(string(b[i+2:i+4]), 0)
		return rune(hi)<<8 | rune(lo)
	}
	r := half(1)
	if utf16.IsSurrogate(r) && len(b) > 10 && b[5] == '\\' && b[6] == 'u' {
		if both := utf16.DecodeRune(r, half(7)); both != utf8.RuneError {
			return both, 10
		}
	}
	return r, 4
}

// put writes s in the place of in[from:at].
func (w *walker) put(from int, s string) {
	b, err := json.Marshal(s)
	if err != nil {
		b = []byte(`"` + failed + `"`)
	}
	w.buf.Write(w.in[w.done:from])
	w.buf.Write(b)
	w.done = w.at
}

// plainString is the text of a JSON string without escapes, or nothing.
func plainString(b []byte) string {
	if len(b) < 2 || b[0] != '"' || bytes.IndexByte(b, '\\') >= 0 {
		return ""
	}
	return string(b[1 : len(b)-1])
}
