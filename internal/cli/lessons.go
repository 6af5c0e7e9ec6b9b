package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *App) lessonsCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{Use: "lessons", Short: "List what finished jobs taught", GroupID: "look",
		Long: `What jobs of this repository taught by how they ended: what worked, what led
nowhere, commands that failed before they passed, what a step kind costs. The next
job here is shown three of them. --all lists those of every repository.`,
		Example: "  duplex lessons\n  duplex lessons --all --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.lessons(cmd.Context(), all) }}
	c.Flags().BoolVar(&all, "all", false, "those of every repository")
	return c
}

func (a *App) lessons(ctx context.Context, all bool) error {
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	dir := a.Dir
	if all {
		dir = ""
	}
	list, err := t.Lessons(ctx, dir)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("lessons/1", map[string]any{"lessons": listed(list)})
	}
	p := a.page()
	for _, l := range list {
		for i, line := range wrap(l.Text, a.columns()-20, 4) {
			at := ""
			if i == 0 {
				at = a.when(l.At)
			}
			p.line("  %s%s", pad(at, 18), line)
		}
	}
	switch {
	case len(list) > 0:
	case all:
		p.line("No lessons. They come from how jobs end: duplex finish")
	default:
		p.line("No lessons from this repository. They come from how jobs end: duplex finish. Those of all: duplex lessons --all")
	}
	return p.flush()
}
