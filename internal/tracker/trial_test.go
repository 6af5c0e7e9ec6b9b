package tracker

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

// What does not work is a dead end without the agent's word, once for the job, and
// none any more when it works in whichever session.
func TestDeadEndsNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	started := w.start(StartRequest{Goal: "Go on", NoBaseline: true})
	calls := 0
	ran := func(session, command string, exit int, output string) {
		t.Helper()
		calls++
		c := &agent.Call{ID: fmt.Sprintf("toolu_%020d", calls), Name: "Bash", Done: &agent.Done{Result: job.OK, Exit: &exit, Output: output}}
		c.CommandLine(command)
		if exit != 0 {
			c.Done.Result = job.Failed
		}
		if _, err := w.Observe(ctx, claude.Adapter{}, agent.Event{Kind: agent.AfterTool, Session: session, Dir: w.repo, Tool: c}); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(want ...string) {
		t.Helper()
		shown, err := w.Show(ctx, started.Job)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range shown.DeadEnds {
			got = append(got, d.Text)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("dead ends %q, want %q", got, want)
		}
	}
	missing := "`golangci-lint` is not there: command not found"
	ran("s1", "golangci-lint run ./...", 127, "(eval):1: command not found: golangci-lint")
	holds(missing)
	ran("s1", "golangci-lint run ./... | tail -1", 0, "")
	holds(missing)
	if _, err := w.Observe(ctx, claude.Adapter{}, agent.Event{Kind: agent.SessionEnd, Session: "s1", Dir: w.repo, Reason: "other"}); err != nil {
		t.Fatal(err)
	}
	ran("s2", "golangci-lint run ./...", 127, "bash: golangci-lint: command not found")
	holds(missing)
	ran("s2", "golangci-lint run ./a", 0, "0 issues.")
	holds()
}
