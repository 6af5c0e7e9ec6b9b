// Package demo is the story a visitor sees: a real job over a real small
// repository, through four sessions and two models, a full context, a crash and a
// false claim, to a checked finish. Only the model is scripted.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/runner"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Stage is where the story is played.
type Stage struct {
	Tracker  *tracker.Tracker
	Dir      string // of the repository, made anew
	Program  string // this binary: the scripted agent and its hooks
	Driver   agent.Driver
	Print    func(string) // one line
	Progress func(string) // what is under way
	Title    func(string) // a chapter
}

// Goal of the demo's job.
const Goal = "Move the tests from the expect package to table tests of testing"

// Told says what the story came to.
type Told struct {
	Job    job.ID
	Result runner.Result
}

// Play tells the whole story.
func Play(ctx context.Context, s Stage) (Told, error) {
	d := &play{Stage: s}
	if err := d.start(ctx); err != nil {
		return d.told, err
	}
	return d.told, d.drive(ctx)
}

type play struct {
	Stage
	told    Told
	short   string
	claimed bool   // a finish was tried
	bin     string // folder in which the command is called duplex
}

func (d *play) start(ctx context.Context) error {
	d.Title("The start")
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return err
	}
	files, cases, err := write(d.Dir)
	if err != nil {
		return fmt.Errorf("write the repository: %w", err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Demo"}, {"config", "user.email", "demo@localhost"},
		{"config", "commit.gpgsign", "false"}, {"add", "-A"}, {"commit", "-qm", "shop: small helpers, tested the home-made way"}} {
		if err := d.git(ctx, args...); err != nil {
			return err
		}
	}
	d.Print(fmt.Sprintf("A repository in %s: %d test files with %d cases, written with a home-made package.", d.Dir, files, cases))
	started, err := d.Tracker.Start(ctx, tracker.APerson(), tracker.StartRequest{Dir: d.Dir, Goal: Goal, KeepTests: "go", OnCrash: "back",
		Checks: []job.Check{
			{Command: "go test -count=1 ./...", Seconds: 300},
			{Command: "! grep -rl shop/expect --include=*_test.go .", Quick: true, Seconds: 60},
		}, Progress: d.Progress})
	if err != nil {
		return err
	}
	d.told.Job, d.short = started.Job, started.Short
	d.Print(fmt.Sprintf("$ duplex start %q --keep-tests go \\\n    --check \"go test -count=1 ./...\" --check \"! grep -rl shop/expect …\"", Goal))
	d.Print(fmt.Sprintf("  job %s; safe point %d holds the repository as it is", d.short, started.SafePoint))
	for _, r := range started.Baseline.Results {
		switch r.State {
		case job.CheckPassed:
			d.Print(fmt.Sprintf("  ✓ %s  green at the start: proves nothing yet", r.Command))
		default:
			d.Print(fmt.Sprintf("  ✕ %s  red: to be reached", r.Command))
		}
	}
	d.Print(fmt.Sprintf("  %d tests listed: every one must survive", started.Baseline.Tests))
	_, err = d.Tracker.Instruct(ctx, tracker.APerson(), started.Job, "Change the test files only; never rename a case.")
	return err
}

func (d *play) git(ctx context.Context, args ...string) error {
	r := process.Run(ctx, process.Spec{Dir: d.Dir, Argv: append([]string{"git"}, args...), Env: os.Environ()})
	if !r.Passed() {
		return fmt.Errorf("git %s: %s%s", strings.Join(args, " "), r.Output, r.Err)
	}
	return nil
}

