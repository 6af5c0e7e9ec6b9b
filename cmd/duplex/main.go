// Command duplex keeps the long work of AI agents one tracked job, from its start
// to a checked finish.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/cli"
	"github.com/seed-5777983b/duplex/internal/demo"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := cli.FromProcess(time.Now)
	a.Version, a.Demo = version(), play
	code := cli.Main(ctx, a)
	stop()
	os.Exit(code)
}

// play composes the demo, which stands beside the command line.
func play(ctx context.Context, t *tracker.Tracker, dir, program string, show cli.Teller) (job.ID, error) {
	told, err := demo.Play(ctx, demo.Stage{Tracker: t, Dir: dir, Program: program, Driver: script.Adapter{}, Print: show.Print, Progress: show.Progress, Title: show.Title})
	return told.Job, err
}

// number is the released version; the commit comes from the build.
const number = "0.1.0"

func version() cli.Version {
	v := cli.Version{Number: number}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Date = s.Value
			}
		}
	}
	return v
}
