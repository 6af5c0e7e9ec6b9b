// Command long measures: `go run ./internal/long` runs the full figures that the
// project promises, and prints each with what was promised. `go run ./internal/long
// hook standing` runs some of them; -scale 1 runs them at the size of CI.
//
// Speeds are CPU seconds of whole processes and ratios within one run: wall time
// on a shared machine says little.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// figure is one thing that is measured.
type figure struct {
	name string
	what string
	run  func(context.Context, *bench) error
}

func figures() []figure {
	return []figure{
		{"hook", "a hook with 16 KB in, redaction, 64 KB of transcript tail and append, against a no-op", hookFigure},
		{"flat", "the hook at a long ledger and many sessions, against a short one", flatFigure},
		{"standing", "where a long job stands, over a no-op", standingFigure},
		{"bytes", "bytes written a step, at the start and at the end of a long ledger", bytesFigure},
		{"verbs", "start, show, jobs and raise, as CPU ratios to a no-op", verbsFigure},
		{"recall", "a page of what is found in a long ledger, over a no-op", recallFigure},
		{"memory", "resident memory of every command", memoryFigure},
		{"kills", "hook processes killed at random moments while others append", testFigure("./internal/store ./internal/cli", "Kill|Writers|Full|ReadOnly|Damaged|Salvage|Torn")},
		{"simulation", "the pure core against a small model, and ten planted faults", testFigure("./internal/job", "Sim|Fault|Snapshot")},
		{"safepoints", "restore gives back what was kept, on random trees; speed against git status", testFigure("./internal/workspace", ".")},
		{"handover", "the examination against planted faults; many handovers in a row", testFigure("./internal/handover", ".")},
		{"demo", "the demo to its passed finish, with the brief and without", testFigure("./internal/demo", ".")},
	}
}

func main() {
	scale := flag.Float64("scale", 0, "size: 1 is CI's, 0 the full one")
	flag.Usage = usage
	if len(os.Args) > 2 && os.Args[1] == measureFlag {
		os.Exit(measure(os.Args[2:]))
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := runAll(ctx, *scale, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "long:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "Usage: go run ./internal/long [-scale N] [FIGURE ...]")
	for _, f := range figures() {
		fmt.Fprintf(os.Stderr, "  %-12s %s\n", f.name, f.what)
	}
}

func runAll(ctx context.Context, scale float64, names []string) error {
	all := figures()
	for _, n := range names {
		if !slices.ContainsFunc(all, func(f figure) bool { return f.name == n }) {
			return fmt.Errorf("no figure %q; see -help", n)
		}
	}
	b, err := newBench(ctx, scale)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Printf("%s, commit %s, %s\n", time.Now().Format(time.DateOnly), b.commit, b.machine)
	var failed []string
	for _, f := range all {
		if len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		fmt.Printf("\n%s: %s\n", f.name, f.what)
		if err := f.run(ctx, b); err != nil {
			fmt.Printf("  FAILED: %v\n", err)
			failed = append(failed, f.name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s failed", strings.Join(failed, ", "))
	}
	return nil
}
