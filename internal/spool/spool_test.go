package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-5777983b/duplex/internal/redact"
)

func TestAppendAndDrain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet")
	lines := []string{`{"n":1}`, `{"n":2,"text":"a\nb"}`, strings.Repeat("x", 200_000), "{\"n\":\n4}"}
	for _, line := range lines {
		if err := add(dir, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if size, err := Size(dir); err != nil || size < 200_000 {
		t.Errorf("size is %d (%v), want above 200,000", size, err)
	}
	got, report := drainAll(t, dir)
	lines[3] = `{"n": 4}` // the line break in JSON became a space
	if !slices.Equal(got, lines) || report.Lines != 4 || report.Torn != 0 {
		t.Errorf("got %.100q and %+v, want %.100q", got, report, lines)
	}
	if got, _ := drainAll(t, dir); len(got) != 0 {
		t.Errorf("a second drain delivers %q", got)
	}
	if size, err := Size(dir); err != nil || size != 0 {
		t.Errorf("size is %d (%v) after the drain, want 0", size, err)
	}
}

func TestAppendTakesRedactedLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line, err := redact.New([]byte("key"), nil).JSON(map[string]string{"password": "correct-horse-" + "battery-staple", "text": "a\nb"})
	must(t, err)
	must(t, Append(dir, line))
	got, _ := drainAll(t, dir)
	if len(got) != 1 || got[0] != string(line.Bytes()) || strings.Contains(got[0], "battery") {
		t.Errorf("delivered %q, want %q with the password taken out", got, line.Bytes())
	}
	if err := Append(dir, redact.JSON{}); err == nil {
		t.Error("the zero line, which holds nothing, is taken")
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	if err := add(dir, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, waiting)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if others := info.Mode().Perm() & 0o077; others != 0 && os.PathSeparator == '/' {
			t.Errorf("%s is open to others: %v", path, info.Mode())
		}
	}
}

func TestDrainOfNothing(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if got, report := drainAll(t, dir); len(got) != 0 || report.Lines+report.Torn != 0 {
			t.Errorf("%s delivers %q, %+v", dir, got, report)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := add(dir, make([]byte, MaxLine+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("a line over the limit: got %v", err)
	}
	if err := add(dir, nil); err == nil {
		t.Error("an empty line is taken")
	}
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := add(blocked, []byte("{}")); err == nil {
		t.Error("a spool in the place of a file is no error")
	}
	if got, _ := drainAll(t, dir); len(got) != 0 {
		t.Errorf("what was refused is delivered: %q", got)
	}
}

// A torn or damaged line costs that line, whatever it was cut to.
func TestTornLine(t *testing.T) {
	t.Parallel()
	whole, err := encode([]byte(`{"n":2}`))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			appendRaw := func(b []byte) {
				f, err := open(filepath.Join(dir, waiting))
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			must(t, add(dir, []byte(`{"n":1}`)))
			appendRaw(whole[:cut])
			must(t, add(dir, []byte(`{"n":3}`)))
			got, report := drainAll(t, dir)
			want := []string{`{"n":1}`, `{"n":3}`}
			if cut == len(whole)-1 { // only the last newline is missing
				want = []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if torn := cut > 1 && cut < len(whole)-1; torn != (report.Torn == 1) {
				t.Fatalf("%d torn", report.Torn)
			} else if torn {
				if kept := readFile(t, report.Kept[0]); kept != string(whole[1:cut])+"\n" {
					t.Errorf("put aside is %q, want %q", kept, whole[1:cut])
				}
			}
		})
	}
}

func TestChangedByte(t *testing.T) {
	t.Parallel()
	for i := range len("\n00000000 {}\n") {
		dir := t.TempDir()
		must(t, add(dir, []byte("{}")))
		path := filepath.Join(dir, waiting)
		content := []byte(readFile(t, path))
		content[i] ^= 0x20
		must(t, os.WriteFile(path, content, 0o600))
		must(t, add(dir, []byte(`{"next":true}`)))
		got, _ := drainAll(t, dir)
		if len(got) == 0 || got[len(got)-1] != `{"next":true}` {
			t.Errorf("with byte %d changed got %q, want the next line whole", i, got)
		}
		if slices.Contains(got, "") || len(got) > 2 || len(got) == 2 && got[0] != "{}" {
			t.Errorf("with byte %d changed something else is delivered: %q", i, got)
		}
	}
}

func TestRestWaitsWhenDeliveryFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 5 {
		must(t, add(dir, fmt.Appendf(nil, "line %d", i)))
		if i == 1 {
			f, err := open(filepath.Join(dir, waiting))
			must(t, err)
			_, err = f.WriteString("\ndamaged\n")
			must(t, errors.Join(err, f.Close()))
		}
	}
	locked := errors.New("store is locked")
	var first []string
	report, err := Drain(dir, 1, alone(func(line []byte) error {
		if string(line) == "line 3" {
			return locked
		}
		first = append(first, string(line))
		return nil
	}))
	if !errors.Is(err, locked) || report.Lines != 3 || report.Torn != 1 {
		t.Errorf("got %+v, %v; want 3 lines, 1 torn, and that the store is locked", report, err)
	}
	must(t, add(dir, []byte("line 5")))
	second, again := drainAll(t, dir)
	if got, want := append(first, second...), []string{"line 0", "line 1", "line 2", "line 3", "line 4", "line 5"}; !slices.Equal(got, want) {
		t.Errorf("delivered %q, want %q", got, want)
	}
	if again.Torn != 0 || readFile(t, report.Kept[0]) != "damaged\n" {
		t.Errorf("the second drain reports %+v; the line put aside is %q", again, readFile(t, report.Kept[0]))
	}
}

