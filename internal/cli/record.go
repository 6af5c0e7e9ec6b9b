package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// The small acts: decide, raise, settle, deadend, answer, pause. Each is one entry.

// smallAct runs one of them on the job that --job names, or the one here.
func (a *App) smallAct(cmd *cobra.Command, act func(context.Context, *tracker.Tracker, tracker.Actor, job.ID) (tracker.Added, error)) error {
	ctx := cmd.Context()
	t, id, by, err := a.onJob(ctx, "")
	if err != nil {
		return err
	}
	added, err := act(ctx, t, by, id)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("added/1", added)
	}
	p := a.page()
	p.line("%s #%d %s", added.Short, added.Position, added.Kind)
	return p.flush()
}

func (a *App) jobFlag(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.jobName, "job", "", "the job (default: the one of this session or folder)")
	return c
}

func (a *App) decideCommand() *cobra.Command {
	var why, supersedes string
	var rejected []string
	c := &cobra.Command{Use: "decide TEXT", Short: "Settle a question for the rest of the job", GroupID: "record", Args: cobra.ExactArgs(1),
		Example: `  duplex decide "keep jest-when behind test/when.ts" --why "12 suites need it" --rejected "port all at once"
  duplex decide "drop it after all" --supersedes 1318`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.smallAct(cmd, func(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID) (tracker.Added, error) {
				return t.Decide(ctx, by, id, args[0], why, rejected, supersedes)
			})
		}}
	c.Flags().StringVar(&why, "why", "", "the reason")
	c.Flags().StringArrayVar(&rejected, "rejected", nil, "an alternative that was rejected (repeat)")
	c.Flags().StringVar(&supersedes, "supersedes", "", "position or id of the decision this replaces")
	return a.jobFlag(c)
}

func (a *App) raiseCommand() *cobra.Command {
	var next bool
	c := &cobra.Command{Use: "raise TEXT", Short: "Open an item that must not be forgotten", GroupID: "record", Args: cobra.ExactArgs(1),
		Example: "  duplex raise \"the jest-when helpers must go before the end\"\n  duplex raise \"move billing/dunning.test.ts\" --next",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.smallAct(cmd, func(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID) (tracker.Added, error) {
				return t.Raise(ctx, by, id, args[0], next)
			})
		}}
	c.Flags().BoolVar(&next, "next", false, "this is what to do next")
	return a.jobFlag(c)
}

func (a *App) settleCommand() *cobra.Command {
	c := &cobra.Command{Use: "settle ITEM [HOW]", Short: "Close an open item, or end what no longer holds", GroupID: "record", Args: cobra.RangeArgs(1, 2),
		Long:    "Close an open item by its position or id. A decision, a dead end or (by a person) an instruction that no longer holds ends the same way.",
		Example: "  duplex settle 1329 \"coverage is back at 84.1 %\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.smallAct(cmd, func(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID) (tracker.Added, error) {
				return t.Settle(ctx, by, id, args[0], strings.Join(args[1:], " "))
			})
		}}
	return a.jobFlag(c)
}

func (a *App) deadEndCommand() *cobra.Command {
	var why, command string
	c := &cobra.Command{Use: "deadend TEXT", Short: "Record what was tried and failed", GroupID: "record", Args: cobra.ExactArgs(1),
		Example: "  duplex deadend \"snapshot codemod\" --why \"it rewrites 40 unrelated files\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.smallAct(cmd, func(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID) (tracker.Added, error) {
				return t.DeadEnd(ctx, by, id, args[0], why, command)
			})
		}}
	c.Flags().StringVar(&why, "why", "", "why it failed")
	c.Flags().StringVar(&command, "command", "", "the command that failed")
	return a.jobFlag(c)
}

func (a *App) answerCommand() *cobra.Command {
	var question string
	c := &cobra.Command{Use: "answer [JOB] TEXT", Short: "Answer a job's question", GroupID: "work", Args: cobra.RangeArgs(1, 2),
		Example: "  duplex answer q4vn \"yes, 60 seconds is fine\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[len(args)-1]
			if len(args) == 2 {
				a.jobName = args[0]
			}
			return a.smallAct(cmd, func(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID) (tracker.Added, error) {
				return t.Answer(ctx, by, id, question, text)
			})
		}}
	c.Flags().StringVar(&question, "question", "", "position or id of the question (default: the oldest open one)")
	return c
}

func (a *App) pauseCommand() *cobra.Command {
	var why, until string
	c := &cobra.Command{Use: "pause [JOB]", Short: "Let a job wait", GroupID: "back", Args: oneJob,
		Example: "  duplex pause k7m2 --why \"the staging database is down\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.jobName = first(args)
			b, err := a.budget("", 0, 0, until)
			if err != nil {
				return usagef("--until %q is no time; write \"2026-12-04 18:00\" or 36h", until)
			}
			return a.smallAct(cmd, func(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID) (tracker.Added, error) {
				return t.Pause(ctx, by, id, why, b.Deadline)
			})
		}}
	c.Flags().StringVar(&why, "why", "", "the reason")
	c.Flags().StringVar(&until, "until", "", "until when, for those who look; nothing goes on by itself")
	return c
}
