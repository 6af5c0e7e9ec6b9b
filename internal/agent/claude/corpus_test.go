package claude_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// shared finds material that lies beside a checkout on some machines. Tests use
// it in addition to their own fixtures and do without where it is absent.
func shared(parts ...string) (string, bool) {
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for range 8 {
		path := filepath.Join(append([]string{dir, "..", "shared"}, parts...)...)
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
		dir = filepath.Dir(dir)
	}
	return "", false
}

// readAll reads a whole transcript and fails on a line that cannot be read.
func readAll(t testing.TB, path string) ([]agent.Row, agent.Reader) {
	t.Helper()
	return readWith(t, path, claude.Adapter{}.NewReader())
}

func readWith(t testing.TB, path string, r agent.Reader) ([]agent.Row, agent.Reader) {
	t.Helper()
	var rows []agent.Row
	_, err := transcript.Lines(path, 0, 0, func(line []byte, offset int64) error {
		got, err := r.Line(line, offset)
		rows = append(rows, got...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return append(rows, r.End()...), r
}

// spent adds up the last usage row of each message, estimates left out.
func spent(rows []agent.Row) job.Tokens {
	last := map[string]job.Tokens{}
	for _, row := range rows {
		if row.Kind == agent.RowUsage && !row.Usage.Estimate {
			last[row.Usage.Message] = row.Usage.Tokens
		}
	}
	var sum job.Tokens
	for _, tokens := range last {
		sum = sum.Plus(tokens)
	}
	return sum
}

type counted struct {
	Input         int64 `json:"input"`
	Output        int64 `json:"output"`
	CacheCreation int64 `json:"cache_creation"`
	CacheRead     int64 `json:"cache_read"`
}

func TestTokensOfRealSessions(t *testing.T) {
	t.Parallel()
	path, ok := shared("bench", "cost_truth_dev.json")
	if !ok {
		t.Log("no recorded sessions beside this checkout; the fixtures in testdata were read by other tests")
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Sessions []struct {
			File, Agent string
			Truth       counted
			Ccusage     counted
		}
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	corpus, _ := shared("corpus")
	sessions, likeCcusage := 0, 0
	for _, s := range truth.Sessions {
		if s.Agent != "claude" {
			continue
		}
		file := filepath.Join(corpus, s.File)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		sessions++
		rows, r := readAll(t, file)
		sum := spent(rows)
		got := counted{sum.Input, sum.Output, sum.CacheWrite5m + sum.CacheWrite1h, sum.CacheRead}
		if got != s.Truth {
			t.Errorf("%s: tokens %+v, want %+v", s.File, got, s.Truth)
		}
		if got == s.Ccusage {
			likeCcusage++
		}
		if len(r.Skipped()) > 0 {
			t.Errorf("%s: unknown rows %v", s.File, r.Skipped())
		}
	}
	t.Logf("%d sessions read, %d of them also equal to ccusage", sessions, likeCcusage)
}

func TestRealSessionsReadInPieces(t *testing.T) {
	t.Parallel()
	corpus, ok := shared("corpus")
	if !ok {
		return
	}
	files, err := filepath.Glob(filepath.Join(corpus, "*__claude__*.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if i%10 != 0 {
			continue
		}
		whole, _ := readAll(t, file)
		var text [][]byte
		if _, err := transcript.Lines(file, 0, 0, func(line []byte, _ int64) error {
			text = append(text, append([]byte(nil), line...))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := inPieces(t, text, int64(i)); !reflect.DeepEqual(got, whole) {
			t.Errorf("%s: rows differ when the file is read in pieces", filepath.Base(file))
		}
	}
}

// TestTotalsOfRecordedSessions: what the rows of a session and of its sub-agents
// add up to is what the agent itself counted; only compactions are missing.
func TestTotalsOfRecordedSessions(t *testing.T) {
	t.Parallel()
	dir, ok := shared("agents", "claude-code", "transcripts")
	if !ok {
		return
	}
	for files, missing := range map[string]int64{
		"tools-then-resume.jsonl":                          0,
		"killed-mid-tool.jsonl":                            -1, // its totals begin after the kill
		"with-subagent.jsonl with-subagent.subagent.jsonl": 0,
		"auto-compact.jsonl":                               96_000 + 500, // the call that wrote the summary
		"rate-limited.jsonl":                               0,
	} {
		var rows []agent.Row
		for file := range strings.FieldsSeq(files) {
			got, _ := readAll(t, filepath.Join(dir, file))
			rows = append(rows, got...)
		}
		var totals job.Tokens
		for _, row := range rows {
			if row.Kind == agent.RowTotals {
				totals = job.Tokens{}
				for _, d := range row.Totals {
					totals = totals.Plus(d.Tokens)
				}
			}
		}
		if got := totals.Minus(spent(rows)).Total(); got != missing && missing >= 0 {
			t.Errorf("%s: the agent counts %d tokens more than its rows, want %d", files, got, missing)
		}
	}
}
