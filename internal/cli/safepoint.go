package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) safePointCommand() *cobra.Command {
	c := &cobra.Command{Use: "safepoint", Short: "Keep the workspace as it is, list and show what is kept", GroupID: "back",
		Long: "A safe point holds the whole workspace: tracked and untracked files, deletions, modes, links. HEAD, the index and the work tree are not touched.",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(a.safePointCreate(), a.safePointList(), a.safePointShow())
	return c
}

func (a *App) safePointCreate() *cobra.Command {
	var quiet, large bool
	var why string
	c := &cobra.Command{Use: "create", Short: "Take a safe point now", Args: cobra.NoArgs,
		Example: "  duplex safepoint create --why \"before the codemod\"\n  id=$(duplex safepoint create --quiet)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			t, err := a.open(ctx, opening{create: true})
			if err != nil {
				return err
			}
			id, by, err := a.find(ctx, t, "")
			if errors.Is(err, tracker.ErrNoJobHere) && a.jobName == "" {
				id, err = t.FolderJob(ctx, by, a.Dir) // a safe point is worth having without a job too
			}
			if err != nil {
				return err
			}
			k, err := t.Keep(ctx, by, id, tracker.KeepRequest{Why: why, Large: large})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.showJSON("safe-point/1", map[string]any{"safe_point": k})
			}
			p := a.page()
			if !quiet {
				a.kept(p, k)
			}
			p.line("%s", k.ID())
			return p.flush()
		}}
	c.Flags().BoolVar(&quiet, "quiet", false, "print the id only")
	c.Flags().BoolVar(&large, "large", false, "also beyond the limits of size and count")
	c.Flags().StringVar(&why, "why", "on request", "what it is for")
	return a.jobFlag(c)
}

// kept says what a safe point holds, and plainly what it does not.
func (a *App) kept(p *page, k tracker.Kept) {
	if k.Reused {
		p.line("Nothing changed since safe point %d.", k.Number)
	}
	for i, n := range k.NotCovered {
		if i == 10 {
			p.fact("", "and %d more", len(k.NotCovered)-10)
			break
		}
		p.fact(onlyFirst(i, "not covered"), "%s (%s)", fileName(n.Path), n.Why)
	}
}

func (a *App) safePointList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List a job's safe points, newest first", Args: cobra.NoArgs,
		Example: "  duplex safepoint list --job k7m2",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			t, err := a.look(ctx)
			if err != nil {
				return err
			}
			id, _, err := a.find(ctx, t, "")
			if err != nil {
				return err
			}
			list, err := t.SafePoints(ctx, id)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.showJSON("safe-points/1", map[string]any{"safe_points": listed(list)})
			}
			p := a.page()
			for _, k := range list {
				p.line("  %s%s%s%s", pad(k.ID(), 10), pad(a.when(k.At), 18), pad(fmt.Sprintf("#%d", k.Position), 10), k.Why)
			}
			if len(list) == 0 {
				p.line("No safe points. Take one: duplex safepoint create")
			}
			return p.flush()
		}}
	return a.jobFlag(c)
}

func (a *App) safePointShow() *cobra.Command {
	c := &cobra.Command{Use: "show [ID]", Short: "Show a safe point and what has changed since", Args: cobra.MaximumNArgs(1),
		Example: "  duplex safepoint show k7m2/12\n  duplex safepoint show 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, err := a.look(ctx)
			if err != nil {
				return err
			}
			k, _, err := a.safePoint(ctx, t, first(args))
			if err != nil {
				return err
			}
			changes, err := t.Changes(ctx, k)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.showJSON("safe-point/1", map[string]any{"safe_point": k, "changed_since": listed(changes)})
			}
			p := a.page()
			p.line("%s  %s", k.ID(), k.Why)
			p.fact("taken", "%s at position %d", a.when(k.At), k.Position)
			for i, c := range k.Commits {
				p.fact(onlyFirst(i, "commit"), "%s  on %s", c.Commit, orNone(c.Branch, "no branch"))
			}
			p.fact("since then", "%s changed", plural(len(changes), "file"))
			for i, c := range changes {
				if i == 20 {
					p.line("    and %d more", len(changes)-20)
					break
				}
				p.line("    %s", fileName(c))
			}
			return p.flush()
		}}
	return a.jobFlag(c)
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// safePoint finds a safe point by its id, as k7m2/12, or by its number alone.
func (a *App) safePoint(ctx context.Context, t *tracker.Tracker, name string) (tracker.Kept, tracker.Actor, error) {
	number := 0
	if name != "" {
		short, n, found := strings.Cut(name, "/")
		if !found {
			short, n = "", name
		}
		if short != "" {
			a.jobName = short
		}
		var err error
		if number, err = strconv.Atoi(n); err != nil || number < 1 {
			return tracker.Kept{}, tracker.Actor{}, usagef("%q names no safe point; they are named as in k7m2/12: duplex safepoint list", name)
		}
	}
	id, by, err := a.find(ctx, t, "")
	if err != nil {
		return tracker.Kept{}, by, err
	}
	k, err := t.SafePoint(ctx, id, number)
	return k, by, err
}

