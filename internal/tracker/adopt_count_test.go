package tracker

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// TestEveryCallOfAnAdoptedSession: what a count of the raw file, which shares
// nothing with the reader, finds of commands and edits stands in the ledger, and
// what changes something stands there as a step with its result.
func TestEveryCallOfAnAdoptedSession(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "agent", "claude", "testdata", "2.1.332*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for up, dir := 0, "../.."; up < 4; up, dir = up+1, filepath.Join(dir, "..") { // in addition, where there are any
		recorded, _ := filepath.Glob(filepath.Join(dir, "..", "shared", "corpus", "*__claude__*.jsonl.gz"))
		for i, file := range recorded {
			if i%12 == 0 {
				files = append(files, file)
			}
		}
	}
	calls, missing := 0, 0
	for _, file := range files {
		steps, touched, ok := adoptedCalls(t, file)
		if !ok {
			continue
		}
		for id, c := range rawCalls(t, file) {
			calls++
			step := steps[id]
			switch {
			case step == nil && (c.changes || !touched[id]):
				t.Logf("%s: %s is not in the ledger: %.200s", filepath.Base(file), id, c.text)
				missing++
			case step != nil && step.Result != job.ResultUnknown && (step.Result != job.OK) != c.failed:
				t.Logf("%s: %s is %s: %.200s", filepath.Base(file), id, step.Result, c.text)
				missing++
			}
		}
	}
	t.Logf("%d of %d calls of %d sessions are in the ledger with their result", calls-missing, calls, len(files))
	if calls < 20 || float64(missing) > .01*float64(calls) {
		t.Errorf("%d of %d calls are missing", missing, calls)
	}
}

// adoptedCalls are the steps of a session's ledger and what it only touched, by the
// provider's id of the call. A session without a person's word is none.
func adoptedCalls(t *testing.T, file string) (steps map[string]*job.Step, touched map[string]bool, ok bool) {
	t.Helper()
	tr := adopting(t)
	ctx := context.Background()
	out, err := tr.Adopt(ctx, APerson(), AdoptRequest{File: file, Dir: t.TempDir()})
	if errors.Is(err, job.ErrInvalid) {
		return nil, nil, false
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	steps, touched = map[string]*job.Step{}, map[string]bool{}
	err = tr.Log(ctx, out.Job, LogRequest{}, func(e job.Entry) error {
		switch p := e.Payload.(type) {
		case *job.Step:
			if p.Call != "" {
				steps[p.Call] = p
			}
		case *job.Touched:
			touched[p.Call] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps, touched, true
}

type rawCall struct {
	text    string
	changes bool
	failed  bool
}

var changing = regexp.MustCompile(`(^|&& )(git (add|commit|push|checkout|rm|mv)\b|go (test|build)\b|npm |pnpm |bun |make\b|mkdir |rm |touch |mise run )`)

// rawCalls counts by hand the commands and edits that have a result.
func rawCalls(t *testing.T, file string) map[string]rawCall {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	asked, done := map[string]rawCall{}, map[string]rawCall{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row struct {
			Message struct{ Content []json.RawMessage }
		}
		if json.Unmarshal(lines.Bytes(), &row) != nil {
			continue // its content is one text, or it has none
		}
		for _, part := range row.Message.Content {
			var b struct {
				Type, ID, Name string
				Input          struct{ Command string }
				Result         string `json:"tool_use_id"`
				Failed         bool   `json:"is_error"`
			}
			if json.Unmarshal(part, &b) != nil {
				continue
			}
			if c, known := asked[b.Result]; known && b.Type == "tool_result" {
				c.failed = b.Failed
				done[b.Result] = c
			}
			switch b.Name {
			case "Bash":
				asked[b.ID] = rawCall{text: b.Input.Command, changes: changing.MatchString(b.Input.Command)}
			case "Edit", "Write", "MultiEdit", "NotebookEdit":
				asked[b.ID] = rawCall{text: b.Name, changes: true}
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return done
}
