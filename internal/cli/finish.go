package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) checkCommand() *cobra.Command {
	var here bool
	c := &cobra.Command{Use: "check [JOB]", Short: "Run the checks, in a clean checkout", GroupID: "finish", Args: oneJob,
		Long:    "Run every check in a clean checkout of the workspace as it is now, outside it. --here runs them in the workspace itself: quicker, and less sure.",
		Example: "  duplex check\n  duplex check k7m2 --here",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, id, by, err := a.onJob(ctx, first(args))
			if err != nil {
				return err
			}
			p := a.progress()
			run, err := t.Check(ctx, by, id, tracker.CheckRequest{Here: here, Progress: p.say})
			p.end()
			if err != nil {
				return interrupted(ctx, err)
			}
			if a.asJSON {
				err = a.showJSON("checked/1", run)
			} else {
				pg := a.page()
				a.results(pg, &run)
				err = pg.flush()
			}
			if err == nil && !allPassed(&run) {
				return silent{errNotPassed}
			}
			return err
		}}
	c.Flags().BoolVar(&here, "here", false, "in the workspace, not in a clean checkout")
	return c
}

func allPassed(run *tracker.CheckRun) bool {
	for _, r := range run.Results {
		if r.State != job.CheckPassed {
			return false
		}
	}
	for _, l := range run.Losses {
		if !l.Accepted {
			return false
		}
	}
	return len(run.Results) > 0 && run.ListError == ""
}

// results prints each check with what it said.
func (a *App) results(p *page, run *tracker.CheckRun) {
	where := "in a clean checkout of safe point " + fmt.Sprint(run.SafePoint)
	if run.Where == "workspace" {
		where = "in the workspace"
	}
	p.line("%s, %s", run.Short, where)
	if run.Setup != nil {
		a.result(p, *run.Setup)
	}
	for _, r := range run.Results {
		a.result(p, r)
	}
	for i, path := range run.Changed {
		if i == 10 {
			p.fact("", "and %d more", len(run.Changed)-10)
			break
		}
		p.fact(onlyFirst(i, "changed"), "%s differs from day one; the checks ran with the first version", fileName(path))
	}
	a.losses(p, run.Losses)
	switch {
	case run.ListError != "":
		p.fact("tests", "cannot be listed: %s", cut(run.ListError, 160))
	case run.Tests > 0:
		p.fact("tests", "%s listed", plural(run.Tests, "test"))
	}
}

func (a *App) result(p *page, r job.CheckResult) {
	note := fmt.Sprintf("%.1f s", float64(r.Millis)/1000)
	if r.Tests != nil {
		note += fmt.Sprintf(", %d passed", r.Tests.Passed)
		if r.Tests.Failed > 0 {
			note += fmt.Sprintf(", %d failed", r.Tests.Failed)
		}
	}
	if r.State == job.CheckCannotRun {
		note = "cannot run: " + cut(r.Reason, 80)
	}
	if r.Agent != "" && r.Agent != r.State {
		note += fmt.Sprintf("; %s with the protected files as they are now: checks changed", r.Agent)
	}
	p.line("  %s %s  %s", a.mark(r.State), r.Command, a.paint(dim, note))
	if r.State != job.CheckPassed && r.Output.Text != "" {
		for _, l := range tail(r.Output.Text, 8) {
			p.line("      %s", l)
		}
	}
}

func (a *App) losses(p *page, losses []job.TestLoss) {
	n := 0
	for _, l := range losses {
		if l.Accepted {
			p.fact("", "– %s %s, accepted", l.Name, l.Loss)
			continue
		}
		if n++; n > 12 {
			continue
		}
		p.fact(onlyFirst(n-1, "lost tests"), "%s %s  %s", a.paint(colourFail, "✕"), l.Name, l.Loss)
	}
	if n > 12 {
		p.fact("", "and %d more", n-12)
	}
}

