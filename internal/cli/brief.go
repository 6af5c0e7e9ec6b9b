package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/handover"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) briefCommand() *cobra.Command {
	var r tracker.BriefRequest
	c := &cobra.Command{Use: "brief [JOB]", Short: "Print what the next session starts from", GroupID: "look", Args: oneJob,
		Long: `What an arriving session is given: the handover and lessons, built from the ledger
now, bounded, examined before it counts. Each line names its position and who said
it. --section gives one part whole: ` + strings.Join(handover.Sections(), ", ") + ".",
		Example: "  duplex brief\n  duplex brief k7m2 --section decisions\n  duplex brief k7m2 --tokens 4000 | pbcopy",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.brief(cmd.Context(), first(args), r)
		}}
	c.Flags().StringVar(&r.Section, "section", "", "one section, whole")
	c.Flags().IntVar(&r.Tokens, "tokens", 0, "size in tokens of four bytes (default: the setting brief.tokens)")
	return c
}

func (a *App) brief(ctx context.Context, name string, r tracker.BriefRequest) error {
	if r.Section != "" && !slices.Contains(handover.Sections(), r.Section) {
		return usagef("no section is called %q; the sections are %s", r.Section, strings.Join(handover.Sections(), ", "))
	}
	if r.Tokens != 0 && r.Tokens < handover.MinTokens {
		return usagef("--tokens is %d at least: less does not hold the goal and the newest instruction", handover.MinTokens)
	}
	if r.Tokens > 0 {
		r.Characters = 4 * r.Tokens // the size is said; no agent's own cap is meant
	}
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	id, _, err := a.find(ctx, t, name)
	if err != nil {
		return err
	}
	b, err := t.Brief(ctx, id, r)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("brief/1", b)
	}
	p := a.page()
	p.line("%s", strings.TrimRight(tame(b.Text), "\n"))
	if a.OutTerminal { // piped, the brief alone goes to an agent
		p.line("")
		p.line("%s", a.paint(dim, fmt.Sprintf("%s tokens at position %s%s", thousands(int64(b.Tokens)), thousands(b.Position), examined(b))))
	}
	return p.flush()
}

func (a *App) handoverCommand() *cobra.Command {
	var next string
	c := &cobra.Command{Use: "handover [JOB]", Short: "Write a handover now, and say what went across", GroupID: "back", Args: oneJob,
		Long: `Write what a leaving session leaves. Duplex does this by itself near the limit of a
context, at a compaction, at a session's end and after a crash; this writes one
more, now. It says what went across and what stayed behind.`,
		Example: "  duplex handover\n  duplex handover k7m2 --next \"move billing/dunning.test.ts\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.handover(cmd.Context(), first(args), next)
		}}
	c.Flags().StringVar(&next, "next", "", "what to do next (default: told from the ledger)")
	return c
}

func (a *App) handover(ctx context.Context, name, next string) error {
	t, id, by, err := a.onJob(ctx, name)
	if err != nil {
		return err
	}
	b, err := t.HandOver(ctx, by, id, tracker.HandOverRequest{Why: "request", Next: next})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("brief/1", b)
	}
	across, behind, n, stayed := counts(b.Sections)
	p := a.page()
	p.line("%s handed over at position %s%s", b.Short, thousands(b.Position), examined(b))
	p.fact("across", "%s in %s tokens", plural(n, "line"), thousands(int64(b.Tokens)))
	for _, l := range wrap(across, a.columns()-factIndent, 0) {
		p.fact("", "%s", l)
	}
	if stayed == 0 {
		p.fact("behind", "nothing")
	} else {
		for i, l := range wrap(plural(stayed, "line")+": "+behind, a.columns()-factIndent, 0) {
			p.fact(onlyFirst(i, "behind"), "%s", l)
		}
		p.fact("", "read one whole: duplex brief %s --section %s", b.Short, firstBehind(b.Sections))
	}
	if len(b.Stale) > 0 {
		p.fact("stale", "%s that the workspace contradicts", plural(len(b.Stale), "line"))
	}
	return p.flush()
}

func firstBehind(list []job.SectionCount) string {
	for _, s := range list {
		if s.Behind > 0 {
			return s.Section
		}
	}
	return ""
}

// examined says how the packet was examined before it counted.
func examined(b tracker.Brief) string {
	if b.Probes == 0 {
		return ""
	}
	out := fmt.Sprintf("; examined by %s", plural(b.Probes, "question"))
	if b.Repaired > 0 {
		out += fmt.Sprintf(", %d of them repaired it", b.Repaired)
	}
	return out
}
