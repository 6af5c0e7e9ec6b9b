package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// hookFigure: at most 6 times a no-op, at most twice duplex version, by median; the
// slowest hundredth at most 10 times the no-op's.
func hookFigure(ctx context.Context, b *bench) error {
	home, err := b.fill(ctx, "hook", 1000, 0)
	if err != nil {
		return err
	}
	c, err := b.calls(home)
	if err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	got, err := rounds(b.size(200, 60),
		func(int) (cost, error) { return b.run(ctx, home, nil, b.noop) },
		func(int) (cost, error) { return b.run(ctx, home, nil, b.duplex, "version") },
		func(int) (cost, error) { return c.step(ctx) })
	if err != nil {
		return err
	}
	noop, version, hook := got[0], got[1], got[2]
	fmt.Printf("  no-op %v, version %v, hook %v (medians of CPU)\n", noop.median(), version.median(), hook.median())
	if err := b.takenIn(ctx, home, c, noop); err != nil {
		return err
	}
	return errors.Join(
		check("hook against a no-op, median", ratio(hook, noop), 6, "times"),
		check("hook against duplex version, median", ratio(hook, version), 2, "times"),
		check("hook against a no-op, p99", float64(hook.at(.99))/float64(noop.at(.99)), 10, "times"))
}

// takenIn prints what the calls that hooks spooled cost the process that takes them
// in: no hook's time, yet somebody's.
func (b *bench) takenIn(ctx context.Context, home string, c *call, noop series) error {
	var each series
	for range b.size(10, 4) {
		_, got, err := b.spooled(ctx, home, c)
		if err != nil {
			return err
		}
		each = append(each, got.cpu/spooledCalls)
	}
	fmt.Printf("  taken in later, by %d: %v a call, %.2f times a no-op\n", spooledCalls, each.median(), ratio(each, noop))
	return nil
}

// spooledCalls are so few that hooks start no process that takes them in.
const spooledCalls = 12

// spooled runs a few hooks, then takes in what they spooled.
func (b *bench) spooled(ctx context.Context, home string, c *call) (written int64, takeIn cost, err error) {
	again := func() (cost, error) { return b.run(ctx, home, nil, b.duplex, "hook", "--take-in") }
	if _, err := again(); err != nil {
		return 0, cost{}, err
	}
	for range spooledCalls {
		s, err := c.step(ctx)
		if err != nil {
			return 0, cost{}, err
		}
		written += s.written
	}
	takeIn, err = again()
	return written + takeIn.written, takeIn, err
}

// flatFigure: a hook is at most 1.3 times as slow at a long ledger and many sessions.
// What takes in its call later looks up keys in an index that fits no cache any more.
func flatFigure(ctx context.Context, b *bench) error {
	small, err := b.fill(ctx, "hook", 1000, 0)
	if err != nil {
		return err
	}
	large, err := b.fill(ctx, "large", b.size(1_000_000, 20_000), b.size(10_000, 1_000))
	if err != nil {
		return err
	}
	var calls []*call
	for _, home := range []string{small, large} {
		c, err := b.calls(home)
		if err != nil {
			return err
		}
		if err := c.start(ctx); err != nil {
			return err
		}
		calls = append(calls, c)
	}
	got, err := rounds(b.size(100, 40), func(int) (cost, error) { return calls[0].step(ctx) }, func(int) (cost, error) { return calls[1].step(ctx) })
	if err != nil {
		return err
	}
	taken, err := rounds(b.size(20, 8),
		func(int) (cost, error) { _, c, err := b.spooled(ctx, small, calls[0]); return c, err },
		func(int) (cost, error) { _, c, err := b.spooled(ctx, large, calls[1]); return c, err })
	if err != nil {
		return err
	}
	return errors.Join(
		check("hook at the long ledger against the short", ratio(got[1], got[0]), 1.3, "times"),
		check("taking in at the long ledger against the short", ratio(taken[1], taken[0]), 2, "times"))
}

