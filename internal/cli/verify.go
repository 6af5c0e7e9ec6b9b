package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

func (a *App) verifyCommand() *cobra.Command {
	var salvage string
	c := &cobra.Command{Use: "verify [JOB]", Short: "Hold ledgers against their chain", GroupID: "look", Args: oneJob,
		Long: `Read a job's whole ledger, or every job's, and hold it against its chain, its
signatures and what was folded from it. --salvage reads what can be read into a new
store in an empty folder; what is missing is recorded there as a gap. The damaged
store stays as it is.`,
		Example: "  duplex verify\n  duplex verify k7m2\n  duplex verify --salvage ~/duplex-salvaged",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("salvage") && strings.TrimSpace(salvage) == "" {
				return usagef("--salvage names no folder; name an empty one for the new store")
			}
			return a.verify(cmd.Context(), first(args), salvage)
		}}
	c.Flags().StringVar(&salvage, "salvage", "", "read what can be read into a new store in this folder")
	return c
}

func (a *App) verify(ctx context.Context, name, salvage string) error {
	// Nothing is swept or delivered first: a damaged store is left as it is.
	t, err := a.open(ctx, opening{read: true})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no store yet, so nothing to verify", job.ErrNotFound)
	}
	if err != nil {
		return err
	}
	if salvage != "" {
		if name != "" {
			return usagef("--salvage takes every job; leave %s out", name)
		}
		to, err := filepath.Abs(salvage)
		if err != nil {
			return err
		}
		r, err := t.Salvage(ctx, to)
		if errors.Is(err, fs.ErrExist) {
			return usagef("a store is in %s already; name an empty folder", to)
		}
		if err != nil {
			return err
		}
		return a.showSalvaged(r, to)
	}
	var id job.ID
	if name != "" {
		if id, _, err = a.find(ctx, t, name); err != nil {
			return err
		}
	}
	r, err := t.Verify(ctx, id)
	if err != nil {
		return err
	}
	return a.showVerified(r)
}

// verified is what verify prints as JSON.
type verified struct {
	Holds bool `json:"holds"`
	store.Report
	Salvaged string `json:"salvaged,omitempty"` // the folder of the new store
}

// showVerified says what holds, then what does not and the way out.
func (a *App) showVerified(r store.Report) error {
	if a.asJSON {
		if err := a.showJSON("verify/1", verified{Holds: r.Holds(), Report: r}); err != nil {
			return err
		}
		return notWhole(r.Holds())
	}
	p := a.page()
	whole := 0
	for i := range r.Jobs {
		if r.Jobs[i].Holds() {
			whole++
		}
	}
	switch {
	case len(r.Jobs) == 0:
		p.line("No jobs, so nothing to verify.")
	case r.Holds():
		p.line("%s %s", a.paint(colourOK, "✓"), holds(len(r.Jobs)))
	default:
		p.line("%d of %s hold whole; what is not named below can still be read.", whole, plural(len(r.Jobs), "ledger"))
	}
	for i := range r.Jobs {
		a.verifiedJob(p, &r.Jobs[i])
	}
	for _, says := range r.Database {
		p.line("%s the database says: %s", a.paint(colourFail, "✕"), oneLine(says, a.columns()-22))
	}
	if !r.Holds() {
		p.line("")
		p.line("Read what can be read into a new store: duplex verify --salvage FOLDER")
		p.line("This store stays as it is. A backup of it, put in its place, is the other way.")
	}
	if err := p.flush(); err != nil {
		return err
	}
	return notWhole(r.Holds())
}

func holds(jobs int) string {
	if jobs == 1 {
		return "The ledger holds: its chain, and what was folded from it."
	}
	return fmt.Sprintf("All %s hold: their chains, and what was folded from them.", plural(jobs, "ledger"))
}

// verifiedJob is one ledger: how many entries, and how each promise fares.
func (a *App) verifiedJob(p *page, r *store.JobReport) {
	sign := a.paint(colourOK, "✓")
	if !r.Holds() {
		sign = a.paint(colourFail, "✕")
	}
	says := "chain and standing hold, signed"
	switch {
	case !r.Holds():
		says = fmt.Sprintf("%s wrong", plural(len(r.Faults), "thing"))
		if r.Missing > 0 {
			says += ", " + entries(r.Missing) + " missing"
		}
	case r.Unsigned == r.Entries && r.Entries > 0:
		says = "hashes and standing hold, unsigned: the key is not here"
	case r.Unsigned > 0:
		says = fmt.Sprintf("hashes and standing hold, %s unsigned", entries(r.Unsigned))
	}
	if r.Scrubbed > 0 {
		says += fmt.Sprintf("; the content of %s is dropped, which the chain allows", entries(r.Scrubbed))
	}
	p.line("  %s %s%16s  %s", sign, pad(r.Short, 8), entries(r.Entries), says)
	for _, f := range r.Faults {
		at := "folded"
		if f.Position > 0 {
			at = thousands(f.Position)
		}
		p.line("      %10s  %s", at, oneLine(f.What, a.columns()-18))
	}
}

// showSalvaged says what the new store holds and how to use it.
func (a *App) showSalvaged(r store.Report, to string) error {
	if a.asJSON {
		return a.showJSON("verify/1", verified{Holds: r.Holds(), Report: r, Salvaged: to})
	}
	p := a.page()
	p.line("The damaged store stays as it is. In %s now:", to)
	var read, missing int64
	for i := range r.Jobs {
		read, missing = read+r.Jobs[i].Entries, missing+r.Jobs[i].Missing
		a.verifiedJob(p, &r.Jobs[i])
	}
	lost := "Nothing is missing."
	switch {
	case read == 0:
		lost = "A backup of the store, put in its place, is the way back."
	case missing > 0:
		lost = "Missing: " + entries(missing) + ", for which gaps stand."
	}
	p.line("%s of %s. %s", entries(read), plural(len(r.Jobs), "job"), lost)
	for _, says := range r.Database {
		p.line("the damaged database says: %s", oneLine(says, a.columns()-28))
	}
	p.line("")
	p.line("Look at it: DUPLEX_HOME=%s duplex jobs --all", to)
	return p.flush()
}

// notWhole gives the exit code of a damaged store; the story is told already.
func notWhole(holds bool) error {
	if holds {
		return nil
	}
	return silent{store.ErrDamaged}
}
