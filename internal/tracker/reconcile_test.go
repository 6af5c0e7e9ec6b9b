package tracker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

// sitting is a session of Claude Code whose transcript a test writes.
type sitting struct {
	*testing.T
	tr   *Tracker
	dir  string
	file string
	id   string
	rows int
}

// sits makes a session that has not begun.
func sits(t *testing.T, tr *Tracker, dir, id string) *sitting {
	return &sitting{T: t, tr: tr, dir: dir, id: id, file: filepath.Join(t.TempDir(), id+".jsonl")}
}

func (s *sitting) hook(kind agent.EventKind, source, from string) {
	s.Helper()
	ev := agent.Event{Kind: kind, Session: s.id, Dir: s.dir, Transcript: s.file, Source: source, From: from}
	if _, err := s.tr.Observe(context.Background(), claude.Adapter{}, ev); err != nil {
		s.Fatal(err)
	}
}

func (s *sitting) line(format string, args ...any) {
	s.Helper()
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, format+"\n", args...); err != nil {
		s.Fatal(err)
	}
}

// asks adds an answer of the model.
func (s *sitting) asks(message string, in, out int) {
	s.rows++
	s.line(`{"type":"assistant","uuid":"%s-%d","parentUuid":null,"isSidechain":false,"sessionId":"%s","timestamp":"2026-12-01T09:00:00Z","message":{"id":"msg_%s_of_a_provider","model":"claude-opus-5-5","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"output_tokens":%d}}}`,
		s.id, s.rows, s.id, message, in, out)
}

// compacts adds a compaction, whose call stands in no row.
func (s *sitting) compacts(before int) {
	s.rows++
	s.line(`{"type":"system","subtype":"compact_boundary","uuid":"%s-%d","parentUuid":null,"isSidechain":false,"sessionId":"%s","compactMetadata":{"trigger":"auto","preTokens":%d}}`, s.id, s.rows, s.id, before)
}

// totals adds the agent's own total, as it ends.
func (s *sitting) totals(in, out int) {
	s.line(`{"type":"cost-state","sessionId":"%s","modelUsage":{"claude-opus-5-5":{"inputTokens":%d,"outputTokens":%d}}}`, s.id, in, out)
	s.hook(agent.SessionEnd, "", "")
}

// TestReconciled: after the agent's own total the bill is that total, as far as the
// agent can know; what it has forgotten, and what two sessions share, counts once.
func TestReconciled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do                func(a, b *sitting)
		in, out, estimate int64 // tokens
	}{
		"it is as we counted": {func(a, _ *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.totals(100, 5)
		}, 100, 5, 0},
		"a compaction": {func(a, _ *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.compacts(90)
			a.asks("2", 20, 3)
			a.totals(100+20+97, 5+3+40)
		}, 217, 48, 0},
		"a compaction and no total": {func(a, _ *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.compacts(90)
			a.hook(agent.TurnEnd, "", "")
		}, 100, 5, 90},
		"resumed": {func(a, _ *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.totals(100, 5)
			a.hook(agent.SessionStart, "resume", "")
			a.asks("2", 20, 3)
			a.totals(120, 8)
		}, 120, 8, 0},
		"resumed after a kill, which the agent forgets": {func(a, _ *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.totals(100, 5)
			a.hook(agent.SessionStart, "resume", "")
			a.asks("2", 1000, 7)
			a.compacts(70)
			a.hook(agent.SessionStart, "resume", "")
			a.asks("3", 20, 3)
			a.compacts(30)
			a.totals(100+20+33, 5+3+2)
		}, 100 + 1000 + 20 + 33, 5 + 7 + 3 + 2, 70},
		"a fork begins with its parent's total": {func(a, b *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.totals(100, 5)
			b.hook(agent.SessionStart, "fork", a.id)
			b.asks("1", 100, 5) // its copy
			b.asks("2", 20, 3)
			b.totals(120, 8)
		}, 120, 8, 0},
		"less than the provider's messages say": {func(a, _ *sitting) {
			a.hook(agent.SessionStart, "startup", "")
			a.asks("1", 100, 5)
			a.totals(60, 5)
		}, 100, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.start(StartRequest{Goal: "Count", NoBaseline: true})
			c.do(sits(t, w.Tracker, w.repo, "aaaa"), sits(t, w.Tracker, w.repo, "bbbb"))
			standing, err := w.Standing(context.Background(), s.Job)
			if err != nil {
				t.Fatal(err)
			}
			got := standing.Spend
			counted := got.Tokens.Minus(got.Guessed)
			if counted.Input != c.in || counted.Output != c.out || got.Guessed.Total() != c.estimate {
				t.Errorf("counted %d in and %d out, %d an estimate; want %d, %d, %d", counted.Input, counted.Output, got.Guessed.Total(), c.in, c.out, c.estimate)
			}
			if want := c.in*4_000_000 + c.out*20_000_000; got.Pico-got.Estimate != want { // $4 and $20 for a million
				t.Errorf("it cost %d pico-USD besides the estimates, want %d", got.Pico-got.Estimate, want)
			}
			w.cutsAgree(s.Job, got)
		})
	}
}

// cutsAgree: every cut of a bill has the sum of the whole.
func (w *world) cutsAgree(id job.ID, whole job.Bill) {
	w.t.Helper()
	_, cuts, err := w.Costs(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, cut := range cuts {
		var pico, estimate, messages int64
		for _, r := range cut.Rows {
			pico, estimate, messages = pico+r.Pico, estimate+r.Estimate, messages+r.Messages
		}
		if pico != whole.Pico || estimate != whole.Estimate || messages != whole.Messages {
			w.t.Errorf("by %s: %d pico-USD, %d an estimate, %d messages; the whole is %d, %d, %d", cut.By, pico, estimate, messages, whole.Pico, whole.Estimate, whole.Messages)
		}
	}
}