func TestNothingIsRewrittenWhenTheFirstLineFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, add(dir, []byte("one")))
	for range 3 {
		if _, err := Drain(dir, 1, func([][]byte) error { return errors.New("no") }); err == nil {
			t.Fatal("an error of the store is lost")
		}
		must(t, add(dir, []byte("more")))
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("files are %v (%v), want the one being drained and the one that waits", files, err)
	}
	if got, want := first(drainAll(t, dir)), []string{"one", "more", "more", "more"}; !slices.Equal(got, want) {
		t.Errorf("delivered %q, want %q", got, want)
	}
}

// Appenders and drainers at once: every line arrives.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers, lines = 8, 100
	var mu sync.Mutex
	seen := map[string]bool{}
	deliver := func(line []byte) error {
		mu.Lock()
		defer mu.Unlock()
		seen[string(line)] = true
		return nil
	}
	var appending, drainers sync.WaitGroup
	for w := range writers {
		appending.Go(func() {
			for i := range lines {
				if err := add(dir, fmt.Appendf(nil, "%d/%d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	for range 3 {
		drainers.Go(func() {
			for {
				if _, err := Drain(dir, 3, alone(deliver)); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	appending.Wait()
	close(done)
	drainers.Wait()
	if _, err := Drain(dir, 3, alone(deliver)); err != nil {
		t.Fatal(err)
	}
	if len(seen) != writers*lines {
		t.Errorf("%d different lines arrived, want %d", len(seen), writers*lines)
	}
}

// FuzzRead: whatever lies in the file, a line that was appended whole arrives, and nothing arrives that was
// not appended.
func FuzzRead(f *testing.F) {
	f.Add([]byte("junk"), []byte(`{"n":1}`), []byte("12345678 torn"))
	f.Add([]byte("\n\n"), []byte("x\ny"), []byte{0, '\n', 0xff})
	f.Add([]byte("00000000 "), []byte(" "), []byte("\n00000000 \n"))
	f.Fuzz(func(t *testing.T, before, line, after []byte) {
		record, err := encode(line)
		if err != nil {
			return
		}
		// The line after ours begins with a newline, as every append does.
		content := slices.Concat(before, record, []byte("\n"), after)
		want := string(bytes.ReplaceAll(line, []byte("\n"), []byte(" ")))
		var report Report
		var damaged bytes.Buffer
		found := 0
		rest, err := read(bytes.NewReader(content), 2, alone(func(got []byte) error {
			if string(got) == want {
				found++
			}
			return nil
		}), &damaged, &report)
		if err != nil || found == 0 {
			t.Fatalf("%q does not arrive out of %q: %v", want, content, err)
		}
		if rest > int64(len(content)) {
			t.Errorf("rest begins at %d of %d", rest, len(content))
		}
		if records := bytes.Count(content, []byte("\n")) + 1; report.Lines+report.Torn > records {
			t.Errorf("%+v out of %d lines", report, records)
		}
	})
}

func drainAll(t *testing.T, dir string) ([]string, Report) {
	t.Helper()
	var lines []string
	report, err := Drain(dir, 1, alone(func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return lines, report
}

func first(lines []string, _ Report) []string { return lines }

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// alone makes a delivery of single lines one of many.
func alone(deliver func([]byte) error) func([][]byte) error {
	return func(lines [][]byte) error {
		for _, l := range lines {
			if err := deliver(l); err != nil {
				return err
			}
		}
		return nil
	}
}

// Many lines are delivered at once; a damaged one ends such a batch, and of a batch
// that fails all lines wait.
func TestBatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 7 {
		must(t, add(dir, fmt.Appendf(nil, "%d", i)))
		if i == 4 {
			f, err := open(filepath.Join(dir, waiting))
			must(t, err)
			_, err = f.WriteString("\ndamaged\n")
			must(t, errors.Join(err, f.Close()))
		}
	}
	var got []string
	locked := errors.New("store is locked")
	report, err := Drain(dir, 3, func(lines [][]byte) error {
		if len(got) == 2 {
			return locked
		}
		got = append(got, string(bytes.Join(lines, []byte("+"))))
		return nil
	})
	if want := []string{"0+1+2", "3+4"}; !errors.Is(err, locked) || !slices.Equal(got, want) || report.Lines != 5 || report.Torn != 1 {
		t.Errorf("delivered %q, %+v, %v; want %q, then that the store is locked", got, report, err, want)
	}
	if rest, again := drainAll(t, dir); !slices.Equal(rest, []string{"5", "6"}) || again.Torn != 0 {
		t.Errorf("then delivered %q, %+v; want the two that waited", rest, again)
	}
}
