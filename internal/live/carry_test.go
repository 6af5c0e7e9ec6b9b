//go:build unix

package live_test

import (
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestCarriedWithoutAJob: nobody ever typed duplex start. When the session's context is
// full, a job is opened by itself, and what the person asked for is in the first request
// behind the compaction.
func TestCarriedWithoutAJob(t *testing.T) {
	w := newWorld(t, fullContext())
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
	w.showOnFailure()
	const asked = "Move every price to whole cents, one file at a time."

	w.claude(asked).done()

	var summary, next play.Request
	for _, r := range w.model.Requests() {
		switch {
		case strings.HasPrefix(r.Played, "rule"):
			summary = r
		case summary.N > 0 && next.N == 0:
			next = r
		}
	}
	if summary.N == 0 || next.N == 0 {
		t.Fatal("Claude Code did not compact")
	}
	if !strings.Contains(summary.Last("user"), "Duplex keeps this job's goal") {
		t.Errorf("the call for the summary is not told what Duplex keeps: …%s", summary.Last("user")[max(0, len(summary.Last("user"))-600):])
	}
	if got := brief(next); !strings.Contains(section(got, "Goal"), asked) || !strings.Contains(section(got, "Newest instruction"), asked) {
		t.Errorf("behind the compaction the model reads the brief%s", got)
	}
	if got := w.duplex("jobs", "--all"); !strings.Contains(got, "Move every price") || !strings.Contains(got, "Unnamed") {
		t.Errorf("the list of jobs has no unnamed one:\n%s", got)
	}
}

// TestCarriedOnResume: a session without a job that is resumed, even after a kill, is
// carried too.
func TestCarriedOnResume(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		{Text: "One.", Tools: []play.Tool{bash("go vet ./...")}}, {Text: "Two."}, {Text: "Three."}}})
	w.showOnFailure()

	id := w.claude("Move every price to whole cents.").done().SessionID
	w.claude("Go on.", "--resume", id).done()

	requests := w.model.Requests()
	got := brief(requests[len(requests)-1])
	if !strings.Contains(section(got, "Goal"), "Move every price to whole cents.") || !strings.Contains(got, "go vet") {
		t.Errorf("the resumed session reads the brief%s", got)
	}
}
