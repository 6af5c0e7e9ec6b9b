package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// take, amend, resume: what a person does with a job under way.

func (a *App) takeCommand() *cobra.Command {
	var take bool
	var typed string
	c := &cobra.Command{Use: "take JOB", Short: "Bind this session, or this work tree, to a job", GroupID: "work", Args: cobra.ExactArgs(1),
		Long: `Inside an agent's session: the session is bound to the job and gets its lease.
At a terminal: this work tree becomes one of the job's. --take is a person's word
that a live session is replaced: its process tree is ended first.`,
		Example: "  duplex take k7m2\n  duplex take k7m2 --take",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, id, by, err := a.onJob(ctx, args[0])
			if err != nil {
				return err
			}
			var out tracker.Taken
			if take {
				out, err = a.takeFromLive(ctx, t, by, id, typed)
			} else {
				out, err = t.Take(ctx, by, id, tracker.TakeRequest{Dir: a.Dir})
			}
			if err != nil {
				return err
			}
			if out.Session != "" {
				b, err := t.Brief(ctx, id, tracker.BriefRequest{})
				if err != nil {
					return err
				}
				out.Brief = b.Text
			}
			if a.asJSON {
				return a.showJSON("taken/1", out)
			}
			p := a.page()
			if len(out.Ended) > 0 {
				p.line("%s of the old session ended", plural(len(out.Ended), "process"))
			}
			switch {
			case out.Session != "":
				p.line("%s is this session's, under token %d", out.Short, out.Token)
				p.line("%s", out.Brief)
			case out.Added:
				p.line("%s goes on in %s too", out.Short, out.Workspace)
			default:
				p.line("%s knows %s already; an agent started here goes on with it", out.Short, out.Workspace)
			}
			return p.flush()
		}}
	c.Flags().BoolVar(&take, "take", false, "from a live session: a person's act")
	confirmFlag(c, &typed)
	return c
}

func confirmFlag(c *cobra.Command, into *string) {
	c.Flags().StringVar(into, "confirm", "", "the job's short name, instead of typing it")
}

// personConfirms asks for the job's name before an act of a person.
func (a *App) personConfirms(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID, what, given string) error {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return err
	}
	if by.Author.Kind != job.Person {
		return t.PersonOnly(ctx, by, "", "")
	}
	typed, err := a.confirm(what, s.Short, given)
	if err != nil {
		return err
	}
	return t.PersonOnly(ctx, by, s.Short, typed)
}

// takeFromLive takes a job from the session that holds it, when a person confirms that.
func (a *App) takeFromLive(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID, given string) (tracker.Taken, error) {
	if err := a.personConfirms(ctx, t, by, id, "This ends the process tree of the session that holds the job.", given); err != nil {
		return tracker.Taken{}, err
	}
	return t.Take(ctx, by, id, tracker.TakeRequest{Dir: a.Dir, Take: true, Grace: 3 * time.Second})
}

