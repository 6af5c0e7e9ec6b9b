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

	"github.com/seed-5777983b/duplex/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := cli.FromProcess(time.Now)
	a.Version = version()
	code := cli.Main(ctx, a)
	stop()
	os.Exit(code)
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
