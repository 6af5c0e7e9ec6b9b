// Package query is what a person looks for: words, phrases, beginnings of words,
// and what must not be there. It reads whatever was typed, never with an error, and
// holds a text against it.
//
// It exists so that the ledger's index, the transcripts and the page that shows what
// was found mean the same by a word. It is pure, and it searches nothing by itself.
package query

import (
	"slices"
	"strings"
	"unicode"
)

// Bounds of a query: what is beyond them is not looked for.
const (
	maxTyped = 2000 // bytes
	maxTerms = 16
	maxWords = 16 // of a phrase
	// minPrefix is the shortest beginning of a word, in bytes: a shorter one is the
	// beginning of nearly everything, and taken for the word itself.
	minPrefix = 2
)

// Query is what is looked for. Each of Terms has to be in a text, none of Not.
type Query struct {
	Terms []Term
	Not   []Term
}

// Term is one word, or several that follow each other.
type Term struct {
	Words []string // as Words gives them
	// Prefix: the last word may go on.
	Prefix bool
}

func (t Term) String() string {
	s := strings.Join(t.Words, " ")
	if t.Prefix {
		s += "*"
	}
	if len(t.Words) > 1 {
		return `"` + s + `"`
	}
	return s
}

// Empty: there is nothing to look for.
func (q Query) Empty() bool { return len(q.Terms) == 0 }

// Parse reads what a person typed: words, "a phrase", the beginning of a word*, and
// -what must not be there. A word with punctuation in it, as names of files and
// functions have, is a phrase. Anything else is passed over.
func Parse(typed string) Query {
	if len(typed) > maxTyped {
		typed = typed[:maxTyped]
	}
	typed = strings.ToValidUTF8(typed, " ")
	var q Query
	for {
		typed = strings.TrimLeftFunc(typed, unicode.IsSpace)
		if typed == "" {
			return q
		}
		var part string
		rest, not := strings.CutPrefix(typed, "-")
		part, typed = cutPart(rest)
		t := termOf(part)
		if len(t.Words) == 0 {
			continue
		}
		into := &q.Terms
		if not {
			into = &q.Not
		}
		if len(*into) < maxTerms && !slices.ContainsFunc(*into, t.same) {
			*into = append(*into, t)
		}
	}
}

// quotes are the signs a phrase may stand between: what opens, and what closes it.
var quotes = []struct{ open, close string }{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}}

// cutPart cuts the next phrase or word off. A sign that opens a phrase which never
// ends is none.
func cutPart(s string) (part, rest string) {
	for _, q := range quotes {
		inner, found := strings.CutPrefix(s, q.open)
		if !found {
			continue
		}
		if part, rest, found = strings.Cut(inner, q.close); !found {
			return "", inner
		}
		if after, goesOn := strings.CutPrefix(rest, "*"); goesOn {
			return part + "*", after
		}
		return part, rest
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

func termOf(part string) Term {
	var t Term
	for w := range Words(part) {
		if len(t.Words) < maxWords {
			t.Words = append(t.Words, strings.Clone(w.Text))
		}
	}
	if n := len(t.Words); n > 0 && strings.HasSuffix(part, "*") {
		t.Prefix = len(t.Words[n-1]) >= minPrefix
	}
	return t
}

// Loose is the query with each of its words a term by itself.
func (q Query) Loose() Query {
	loose := Query{Not: q.Not}
	for _, t := range q.Terms {
		for i, w := range t.Words {
			one := Term{Words: []string{w}, Prefix: t.Prefix && i == len(t.Words)-1}
			if len(loose.Terms) < maxTerms && !slices.ContainsFunc(loose.Terms, one.same) {
				loose.Terms = append(loose.Terms, one)
			}
		}
	}
	return loose
}

func (t Term) same(u Term) bool { return t.Prefix == u.Prefix && slices.Equal(t.Words, u.Words) }

// Needles are what the bytes of a text must hold, in either case, to have every term
// in it: their plain words. A text with letters that MayFold knows may have them in
// another way.
func (q Query) Needles() []string {
	var out []string
	for _, t := range q.Terms {
		for _, w := range t.Words {
			if plainWord(w) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func plainWord(w string) bool {
	for i := range len(w) {
		if w[i] >= 0x80 {
			return false
		}
	}
	return true
}
