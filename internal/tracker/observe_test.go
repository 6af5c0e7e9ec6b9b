package tracker

import (
	"context"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// A transcript that cannot be read costs what only it says: the session has its
// brief, what hooks say is recorded, and the gap is told once.
func TestHooksOfAnUnreadableTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	s := w.start(StartRequest{Goal: "Go on", NoBaseline: true})
	ev := agent.Event{Session: "s1", Dir: w.repo, Transcript: t.TempDir()}
	call := func(kind agent.EventKind, tool *agent.Call) agent.Answer {
		ev.Kind, ev.Tool = kind, tool
		a, err := w.Observe(ctx, claude.Adapter{}, ev)
		if err != nil {
			t.Fatal(err)
		}
		return a.Answer
	}
	if a := call(agent.SessionStart, nil); a.Context == "" {
		t.Error("the session got no brief")
	}
	for _, id := range []string{"c1", "c2"} {
		call(agent.AfterTool, &agent.Call{ID: id, Name: "Bash", Class: job.ClassCommand, Title: "make", Command: "make", Done: &agent.Done{Result: job.OK}})
	}
	counts := map[job.Kind]int{}
	err := w.store.Read(ctx, func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(s.Job, []job.Kind{job.KindStep, job.KindGap}, true, 0)
		for _, e := range entries {
			counts[e.Kind]++
		}
		return err
	})
	if err != nil || counts[job.KindStep] != 2 || counts[job.KindGap] != 1 {
		t.Errorf("recorded are %v, %v; want 2 steps and 1 gap", counts, err)
	}
}
