package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "",
		"Keep the Lexer":                 "keep the lexer",
		"src/old_lex.go:12":              "src old lex go 12",
		"don't":                          "don t",
		"Café CAFE\u0301 Żółć İstanbul":  "cafe cafe zolc istanbul",
		"naïve—it's":                     "naive it s",
		"x1 1x":                          "x1 1x",
		"搜索引擎 v2":                        "搜 索 引 擎 v2",
		"v2搜索":                           "v2 搜 索",
		"Ελλάδα Привет":                  "ελλάδα привет",
		"हिन्दी में K1":                  "हिन्दी में K1",
		"\x00\xff…—|":                    "",
		"a\xffb":                         "a b",
		strings.Repeat("é", 40) + " end": strings.Repeat("e", 40) + " end",
		strings.Repeat("я", 40):          strings.Repeat("я", 32),
	} {
		var got []string
		for w := range Words(text) {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("words of %q: %q, want %q", text, strings.Join(got, " "), want)
		}
	}
	if utf8.RuneCountInString(accented) != len(unaccented) || len(accented) != 2*len(unaccented) {
		t.Errorf("%d accented letters in %d bytes stand for %d plain ones", utf8.RuneCountInString(accented), len(accented), len(unaccented))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"":                          "",
		"  \t ":                     "",
		"keep the lexer":            "keep, the, lexer",
		`"old lexer" -parser`:       `"old lexer"; not parser`,
		`“old lexer”`:               `"old lexer"`,
		`never closed "old lexer`:   `never, closed, old, lexer`,
		"tok*":                      "tok*",
		"a*":                        "a",
		`"go tes"*`:                 `"go tes*"`,
		"file001.go":                `"file001 go"`,
		"-":                         "",
		"--":                        "",
		"-- -x":                     "; not x",
		"a a A":                     "a",
		`AND OR NOT ( ) ^ : * NEAR`: "and, or, not, near",
		`"`:                         "",
		`""`:                        "",
		`say"it loud"`:              `say, "it loud"`,
		"DROP TABLE entry; --":      "drop, table, entry",
	} {
		q := Parse(typed)
		var terms, not []string
		for _, x := range q.Terms {
			terms = append(terms, x.String())
		}
		for _, x := range q.Not {
			not = append(not, x.String())
		}
		got := strings.Join(terms, ", ")
		if len(not) > 0 {
			got += "; not " + strings.Join(not, ", ")
		}
		if got != want {
			t.Errorf("%q is read as %s, want %s", typed, got, want)
		}
	}
	many := Parse(strings.Repeat("w1 w2 w3 w4 w5 w6 w7 w8 w9 ", 1) + "x1 x2 x3 x4 x5 x6 x7 x8 x9")
	if len(many.Terms) != maxTerms {
		t.Errorf("%d terms, want %d", len(many.Terms), maxTerms)
	}
	if long := Parse(strings.Repeat("word ", 1_000_000)); len(long.Terms) != 1 {
		t.Errorf("a long query has %d terms", len(long.Terms))
	}
}

func TestLoose(t *testing.T) {
	t.Parallel()
	var got []string
	for _, term := range Parse(`"old lexer" lexer.g* -"new lexer"`).Loose().Terms {
		got = append(got, term.String())
	}
	if fmt.Sprint(got) != "[old lexer g]" { // g* is too short to be the beginning of anything
		t.Errorf("loosened to %v", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, text string
		all         bool
		spans       string
	}{
		{"lexer", "The Lexer, the lexer.", true, "[Lexer lexer]"},
		{"old lexer", "the lexer is old", true, "[lexer old]"},
		{`"old lexer"`, "the lexer is old", false, "[]"},
		{`"old lexer"`, "an old\n\tlexer", true, "[old\n\tlexer]"},
		{"lexer -old", "an old lexer", false, "[lexer]"},
		{"lex*", "lexing a Lexer", true, "[lexing Lexer]"},
		{"lex", "lexing", false, "[]"},
		{"handle_part", "call handlePart or handle_part()", true, "[handle_part]"},
		{"cafe", "au Café", true, "[Café]"},
		{"索引", "搜索引擎", true, "[索引]"},
		{"one two", "one only", false, "[one]"},
	} {
		f := Parse(c.typed).Find(c.text)
		var spans []string
		for _, s := range f.Spans {
			spans = append(spans, c.text[s.From:s.To])
		}
		if f.All() != c.all || fmt.Sprint(spans) != c.spans {
			t.Errorf("%q in %q: all %v, %v; want %v, %s", c.typed, c.text, f.All(), spans, c.all, c.spans)
		}
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("nothing to see here. ", 50)
	for _, c := range []struct{ typed, text, want string }{
		{"lexer", "Keep the  lexer\nas it is", "Keep the [lexer] as it is"},
		{"lexer old", far + "the old\n lexer stays " + far, "…to see here. the [old] [lexer] stays nothing to see here. nothing to see here. nothing…"},
		{"lexer", "lexer " + far, "[lexer] nothing to see here. nothing to see here. nothing to see here. nothing to see…"},
		{"why lexer", "keep the lexer\n\n why\nnot\n\n", "keep the [lexer] · [why] not"},
		{`"the old" old`, "by the old way", "by [the old] way"},
		{"x", "", ""},
	} {
		s, _ := Parse(c.typed).Find(c.text).Snippet(c.text, 80)
		if got := marked(s); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.typed, got, c.want)
		}
	}
}

// marked is a snippet with its marks in brackets.
func marked(s Snippet) string {
	out := s.Text
	for _, m := range slices.Backward(s.Marks) {
		out = out[:m.From] + "[" + out[m.From:m.To] + "]" + out[m.To:]
	}
	return out
}

func TestNeedles(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(Parse(`Lexer "go test ./x" Café -no 索引`).Needles()); got != "[lexer go test x cafe]" {
		t.Errorf("needles %s", got)
	}
}

// FuzzQuery: whatever is typed is read, bounded, and what a text is found to have
// stands in it.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{{"keep lexer", "Keep the lexer"}, {`"a b" -c d*`, "a b d"}, {"“x” é* -", "x été\xff"}, {"索引", "搜索引擎\n"}, {strings.Repeat("a ", 900), "a"}, {"0", strings.Repeat("\x8c", 300)}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, typed, text string) {
		q := Parse(typed)
		if len(q.Terms) > maxTerms || len(q.Not) > maxTerms {
			t.Fatalf("%d and %d terms", len(q.Terms), len(q.Not))
		}
		for _, term := range append(q.Terms, q.Not...) {
			for _, w := range term.Words {
				if w == "" || len(w) > MaxWord || !utf8.ValidString(w) {
					t.Fatalf("word %q", w)
				}
			}
		}
		found := q.Find(text)
		for _, s := range found.Spans {
			if s.From < 0 || s.From >= s.To || s.To > len(text) {
				t.Fatalf("span %v of %d bytes", s, len(text))
			}
		}
		s, _ := found.Snippet(text, 100)
		if n := utf8.RuneCountInString(s.Text); n > 100+60+2 {
			t.Fatalf("a snippet of %d characters", n)
		}
		last := 0
		for _, m := range s.Marks {
			if m.From < last || m.To <= m.From || m.To > len(s.Text) {
				t.Fatalf("marks %v in %q", s.Marks, s.Text)
			}
			last = m.To
		}
	})
}
