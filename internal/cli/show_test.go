package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		n, most  int
		want     []string
	}{
		{"empty", " \n", 10, 0, nil},
		{"between words", "the quick brown fox", 9, 0, []string{"the quick", "brown fox"}},
		{"names are never broken", "see internal/handover/build.go now", 10, 0, []string{"see", "internal/handover/build.go", "now"}},
		{"what is cut ends in …", "one two three four five six", 9, 2, []string{"one two", "three…"}},
		{"glue holds", "done, working-set" + glue + "12", 12, 0, []string{"done,", "working-set 12"}},
		{"line ends are blanks", "a\nb\tc", 80, 0, []string{"a b c"}},
	} {
		if got := wrap(c.in, c.n, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: wrap(%q, %d, %d) = %q, want %q", c.name, c.in, c.n, c.most, got, c.want)
		}
	}
}

func TestTame(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain – ✓ text":                      "plain – ✓ text",
		"red \x1b[31mtext\x1b[0m":             "red text",
		"a title \x1b]0;owned\x07here":        "a title here",
		"a link \x1b]8;;http://x\x1b\\there":  "a link there",
		"unended \x1b]0;owned\nthe next line": "unended \nthe next line",
		"bell\x07, back\x08, del\x7f":         "bell, back, del",
		"an 8-bit \u009b31mone":               "an 8-bit 31mone",
		"tabs\tand\nlines stay":               "tabs\tand\nlines stay",
	} {
		if got := tame(in); got != want {
			t.Errorf("tame(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzTame(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mred", "\x1b]0;t\x07", "\x1bP\x1b\\x", "\u009b", "\xc2", "a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := tame(s)
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("tame(%q) = %q, which drives a terminal", s, got)
			}
		}
		if strings.Count(s, "\n") != strings.Count(got, "\n") {
			t.Fatalf("tame(%q) = %q: a line is gone", s, got)
		}
		for _, l := range wrap(s, 20, 3) {
			if utf8.RuneCountInString(l) > 20 && strings.Contains(l, " ") && !strings.Contains(s, glue) {
				t.Fatalf("wrap(%q): %q is wider than 20 and has a blank to break at", s, l)
			}
		}
	})
}

