package transcript_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/transcript"
)

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func pack(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, b.String())
}

type given struct {
	Line   string
	Offset int64
}

func read(t testing.TB, path string, from, limit int64) ([]given, int64) {
	t.Helper()
	var got []given
	next, err := transcript.Lines(path, from, limit, func(line []byte, offset int64) error {
		got = append(got, given{string(line), offset})
		return nil
	})
	if err != nil {
		t.Fatalf("from %d: %v", from, err)
	}
	return got, next
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text  string
		from, limit int64
		want        []given
		next        int64
	}{
		{"empty", "", 0, 0, nil, 0},
		{"whole lines", "a\nbb\n", 0, 0, []given{{"a", 0}, {"bb", 2}}, 5},
		{"a torn last line waits", "a\nbb", 0, 0, []given{{"a", 0}}, 2},
		{"only a torn line", "abc", 0, 0, nil, 0},
		{"from an offset", "a\nbb\nc\n", 2, 0, []given{{"bb", 2}, {"c", 5}}, 7},
		{"at the end", "a\n", 2, 0, nil, 2},
		{"empty lines", "\na\n \n\nb\n", 0, 0, []given{{"a", 1}, {"b", 6}}, 8},
		{"lines of another system", "a\r\nb\r\n", 0, 0, []given{{"a", 0}, {"b", 3}}, 6},
		{"a limit inside a line ends after it", "aaaa\nb\nc\n", 0, 2, []given{{"aaaa", 0}}, 5},
		{"a limit from an offset", "aaaa\nb\nc\n", 5, 2, []given{{"b", 5}}, 7},
	} {
		got, next := read(t, write(t, c.text), c.from, c.limit)
		if !reflect.DeepEqual(got, c.want) || next != c.next {
			t.Errorf("%s: got %v, next %d; want %v, next %d", c.name, got, next, c.want, c.next)
		}
	}
}

