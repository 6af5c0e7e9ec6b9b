package transcript

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/query"
)

func written(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSearch(t *testing.T) {
	t.Parallel()
	text := []byte("{\"text\":\"Keep the Lexer\"}\n{\"text\":\"au café\"}\n{\"text\":\"the old lexer\\nstays\"}\n{\"text\":\"LEXERS\"}\n")
	for _, c := range []struct {
		typed string
		want  string // offsets
	}{
		{"lexer", "[0 26 46 78]"}, // the second may have it in another way, as it has accents, the last has its bytes
		{"lexer old", "[26 46]"},
		{`"old lexer" -stays`, "[26 46]"}, // what must not be there is for who reads the line
		{"cafe", "[26]"},
		{"nothing", "[26]"},
		{"索引", "[0 26 46 78]"},
	} {
		for _, path := range []string{written(t, "plain.jsonl", text), written(t, "packed.jsonl.gz", packed(t, text))} {
			var got []int64
			err := Search(t.Context(), path, query.Parse(c.typed), func(_ []byte, offset int64) error {
				got = append(got, offset)
				return nil
			}, func() bool { return false })
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%s in %s: %v, %v; want %s", c.typed, filepath.Base(path), got, err, c.want)
			}
		}
	}
}

// TestSearchBeginsAtTheEnd: a large file is read in pieces from its end, until it is
// enough; no line is missed or met twice.
func TestSearchBeginsAtTheEnd(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	n := 0
	for size := 1; b.Len() < 3*piece; size = size*7%100_003 + 1 { // lines of any length
		fmt.Fprintf(&b, "line %d lexer %s\n", n, strings.Repeat("x", size))
		n++
	}
	fmt.Fprintf(&b, "%s\n", strings.Repeat("lexer ", 3*piece/6)) // and one longer than a piece
	fmt.Fprint(&b, "line without its end: lexer")
	path := written(t, "large.jsonl", b.Bytes())
	for stop, want := range map[int]int{100: n + 1, 2: -1, 1: 0} { // after so many pieces; -1: some, 0: that has no whole line
		seen := map[int64]bool{}
		pieces, last := 0, int64(-1)
		err := Search(t.Context(), path, query.Parse("lexer"), func(line []byte, offset int64) error {
			if seen[offset] || last > offset {
				t.Errorf("line at %d after %d", offset, last)
			}
			seen[offset], last = true, offset
			if !bytes.HasPrefix(b.Bytes()[offset:], line) {
				t.Errorf("no such line at %d", offset)
			}
			return nil
		}, func() bool { pieces++; last = -1; return pieces == stop })
		if err != nil {
			t.Error(err)
		}
		if want >= 0 && len(seen) != want || want < 0 && (len(seen) < 2 || len(seen) > n) {
			t.Errorf("%d pieces give %d lines of %d", pieces, len(seen), n+1)
		}
	}
}

func TestSearchStops(t *testing.T) {
	t.Parallel()
	path := written(t, "a.jsonl", []byte(strings.Repeat("lexer\n", 100)))
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := Search(ctx, path, query.Parse("lexer"), func([]byte, int64) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	}, func() bool { return false })
	if n != 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d lines, %v", n, err)
	}
	if err := Search(t.Context(), filepath.Join(t.TempDir(), "none"), query.Parse("x"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("a line of a transcript\n", 100_000))
	zip := packed(t, text)
	broken := bytes.Clone(zip)
	broken[len(broken)/2] ^= 0xff
	for name, c := range map[string]struct {
		data []byte
		torn bool
	}{
		"plain.jsonl": {text, false}, "packed.gz": {zip, false}, "torn.gz": {zip[:len(zip)-100], true}, "without-end.gz": {zip[:len(zip)-4], true},
		"head-only.gz": {zip[:5], true}, "broken.gz": {broken, true}, "empty.jsonl": {nil, false},
	} {
		err := Whole(t.Context(), written(t, name, c.data))
		if errors.Is(err, ErrTorn) != c.torn || !c.torn && err != nil {
			t.Errorf("%s: %v, torn %v wanted", name, err, c.torn)
		}
	}
}

// A mark before the first line is no part of it, and offsets count it.
func TestMark(t *testing.T) {
	t.Parallel()
	text := []byte("\xef\xbb\xbf{\"a\":1}\n{\"b\":2}\n")
	for _, path := range []string{written(t, "plain.jsonl", text), written(t, "packed.gz", packed(t, text))} {
		head, err := Head(path, 8)
		if err != nil || string(head) != "{\"a\":1}\n" {
			t.Errorf("head %q, %v", head, err)
		}
		var got []string
		next, err := Lines(path, 0, 0, func(line []byte, offset int64) error {
			got = append(got, fmt.Sprint(offset, string(line)))
			return nil
		})
		if err != nil || next != int64(len(text)) || fmt.Sprint(got) != `[0{"a":1} 11{"b":2}]` {
			t.Errorf("%v, next %d, %v", got, next, err)
		}
	}
}

// FuzzSieve: a glance at the bytes never loses a line that has what is looked for.
func FuzzSieve(f *testing.F) {
	for _, seed := range [][2]string{{"lexer", "The LEXER"}, {"cafe", "Café CAFE\u0301"}, {"k", "\u212a"}, {`"a b" c*`, "A, b. cd"}, {"索引 x", "索引X"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, typed, text string) {
		q := query.Parse(typed)
		s := sieve{needles: needles(q)}
		if !q.Empty() && q.Find(text).All() && !s.passes([]byte(text)) {
			t.Fatalf("%q is in %q and was lost", typed, text)
		}
	})
}
