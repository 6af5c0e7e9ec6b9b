package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/config"
	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

type uninstallOptions struct {
	setupOptions
	data, abandon bool
	typed         string
}

func (a *App) uninstallCommand() *cobra.Command {
	var o uninstallOptions
	c := &cobra.Command{Use: "uninstall", Short: "Take Duplex out of every agent, and on request its data off this machine", GroupID: "set", Args: cobra.NoArgs,
		Long: `Undo every setup, also those of an older version and those that nothing remembers,
so that no agent calls Duplex any more. --data then erases every job, with its safe
points, and the state folder; unfinished jobs want --abandon. That is a person's, and
cannot be undone. What stays is said, and why.`,
		Example: "  duplex uninstall --dry-run\n  duplex uninstall\n  duplex uninstall --data --confirm data",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.uninstall(cmd.Context(), o) }}
	f := c.Flags()
	f.BoolVar(&o.data, "data", false, "erase jobs, safe points and the state folder too")
	f.BoolVar(&o.abandon, "abandon", false, "also jobs that are not finished")
	f.BoolVar(&o.dry, "dry-run", false, "show what would go, and change nothing")
	f.BoolVar(&o.yes, "yes", false, "do not ask before a setup is undone")
	f.StringVar(&o.typed, "confirm", "", "the word data, instead of typing it")
	return c
}

// uninstalled is what was taken out, and what stays.
type uninstalled struct {
	DryRun bool     `json:"dry_run"`
	Undone []setup  `json:"undone"`
	Data   *erased  `json:"data,omitempty"` // with --data
	Left   []string `json:"left"`
}

// erased is what went, or would go, with the state folder.
type erased struct {
	Path       string `json:"path"`
	Jobs       int    `json:"jobs"`
	Unfinished int    `json:"unfinished"`
	Unreached  int    `json:"unreached"` // repositories whose safe points could not be reached
}

func (a *App) uninstall(ctx context.Context, o uninstallOptions) error {
	h, err := a.installHome()
	if err != nil {
		return err
	}
	out := uninstalled{DryRun: o.dry, Undone: []setup{}, Left: []string{}}
	var jobs []tracker.Row
	if o.data { // refused before anything is undone
		if jobs, err = a.mayErase(ctx, &out, h.State, o); err != nil {
			return err
		}
	}
	if err := a.undoAll(h, o, &out); err != nil {
		return err
	}
	if o.data && !o.dry {
		if err := a.erase(ctx, &out, h.State, jobs); err != nil {
			return err
		}
	}
	a.remains(&out, h, o)
	if a.asJSON {
		return a.showJSON("uninstalled/1", out)
	}
	p := a.page()
	if len(out.Undone) == 0 {
		p.line("No agent calls Duplex: nothing is set up here.")
	}
	if e := out.Data; e != nil {
		verb := "erased"
		if o.dry {
			verb = "would be erased"
		}
		p.line("%s: %s, and all that is in it.", plural(e.Jobs, "job")+" "+verb, a.shortPath(e.Path))
	}
	for _, l := range out.Left {
		p.line("%s", l)
	}
	return p.flush()
}

// undoAll takes the hooks out of every agent.
func (a *App) undoAll(h install.Home, o uninstallOptions, out *uninstalled) error {
	found, err := h.Find()
	if err != nil {
		return err
	}
	var wrong []error
	for _, f := range found {
		plan, err := h.PlanRemoval(f.Setup)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if !a.asJSON {
			if err := a.showPlan(&plan); err != nil {
				return err
			}
		}
		done := false
		if !o.dry {
			if !plan.Nothing() && !o.yes && !a.agree("Go on?") {
				return errors.New("nothing more was changed")
			}
			if err := plan.Apply(); err != nil {
				wrong = append(wrong, err)
				continue
			}
			done = true
		}
		out.Undone = append(out.Undone, planned(&plan, done))
	}
	return errors.Join(wrong...)
}

