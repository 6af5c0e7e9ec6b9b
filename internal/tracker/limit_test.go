package tracker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// A limit is told by a hook and by the transcript. The job waits for it once, until
// the better of the two times, and goes on with the provider's next answer.
func TestALimitIsToldTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	s := w.start(StartRequest{Goal: "Go on", NoBaseline: true})
	file := t.TempDir() + "/s1.jsonl"
	ev := agent.Event{Session: "s1", Dir: w.repo, Transcript: file, Source: "startup"}
	hook := func(kind agent.EventKind, reason, message string) {
		t.Helper()
		ev.Kind, ev.Reason, ev.Message = kind, reason, message
		if _, err := w.Observe(ctx, claude.Adapter{}, ev); err != nil {
			t.Fatal(err)
		}
	}
	rows := 0
	transcript := func(row string) {
		rows++
		line := fmt.Sprintf(`{"type":"assistant","isSidechain":false,"parentUuid":null,"sessionId":"s1","uuid":"00000000-0000-0000-0000-%012d","timestamp":%q,%s}`,
			rows, w.Now().Time().UTC().Format("2006-01-02T15:04:05.999999Z"), row) + "\n"
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(text, more string) {
		transcript(`"isApiErrorMessage":true,"error":"rate_limit"` + more + `,"message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"` + text + `"}]}`)
	}
	answered := func(id string) {
		transcript(`"message":{"id":"` + id + `","model":"claude-opus-5-5","content":[],"usage":{"input_tokens":5,"output_tokens":5},"stop_reason":"end_turn"}`)
	}

	hook(agent.SessionStart, "", "")
	hook(agent.TurnFailed, "rate_limit", "You've hit your limit · resets 3am (UTC)")
	if p := w.standing(s.Job).Pause; p == nil || p.Reason != job.PauseRate || p.Until == 0 {
		t.Fatalf("a hook that says when it ends pauses for %+v", p)
	}
	until := w.standing(s.Job).Pause.Until
	refused("You've hit your limit · resets 3am (UTC)", fmt.Sprintf(`,"quotaLimits":{"resetsAt":%d}`, int64(until)/1e6))
	hook(agent.Prompt, "", "")
	if n := w.count(s.Job, job.KindPaused); n != 1 {
		t.Errorf("what both say is recorded %d times", n)
	}
	refused("You've hit your limit · resets 3am (UTC)", fmt.Sprintf(`,"quotaLimits":{"resetsAt":%d}`, int64(until)/1e6+32))
	hook(agent.Prompt, "", "")
	if p := w.standing(s.Job).Pause; p == nil || p.Until != until+32_000_000 {
		t.Errorf("the transcript knows better: %+v", p)
	}
	hook(agent.TurnFailed, "rate_limit", "You've hit your limit · resets 3am (UTC)")
	if p := w.standing(s.Job).Pause; p.Until != until+32_000_000 {
		t.Errorf("a hook that comes late knows worse: %+v", p)
	}
	answered("msg_1")
	hook(agent.TurnEnd, "", "")
	if p := w.standing(s.Job).Pause; p != nil || w.count(s.Job, job.KindResumed) != 1 {
		t.Errorf("the provider answers, and the job waits for %+v", p)
	}

	hook(agent.TurnFailed, "rate_limit", "Request rejected (429)")
	hook(agent.TurnFailed, "rate_limit", "Request rejected (429)")
	if p := w.standing(s.Job).Pause; p == nil || p.Until != 0 || p.Evidence != "Request rejected (429)" || w.count(s.Job, job.KindPaused) != 3 {
		t.Errorf("a limit without a time pauses for %+v", p)
	}
	hook(agent.TurnEnd, "", "") // before the answer is in the transcript
	if p := w.standing(s.Job).Pause; p != nil {
		t.Errorf("a turn ended well, and the job waits for %+v", p)
	}
	hook(agent.TurnFailed, "billing_error", "Credit balance is too low")
	if p := w.standing(s.Job).Pause; p == nil || p.Reason != job.PauseHand || !strings.Contains(p.Evidence, "no credit") {
		t.Errorf("an account without credit pauses for %+v", p)
	}
	paused := w.count(s.Job, job.KindPaused)
	hook(agent.TurnFailed, "invalid_request", "prompt is too long")
	if w.count(s.Job, job.KindPaused) != paused {
		t.Error("a full context is taken for a limit")
	}
}

func (w *world) standing(id job.ID) job.Standing {
	w.t.Helper()
	s, err := w.Standing(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// count counts a job's entries of a kind.
func (w *world) count(id job.ID, kind job.Kind) (n int) {
	w.t.Helper()
	err := w.store.Read(context.Background(), func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(id, []job.Kind{kind}, true, 0)
		n = len(entries)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}