// terminal runs a command as a person at a terminal.
func (w *tale) terminal(width int, args ...string) string {
	w.t.Helper()
	var out, errs bytes.Buffer
	a := &App{Args: args, In: strings.NewReader(""), Out: &out, Err: &errs, Dir: w.dir, Program: "duplex", OutTerminal: true, Width: width,
		Now: w.clock, Getenv: func(k string) string { return w.env[k] }}
	if code := Main(context.Background(), a); code != ExitOK {
		w.t.Fatalf("duplex %s: exit %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// TestTerminal: colour is for terminals only, it is ours only, and lines fit.
func TestTerminal(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	w.monday()
	w.must("raise", "look at \x1b]0;owned\x07this \x1b[5mblinking\x1b[0m line")
	for _, args := range [][]string{{"show"}, {"log"}, {"log", "--full"}, {"log", "--decided"}, {"cost"}, {"verify"}, {"config"}, {"brief"}} {
		for _, width := range []int{80, 200} {
			out := w.terminal(width, args...)
			for _, l := range strings.Split(out, "\n") {
				bare := l
				for _, code := range []string{bold, dim, colourAsk, colourFail, colourOK, "0"} {
					bare = strings.ReplaceAll(bare, "\x1b["+code+"m", "")
				}
				if strings.ContainsRune(bare, 0x1b) || strings.ContainsRune(bare, 0x07) {
					t.Errorf("%v: an escape that is not ours: %q", args, l)
				}
				if args[0] == "log" && runes(bare) > width {
					t.Errorf("%v at %d columns: %d: %q", args, width, runes(bare), bare)
				}
			}
		}
		if piped := w.must(args...); strings.ContainsRune(piped, 0x1b) {
			t.Errorf("%v: an escape in a pipe: %q", args, piped)
		}
	}
	if !strings.Contains(w.terminal(100, "show"), "\x1b["+colourFail+"m✕") {
		t.Error("show has no red ✕ on a terminal")
	}
	w.env["NO_COLOR"] = "1"
	if out := w.terminal(100, "show"); strings.ContainsRune(out, 0x1b) {
		t.Errorf("NO_COLOR is not obeyed: %q", out)
	}
}

// TestStanding: for each place a job can be in, the standing says why, and the
// last line what one may do.
func TestStanding(t *testing.T) {
	t.Parallel()
	now := job.At(time.Date(2026, 11, 12, 14, 20, 0, 0, berlin))
	hour := job.Time(time.Hour / time.Microsecond)
	a := func() *App {
		return &App{Now: func() time.Time { return now.Time().In(berlin) }, Getenv: func(string) string { return "" }}
	}
	lease := &job.Lease{Session: "s7", Token: 9, Until: now + 2*60e6, Driven: true}
	for _, c := range []struct {
		name          string
		place         job.Place
		s             job.Standing
		questions     []job.Item
		by            string
		stands, mayDo string
	}{
		{name: "not begun", place: job.PlaceReady, stands: "0 steps, no checks; ready to resume, not begun", mayDo: "Nobody holds it. Go on: duplex resume k7m2, or duplex run k7m2"},
		{name: "running", place: job.PlaceRunning, s: job.Standing{Lease: lease, Steps: 4, Sessions: 7}, stands: "4 steps in 7 sessions, no checks; running",
			mayDo: "You may look. To act, wait for the lease or take over: duplex resume k7m2 --take"},
		{name: "held by who asks", place: job.PlaceRunning, s: job.Standing{Lease: lease}, by: "s7", stands: "0 steps, no checks; running",
			mayDo: "You hold this job under token 9. Hand over any time: duplex handover k7m2 --next \"…\""},
		{name: "asked", place: job.PlaceNeedsYou, s: job.Standing{Pause: &job.Pause{Reason: job.PauseAnswer, Since: now - hour, Evidence: "the question"}}, questions: []job.Item{{Text: "May it?"}},
			stands: "0 steps, no checks; needs you since 13:20, waiting for an answer", mayDo: "It waits for your answer: duplex answer k7m2 \"…\""},
		{name: "budget", place: job.PlaceNeedsYou, s: job.Standing{Pause: &job.Pause{Reason: job.PauseBudget, Since: now - hour, Evidence: "$40.00 of $40.00"}},
			stands: "0 steps, no checks; needs you since 13:20, budget reached: $40.00 of $40.00", mayDo: "It waits for you: raise the budget, duplex amend k7m2 --usd …, or end it, duplex abandon k7m2"},
		{name: "rate limit", place: job.PlaceWaiting, s: job.Standing{Pause: &job.Pause{Reason: job.PauseRate, Since: now - hour, Until: now + hour}},
			stands: "0 steps, no checks; waiting since 13:20, rate limit until 15:20", mayDo: "A duplex run that waits for it goes on by itself. To go on now: duplex resume k7m2"},
		{name: "rate limit of unknown length", place: job.PlaceReady, s: job.Standing{Pause: &job.Pause{Reason: job.PauseRate, Since: now - hour}},
			stands: "0 steps, no checks; ready to resume since 13:20, rate limit, until when is unknown", mayDo: "Nobody holds it. Go on: duplex resume k7m2, or duplex run k7m2"},
		{name: "failed", place: job.PlaceNeedsYou, s: job.Standing{Outcome: &job.Verdict{Outcome: job.OutcomeFailed, At: now - hour, Reason: "2 tests are missing"},
			Checks: []job.CheckNow{{State: job.CheckPassed}, {State: job.CheckFailed}}},
			stands: "1 of 2 checks pass after 0 steps; failed 13:20: 2 tests are missing",
			mayDo:  "It waits for you: duplex finish k7m2 again, duplex resume k7m2 to go on, or duplex accept k7m2 --reason \"…\""},
		{name: "accepted", place: job.PlaceFinished, s: job.Standing{Outcome: &job.Verdict{Outcome: job.OutcomeAccepted, At: now - hour, By: job.Author{Kind: job.Person}, Reason: "good enough"}},
			stands: "0 steps, no checks; accepted by a person 13:20: good enough", mayDo: "Read it as one piece: duplex log k7m2. What it cost: duplex cost k7m2"},
	} {
		c.s.Short, c.s.Updated = "k7m2", now-hour
		app := a()
		v := &showing{a: app, p: app.page(), by: tracker.Actor{Session: job.ID(c.by)}, Shown: tracker.Shown{Row: tracker.Row{Standing: c.s, Place: c.place}, Questions: c.questions}}
		if got := v.stands(); got != c.stands {
			t.Errorf("%s: stands %q, want %q", c.name, got, c.stands)
		}
		if got := strings.Join(v.mayDo(), "\n"); got != c.mayDo {
			t.Errorf("%s: may do %q, want %q", c.name, got, c.mayDo)
		}
	}
}

// TestShowAll: what is seldom there: lost tests, children, late entries, a call
// whose outcome is unknown.
func TestShowAll(t *testing.T) {
	t.Parallel()
	now := job.At(time.Date(2026, 11, 12, 14, 20, 0, 0, berlin))
	var out bytes.Buffer
	a := &App{Now: func() time.Time { return now.Time().In(berlin) }, Getenv: func(string) string { return "" }, Out: &out}
	v := &showing{a: a, p: a.page(), Shown: tracker.Shown{Goal: "Move the test suite from Jest to Vitest",
		Row: tracker.Row{Place: job.PlaceReady, Standing: job.Standing{Short: "k7m2", Position: 1342, Opened: now - 3600e6, Updated: now,
			InFlight: &job.Ref{ID: "x", Position: 1341, Text: "npm test"}, Late: 3, LateEdits: 1, Missing: 2, Unknown: 1, Unconfirmed: true, OpenItems: 12,
			Checks: []job.CheckNow{{ID: "c1", Command: "npm test", State: job.CheckCannotRun, Note: "npm is not there", At: now, Baseline: job.CheckCannotRun}, {ID: "c2", Command: "npx tsc"}},
			Spend:  job.Bill{Pico: 2e12, Tokens: job.Tokens{Output: 5}, Unpriced: 1200, Estimate: 1e12}, Budget: job.Budget{Deadline: now - 60e6, Tokens: 1e6}}},
		Spend:    job.Bill{Pico: 5e12, Estimate: 1e12},
		Losses:   []job.TestLoss{{Name: "rounds half up", Loss: "missing"}, {Name: "keeps the currency", Loss: "emptied", Accepted: true}},
		Checked:  &job.Checked{ListError: "npx vitest list: exit 1", Changed: []string{"vitest.config.ts"}},
		Open:     []job.Item{{Position: 1318, Text: "the jest-when helpers must go"}, {}, {}, {}, {}, {}, {}, {}, {}},
		Children: []tracker.Row{{Place: job.PlaceRunning, Standing: job.Standing{Short: "c93t", Goal: "Delete Jest", Spend: job.Bill{Pico: 3e12}}}},
		Sittings: []job.Sitting{{Number: 2, SessionStarted: job.SessionStarted{Number: 2, Agent: "codex", Model: "gpt-5-codex", Level: 1000}, Ended: now, Reason: "limit", Context: 860, Actions: 30, Rereads: 44}},
	}}
	v.all()
	if err := v.p.flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"k7m2 at position 1,342, open for 1 h 0 min, times +01:00",
		"held by     nobody; the last was session 2, Codex gpt-5-codex, at its context limit 14:20",
		"context     86 % used when session 2 left",
		"in flight   1,341  npm test: what came of it is unknown",
		"budget      $5.00, no limit, 0 of 1,000,000 tokens, deadline passed 14:19; $1.00 of it is an estimate",
		"            $3.00 of it by child jobs",
		"– npm test              npm is not there  14:20      could not run on day one",
		"– npx tsc               not run",
		"lost tests  ✕ rounds half up: missing",
		"            ✕ keeps the currency: emptied, accepted by a person",
		"tests       cannot be listed: npx vitest list: exit 1",
		"changed     protected files differ from day one: vitest.config.ts",
		"open        1,318  the jest-when helpers must go",
		"            4 more: duplex log k7m2 --kind raised",
		"children    c93t    Delete Jest                                   running          $3.00",
		"takeovers   session 2 re-read 10 of the first 10 actions; no edit yet",
		"note        ! the goal is the agent's; confirm it: duplex amend k7m2 --goal \"…\"",
		"note        ! 3 entries by a session that was replaced, recorded as late",
		"note        ! 1 of these changed the workspace: look at it before you go on",
		"note        ! 2 things could not be recorded: duplex log k7m2 --kind gap",
		"note        ! 1 entry of a kind that this version does not know; install the newer one",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}
