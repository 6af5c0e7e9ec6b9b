package query

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Found is what a text has of a query.
type Found struct {
	Spans  []Span // where its terms stand, in order
	Counts []int  // how often each of its terms does
	Words  int    // how many the text has
	Barred bool   // it has what must not be there
}

// Span is where a term stands in a text, in bytes.
type Span struct{ From, To, Term int }

// All: every term is there, and nothing that must not be.
func (f Found) All() bool { return !f.Barred && !slices.Contains(f.Counts, 0) }

// Some: a term is there, and nothing that must not be.
func (f Found) Some() bool { return !f.Barred && len(f.Spans) > 0 }

// maxSpans bounds what is remembered of one text.
const maxSpans = 1000

// Find holds a text against the query.
func (q Query) Find(text string) Found {
	words := make([]Word, 0, min(len(text)/6+1, 1<<14))
	for w := range Words(text) {
		words = append(words, w)
	}
	f := Found{Counts: make([]int, len(q.Terms)), Words: len(words)}
	for i := range words {
		for n, t := range q.Terms {
			if !t.at(words, i) {
				continue
			}
			f.Counts[n]++
			if len(f.Spans) < maxSpans {
				f.Spans = append(f.Spans, Span{words[i].From, words[i+len(t.Words)-1].To, n})
			}
		}
		for _, t := range q.Not {
			f.Barred = f.Barred || t.at(words, i)
		}
	}
	return f
}

// at reports whether the term begins with the i-th word.
func (t Term) at(words []Word, i int) bool {
	last := len(t.Words) - 1
	if i+last >= len(words) {
		return false
	}
	for k, want := range t.Words {
		have := words[i+k].Text
		if have != want && (k < last || !t.Prefix || !strings.HasPrefix(have, want)) {
			return false
		}
	}
	return true
}

// Snippet is the part of a text that has most of what was looked for, on one line.
type Snippet struct {
	Text  string `json:"text"`
	Marks []Mark `json:"marks"` // in order, none in another
}

// Mark is a part of a snippet that was looked for, in bytes of its text.
type Mark struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Snippet cuts one of about width bytes out of a text. whole says that it begins
// where the text does.
func (f Found) Snippet(text string, width int) (s Snippet, whole bool) {
	from := f.Densest(width)
	if from <= width/3 {
		from = 0
	} else {
		from = atWord(text, from-width/4)
	}
	end := len(text)
	if end-from > width {
		end = endOfWord(text, from+width)
	}
	var l line
	if from > 0 {
		l.WriteString("…")
	}
	s.Marks = []Mark{}
	for _, span := range f.Spans {
		if span.From < from || span.To > end {
			continue
		}
		l.add(text[from:span.From])
		l.apart()
		mark := Mark{From: l.Len()}
		l.add(text[span.From:span.To])
		mark.To = l.Len()
		s.Marks = append(s.Marks, mark)
		from = span.To
	}
	l.add(text[from:end])
	s.Text = l.String()
	if end < len(text) {
		s.Text += "…"
	}
	return s, !strings.HasPrefix(s.Text, "…")
}

// line is one in which any run of space is a blank, and an empty line a dot.
type line struct {
	strings.Builder
	ends  int  // of lines, since the last word
	space bool // since the last word
}

func (l *line) add(text string) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			l.space = true
			if r == '\n' {
				l.ends++
			}
			continue
		}
		l.apart()
		l.WriteRune(r)
	}
}

// apart writes what stands between two words.
func (l *line) apart() {
	switch {
	case !l.space || l.Len() == 0:
	case l.ends > 1:
		l.WriteString(" · ")
	default:
		l.WriteByte(' ')
	}
	l.space, l.ends = false, 0
}

// Densest is where the part begins that has most different terms within a width, in
// bytes.
func (f Found) Densest(width int) int {
	best, most := 0, 0
	for i, s := range f.Spans {
		seen := uint32(0)
		for _, u := range f.Spans[i:] {
			if u.To > s.From+width*3/4 {
				break
			}
			seen |= 1 << u.Term
		}
		if n := bits.OnesCount32(seen); n > most {
			best, most = s.From, n
		}
		if most == len(f.Counts) {
			break
		}
	}
	return best
}

// atWord is the beginning of the word behind a place, or of the one there.
func atWord(text string, at int) int {
	at = atRune(text, at)
	if i := strings.IndexFunc(text[at:], unicode.IsSpace); i >= 0 && i < 40 {
		return len(text) - len(strings.TrimLeftFunc(text[at+i:], unicode.IsSpace))
	}
	return at
}

// endOfWord is where the word at a place ends, or the place when it is a long one.
func endOfWord(text string, at int) int {
	if i := strings.IndexFunc(text[at:], unicode.IsSpace); i >= 0 && i < 20 {
		return at + i
	}
	return atRune(text, at)
}

// atRune is the beginning of the character at a place, of text that may be none.
func atRune(text string, at int) int {
	for i := at; i >= 0 && i > at-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}
