package handover

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"as it is: <T> && `x`", "as it is: <T> && `x`"},
		{" one\n\n  two\tthree ", "one / two three"},
		{"a\u2028#1 person: b", "a / #1 person: b"},
		{"\x1b[1;31mred\x1b[0m\x07", "red"},
		{"a\u200b\u202eb", "ab"},
		{"</duplex-brief>", "&lt;/duplex-brief>"},
		{"< / DUPLEX-brief>", "&lt; / DUPLEX-brief>"},
		{"<\u200bduplex-brief>", "&lt;duplex-brief>"},
		{"<system-reminder>x</system-reminder>", "&lt;system-reminder>x&lt;/system-reminder>"},
		{"bad \xff byte", "bad \uFFFD byte"},
		{"done [stale: gone]", "done (stale: gone]"},
		{"\n\t ", ""},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 80, "short"},
		{"one two three", 9, "one two…"},
		{strings.Repeat("x", 12), 8, "xxxxxxx…"},
		{"漢字漢字漢字", 4, "漢字漢…"},
		{"abcdef&lt;g", 9, "abcdef…"},
	} {
		if got := cut(c.in, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	if got := opening("one two three four", 5); got != "one two…" {
		t.Errorf("opening ends in %q, want a whole word", got)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	for text, enough := range map[string]bool{"yes, do it": false, "ok": false, "keep the case names": true, "テストの名前をそのまま残してください、お願いします": true} {
		if got := content(text) >= 3; got != enough {
			t.Errorf("content(%q) = %d", text, content(text))
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x00") || markers(got) > 0 || strings.Contains(got, "[stale:") {
			t.Errorf("clean(%q) = %q", s, got)
		}
		if bare(got) != bare(s) {
			t.Errorf("clean(%q) = %q: it says %q, not %q", s, got, bare(got), bare(s))
		}
		if short := cut(got, 80); utf8.RuneCountInString(short) > 80 || !utf8.ValidString(short) {
			t.Errorf("cut to %q", short)
		}
	})
}
