package cli

import (
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) adoptCommand() *cobra.Command {
	var goal, into string
	c := &cobra.Command{Use: "adopt FILE", Short: "Make a tracked job of a session's transcript", GroupID: "work", Args: cobra.ExactArgs(1),
		Long:    "Read a session's transcript and make a tracked job of it: steps with results, cost, instructions, open items and working set, each at the time it happened. The file stays as it is; .gz is read too.",
		Example: "  duplex adopt ~/.claude/projects/-home-me-shop/4f2c….jsonl\n  duplex adopt session.jsonl.gz --goal \"Split the auth module\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			t, err := a.open(ctx, opening{create: true})
			if err != nil {
				return err
			}
			by, err := t.Actor(ctx)
			if err != nil {
				return err
			}
			r := tracker.AdoptRequest{File: args[0], Dir: a.Dir, Goal: goal}
			if into != "" {
				if r.Into, err = t.Find(ctx, by, into, a.Dir); err != nil {
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
			pg := a.page()
			pg.line("%s", cut(out.Goal, 200))
			pg.line("%s is made from %s session %s", a.paint(bold, out.Short), out.Agent, out.AgentSession)
			pg.line("")
			pg.fact("entries", "%s, of them %s", thousands(int64(out.Entries)), plural(int(out.Steps), "step"))
			pg.fact("cost", "%s, %s tokens", money(out.Spend), thousands(out.Spend.Tokens.Total()))
			pg.fact("said", "%s of yours, %s", plural(int(out.Instructions), "instruction"), plural(out.OpenItems, "open item"))
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
		}}
	c.Flags().StringVar(&goal, "goal", "", "the goal (default: your first instruction in it)")
	c.Flags().StringVar(&into, "job", "", "an open job to adopt it into")
	return c
}
