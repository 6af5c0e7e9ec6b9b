//go:build unix

package live_test

import (
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestResumeOpensTheAgent: duplex resume in a terminal becomes Claude Code, in the
// job's folder and with its brief, though nothing is set up. Opened again while its
// context has room, it goes on with that.
func TestResumeOpensTheAgent(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "I know the goal."}, {Text: "I know you."}}})
	job := w.start("Prices carry a tax")
	w.duplex("decide", "Tax is rounded half up", "--why", "the books do")
	w.duplex("pause", job, "--why", "lunch")
	w.showOnFailure()
	w.env = w.driving().Env // where claude is on the PATH

	p := w.inTerminal(program, "resume", job)
	p.types("Where are we?")
	p.sees("I know the goal.")
	p.leaves()
	requests := w.model.Requests()
	if got := brief(requests[0]); !strings.Contains(got, "Tax is rounded half up") {
		t.Errorf("the agent began without the brief:%s", got)
	}
	all := w.entries(job)
	if begun := kind(all, "session started"); len(begun) != 1 || kind(all, "instructed") == nil {
		t.Errorf("the session is recorded as\n%s", tell(all))
	}

	p = w.inTerminal(program, "resume", job)
	p.types("And now?")
	p.sees("I know you.")
	p.leaves()
	requests = w.model.Requests()
	if last := requests[len(requests)-1]; !last.Says("Where are we?") {
		t.Error("a session with room in its context did not go on with it")
	}
}
