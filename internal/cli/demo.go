package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Demo plays the story in a folder; cmd/duplex hands it in, since a story stands
// beside the commands, not below them.
type Demo func(ctx context.Context, t *tracker.Tracker, dir, program string, show Teller) (job.ID, error)

// Teller is how the story is shown.
type Teller struct {
	Title, Print, Progress func(string)
}

func (a *App) demoCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{Use: "demo", Short: "See a whole job: a full context, a crash, a false claim, a checked finish", GroupID: "set",
		Long: `Play a real job over a real small repository, with a scripted model: forty test
files move to table tests over four sessions and two models. A context fills, a
session crashes in the middle of an edit, one claims too much, and the finish says
what is missing. It needs Go and git, takes under a minute after the first build,
and the job stays for you to look at.`,
		Example: "  duplex demo\n  duplex demo --dir ~/duplex-demo",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir) }}
	c.Flags().StringVar(&dir, "dir", "", "folder for the demo's repository (default: a new one for temporary files)")
	return c
}

func (a *App) demo(ctx context.Context, dir string) error {
	t, err := a.open(ctx, opening{create: true})
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "duplex-demo-"); err != nil {
			return err
		}
		dir = filepath.Join(dir, "shop")
	} else if dir, err = filepath.Abs(dir); err != nil {
		return err
	} else if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return usagef("%s is not empty; name a new folder", dir)
	}
	p := a.progress()
	begun := a.Now()
	print := func(line string) {
		p.end()
		fmt.Fprintln(a.Out, a.clean(line))
	}
	chapter := 0
	id, err := a.Demo(ctx, t, dir, a.Program, Teller{
		Title: func(title string) {
			chapter++
			print("")
			print(a.paint(bold, fmt.Sprintf("%d  %s", chapter, title)))
			print("")
		},
		Print:    print,
		Progress: func(s string) { p.say("  " + s) },
	})
	p.end()
	if err != nil {
		return interrupted(ctx, err)
	}
	print("")
	print(a.paint(bold, "The whole job, read as one piece"))
	print("")
	shown, err := t.Show(ctx, id)
	if err != nil {
		return err
	}
	if err := a.logText(ctx, t, shown, tracker.LogRequest{}, logOptions{}); err != nil {
		return err
	}
	s := shown.Standing
	print("")
	print(fmt.Sprintf("%s: %s with %s and %s, %s (play prices of the scripted models), %s.", s.Short, s.Outcome.Outcome, plural(s.Sessions, "session"),
		plural(int(s.Steps), "step"), money(s.Spend), span(a.Now().Sub(begun))))
	print("It stays for you to look at:")
	name := "duplex"
	if strings.Contains(a.Program, "go-build") {
		name = "go run ./cmd/duplex"
	}
	for _, c := range []string{"show", "log", "cost", "brief"} {
		print(fmt.Sprintf("  %s %s %s", name, c, s.Short))
	}
	print(fmt.Sprintf("  %s remove %s    and it is gone, provably", name, s.Short))
	return nil
}
