//go:build unix

package live_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestBriefAtStart: a session that starts in a job's folder begins with the job's
// brief, in the very request that its model reads.
func TestBriefAtStart(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "I see where it stands."}}})
	short := w.start("Prices carry a tax of 19 percent", "--check", "go test ./...")
	w.duplex("decide", "Tax is rounded half up", "--why", "the books do")
	w.duplex("raise", "Refunds have no tax yet")
	w.showOnFailure()

	w.claude("Go on.").done()

	first := w.model.Requests()[0]
	for _, want := range []string{"<duplex-brief", short, "Prices carry a tax of 19 percent", "Tax is rounded half up", "Refunds have no tax yet", "go test ./..."} {
		if !first.Says(want) {
			t.Errorf("the model did not read %q in%s", want, brief(first))
		}
	}
	if strings.Count(first.Text(), "<duplex-brief") != 1 {
		t.Error("the brief is not there once")
	}
	if took := kind(w.entries(), "took over"); len(took) != 1 || took[0].Payload.How != "startup" {
		t.Errorf("the ledger does not tell of one take-over at startup:\n%s", tell(w.entries()))
	}
}

// TestNextSessionInTheFolder: a session that comes after another goes on with the
// same job; one that comes while another is at work is a guest.
func TestNextSessionInTheFolder(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "First."}, {Text: "Second."}, {Text: "Third, beside it."}}})
	short := w.start("Prices carry a tax")
	w.showOnFailure()

	w.claude("Begin.").done()
	second := w.converse()
	second.say("Go on.")
	w.claude("What is this?").done() // while the second is still there
	if code := second.leave(); code != 0 {
		t.Errorf("the second session ended with %d", code)
	}

	requests := w.model.Requests()
	for i, want := range []string{`<duplex-brief job="` + short, `<duplex-brief job="` + short, "You are a guest here"} {
		if !requests[i].Says(want) {
			t.Errorf("session %d does not read %q, and the brief%s", i+1, want, brief(requests[i]))
		}
	}
	if requests[2].Says("<duplex-brief") {
		t.Error("the guest has a brief")
	}
	begun := kind(w.entries(), "session started")
	if len(begun) != 3 || begun[0].Guest || begun[1].Guest || !begun[2].Guest {
		t.Errorf("sessions are\n%s", tell(begun))
	}
	said := kind(w.entries(), "instructed")
	if len(said) != 3 || said[1].Payload.Text != "Go on." || !said[2].Guest {
		t.Errorf("what the person said is\n%s", tell(said))
	}
}

// TestAnotherWorkTree: a second work tree of the repository is a workspace of its
// own. Its session belongs to no job until it takes one.
func TestAnotherWorkTree(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "Here."}, {Text: "There."}, {Tools: nil, Text: "Taken."}}})
	short := w.start("Prices carry a tax")
	w.showOnFailure()
	other := filepath.Join(filepath.Dir(w.repo), "shop-fix")
	w.git(w.repo, "worktree", "add", "-q", other)

	w.claude("Begin.").done()
	w.claudeIn(other, "What is this?").done()
	if r := w.model.Requests()[1]; r.Says("<duplex-brief") || r.Says(short) {
		t.Errorf("the other work tree's session was given the job, and the brief%s", brief(r))
	}
	if begun := kind(w.entries(), "session started"); len(begun) != 1 {
		t.Errorf("sessions of the job are\n%s", tell(begun))
	}

	w.command(other, program, "take", short)
	w.claudeIn(other, "Go on.").done()
	if r := w.model.Requests()[2]; !r.Says(`<duplex-brief job="` + short) {
		t.Error("after duplex take the other work tree's session has no brief")
	}
}

// TestResume: Claude Code's own resume stays the session that it was.
func TestResume(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		{Text: "One.", Usage: play.Usage{In: 100, CacheWrite: 4000, Out: 20}},
		{Text: "Two.", Usage: play.Usage{In: 50, CacheRead: 4000, Out: 30}},
	}})
	w.start("Prices carry a tax")
	w.showOnFailure()

	id := w.claude("Begin.").done().SessionID
	result := w.claude("Go on.", "--resume", id).done()
	if result.SessionID != id {
		t.Errorf("the resumed session has another id")
	}
	if r := w.model.Requests()[1]; !r.Says("Begin.") || !r.Says("<duplex-brief") {
		t.Errorf("the resumed session does not read its past and a brief, but%s", brief(r))
	}
	all := w.entries()
	if took := kind(all, "took over"); len(took) != 2 || took[1].Payload.How != "resume" {
		t.Errorf("take-overs are\n%s", tell(took))
	}
	if said := kind(all, "instructed"); len(said) != 2 {
		t.Errorf("what the person said is recorded as\n%s", tell(said))
	}
	w.sameBill(asked[struct{ Total bill }](w, "cost").Total, result) // its totals go on from the first
}

// TestFork: a fork belongs to the job of the session it came from, and what that
// session has paid for is not paid for again.
func TestFork(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		{Text: "One.", Tools: []play.Tool{bash("go vet ./...")}, Usage: play.Usage{In: 100, CacheWrite: 4000, Out: 20}},
		{Text: "Two.", Usage: play.Usage{In: 50, CacheRead: 4000, Out: 30}},
		{Text: "Three.", Usage: play.Usage{In: 60, CacheRead: 4050, Out: 40}},
	}})
	w.start("Prices carry a tax")
	w.showOnFailure()

	id := w.claude("Begin.").done().SessionID
	result := w.claude("Try it another way.", "--resume", id, "--fork-session").done()
	if result.SessionID == id {
		t.Errorf("the fork has the id of what it was forked from")
	}
	all := w.entries()
	begun := kind(all, "session started")
	if len(begun) != 2 || begun[1].Payload.From != begun[0].Session || begun[1].Payload.Source != "fork" {
		t.Errorf("sessions are\n%s", tell(begun))
	}
	if steps := kind(all, "step"); len(steps) != 1 {
		t.Errorf("the copied step counts again:\n%s", tell(steps))
	}
	if said := kind(all, "instructed"); len(said) != 2 {
		t.Errorf("the copied words count again:\n%s", tell(said))
	}
	w.sameBill(asked[struct{ Total bill }](w, "cost").Total, result) // a fork's totals begin with its parent's
}

// TestClear: after /clear Claude Code goes on under a new id, in the same process.
// It is the same job, and it gets the brief in place of what it forgot.
func TestClear(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "One."}, {Text: "Two."}}})
	short := w.start("Prices carry a tax")
	w.showOnFailure()

	r := w.converse()
	r.say("Begin.")
	first := r.session()
	r.say("/clear")
	r.say("Where are we?")
	if code := r.leave(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	requests := w.model.Requests()
	last := requests[len(requests)-1]
	if n := len(last.Ask.Messages); n > 3 || !strings.Contains(brief(last), short) || !strings.Contains(last.Last("user"), "Where are we?") {
		t.Errorf("after /clear the model reads %d messages and the brief%s", n, brief(last))
	}
	all := w.entries()
	begun := kind(all, "session started")
	if len(begun) != 2 || begun[1].Payload.Source != "clear" || begun[1].Payload.From != begun[0].Session || begun[1].Guest {
		t.Errorf("sessions after %s are\n%s", first, tell(all))
	}
}