func (a *App) amendCommand() *cobra.Command {
	var goal, setup, keep, usdText, deadline, onCrash, why, instruct, typed string
	var checks, quick, drop, protect, accept []string
	var tokens int64
	var sessions int
	c := &cobra.Command{Use: "amend [JOB]", Short: "Change what a job is about: goal, checks, budget", GroupID: "work", Args: oneJob,
		Long: "Change a job's goal, checks, protected files, kept tests or budget, or accept the loss of a test by name. Only a person may, and it stays in the ledger. An unnamed job gets its name this way.",
		Example: `  duplex amend k7m2 --usd 60
  duplex amend k7m2 --check "npm run lint" --drop-check c3
  duplex amend k7m2 --instruct "never touch the legacy folder"
  duplex amend k7m2 --accept-test "adds negative numbers" --why "the feature is gone"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, id, by, err := a.onJob(ctx, first(args))
			if err != nil {
				return err
			}
			if instruct != "" {
				added, err := t.Instruct(ctx, by, id, instruct)
				if err != nil {
					return err
				}
				if cmd.Flags().NFlag() == 1 || cmd.Flags().NFlag() == 2 && a.asJSON {
					return a.showAdded(added)
				}
			}
			am := &job.Amended{Named: true, Why: why, AcceptTests: accept, DropChecks: drop}
			f := cmd.Flags()
			if f.Changed("goal") {
				am.Goal = &goal
			}
			if f.Changed("setup") {
				am.Setup = &setup
			}
			if f.Changed("protect") {
				if err := workspace.CheckGlobs(protect); err != nil {
					return usagef("--protect: %w", err)
				}
				am.Protect = &protect
			}
			if f.Changed("keep-tests") {
				am.KeepTests = &job.KeepTests{List: keep}
			}
			if f.Changed("on-crash") {
				if onCrash != "back" && onCrash != "keep" && onCrash != "ask" {
					return usagef("--on-crash is back, keep or ask")
				}
				am.OnCrash = &onCrash
			}
			for _, k := range checks {
				am.AddChecks = append(am.AddChecks, job.Check{Command: k})
			}
			for _, k := range quick {
				am.AddChecks = append(am.AddChecks, job.Check{Command: k, Quick: true})
			}
			if f.Changed("usd") || f.Changed("tokens") || f.Changed("sessions") || f.Changed("deadline") {
				s, err := t.Standing(ctx, id)
				if err != nil {
					return err
				}
				b, err := a.budget(usdText, tokens, sessions, deadline)
				if err != nil {
					return err
				}
				have := s.Budget
				if f.Changed("usd") {
					have.Pico = b.Pico
				}
				if f.Changed("tokens") {
					have.Tokens = b.Tokens
				}
				if f.Changed("sessions") {
					have.Sessions = b.Sessions
				}
				if f.Changed("deadline") {
					have.Deadline = b.Deadline
				}
				am.Budget = &have
			}
			if f.NFlag() == 0 {
				return usagef("nothing to amend; see duplex amend --help")
			}
			if err := a.personConfirms(ctx, t, by, id, "This changes what the job was agreed to be.", typed); err != nil {
				return err
			}
			added, err := t.Amend(ctx, by, id, am)
			if err != nil {
				return err
			}
			return a.showAdded(added)
		}}
	f := c.Flags()
	f.StringVar(&goal, "goal", "", "the goal, anew")
	f.StringArrayVar(&checks, "check", nil, "add a check (repeat)")
	f.StringArrayVar(&quick, "quick-check", nil, "add a quick check (repeat)")
	f.StringArrayVar(&drop, "drop-check", nil, "drop a check by its id, as c2 (repeat)")
	f.StringArrayVar(&protect, "protect", nil, "globs of protected files, all of them anew (repeat)")
	f.StringVar(&keep, "keep-tests", "", "every test must survive: 'go', or a command that lists the tests")
	f.StringArrayVar(&accept, "accept-test", nil, "accept the loss of a test by its name (repeat)")
	f.StringVar(&setup, "setup", "", "command to run in a clean checkout before the checks")
	f.StringVar(&usdText, "usd", "", "budget in USD")
	f.Int64Var(&tokens, "tokens", 0, "budget in tokens")
	f.IntVar(&sessions, "sessions", 0, "budget in sessions")
	f.StringVar(&deadline, "deadline", "", "local time, or a duration as in 36h")
	f.StringVar(&onCrash, "on-crash", "", "back, keep or ask")
	f.StringVar(&instruct, "instruct", "", "words of yours that bind from now on")
	f.StringVar(&why, "why", "", "the reason, for the ledger")
	confirmFlag(c, &typed)
	return c
}

func (a *App) showAdded(added tracker.Added) error {
	if a.asJSON {
		return a.showJSON("added/1", added)
	}
	p := a.page()
	p.line("%s #%d %s", added.Short, added.Position, added.Kind)
	return p.flush()
}

func newestSeat(s job.Standing) int {
	if s.Lease != nil {
		if seat := s.Seat(s.Lease.Session); seat != nil {
			return seat.Number
		}
	}
	return s.Sessions
}

func workspacePath(s job.Standing) string {
	if len(s.Workspaces) == 0 {
		return "its folder"
	}
	return s.Workspaces[0].Path
}
