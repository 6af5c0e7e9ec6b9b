package claude_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// BenchmarkReader compares reading lines alone with reading what was spent, and
// with reading all of them into rows. Its
// transcript is the recorded ones end to end where they are there, else the
// fixtures over and over.
func BenchmarkReader(b *testing.B) {
	path := filepath.Join(b.TempDir(), "session.jsonl")
	text := benchText(b)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("lines", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			lines := 0
			if _, err := transcript.Lines(path, 0, 0, func([]byte, int64) error { lines++; return nil }); err != nil || lines == 0 {
				b.Fatal(lines, err)
			}
		}
	})
	b.Run("spending", func(b *testing.B) { benchReader(b, path, claude.Adapter{}.NewSpendReader, int64(len(text))) })
	b.Run("rows", func(b *testing.B) { benchReader(b, path, claude.Adapter{}.NewReader, int64(len(text))) })
}

func benchReader(b *testing.B, path string, begin func() agent.Reader, size int64) {
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		r := begin()
		if _, err := transcript.Lines(path, 0, 0, func(line []byte, offset int64) error {
			got, err := r.Line(line, offset)
			rows += len(got)
			return err
		}); err != nil || rows == 0 {
			b.Fatal(rows, err)
		}
	}
}

func benchText(b *testing.B) []byte {
	var text bytes.Buffer
	files, _ := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	repeat := 200
	if corpus, ok := shared("corpus"); ok {
		if recorded, _ := filepath.Glob(filepath.Join(corpus, "*__claude__*.jsonl.gz")); len(recorded) > 0 {
			files, repeat = recorded, 1
		}
	}
	for range repeat {
		for _, file := range files {
			if _, err := transcript.Lines(file, 0, 0, func(line []byte, _ int64) error {
				_, err := fmt.Fprintf(&text, "%s\n", line)
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return text.Bytes()
}
