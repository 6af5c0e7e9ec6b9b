// Package redact is the one funnel that everything Duplex writes, shows, exports, serves or logs passes
// through: it takes credentials out of text and leaves the rest, byte for byte, as it was.
//
// It exists because agents copy what tools print, and tools print credentials. Writers elsewhere accept only
// Text and JSON, which nothing outside this package can make, so a writer that forgets to redact does not
// compile.
//
// It is not a secret scanner for repositories, it has no general entropy rule (hashes, ids and lock files
// are what a handover is made of), and it reads no files: credentials known by value are handed to New.
//
// How it works, in order:
//
//   - decode.go undoes escapes (JSON in JSON, \uXXXX, ANSI colours, HTML, URL, "a"+"b", backslash-newline)
//     into a view, and finds the way back, so that rules read plain text and cut in the original;
//   - scan.go walks the view once and calls a rule where a byte or a word asks for one;
//   - rules: known values (known.go), shapes (vendor.go, shape.go, pem.go, url.go, encoded.go) and context
//     (name.go and pair.go, header.go, prose.go, call.go, shell.go, kube.go);
//   - guard.go says what is never a credential: placeholders, references, ids, code.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Text is text that has been through the funnel. Its zero value is the empty text.
type Text struct{ s string }

// String returns the redacted text.
func (t Text) String() string { return t.s }

// MarshalJSON writes the redacted text as a JSON string. There is no way back: see the package comment.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.s) }

// JSON is a JSON document that has been through the funnel. Its zero value holds nothing.
type JSON struct{ b []byte }

// Bytes returns a copy of the document, so that nobody can write into it afterwards.
func (j JSON) Bytes() []byte { return slices.Clone(j.b) }

// MarshalJSON writes the document itself; the zero value is null.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.b == nil {
		return []byte("null"), nil
	}
	return j.b, nil
}

// failed stands where a rule broke: the text is dropped, because passing it on would be the greater harm.
const failed = "[REDACTED:error]"

// rounds bounds how often text is read again after something was found. One more than ever needed in
// fuzzing; text that still shows something new after them is dropped.
const rounds = 6

// Redactor takes credentials out of text. It does not change after New and may be used by many goroutines.
type Redactor struct {
	key   []byte
	known known
	index index
}

// New returns a redactor. key is secret to this installation and makes markers that tell equal credentials
// from different ones without giving either away. known are values known to be credentials; those shorter
// than 8 bytes or too common to be told from ordinary words are left out.
func New(key []byte, values []string) *Redactor {
	return &Redactor{key: slices.Clone(key), known: newKnown(values), index: newIndex()}
}

// Text returns s without the credentials in it. Each is replaced by [REDACTED:kind:h8], where h8 is the same
// for the same credential and key. Redacting the result again changes nothing.
func (r *Redactor) Text(s string) (t Text) {
	defer func() {
		if recover() != nil {
			t = Text{failed}
		}
	}()
	return Text{r.redact(s, hint{})}
}

// hint is what is known about text from where it stands.
type hint struct {
	name string // the field it is the value of
}

// redact reads s until nothing is left to find in it.
func (r *Redactor) redact(s string, h hint) string {
	for range rounds {
		found := r.find(s, h)
		if len(found) == 0 {
			return s
		}
		s = r.replace(s, found)
	}
	return failed
}

// find returns what to cut out of s, in order and without overlaps.
func (r *Redactor) find(s string, h hint) []span {
	v := decode(s, true)
	found := r.read(v, h)
	if v.join {
		found = append(found, r.read(decode(s, false), h)...)
	}
	if v.text != s {
		found = append(found, r.known.find(s)...)
	}
	return ordered(found)
}

// read runs every rule over a view.
func (r *Redactor) read(v view, h hint) []span {
	c := scan{s: v.text, index: &r.index, known: &r.known}
	c.field(h.name)
	c.run()
	return v.locate(ordered(append(r.known.find(v.text), c.out...)))
}

// replace puts a marker in the place of each span.
func (r *Redactor) replace(s string, found []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.from])
		if f.secret == "" {
			f.secret = s[f.from:f.to]
		}
		b.WriteString(r.marker(f.kind, f.secret))
		at = f.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// marker names the kind and, by a keyed hash, the credential.
func (r *Redactor) marker(kind, secret string) string {
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(secret))
	return "[REDACTED:" + kind + ":" + hex.EncodeToString(mac.Sum(nil)[:4]) + "]"
}

// span is a piece of text to cut out.
type span struct {
	from, to int
	kind     string
	secret   string // as decoded, so that it hashes alike however it was written; empty for the text itself
}

// ordered sorts spans and joins those that overlap under the kind of the first.
func ordered(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from < out[n-1].to {
			if last := &out[n-1]; s.to > last.to {
				last.to, last.secret = s.to, ""
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// inMarker says whether i lies inside a marker.
func inMarker(s string, i int) bool {
	from := max(0, i-longestMarker)
	n := strings.LastIndex(s[from:min(len(s), i+len(opening))], opening)
	return n >= 0 && markerEnd(s, from+n) > i
}

// opening begins every marker.
const opening = "[REDACTED"

// longestMarker is how long a marker may be, ours or another tool's.
const longestMarker = 60

// markerEnd returns where the marker that starts at i ends, or i when none starts there. Markers of other
// tools ([REDACTED], [REDACTED:github-pat]) count too.
func markerEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], opening) {
		return i
	}
	for j := i + len(opening); j < len(s) && j < i+longestMarker; j++ {
		switch b := s[j]; {
		case b == ']':
			return j + 1
		case b != ':' && b != '-' && charOf[b]&(lower|hexLower|digit) == 0:
			return i
		}
	}
	return i
}