// drive plays the other three chapters: one run, of which the events are told.
func (d *play) drive(ctx context.Context) error {
	scripts, err := os.MkdirTemp("", "duplex-demo-scripts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scripts)
	d.bin = filepath.Join(scripts, "bin")
	if err := d.command(); err != nil {
		return err
	}
	var choices []runner.Choice
	for i, c := range []struct {
		model  string
		script object
		args   []string
	}{{"script-small", first(), []string{"--window", "7000"}}, {"script-large", second(), nil}, {"script-large", third(), nil}, {"script-small", fourth(), nil}} {
		text, err := encode(c.script)
		if err != nil {
			return err
		}
		path := filepath.Join(scripts, fmt.Sprintf("session-%d.json", i+1))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		choices = append(choices, runner.Choice{Driver: d.Driver, Model: c.model, Args: append(c.args, "--script", path, "--home", filepath.Join(scripts, "agent"))})
	}
	d.Title("The limit")
	d.told.Result, err = runner.Run(ctx, runner.Options{Tracker: d.Tracker, Job: d.told.Job, Dir: d.Dir, Choices: choices, Sessions: len(choices) + 2,
		Program: d.Program, Hook: []string{d.Program, "hook"}, Env: []string{"PATH=" + d.bin + string(os.PathListSeparator) + os.Getenv("PATH")},
		Tell: func(e runner.Event) { d.tell(ctx, e) }})
	if err != nil {
		return err
	}
	if d.told.Result.Verdict == nil || d.told.Result.Verdict.Verdict.Outcome != job.OutcomePassed {
		return errors.New("the demo did not come to a passed finish; duplex show " + d.short + " says why")
	}
	return nil
}

// command puts this binary into a folder of its own under the name duplex, for the
// agent's shell.
func (d *play) command() error {
	if err := os.MkdirAll(d.bin, 0o700); err != nil {
		return err
	}
	name := filepath.Join(d.bin, "duplex"+filepath.Ext(d.Program))
	if os.Symlink(d.Program, name) == nil {
		return nil
	}
	return os.Link(d.Program, name)
}

// tell shows one event of the run.
func (d *play) tell(ctx context.Context, e runner.Event) {
	switch e.Kind {
	case "session":
		switch e.Session {
		case 2:
			d.Title("The next morning")
		case 4:
			d.Print("")
		}
		d.Print(fmt.Sprintf("▼ session %d begins, model %s", e.Session, e.Model))
	case "said", "check":
		d.Progress(e.Text)
	case "handed over":
		d.handover(ctx, e.Session)
	case "done":
		d.Print(fmt.Sprintf("  session %d says it is done", e.Session))
	case "ended":
		d.Print(fmt.Sprintf("  × session %d crashed: %s", e.Session, e.Text))
	case "went back":
		d.Print("  went back " + e.Text)
	case "finish":
		d.finish(ctx, e.Verdict)
	}
}

// handover shows what went across, and what stayed behind.
func (d *play) handover(ctx context.Context, session int) {
	shown, err := d.Tracker.Show(ctx, d.told.Job)
	if err != nil {
		return
	}
	b, err := d.Tracker.Brief(ctx, d.told.Job, tracker.BriefRequest{})
	if err != nil {
		return
	}
	fill := 0.0
	if h := shown.Standing.Handover; h != nil {
		fill = h.Fill
	}
	d.Print(fmt.Sprintf("  The context is %d %% full, in the middle of a folder. The handover is written, without a model call,", int(fill*100)))
	d.Print(fmt.Sprintf("  and examined with %d questions before it counts. What goes across (%d tokens):", b.Probes, b.Tokens))
	d.Print("")
	for _, l := range strings.Split(strings.TrimSpace(b.Text), "\n") {
		d.Print("  │ " + job.Clip(l, 150))
	}
	d.Print("")
	behind := 0
	var across []string
	for _, c := range b.Sections {
		behind += c.Behind
		if c.Across > 0 {
			across = append(across, fmt.Sprintf("%s %d", c.Section, c.Across))
		}
	}
	context := int64(0)
	for _, s := range shown.Sittings {
		if s.Number == session {
			context = s.Context
		}
	}
	d.Print(fmt.Sprintf("  across: %s; %d lines left out", strings.Join(across, ", "), behind))
	d.Print(fmt.Sprintf("  stayed behind: the conversation of %d tokens, where it was", context))
}

// finish shows a verdict; the first one names what was lost.
func (d *play) finish(ctx context.Context, v *tracker.Verdict) {
	if v.Verdict.Outcome != job.OutcomePassed {
		if !d.claimed {
			d.Title("The finish")
		}
		d.claimed = true
		d.Print("In a clean checkout, outside the session:")
		d.results(v)
		d.Print(fmt.Sprintf("  %s: %s", v.Verdict.Outcome, v.Verdict.Reason))
		return
	}
	d.results(v)
	d.Print(fmt.Sprintf("  ✓ %s passed", d.short))
	shown, err := d.Tracker.Show(ctx, d.told.Job)
	if err != nil {
		return
	}
	for _, s := range shown.Sittings {
		if s.Number > 1 && s.Actions > 0 {
			d.Print(fmt.Sprintf("    session %d re-read %d files in its first %d actions", s.Number, s.Rereads, min(s.Actions, job.RediscoveryWindow)))
		}
	}
}

func (d *play) results(v *tracker.Verdict) {
	if v.Run == nil {
		return
	}
	for _, r := range v.Run.Results {
		sign := "✓"
		if r.State != job.CheckPassed {
			sign = "✕"
		}
		d.Print(fmt.Sprintf("  %s %s", sign, r.Command))
	}
	for _, l := range v.Run.Losses {
		d.Print(fmt.Sprintf("  ✕ test %s: %s", l.Name, l.Loss))
	}
	if v.Run.Tests > 0 {
		d.Print(fmt.Sprintf("    %d tests listed", v.Run.Tests))
	}
}
