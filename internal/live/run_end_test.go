//go:build unix

package live_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestFullAtAFailure: the context is full when a command fails. Claude Code does not
// let a hook end its turn there, so it is interrupted, before the next call begins.
func TestFullAtAFailure(t *testing.T) {
	w := newWorld(t, play.Script{})
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
	job := w.start("There is a note", "--check", "test -f note.txt", "--check", "exit 3")
	w.showOnFailure()
	full := play.Usage{In: 100, CacheRead: 60_000, Out: 20}
	load(w, play.Script{
		// A model takes its time; it is interrupted meanwhile, or before it was asked.
		Rules: []play.Rule{{Once: true, Match: "Exit code 3", Turn: play.Turn{Delay: 3, Tools: []play.Tool{bash("touch too-late.txt")}, Usage: full}}},
		Turns: []play.Turn{{Tools: []play.Tool{bash("exit 3")}, Usage: full}, {Text: "I begin anew."}},
	})
	printed, code := w.drive(job, "--permission-mode", "bypassPermissions", "--sessions", "2")
	if code != 6 || !strings.Contains(printed, "handed over: context limit") || !strings.Contains(printed, "session 2") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	if _, err := os.Stat(filepath.Join(w.repo, "too-late.txt")); err == nil {
		t.Error("the turn went on after the handover")
	}
	if ends := kind(w.entries(job), "session ended"); len(ends) != 2 || ends[0].Payload.Reason != "limit" {
		t.Errorf("the sessions ended so:\n%s", tell(ends))
	}
}

// TestInterruptedRun: Ctrl-C in the middle of a tool. The agent is interrupted and says
// goodbye, what it ran ends, and the job is ready to resume with nothing lost.
func TestInterruptedRun(t *testing.T) {
	w := newWorld(t, play.Script{})
	job := w.start("There is a note", "--check", "test -f note.txt")
	w.showOnFailure()
	began := filepath.Join(w.home, "began")
	load(w, play.Script{Turns: []play.Turn{{Text: "This takes long.", Tools: []play.Tool{bash("sh -c 'touch " + began + "; sleep 300'")}}}})
	run := w.driving(job, "--permission-mode", "bypassPermissions")
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	w.until("the command runs", func() bool { _, err := os.Stat(began); return err == nil })
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // its exit code is what is looked at
	if code := run.ProcessState.ExitCode(); code != 130 {
		t.Errorf("duplex run ended with %d\n%s", code, out.String())
	}
	if left := w.processes(); len(left) != 0 {
		t.Errorf("these run still: %v", left)
	}
	if shown := w.duplex("jobs"); !strings.Contains(shown, "by hand") {
		t.Errorf("the job is not ready to resume:\n%s", shown)
	}
	all := w.entries(job)
	if steps := kind(all, "step"); len(steps) != 1 || len(kind(all, "handed over")) == 0 {
		t.Errorf("the ledger is\n%s", tell(all))
	}
	for _, e := range kind(all, "session ended") {
		if e.Payload.Reason == "crashed" {
			t.Errorf("the interrupt counts as a crash:\n%s", tell(all))
		}
	}
}

// TestDrivenWhereHooksAreSetUp: a person has set the hooks up as well. The session is
// given one brief, and nothing is recorded twice.
func TestDrivenWhereHooksAreSetUp(t *testing.T) {
	w := newWorld(t, play.Script{})
	w.duplex("setup", "claude", "--yes")
	job := w.start("There is a note", "--check", "test -f note.txt")
	w.showOnFailure()
	load(w, play.Script{Turns: writing(filepath.Join(w.repo, "note.txt"))})
	if printed, code := w.drive(job); code != 0 {
		t.Fatalf("it ended with %d\n%s", code, printed)
	}
	if n := strings.Count(w.model.Requests()[0].Text(), "<duplex-brief"); n != 1 {
		t.Errorf("the model was given %d briefs", n)
	}
	all := w.entries(job)
	if len(kind(all, "session started")) != 1 || len(kind(all, "took over")) != 1 || len(kind(all, "step")) != 1 {
		t.Errorf("the ledger is\n%s", tell(all))
	}
}

// TestModelsTakeTurns: the sessions of one run are of several models, in turn.
func TestModelsTakeTurns(t *testing.T) {
	w := newWorld(t, play.Script{})
	job := w.start("There is a note", "--check", "test -f note.txt")
	w.showOnFailure()
	turns := []play.Turn{{Tools: []play.Tool{bash("ls")}}, {Text: "It is done, I say."}}
	load(w, play.Script{Turns: append(turns, writing(filepath.Join(w.repo, "note.txt"))...)})
	if printed, code := w.drive(job, "--agent", "claude:opus,claude:sonnet"); code != 0 || !strings.Contains(printed, "session 2, Claude Code sonnet") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	var models []string
	for _, r := range w.model.Requests() {
		if r.Asked() {
			models = append(models, r.Ask.Model)
		}
	}
	if len(models) != 4 || !strings.Contains(models[0], "opus") || !strings.Contains(models[1], "opus") || !strings.Contains(models[2], "sonnet") || !strings.Contains(models[3], "sonnet") {
		t.Errorf("the models that were asked are %q", models)
	}
}

// TestBudgetOfADrivenJob: money is counted while the agent works. It is interrupted
// when the budget is seen to be used up, which may be one call late, as the transcript
// is, and the job waits for a person.
func TestBudgetOfADrivenJob(t *testing.T) {
	w := newWorld(t, play.Script{})
	job := w.start("There is a note", "--check", "test -f note.txt", "--usd", "0.50")
	w.showOnFailure()
	dear := play.Usage{In: 100_000, Out: 1000} // 0.42 USD at 4 and 20 a million
	n := 0
	load(w, play.Script{Default: &play.Turn{Do: func(play.Request) play.Turn {
		if n++; n > 20 {
			return play.Turn{Text: "I worked on and on.", Usage: dear}
		}
		return play.Turn{Delay: 1, Tools: []play.Tool{bash("ls go.mod")}, Usage: dear}
	}}})
	printed, code := w.drive(job, "--permission-mode", "bypassPermissions")
	if code != 6 || !strings.Contains(printed, "budget reached") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	all := w.entries(job)
	if calls := len(kind(all, "touched")) + len(kind(all, "step")); calls > 3 || len(kind(all, "session started")) != 1 {
		t.Errorf("it made %d calls:\n%s", calls, tell(all))
	}
}
