package mcpserver

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func TestYou(t *testing.T) {
	t.Parallel()
	const me, other, here, there = "me", "other", "here", "there"
	held := func(by job.ID, token int64) job.Standing {
		return job.Standing{Job: here, Short: "k7m2", Token: token, Lease: &job.Lease{Session: by, Token: token}}
	}
	free := job.Standing{Job: here, Short: "k7m2", Token: 1}
	done := job.Standing{Job: here, Outcome: &job.Verdict{Outcome: job.OutcomePassed}}
	at := tracker.Actor{Session: me, Job: here, Token: 1}
	guest := at
	guest.Guest = true
	for _, c := range []struct {
		s    job.Standing
		by   tracker.Actor
		want string
	}{
		{held(me, 1), at, "you hold it, under token 1"},
		{held(other, 2), at, "you were replaced"},
		{held(other, 2), guest, "a guest"},
		{held(other, 2), tracker.Actor{}, "no session of yours"},
		{held(other, 2), tracker.Actor{Session: me, Job: there}, "take k7m2"},
		{held(other, 2), tracker.Actor{Session: me}, "take k7m2"},
		{free, at, "nobody holds it"},
		{done, at, "has ended"},
	} {
		if got := (&call{by: c.by}).you(&c.s); !strings.HasPrefix(got, c.want) && !strings.Contains(got, c.want) {
			t.Errorf("%+v of %+v: %q, want %q", c.by, c.s, got, c.want)
		}
	}
}

// crowded is a job of which there is something of everything.
func crowded() tracker.Shown {
	items := func(kind job.Kind, from int64, texts ...string) (out []job.Item) {
		for i, text := range texts {
			out = append(out, job.Item{Kind: kind, Position: from + int64(i), Text: text})
		}
		return out
	}
	return tracker.Shown{
		Row: tracker.Row{Place: job.PlaceNeedsYou, Standing: job.Standing{
			Job: "here", Short: "k7m2", Position: 90, Steps: 12, Sessions: 2, Unconfirmed: true, LateEdits: 2, Missing: 1, Changed: 3, Next: "move dunning.test.ts",
			Lease: &job.Lease{Session: "s2", Token: 4}, Token: 4, InForce: 1, DeadEnds: 1, OpenItems: 3, Questions: 1,
			Newest:    map[job.Kind]job.Ref{job.KindStep: {ID: "e88", Position: 88, Text: "go test ./..."}},
			Failure:   &job.Ref{ID: "e87", Position: 87, Text: "go vet"},
			InFlight:  &job.Ref{ID: "e89", Position: 89, Text: "make deploy"},
			SafePoint: &job.SafePointNow{Number: 7}, Protect: []string{"**/*_test.go"}, KeepTests: &job.KeepTests{List: "go"},
			Pause:  &job.Pause{Reason: job.PauseAnswer, Evidence: "which rate"},
			Checks: []job.CheckNow{{ID: "c1", Command: "go test ./...", State: job.CheckFailed, Baseline: job.CheckPassed, Note: "2 failed"}, {ID: "c2", Command: "lint"}},
		}},
		Goal: "Move the tests", Open: items(job.KindRaised, 80, "the export", "the import"), Questions: items(job.KindAsked, 70, "which rate?"),
		Decisions: items(job.KindDecided, 60, "half up"), DeadEnds: items(job.KindDeadEnd, 50, "sed"),
		Sittings: []job.Sitting{{ID: "s1", Number: 1}, {ID: "s2", Number: 2, SessionStarted: job.SessionStarted{Agent: "claude", Model: "opus"}}},
		Losses:   []job.TestLoss{{Name: "TestGone", Loss: "missing"}, {Name: "TestFine", Loss: "missing", Accepted: true}},
		Spend:    job.Bill{Pico: 1_500_000_000_000, Unpriced: 20},
	}
}

