package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/cost"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func usd(pico int64) string { return cost.USD(pico) }

func (a *App) jobsCommand() *cobra.Command {
	var all, ready bool
	c := &cobra.Command{Use: "jobs", Short: "List jobs", GroupID: "look",
		Long:    "List jobs by the place they are in: who needs you, running, ready to resume (oldest first), waiting. --all adds finished ones and those opened by themselves.",
		Example: "  duplex jobs\n  duplex jobs --ready\n  duplex jobs --all --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := a.look(cmd.Context())
			if err != nil {
				return err
			}
			rows, err := t.Jobs(cmd.Context(), tracker.JobsRequest{All: all, Ready: ready})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.showJSON("jobs/1", map[string]any{"jobs": listed(rows)})
			}
			p := a.page()
			a.list(p, rows, all)
			if len(rows) == 0 {
				p.line("No jobs. Start one: duplex start \"GOAL\" --check \"COMMAND\"")
			}
			return p.flush()
		}}
	c.Flags().BoolVar(&all, "all", false, "finished jobs and unnamed ones too")
	c.Flags().BoolVar(&ready, "ready", false, "only those ready to resume")
	return c
}

// overview is duplex alone.
func (a *App) overview(ctx context.Context) error {
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	rows, err := t.Jobs(ctx, tracker.JobsRequest{All: true})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("jobs/1", map[string]any{"jobs": listed(rows)})
	}
	p := a.page()
	if len(rows) == 0 {
		p.line("No jobs yet.")
		p.line("")
		p.line("  duplex start \"GOAL\" --check \"COMMAND\"   begin one in this folder")
		p.line("  duplex adopt FILE                        make one of a session's transcript")
		p.line("  duplex demo                              see a whole one in under a minute")
	} else {
		a.list(p, rows, false)
	}
	a.warnUnheard(ctx, p)
	return p.flush()
}

// list prints jobs under the headings of their places.
func (a *App) list(p *page, rows []tracker.Row, finished bool) {
	titles := map[job.Place]string{job.PlaceNeedsYou: "Needs you", job.PlaceRunning: "Running",
		job.PlaceReady: pad("Ready to resume, oldest first", 54) + "duplex resume JOB", job.PlaceWaiting: "Waiting", job.PlaceFinished: "Finished"}
	var last job.Place
	var ended, unnamed []tracker.Row
	for _, r := range rows {
		if r.Standing.Unnamed {
			unnamed = append(unnamed, r)
			continue
		}
		if r.Place == job.PlaceFinished && !finished {
			ended = append(ended, r)
			continue
		}
		if r.Place != last {
			p.line("%s", a.paint(bold, titles[r.Place]))
			last = r.Place
		}
		a.row(p, r)
	}
	if len(ended) > 0 {
		var parts []string
		for i, r := range ended {
			if i == 3 {
				break
			}
			parts = append(parts, r.Standing.Short+" "+string(r.Standing.Outcome.Outcome))
		}
		p.line("%s %s, the last: %s", a.paint(bold, "Finished"), thousands(int64(len(ended))), strings.Join(parts, ", "))
	}
	if len(unnamed) > 0 {
		p.line("%s", a.paint(bold, "Unnamed, opened by themselves when a context filled"))
		for _, r := range unnamed {
			a.row(p, r)
		}
	}
}

// row is one job: its name, goal, progress and cost, and below it what it waits
// for and the command to act.
func (a *App) row(p *page, r tracker.Row) {
	s := r.Standing
	name := s.Short
	if r.Alias != "" {
		name = r.Alias
	}
	right := money(s.Spend)
	if s.Budget.Pico > 0 {
		right += " of " + usd(s.Budget.Pico)
	}
	width := max(min(a.Width, 100)-36, 45)
	if r.Place == job.PlaceReady || r.Place == job.PlaceWaiting {
		why := "not begun"
		if s.Sessions > 0 {
			why = "between sessions"
		}
		waited := a.age(s.Updated)
		if s.Pause != nil {
			why, waited = string(s.Pause.Reason), a.age(s.Pause.Since)
			if s.Pause.Reason == job.PauseRate {
				waited = "time unknown"
				if s.Pause.Until > 0 {
					waited = "until " + a.when(s.Pause.Until)
				}
			}
		}
		p.line("  %s%s%s%s", pad(name, 8), pad(cut(s.Goal, width), width+1), pad(why, 19), waited)
		if next := nextOf(&s); next != "" {
			p.line("          next: %s", cut(next, max(min(a.Width, 110)-18, 80)))
		}
		return
	}
	p.line("  %s%s%s%s", pad(name, 8), pad(cut(s.Goal, width), width+1), pad(progressOf(&s), 16), right)
	switch {
	case r.Place != job.PlaceNeedsYou:
	case s.Questions > 0 || s.Pause != nil && s.Pause.Reason == job.PauseAnswer:
		p.line("          asks: “%s”", cut(s.Newest[job.KindAsked].Text, 80))
		p.line("          duplex answer %s \"…\"", name)
	case s.Pause != nil && s.Pause.Reason == job.PauseBudget:
		p.line("          %s  duplex amend %s --usd …", pad("budget reached: "+s.Pause.Evidence, 46), name)
	case s.Outcome != nil:
		p.line("          %s: %s", a.paint(colourFail, string(s.Outcome.Outcome)), cut(s.Outcome.Reason, 90))
		p.line("          duplex finish %s, or duplex accept %s --reason \"…\"", name, name)
	}
}

// progressOf says how many checks pass, the nearest thing to a measure a job has.
func progressOf(s *job.Standing) string {
	if len(s.Checks) == 0 {
		return plural(int(s.Steps), "step")
	}
	passed := 0
	for _, c := range s.Checks {
		if c.State == job.CheckPassed {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d checks", passed, len(s.Checks))
}

// nextOf is the next action in a line.
func nextOf(s *job.Standing) string {
	if s.Next != "" {
		return s.Next
	}
	if s.Failure != nil {
		return "last failure: " + s.Failure.Text
	}
	return ""
}