func (a *App) restoreCommand() *cobra.Command {
	var dry, force, undo bool
	var typed, why string
	var paths []string
	c := &cobra.Command{Use: "restore [ID]", Short: "Bring the workspace back to a safe point", GroupID: "back", Args: cobra.MaximumNArgs(1),
		Long: `Bring the workspace back to a safe point (default: the newest). The present is
kept first, so --undo brings it back. Only what differs is written; what is
replaced is moved aside. A file that neither the last safe point nor a step of
this job explains is somebody else's change: restore refuses, unless --force.
HEAD, branches, index and ignored files stay as they are.`,
		Example: "  duplex restore --dry-run\n  duplex restore k7m2/12\n  duplex restore --undo",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, err := a.open(ctx, opening{})
			if err != nil {
				return err
			}
			k, by, err := a.safePoint(ctx, t, first(args))
			if err != nil {
				return err
			}
			if force && !dry {
				if err := a.personConfirms(ctx, t, by, k.Job, "This overwrites changes that are not this job's.", typed); err != nil {
					return err
				}
			}
			r := tracker.RestoreRequest{Number: k.Number, DryRun: dry, Force: force, Paths: paths, Undo: undo, Why: why}
			out, err := t.Restore(ctx, by, k.Job, r)
			if err != nil && len(out.Restored) == 0 {
				return err
			}
			if a.asJSON {
				for i := range out.Restored {
					r := &out.Restored[i]
					r.Written, r.Removed = listed(r.Written), listed(r.Removed)
				}
				return errorsOr(err, a.showJSON("went-back/1", out))
			}
			p := a.page()
			if err != nil {
				a.stayed(p, out)
			} else {
				a.wentBack(p, out)
			}
			return errorsOr(err, p.flush())
		}}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be done")
	c.Flags().BoolVar(&force, "force", false, "overwrite what is not this job's: a person's act")
	c.Flags().BoolVar(&undo, "undo", false, "back to what was there before the last restore")
	c.Flags().StringArrayVar(&paths, "path", nil, "only this path (repeat)")
	c.Flags().StringVar(&why, "why", "", "the reason, for the ledger and the next brief")
	confirmFlag(c, &typed)
	return a.jobFlag(c)
}

func errorsOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// stayed says of a restore that ended with an error what is in the way, and where
// the workspace is now.
func (a *App) stayed(p *page, out tracker.WentBack) {
	for _, r := range out.Restored {
		for i, path := range r.Refused {
			p.fact(onlyFirst(i, "not ours"), "%s", fileName(path))
		}
	}
	if out.Undo == 0 {
		p.line("Nothing was changed.")
		return
	}
	p.line("Not all is brought back. What was there is in safe point %d: duplex restore %s/%d", out.Undo, out.Short, out.Undo)
}

func (a *App) wentBack(p *page, out tracker.WentBack) {
	for _, r := range out.Restored {
		for i, path := range r.Refused {
			p.fact(onlyFirst(i, "not ours"), "%s", fileName(path))
		}
		what, gone := "written", "removed"
		if out.DryRun {
			what, gone = "would write", "would drop"
		}
		p.fact(what, "%s", some(r.Written))
		p.fact(gone, "%s", some(r.Removed))
		if len(r.MovedAside) > 0 {
			p.fact("moved aside", "%s", some(r.MovedAside))
		}
		if len(r.Left) > 0 {
			p.fact("left alone", "%s", some(r.Left))
		}
	}
	if out.DryRun {
		p.line("Nothing was changed. To do it: duplex restore %s/%d", out.Short, out.To)
		return
	}
	p.line("Back at safe point %d. What was there is in safe point %d: duplex restore --undo", out.To, out.Undo)
}

func some(list []string) string {
	switch {
	case len(list) == 0:
		return "nothing"
	case len(list) <= 6:
		return plural(len(list), "file") + ": " + fileNames(list)
	}
	return fmt.Sprintf("%s: %s and %d more", plural(len(list), "file"), fileNames(list[:6]), len(list)-6)
}
