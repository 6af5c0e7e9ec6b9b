package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

type startOptions struct {
	goal     string
	checks   []string
	quick    []string
	setup    string
	protect  []string
	keep     string
	usd      string
	tokens   int64
	sessions int
	deadline string
	onCrash  string
	parent   string
	propose  bool
	bare     bool
	large    bool
	limit    time.Duration
	instruct []string
}

func (a *App) startCommand() *cobra.Command {
	var o startOptions
	c := &cobra.Command{Use: "start GOAL", Short: "Begin a job in this folder", GroupID: "work", Args: cobra.ExactArgs(1),
		Long: `Begin a job: its goal, the commands that must pass at the end, and what must
stay. The workspace is kept in a safe point, and every check runs once in a clean
checkout, so that day one says which are red, green or cannot run. A check that
is green at the start proves nothing yet.

Without --protect and --keep-tests, start proposes what should stay: for a job on
code the tests, for a job on tests every test. --propose takes the proposals.`,
		Example: `  duplex start "Move the tests to Vitest" --check "npm test" --keep-tests "npx vitest list"
  duplex start "Rewrite the parser" --check "go test ./..." --protect '**/*_test.go'
  duplex start "Split the auth module" --check "make test" --usd 40 --deadline "2026-12-04 18:00"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.goal = args[0]
			return a.start(cmd.Context(), o)
		}}
	f := c.Flags()
	f.StringArrayVar(&o.checks, "check", nil, "a command that must pass at the end (repeat)")
	f.StringArrayVar(&o.quick, "quick-check", nil, "a check that is quick: it also runs after a crash (repeat)")
	f.StringVar(&o.setup, "setup", "", "command to run in a clean checkout before the checks")
	f.StringArrayVar(&o.protect, "protect", nil, "glob of files whose first version the checks run with (repeat)")
	f.StringVar(&o.keep, "keep-tests", "", "every test must survive: 'go', or a command that lists the tests")
	f.StringVar(&o.usd, "usd", "", "budget in USD")
	f.Int64Var(&o.tokens, "tokens", 0, "budget in tokens")
	f.IntVar(&o.sessions, "sessions", 0, "budget in sessions")
	f.StringVar(&o.deadline, "deadline", "", "local time, as in \"2026-12-04 18:00\", or a duration as in 36h")
	f.StringVar(&o.onCrash, "on-crash", "", "after a crash of a driven session: back, keep or ask")
	f.StringVar(&o.parent, "parent", "", "the job this one is a part of")
	f.BoolVar(&o.propose, "propose", false, "take the proposals for what must stay")
	f.BoolVar(&o.bare, "no-baseline", false, "do not run the checks now")
	f.BoolVar(&o.large, "large", false, "keep the workspace beyond the limits of size and count too")
	f.DurationVar(&o.limit, "check-time", 15*time.Minute, "time limit of one check")
	f.StringArrayVar(&o.instruct, "instruct", nil, "an instruction that binds (repeat)")
	return c
}

func (a *App) start(ctx context.Context, o startOptions) error {
	budget, err := a.budget(o.usd, o.tokens, o.sessions, o.deadline)
	if err != nil {
		return err
	}
	if o.onCrash != "" && o.onCrash != "back" && o.onCrash != "keep" && o.onCrash != "ask" {
		return usagef("--on-crash is back, keep or ask")
	}
	if o.limit < time.Second {
		return usagef("--check-time %s: a second at least", o.limit)
	}
	if o.deadline != "" && budget.Deadline <= a.now() {
		return usagef("--deadline %q has passed; name a time to come", o.deadline)
	}
	if err := workspace.CheckGlobs(o.protect); err != nil {
		return usagef("--protect: %w", err)
	}
	t, err := a.open(ctx, opening{create: true})
	if err != nil {
		return err
	}
	by, err := t.Actor(ctx)
	if err != nil {
		return err
	}
	r := tracker.StartRequest{Dir: a.Dir, Goal: o.goal, Setup: o.setup, Protect: o.protect, KeepTests: o.keep, Budget: budget, OnCrash: o.onCrash,
		Propose: o.propose, NoBaseline: o.bare, Large: o.large}
	for _, c := range o.checks {
		r.Checks = append(r.Checks, job.Check{Command: c, Seconds: int(o.limit.Seconds())})
	}
	for _, c := range o.quick {
		r.Checks = append(r.Checks, job.Check{Command: c, Quick: true, Seconds: int(o.limit.Seconds())})
	}
	if o.parent != "" {
		if r.Parent, err = t.Find(ctx, by, o.parent, a.Dir); err != nil {
			return err
		}
	}
	p := a.progress()
	r.Progress = p.say
	started, err := t.Start(ctx, by, r)
	p.end()
	if started.Job != "" { // open, also when its checks could not be run, or Ctrl-C ended them
		for _, text := range o.instruct {
			_, bad := t.Instruct(context.WithoutCancel(ctx), by, started.Job, text)
			err = errorsOr(err, bad)
		}
	}
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("started/1", started)
	}
	return a.showStarted(started)
}

// budget reads the four limits.
func (a *App) budget(usd string, tokens int64, sessions int, deadline string) (job.Budget, error) {
	b := job.Budget{Tokens: tokens, Sessions: sessions}
	if tokens < 0 || sessions < 0 {
		return b, usagef("a budget of less than nothing: --tokens and --sessions are counts; leave them out for no limit")
	}
	if usd != "" {
		v, err := strconv.ParseFloat(strings.TrimPrefix(usd, "$"), 64)
		if err != nil || !(v > 0) || v > 1e6 { // NaN is not above 0 either
			return b, usagef("--usd %q is no amount between 0 and 1,000,000", usd)
		}
		b.Pico = int64(v * 1e12)
	}
	if deadline != "" {
		if d, err := time.ParseDuration(deadline); err == nil {
			b.Deadline = job.At(a.Now().Add(d))
			return b, nil
		}
		if at, ok := a.timeNamed(deadline); ok {
			b.Deadline = at
			return b, nil
		}
		return b, usagef("--deadline %q is no time; write \"2026-12-04 18:00\" or 36h", deadline)
	}
	return b, nil
}

// timeNamed reads a day or a time as people write it here. ok is false for anything else.
func (a *App) timeNamed(s string) (at job.Time, ok bool) {
	for _, layout := range []string{"2006-01-02 15:04", time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, s, a.zone()); err == nil {
			return job.At(at), true
		}
	}
	return 0, false
}

func (a *App) showStarted(s tracker.Started) error {
	p := a.page()
	p.line("%s", tame(s.Goal))
	p.line("%s is open in %s", a.paint(bold, s.Short), s.Workspace)
	p.line("")
	if s.SafePoint > 0 {
		p.fact("safe point", "%d holds the workspace as it is now", s.SafePoint)
	}
	a.leftOut(p, s)
	if s.Baseline != nil {
		a.baseline(p, s.Baseline)
	} else if len(s.Checks) == 0 {
		p.fact("checks", "none: a finish will be unverified; add one: duplex amend %s --check \"…\"", s.Short)
	}
	for i, q := range s.Taken {
		p.fact(onlyFirst(i, "stays"), "%s (%s)", q.Flag, q.Why)
	}
	for i, q := range s.Proposals {
		p.fact(onlyFirst(i, "proposed"), "%s (%s)", q.Flag, q.Why)
	}
	if len(s.Proposals) > 0 {
		p.fact("", "take it: duplex amend %s %s", s.Short, s.Proposals[0].Flag)
	}
	for i, l := range s.Lessons {
		p.fact(onlyFirst(i, "lessons"), "%s", cut(l.Text, 110))
	}
	p.line("")
	p.line("Work on it here with an agent whose hooks call duplex, or drive one: duplex run %s --script FILE", s.Short)
	return p.flush()
}

// leftOut names what the first safe point does not hold, so that nobody relies on
// getting it back.
func (a *App) leftOut(p *page, s tracker.Started) {
	const most = 6
	for i, u := range s.LeftOut[:min(len(s.LeftOut), most)] {
		p.fact(onlyFirst(i, "not in it"), "%s (%s)", fileName(u.Path), u.Why)
	}
	if more := s.LeftOutCount - most; more > 0 {
		p.fact("", "and %s more", thousands(int64(more)))
	}
}

// baseline says what each check was on day one.
func (a *App) baseline(p *page, run *tracker.CheckRun) {
	for i, r := range run.Results {
		note := "red: to be reached"
		switch r.State {
		case job.CheckPassed:
			note = "green at the start: proves nothing yet"
		case job.CheckCannotRun:
			note = "cannot run: " + cut(r.Reason, 80)
		}
		p.fact(onlyFirst(i, "checks"), "%s %s  %s", a.mark(r.State), r.Command, a.paint(dim, note))
	}
	if run.Setup != nil && run.Setup.State != job.CheckPassed {
		p.fact("setup", "%s %s  %s", a.mark(run.Setup.State), run.Setup.Command, cut(run.Setup.Reason, 80))
	}
	switch {
	case run.ListError != "":
		p.fact("tests", "cannot be listed: %s", cut(run.ListError, 160))
	case run.Tests > 0:
		p.fact("tests", "%s, every one must survive", plural(run.Tests, "test"))
	}
}

// mark is a check's sign; words go with it.
func (a *App) mark(s job.CheckState) string {
	switch s {
	case job.CheckPassed:
		return a.paint(colourOK, "✓")
	case job.CheckFailed:
		return a.paint(colourFail, "✕")
	}
	return "–"
}

func onlyFirst(i int, name string) string {
	if i == 0 {
		return name
	}
	return ""
}

// money is USD with two decimals, or what is known when nothing is priced.
func money(b job.Bill) string {
	s := cents(b.Pico)
	if b.Pico == 0 && b.Unpriced > 0 {
		s = "unpriced"
	} else if b.Unpriced > 0 {
		s += fmt.Sprintf(" and %s tokens unpriced", thousands(b.Unpriced))
	}
	return s
}
