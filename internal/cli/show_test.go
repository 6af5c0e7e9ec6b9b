package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		n, most  int
		want     []string
	}{
		{"empty", " \n", 10, 0, nil},
		{"between words", "the quick brown fox", 9, 0, []string{"the quick", "brown fox"}},
		{"names are never broken", "see internal/handover/build.go now", 10, 0, []string{"see", "internal/handover/build.go", "now"}},
		{"what is cut ends in …", "one two three four five six", 9, 2, []string{"one two", "three…"}},
		{"glue holds", "done, working-set" + glue + "12", 12, 0, []string{"done,", "working-set 12"}},
		{"line ends are blanks", "a\nb\tc", 80, 0, []string{"a b c"}},
	} {
		if got := wrap(c.in, c.n, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: wrap(%q, %d, %d) = %q, want %q", c.name, c.in, c.n, c.most, got, c.want)
		}
	}
}

func TestTame(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain – ✓ text":                      "plain – ✓ text",
		"red \x1b[31mtext\x1b[0m":             "red text",
		"a title \x1b]0;owned\x07here":        "a title here",
		"a link \x1b]8;;http://x\x1b\\there":  "a link there",
		"unended \x1b]0;owned\nthe next line": "unended \nthe next line",
		"bell\x07, back\x08, del\x7f":         "bell, back, del",
		"an 8-bit \u009b31mone":               "an 8-bit 31mone",
		"tabs\tand\nlines stay":               "tabs\tand\nlines stay",
	} {
		if got := tame(in); got != want {
			t.Errorf("tame(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzTame(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mred", "\x1b]0;t\x07", "\x1bP\x1b\\x", "\u009b", "\xc2", "a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := tame(s)
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("tame(%q) = %q, which drives a terminal", s, got)
			}
		}
		if strings.Count(s, "\n") != strings.Count(got, "\n") {
			t.Fatalf("tame(%q) = %q: a line is gone", s, got)
		}
		for _, l := range wrap(s, 20, 3) {
			if utf8.RuneCountInString(l) > 20 && strings.Contains(l, " ") && !strings.Contains(s, glue) {
				t.Fatalf("wrap(%q): %q is wider than 20 and has a blank to break at", s, l)
			}
		}
	})
}

// terminal runs a command as a person at a terminal.
func (w *tale) terminal(width int, args ...string) string {
	w.t.Helper()
	var out, errs bytes.Buffer
	a := &App{Args: args, In: strings.NewReader(""), Out: &out, Err: &errs, Dir: w.dir, Program: "duplex", OutTerminal: true, Width: width,
		Now: w.clock, Getenv: func(k string) string { return w.env[k] }}
	if code := Main(context.Background(), a); code != ExitOK {
		w.t.Fatalf("duplex %s: exit %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// TestTerminal: colour is for terminals only, it is ours only, and lines fit.
func TestTerminal(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	w.monday()
	w.must("raise", "look at \x1b]0;owned\x07this \x1b[5mblinking\x1b[0m line")
	for _, args := range [][]string{{"show"}, {"log"}, {"log", "--full"}, {"log", "--decided"}, {"cost"}, {"verify"}, {"config"}, {"brief"}} {
		for _, width := range []int{80, 200} {
			out := w.terminal(width, args...)
			for _, l := range strings.Split(out, "\n") {
				bare := l
				for _, code := range []string{bold, dim, colourAsk, colourFail, colourOK, "0"} {
					bare = strings.ReplaceAll(bare, "\x1b["+code+"m", "")
				}
				if strings.ContainsRune(bare, 0x1b) || strings.ContainsRune(bare, 0x07) {
					t.Errorf("%v: an escape that is not ours: %q", args, l)
				}
				if args[0] == "log" && runes(bare) > width {
					t.Errorf("%v at %d columns: %d: %q", args, width, runes(bare), bare)
				}
			}
		}
		if piped := w.must(args...); strings.ContainsRune(piped, 0x1b) {
			t.Errorf("%v: an escape in a pipe: %q", args, piped)
		}
	}
	if !strings.Contains(w.terminal(100, "show"), "\x1b["+colourFail+"m✕") {
		t.Error("show has no red ✕ on a terminal")
	}
	w.env["NO_COLOR"] = "1"
	if out := w.terminal(100, "show"); strings.ContainsRune(out, 0x1b) {
		t.Errorf("NO_COLOR is not obeyed: %q", out)
	}
}