// standingFigure: at most 20 ms over a no-op.
func standingFigure(ctx context.Context, b *bench) error {
	home, err := b.fill(ctx, "large", b.size(1_000_000, 20_000), b.size(10_000, 1_000))
	if err != nil {
		return err
	}
	got, err := rounds(b.size(60, 20),
		func(int) (cost, error) { return b.run(ctx, home, nil, b.noop) },
		func(int) (cost, error) { return b.run(ctx, home, nil, b.duplex, "show", "--json") })
	if err != nil {
		return err
	}
	over := got[1].median() - got[0].median()
	return check("show over a no-op", float64(over)/float64(time.Millisecond), 20, "ms")
}

// bytesFigure: what a step writes, in its hook and when it is taken in. Each entry
// is found again by a key that comes from an agent's random ids, so it touches a
// page of that index: in a short ledger the same few, in a long one each its own.
// From there on it stays as it is.
func bytesFigure(ctx context.Context, b *bench) error {
	const batches = 10
	sizes := []int{1000, b.size(100_000, 10_000), b.size(1_000_000, 20_000)}
	var each []float64
	for _, n := range sizes {
		home, err := b.fill(ctx, fmt.Sprint("bytes-", n), n, 0)
		if err != nil {
			return err
		}
		c, err := b.calls(home)
		if err != nil {
			return err
		}
		if err := c.start(ctx); err != nil {
			return err
		}
		var total int64
		for range batches {
			written, _, err := b.spooled(ctx, home, c)
			if err != nil {
				return err
			}
			total += written
		}
		each = append(each, float64(total)/(batches*spooledCalls))
		fmt.Printf("  at %8d entries %8.0f bytes a step of nine entries\n", n, each[len(each)-1])
	}
	return check("bytes written a step, longest against long", each[2]/each[1], 1.3, "times")
}

// verbsFigure prints the CPU of each verb as a ratio to a no-op.
func verbsFigure(ctx context.Context, b *bench) error {
	home := b.home("verbs")
	if _, err := b.run(ctx, home, nil, b.duplex, "start", "Measure the verbs", "--no-baseline"); err != nil {
		return err
	}
	run := func(args ...string) func(int) (cost, error) {
		return func(int) (cost, error) { return b.run(ctx, home, nil, append([]string{b.duplex}, args...)...) }
	}
	other := b.home("verbs-start")
	names := []string{"no-op", "show", "jobs", "raise", "start"}
	got, err := rounds(b.size(60, 20),
		func(int) (cost, error) { return b.run(ctx, home, nil, b.noop) },
		run("show"), run("jobs"), run("raise", "something to look at", "--job", short(ctx, b, home)),
		func(int) (cost, error) {
			return b.run(ctx, other, nil, b.duplex, "start", "One more", "--no-baseline")
		})
	if err != nil {
		return err
	}
	for i, s := range got[1:] {
		fmt.Printf("  %-8s %8.2f times a no-op (%v)\n", names[i+1], ratio(s, got[0]), s.median())
	}
	return nil
}

// short is the name of the first job of a store.
func short(ctx context.Context, b *bench, home string) string {
	c, err := b.run(ctx, home, nil, b.duplex, "jobs", "--all", "--json")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(c.out), `"short": "`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// memoryFigure: at most 30 MB on a small job, 64 MB on a long one.
func memoryFigure(ctx context.Context, b *bench) error {
	var errs []error
	for _, j := range []struct {
		name    string
		entries int
		most    float64
	}{{"memory-small", 400, 30}, {"memory-large", b.size(100_000, 10_000), 64}} {
		home, err := b.fill(ctx, j.name, j.entries, 0)
		if err != nil {
			return err
		}
		for _, args := range [][]string{{}, {"jobs"}, {"show"}, {"log"}, {"log", "--json"}, {"brief"}, {"cost"}, {"verify"}, {"lessons"},
			{"raise", "one more", "--job", short(ctx, b, home)}, {"safepoint", "create"}, {"safepoint", "list"}, {"handover"}} {
			rss, err := b.memory(ctx, home, append([]string{b.duplex}, args...)...)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			name := strings.TrimSpace("duplex " + strings.Join(args[:min(len(args), 2)], " "))
			errs = append(errs, check(fmt.Sprintf("%s, %d entries", name, j.entries), float64(rss)/(1<<20), j.most, "MB"))
		}
	}
	return errors.Join(errs...)
}