func TestStandingInShort(t *testing.T) {
	t.Parallel()
	shown := crowded()
	c := &call{by: tracker.Actor{Session: "s2", Job: "here", Token: 4}}
	got := c.inShort(&shown, 8, 200)
	want := Standing{Job: "here", Short: "k7m2", Position: 90, Goal: "Move the tests", Place: job.PlaceNeedsYou, You: "you hold it, under token 4", Holder: "session 2, claude opus",
		Waits: shown.Standing.Pause, Steps: 12, Sessions: 2, Spent: "$1.50 and 20 tokens unpriced", LastStep: &Line{88, "go test ./..."}, Failed: &Line{87, "go vet"},
		InFlight: &Line{89, "make deploy"}, SafePoint: 7, Edits: 3, Next: "move dunning.test.ts",
		Checks: []CheckLine{{"c1", "go test ./...", job.CheckFailed, job.CheckPassed, "2 failed"}, {ID: "c2", Command: "lint"}},
		Losses: []string{"TestGone: missing"}, Stays: []string{"**/*_test.go", "every test (go)"},
		Open: []Line{{80, "the export"}, {81, "the import"}}, Questions: []Line{{70, "which rate?"}}, Decisions: []Line{{60, "half up"}}, DeadEnds: []Line{{50, "sed"}},
		Left: []string{"1 more open item: brief with section open"},
		Notes: []string{`the goal is an agent's until the person confirms it: duplex amend k7m2 --goal "…"`, "2 edits by a session that was replaced changed the workspace: look at it first",
			"1 thing could not be recorded: duplex log k7m2 --kind gap"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("in short it is\n%+v\nwant\n%+v", got, want)
	}
	const page = `k7m2 at position 90: Move the tests
needs you, 12 steps in 2 sessions, $1.50 and 20 tokens unpriced; you hold it, under token 4
held by session 2, claude opus
waiting for an answer: which rate
check c1  go test ./...  failed
check c2  lint  not run
lost test: TestGone: missing
stays: **/*_test.go, every test (go)
last step: #88 go test ./...
failed: #87 go vet
outcome unknown: #89 make deploy
safe point 7, 3 edits since
asked: #70 which rate?
open: #80 the export
open: #81 the import
decided: #60 half up
dead end: #50 sed
1 more open item: brief with section open
the goal is an agent's until the person confirms it: duplex amend k7m2 --goal "…"
2 edits by a session that was replaced changed the workspace: look at it first
1 thing could not be recorded: duplex log k7m2 --kind gap
next: move dunning.test.ts`
	if got := got.lines(); got != page {
		t.Errorf("it reads\n%s\nwant\n%s", got, page)
	}
	least := c.inShort(&shown, 0, 60)
	if least.Open != nil || len(least.Left) != 4 || least.Checks == nil {
		t.Errorf("in the least it is %+v", least)
	}
}

func TestVerdictRead(t *testing.T) {
	t.Parallel()
	run := &tracker.CheckRun{Short: "k7m2", Setup: &job.CheckResult{ID: "setup", Command: "npm ci", State: job.CheckFailed, Output: job.Receipt{Text: "no network\n"}},
		Results: []job.CheckResult{
			{ID: "c1", Command: "go test ./...", State: job.CheckFailed, Output: job.Receipt{Text: strings.Repeat("noise\n", 400) + "FAIL shop"}},
			{ID: "c2", Command: "lint", State: job.CheckCannotRun, Reason: "no such program", Agent: job.CheckPassed},
			{ID: "c3", Command: "build", State: job.CheckPassed, Output: job.Receipt{Text: "a lot"}},
		},
		Losses: []job.TestLoss{{Name: "TestGone", Loss: "missing"}, {Name: "TestFine", Loss: "missing", Accepted: true}}, Changed: []string{"a_test.go"}, ListError: "no go"}
	a := verdict(tracker.Verdict{Short: "k7m2", Run: run, Verdict: job.Finished{Outcome: job.OutcomeFailed, Reason: "check c1 failed"}})
	for _, want := range []string{"k7m2 failed: check c1 failed\n", "check setup  npm ci  failed\n  no network\n", "check c1  go test ./...  failed\n  …", "noise\n  FAIL shop\n",
		"check c2  lint  cannot run: no such program; passed with the protected files as they are now\n", "check c3  build  passed\n", "lost test: TestGone, missing\n",
		"protected file differs from day one: a_test.go\n", "tests cannot be listed: no go\n", "The job stays open."} {
		if !strings.Contains(a.text, want) {
			t.Errorf("it does not say %q:\n%s", want, a.text)
		}
	}
	if strings.Contains(a.text, "TestFine") || strings.Count(a.text, "noise") > 130 {
		t.Errorf("it says too much:\n%s", a.text)
	}
	full := a.sizes[0].(tracker.Verdict)
	if out := full.Run.Results[0].Output.Text; len(out) > 1010 || !strings.HasSuffix(out, "FAIL shop") || full.Run.Results[2].Output.Text != "" {
		t.Errorf("its object has the outputs %q", out)
	}
	if run.Results[2].Output.Text != "a lot" || run.Setup.Output.Text == "" {
		t.Error("what was given to it has changed")
	}
	first := strings.Join(checked(&tracker.CheckRun{Results: run.Results, Tests: 7}, true), "\n")
	if !strings.Contains(first, "red: to be reached") || !strings.Contains(first, "green at the start: proves nothing yet") || !strings.HasSuffix(first, "7 tests listed") || strings.Contains(first, "FAIL shop") {
		t.Errorf("on day one it says\n%s", first)
	}
}
