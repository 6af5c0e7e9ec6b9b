package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) removeCommand() *cobra.Command {
	var dry, yes, abandon bool
	var typed string
	c := &cobra.Command{Use: "remove JOB", Short: "Erase a job and what it linked, and prove that it is gone", GroupID: "finish", Args: cobra.ExactArgs(1),
		Long: `Erase a job's ledger, receipts, safe points and the objects that only they reach,
then look for it again in every layer and print a receipt. Your own files, commits
and branches stay. An unfinished job wants --abandon.`,
		Example: "  duplex remove k7m2 --dry-run\n  duplex remove k7m2 --yes --confirm k7m2",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, id, by, err := a.onJob(ctx, args[0])
			if err != nil {
				return err
			}
			out, err := t.Remove(ctx, by, id, tracker.RemoveRequest{DryRun: true})
			if err != nil {
				return err
			}
			if !dry {
				if !yes && !a.InTerminal {
					return usagef("this cannot be undone: pass --yes and --confirm %s, or --dry-run to see what would go", out.Short)
				}
				if err := a.personConfirms(ctx, t, by, id, "This cannot be undone.", typed); err != nil {
					return err
				}
				if out, err = t.Remove(ctx, by, id, tracker.RemoveRequest{Abandon: abandon}); err != nil {
					return err
				}
			}
			if a.asJSON {
				return a.showJSON("removal/1", out)
			}
			return a.showRemoval(out)
		}}
	f := c.Flags()
	f.BoolVar(&dry, "dry-run", false, "only count, layer by layer")
	f.BoolVar(&yes, "yes", false, "do it without a terminal")
	f.BoolVar(&abandon, "abandon", false, "also when the job is not finished")
	confirmFlag(c, &typed)
	return c
}

func (a *App) showRemoval(r tracker.Removal) error {
	p := a.page()
	verb := "erased"
	if r.DryRun {
		verb = "would erase"
	}
	p.line("%s %s", r.Short, cut(r.Goal, 80))
	for _, l := range r.Layers {
		note := ""
		if l.Left > 0 {
			note = "; " + thousands(l.Left) + " left to git"
		}
		if l.Note != "" {
			note += "; " + l.Note
		}
		p.line("  %s%s%s%s", pad(l.Name, 22), pad(thousands(l.Count), 10), l.Where, note)
	}
	if r.DryRun {
		p.line("Nothing was removed. It %s what stands above: duplex remove %s", verb, r.Short)
		return p.flush()
	}
	for i, l := range r.Found {
		p.fact(onlyFirst(i, "still there"), "%s in %s", l.Name, l.Where)
	}
	for i, l := range r.Unreached {
		p.fact(onlyFirst(i, "not reached"), "%s in %s", l.Name, l.Where)
	}
	switch {
	case len(r.Found) > 0:
	case len(r.Unreached) > 0:
		p.line("Looked again in every layer that is here: nothing is left. In a repository that was not reached:")
		p.line("  git for-each-ref --format='delete %%(refname)' refs/duplex/%s | git update-ref --stdin", r.Job)
	default:
		p.line("Looked again in every layer: nothing is left.")
	}
	p.line("receipt %s", r.Receipt)
	if err := p.flush(); err != nil {
		return err
	}
	if len(r.Found) > 0 {
		return silent{job.ErrInvalid}
	}
	return nil
}
