package cli

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

type adoptOptions struct {
	file, goal, into string
	last             bool
}

func (a *App) adoptCommand() *cobra.Command {
	var o adoptOptions
	c := &cobra.Command{Use: "adopt [SESSION|FILE]", Short: "Make a tracked job of a session's transcript", GroupID: "work", Args: cobra.MaximumNArgs(1),
		Long: `Read a session's transcript and make a tracked job of it: steps with results, cost,
instructions, open items and working set, each at the time it happened. The session is
named by its id or the beginning of it, as its agent keeps it, or by a file; without a
name, those of this folder are listed. One that was forked or resumed from a session of
an open job becomes a part of that job. The file stays as it is; .gz is read too.`,
		Example: "  duplex adopt\n  duplex adopt 4f2c\n  duplex adopt --last\n  duplex adopt session.jsonl.gz --goal \"Split the auth module\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = first(args)
			switch {
			case o.last && o.file != "":
				return usagef("--last names a session already: leave %s out", o.file)
			case !o.last && o.file == "":
				return a.candidates(cmd.Context())
			}
			return a.adopt(cmd.Context(), o)
		}}
	c.Flags().BoolVar(&o.last, "last", false, "the newest session of this folder")
	c.Flags().StringVar(&o.goal, "goal", "", "the goal of a job of its own (default: your first instruction in it)")
	c.Flags().StringVar(&o.into, "job", "", "an open job to adopt it into")
	return c
}

func (a *App) adopt(ctx context.Context, o adoptOptions) error {
	t, err := a.open(ctx, opening{create: true})
	if err != nil {
		return err
	}
	by, err := t.Actor(ctx)
	if err != nil {
		return err
	}
	r := tracker.AdoptRequest{File: o.file, Last: o.last, Dir: a.Dir, Goal: o.goal}
	if o.into != "" {
		if r.Into, err = t.Find(ctx, by, o.into, a.Dir); err != nil {
			return err
		}
	}
	p := a.progress()
	r.Progress = func(done, total int64) { p.part("reading", done, total) }
	out, err := t.Adopt(ctx, by, r)
	p.end()
	if err != nil {
		return interrupted(ctx, err)
	}
	if a.asJSON {
		return a.showJSON("adopted/1", out)
	}
	return a.showAdopted(out)
}

func (a *App) showAdopted(out tracker.Adopted) error {
	pg := a.page()
	pg.line("%s", cut(out.Goal, 200))
	if out.Origin == out.Job && out.Origin != "" {
		pg.line("%s has %s session %s now: it came from one of its own", a.paint(bold, out.Short), out.Agent, out.AgentSession)
	} else {
		pg.line("%s is made from %s session %s", a.paint(bold, out.Short), out.Agent, out.AgentSession)
	}
	pg.line("")
	pg.fact("entries", "%s, of them %s", thousands(int64(out.Entries)), plural(int(out.Steps), "step"))
	pg.fact("cost", "%s, %s tokens", money(out.Spend), thousands(out.Spend.Tokens.Total()))
	pg.fact("said", "%s of yours, %s", plural(int(out.Instructions), "instruction"), plural(out.OpenItems, "open item"))
	if out.Origin != "" && out.Origin != out.Job {
		pg.fact("from", "a session of %s, which it is linked with", out.OriginShort)
	}
	if out.Guest {
		pg.fact("guest", "another session holds the job; what was said in this one does not bind")
	}
	if out.Elsewhere != "" {
		pg.fact("folder", "%s is not here: no safe point; go to the folder and run duplex take %s", out.Elsewhere, out.Short)
	}
	if out.Broken > 0 {
		pg.fact("not read", "%s of the file", plural(out.Broken, "line"))
	}
	if len(out.Skipped) > 0 {
		var names []string
		for n := range out.Skipped {
			names = append(names, n)
		}
		sort.Strings(names)
		pg.fact("skipped", "rows of a kind that holds no work: %s", cut(strings.Join(names, ", "), 80))
	}
	pg.line("")
	pg.line("What the next session would start from: duplex brief %s", out.Short)
	return pg.flush()
}

// candidatesShown is how many sessions are listed.
const candidatesShown = 20

// candidates lists the sessions of this folder that agents kept.
func (a *App) candidates(ctx context.Context) error {
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	list, err := t.Candidates(ctx, a.Dir, candidatesShown)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("candidates/1", map[string]any{"candidates": listed(list)})
	}
	p := a.page()
	if len(list) == 0 {
		p.line("No agent kept a session of this folder. Adopt one of another by its id, or a file: duplex adopt FILE")
		return p.flush()
	}
	open := ""
	for _, c := range list {
		tracked := ""
		if c.Short != "" {
			tracked = "  tracked by " + c.Short
		} else if open == "" {
			open = c.AgentSession
		}
		p.line("  %s%s%s%s%s", pad(cut(c.AgentSession, 36), 38), pad(a.when(c.At), 18), pad(fileSize(c.Bytes), 9), agentTitle(c.Agent), tracked)
		p.line("    %s", cut(orNone(c.First, "no instruction of a person"), a.columns()-4))
	}
	if open != "" {
		p.line("")
		p.line("Make a tracked job of one: duplex adopt %s", open)
	}
	return p.flush()
}

// fileSize is a size, in the unit that reads best.
func fileSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