// mayErase counts what would go, and is an error when it may not.
func (a *App) mayErase(ctx context.Context, out *uninstalled, state string, o uninstallOptions) ([]tracker.Row, error) {
	out.Data = &erased{Path: state}
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	t, err := a.open(ctx, opening{create: true, look: true})
	if err != nil {
		return nil, fmt.Errorf("%w; uninstall without --data works, and %s can then be removed by hand", err, state)
	}
	jobs, err := t.Jobs(ctx, tracker.JobsRequest{All: true, Unnamed: true})
	if err != nil {
		return nil, err
	}
	out.Data.Jobs = len(jobs)
	for _, j := range jobs {
		if j.Place != job.PlaceFinished {
			out.Data.Unfinished++
		}
	}
	if o.dry {
		return jobs, nil
	}
	by, err := t.Actor(ctx)
	if err != nil {
		return nil, err
	}
	if by.Author.Kind != job.Person {
		return nil, t.PersonOnly(ctx, by, "", "")
	}
	if out.Data.Unfinished > 0 && !o.abandon {
		return nil, fmt.Errorf("%w: %s not finished: duplex jobs lists them; --abandon erases them too", tracker.ErrUnfinished, are(out.Data.Unfinished, "job"))
	}
	typed, err := a.confirm(fmt.Sprintf("This erases %s, with safe points and receipts, and cannot be undone.", plural(len(jobs), "job")), "data", o.typed)
	if err != nil {
		return nil, err
	}
	if typed != "data" {
		return nil, fmt.Errorf("%w: type data to confirm, or pass --confirm data", job.ErrPersonOnly)
	}
	return jobs, nil
}

func are(n int, noun string) string {
	if n == 1 {
		return plural(n, noun) + " is"
	}
	return plural(n, noun) + " are"
}

// erase removes every job as duplex remove does, and then the folder.
func (a *App) erase(ctx context.Context, out *uninstalled, state string, jobs []tracker.Row) error {
	for _, j := range jobs {
		by, err := a.tracker.Actor(ctx)
		if err != nil {
			return err
		}
		r, err := a.tracker.Remove(ctx, by, j.Standing.Job, tracker.RemoveRequest{Abandon: true})
		if errors.Is(err, job.ErrNotFound) {
			continue // it went with its parent
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", j.Standing.Short, err)
		}
		out.Data.Unreached += len(r.Unreached)
	}
	if a.tracker != nil {
		if err := a.tracker.Close(); err != nil {
			return err
		}
		a.tracker = nil
	}
	if err := os.RemoveAll(state); err != nil {
		return err
	}
	return a.forgetStore()
}

// forgetStore removes what tells a lost store from one that never was.
func (a *App) forgetStore() error {
	if a.Getenv("DUPLEX_HOME") != "" {
		return nil // it has none
	}
	dir, err := config.UserDir(a.Getenv)
	if err != nil {
		return err
	}
	markers, err := filepath.Glob(filepath.Join(dir, "store-*"))
	if err != nil {
		return err
	}
	for _, m := range markers {
		err = errors.Join(err, os.Remove(m))
	}
	return err
}

// remains says what stays, and how it goes.
func (a *App) remains(out *uninstalled, h install.Home, o uninstallOptions) {
	left := func(format string, args ...any) { out.Left = append(out.Left, fmt.Sprintf(format, args...)) }
	if _, err := os.Stat(h.State); err == nil && !o.data {
		left("Your jobs stay in %s, and their safe points in git under refs/duplex. Erase them: duplex uninstall --data", a.shortPath(h.State))
	}
	if e := out.Data; e != nil && e.Unreached > 0 {
		left("Safe points stay in %s that could not be reached. There: git for-each-ref --format='delete %%(refname)' refs/duplex | git update-ref --stdin", plural(e.Unreached, "work tree"))
	}
	if user := config.UserFile(a.Getenv); user != "" {
		if _, err := os.Stat(user); err == nil {
			left("Your settings stay: they are yours. Remove them: rm %s", a.shortPath(user))
		}
	}
	left("The agents' own transcripts stay where they are: they are not Duplex's.")
	if a.Program != "" {
		left("The program stays: it is what just ran. Remove it: rm %s", a.shortPath(a.Program))
	}
}
