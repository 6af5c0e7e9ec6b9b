//go:build unix

package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestCompactByHand: a person has the context compacted, and says what for. The
// summary is steered by both, and what comes next has the job.
func TestCompactByHand(t *testing.T) {
	w := newWorld(t, play.Script{
		Rules: []play.Rule{summarises("We talked.")},
		Turns: []play.Turn{
			{Tools: []play.Tool{bash("duplex decide 'Amounts are kept in cents' --why 'floats lose some'")}},
			{Text: "It is decided."},
			{Text: "Refunds come next."},
		},
	})
	short := w.start("Prices carry a tax of 19 percent")
	w.showOnFailure()

	p := w.terminal()
	p.types("Decide how amounts are kept.")
	p.sees("It is decided.")
	p.types("/compact keep the names of the files")
	summary := w.model.Wait(t, "a compaction", compacts)
	w.until("the compacted session has its brief", func() bool {
		return len(kind(w.entries(), "took over")) == 2
	})
	p.types("Go on with the refunds.")
	p.sees("Refunds come next.")

	for _, want := range []string{"keep the names of the files", "Duplex keeps this job's goal, decisions, dead ends, open items"} {
		if !strings.Contains(summary.Last("user"), want) {
			t.Errorf("the compaction is not told %q; its request ends in\n%s", want, end(summary.Last("user"), 2000))
		}
	}
	requests := w.model.Requests()
	last := requests[len(requests)-1]
	for _, want := range []string{`<duplex-brief job="` + short, "Prices carry a tax of 19 percent", "Amounts are kept in cents", "Decide how amounts are kept."} {
		if !last.Says(want) {
			t.Errorf("after the compaction the model does not read %q, but the brief%s", want, brief(last))
		}
	}
	p.leaves()
	all := w.entries()
	if handed := kind(all, "handed over"); len(handed) != 2 || handed[0].Payload.Why != "compaction" {
		t.Errorf("handovers are\n%s", tell(handed))
	}
	if said := kind(all, "instructed"); len(said) != 2 || said[1].Payload.Text != "Go on with the refunds." {
		t.Errorf("what the person said is recorded as\n%s", tell(said))
	}
	if place, _, _ := w.listed(); place != "ready to resume" {
		t.Errorf("left by its person, it is %s", place)
	}
}

// TestTerminalAtALimit: a session at a terminal lives on when its provider refuses
// it. Its job waits, and goes on when the person tries again.
func TestTerminalAtALimit(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		{Tools: []play.Tool{bash("echo begun")}},
		limited(untilTime(time.Now().Add(2 * time.Hour))),
		{Text: "I go on."},
	}})
	w.start("Prices carry a tax")
	w.showOnFailure()

	p := w.terminal()
	p.types("Begin.")
	p.sees("Request rejected (429)")
	w.until("the job waits", func() bool { place, _, _ := w.listed(); return place == "waiting" })
	if _, reason, until := w.listed(); reason != "rate limit" || until != "" {
		t.Errorf("it waits for a %s until %q", reason, until)
	}
	if shown := w.duplex(); !strings.Contains(shown, "time unknown") {
		t.Errorf("the list does not say that the time is unknown:\n%s", shown)
	}
	p.types("Again.")
	p.sees("I go on.")
	w.until("the job goes on", func() bool { place, _, _ := w.listed(); return place == "running" })
	if on := kind(w.entries(), "resumed"); len(on) != 1 {
		t.Errorf("it went on %d times:\n%s", len(on), tell(w.entries()))
	}
	p.closes()
	w.until("the job is ready", func() bool { place, _, _ := w.listed(); return place == "ready to resume" })
}

// closes shuts the window, with the agent in it.
func (t *terminal) closes() {
	t.w.Helper()
	if out, err := t.tmux("kill-session").CombinedOutput(); err != nil {
		t.w.Fatalf("tmux: %v\n%s", err, out)
	}
}