func TestPackedLines(t *testing.T) {
	t.Parallel()
	path := pack(t, "a\nbb\nc")
	got, next := read(t, path, 0, 0)
	if want := []given{{"a", 0}, {"bb", 2}, {"c", 5}}; !reflect.DeepEqual(got, want) || next != 6 {
		t.Errorf("got %v, next %d", got, next)
	}
	if got, next := read(t, path, 2, 1); !reflect.DeepEqual(got, []given{{"bb", 2}}) || next != 5 {
		t.Errorf("from 2: got %v, next %d", got, next)
	}
	if got, next := read(t, path, 6, 0); got != nil || next != 6 {
		t.Errorf("from the end: got %v, next %d", got, next)
	}
	if head, err := transcript.Head(path, 4); err != nil || string(head) != "a\nbb" {
		t.Errorf("head %q, %v", head, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transcript.Lines(write(t, string(text[:len(text)-6])), 0, 0, func([]byte, int64) error { return nil }); err == nil {
		t.Error("a packed file that breaks off is taken for whole")
	}
}

// TestGrowing reads a file as its writer tears it, and misses nothing.
func TestGrowing(t *testing.T) {
	t.Parallel()
	var whole strings.Builder
	for i := range 300 {
		fmt.Fprintf(&whole, "{\"n\":%d,\"pad\":%q}\n", i, strings.Repeat("x", i%97))
	}
	path := write(t, "")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var seen strings.Builder
	var at int64
	for rest, step := whole.String(), 1; rest != ""; step = step*7%113 + 1 {
		n := min(step, len(rest))
		if _, err := f.WriteString(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		got, next := read(t, path, at, 0)
		for _, g := range got {
			if g.Offset != int64(seen.Len()) {
				t.Fatalf("line at %d, want %d", g.Offset, seen.Len())
			}
			seen.WriteString(g.Line + "\n")
		}
		at = next
	}
	if seen.String() != whole.String() {
		t.Error("the lines read are not the lines written")
	}
}

func TestRewritten(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"shorter":         write(t, "a\n"),
		"shorter, packed": pack(t, "a\n"),
		"replaced":        write(t, "a longer first line\nb\n"),
		"packed anew":     pack(t, "a longer first line\nb\n"),
		"empty":           write(t, ""),
	} {
		next, err := transcript.Lines(path, 9, 0, func([]byte, int64) error { return errors.New("no line is to be read") })
		if !errors.Is(err, transcript.ErrRewritten) || next != 9 {
			t.Errorf("%s: next %d, error %v", name, next, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	fits := strings.Repeat("f", transcript.MaxLine-1)
	over := strings.Repeat("o", transcript.MaxLine+1)
	got, next := read(t, write(t, "a\n"+over+"\n"+fits+"\nb\n"), 0, 0)
	if len(got) != 4 {
		t.Fatalf("%d lines, want 4", len(got))
	}
	if got[1].Line != over[:transcript.Stub] || got[2].Line != fits || got[3].Line != "b" {
		t.Errorf("lines of %d, %d, %d bytes", len(got[1].Line), len(got[2].Line), len(got[3].Line))
	}
	if want := int64(len(over) + len(fits) + 6); next != want || got[3].Offset != want-2 {
		t.Errorf("next %d, last line at %d, want %d, %d", next, got[3].Offset, want, want-2)
	}
}

// TestMemory: one line is held at a time, however long the file and its lines.
func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range 3 {
		for range 40 { // a line of 40 MB
			if _, err := f.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got, _ := read(t, path, 0, 0); len(got) != 3 || len(got[0].Line) != transcript.Stub {
		t.Fatalf("%d lines", len(got))
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 { // of 120 MB read, in three lines
		t.Errorf("%d MB allocated", grown>>20)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	path := write(t, "a\nb\nc\n")
	next, err := transcript.Lines(path, 0, 0, func(_ []byte, offset int64) error {
		if offset == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || next != 2 {
		t.Errorf("next %d, error %v; want 2, stop", next, err)
	}
	next, err = transcript.Lines(path, 0, 0, func([]byte, int64) error { return transcript.ErrStop })
	if err != nil || next != 2 {
		t.Errorf("enough: next %d, error %v; want 2, none", next, err)
	}
	if _, err := transcript.Lines(path+"x", 0, 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := transcript.Lines(t.TempDir(), 0, 0, nil); err == nil {
		t.Error("a folder is read")
	}
	if _, err := transcript.Head(path+"x", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("head of a file that is not there: %v", err)
	}
	if head, err := transcript.Head(path, 100); err != nil || string(head) != "a\nb\nc\n" {
		t.Errorf("head %q, %v", head, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[odd]")
	for _, name := range []string{"s1/subagents/agent-a.jsonl", "s1/subagents/agent-b.jsonl", "s1/subagents/agent-a.meta.json",
		"s1/subagents/workflows/w1/agent-c.jsonl", "s1/subagents/workflows/w2/agent-d.jsonl", "s1/subagents/workflows/note.txt"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string][]string{
		"s1/subagents/agent-*.jsonl":             {"s1/subagents/agent-a.jsonl", "s1/subagents/agent-b.jsonl"},
		"s1/subagents/workflows/*/agent-*.jsonl": {"s1/subagents/workflows/w1/agent-c.jsonl", "s1/subagents/workflows/w2/agent-d.jsonl"},
		"s1/subagents/agent-a.jsonl":             {"s1/subagents/agent-a.jsonl"},
		"s1/subagents/agent-z.jsonl":             nil,
		"s2/*.jsonl":                             nil,
		"s1/*/*a*.json*":                         {"s1/subagents/agent-a.jsonl", "s1/subagents/agent-a.meta.json", "s1/subagents/agent-b.jsonl"},
	} {
		got, err := transcript.Find(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		var short []string
		for _, path := range got {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			short = append(short, filepath.ToSlash(rel))
		}
		if !reflect.DeepEqual(short, want) {
			t.Errorf("%s: got %v, want %v", pattern, short, want)
		}
	}
}

// FuzzLines: whatever a file holds and wherever reading is cut, the lines are
// those of the file, each once.
func FuzzLines(f *testing.F) {
	f.Add("a\nbb\n\nc", int64(3))
	f.Add("\r\n \n{}\n", int64(1))
	f.Add("\x1f\x8b\n", int64(2))
	f.Fuzz(func(t *testing.T, text string, limit int64) {
		if strings.HasPrefix(text, "\x1f\x8b") {
			text = " " + text
		}
		path := write(t, text)
		var got []string
		var at int64
		for {
			lines, next := read(t, path, at, max(1, limit%64))
			for _, l := range lines {
				got = append(got, l.Line)
			}
			if next == at {
				break
			}
			at = next
		}
		var want []string
		end := strings.LastIndexByte(text, '\n') + 1
		for _, line := range strings.SplitAfter(text[:end], "\n") {
			if line = strings.TrimRight(line, "\r\n"); len(bytes.TrimSpace([]byte(line))) > 0 {
				want = append(want, line)
			}
		}
		if !reflect.DeepEqual(got, want) || at != int64(end) {
			t.Errorf("got %q up to %d, want %q up to %d", got, at, want, end)
		}
	})
}