func (a *App) finishCommand() *cobra.Command {
	c := &cobra.Command{Use: "finish [JOB]", Short: "Check in a clean checkout and judge: passed, failed or unverified", GroupID: "finish", Args: oneJob,
		Long: `Run every check in a clean checkout of a final safe point, outside the workspace:
with the protected files as agreed, and then as they are. A lost, skipped or
emptied test fails it unless a person accepted that test by name. A check that did
not run is not a pass. An agent may ask for this; what it says is checked here.`,
		Example: "  duplex finish\n  duplex finish k7m2 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, id, by, err := a.onJob(ctx, first(args))
			if err != nil {
				return err
			}
			p := a.progress()
			v, err := t.Finish(ctx, by, id, p.say)
			p.end()
			if err != nil {
				return interrupted(ctx, err)
			}
			return a.showVerdict(v)
		}}
	return c
}

// showVerdict prints an outcome; one that is not passed has its exit code.
func (a *App) showVerdict(v tracker.Verdict) error {
	var err error
	if a.asJSON {
		err = a.showJSON("verdict/1", v)
	} else {
		p := a.page()
		a.verdict(p, v)
		err = p.flush()
	}
	if o := v.Verdict.Outcome; err == nil && (o == job.OutcomeFailed || o == job.OutcomeUnverified) {
		return silent{errNotPassed}
	}
	return err
}

func (a *App) verdict(p *page, v tracker.Verdict) {
	colour := colourOK
	if !v.Verdict.Outcome.Ends() {
		colour = colourFail
	}
	if v.Run != nil {
		a.results(p, v.Run)
	}
	p.line("%s %s", v.Short, a.paint(colour, string(v.Verdict.Outcome)))
	if v.Verdict.Reason != "" {
		p.fact("why", "%s", v.Verdict.Reason)
	}
	p.fact("cost", "%s, %s", money(v.Spend), span(secondsOf(v.Elapsed)))
	if v.Verdict.Sealed != "" && v.Verdict.Outcome.Ends() {
		p.fact("sealed", "%s: agent and person share one user here", v.Verdict.Sealed)
	}
	for i, l := range v.Lessons {
		p.fact(onlyFirst(i, "lessons"), "%s", cut(l, 110))
	}
	if !v.Verdict.Outcome.Ends() {
		p.line("The job stays open: go on with it, or duplex accept %s --reason \"…\"", v.Short)
	}
}

func (a *App) acceptCommand() *cobra.Command {
	var reason, typed string
	c := &cobra.Command{Use: "accept [JOB]", Short: "End a job by your word, with the reason", GroupID: "finish", Args: oneJob,
		Example: "  duplex accept k7m2 --reason \"coverage is 83.6 %, good enough\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.endByPerson(cmd, args, reason, typed, "This ends the job as accepted.", true)
		}}
	c.Flags().StringVar(&reason, "reason", "", "why it is accepted (wanted)")
	confirmFlag(c, &typed)
	return c
}

func (a *App) abandonCommand() *cobra.Command {
	var reason, typed string
	c := &cobra.Command{Use: "abandon [JOB]", Short: "End a job without its goal being reached", GroupID: "finish", Args: oneJob,
		Example: "  duplex abandon k7m2 --reason \"the feature was cut\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.endByPerson(cmd, args, reason, typed, "This ends the job as abandoned.", false)
		}}
	c.Flags().StringVar(&reason, "reason", "", "why")
	confirmFlag(c, &typed)
	return c
}

func (a *App) endByPerson(cmd *cobra.Command, args []string, reason, typed, what string, accept bool) error {
	ctx := cmd.Context()
	t, id, by, err := a.onJob(ctx, first(args))
	if err != nil {
		return err
	}
	if accept && reason == "" {
		return usagef("--reason is wanted: it stays in the ledger")
	}
	if err := a.personConfirms(ctx, t, by, id, what, typed); err != nil {
		return err
	}
	var v tracker.Verdict
	if accept {
		v, err = t.Accept(ctx, by, id, reason)
	} else {
		v, err = t.Abandon(ctx, by, id, reason)
	}
	if err != nil {
		return err
	}
	return a.showVerdict(v)
}
