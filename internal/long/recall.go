package main

import (
	"context"
	"errors"
	"time"
)

// recallFigure: a page of what is found, from words that a few entries have to words
// that nearly all have, at most 50 ms over a no-op; at most 64 MB resident.
func recallFigure(ctx context.Context, b *bench) error {
	n := b.size(100_000, 20_000)
	home, err := b.fill(ctx, "recall", n, 0)
	if err != nil {
		return err
	}
	noop := func(int) (cost, error) { return b.run(ctx, home, nil, b.noop) }
	var errs []error
	for _, words := range [][]string{{"helper", "keep"}, {"handlepart7"}, {"go", "test"}, {"edited"}, {`"src part07"`}, {"file*"}, {"none", "of", "helper"}} {
		argv := append([]string{b.duplex, "recall", "--json", "--ledger"}, words...)
		got, err := rounds(b.size(20, 8), noop, func(int) (cost, error) { return b.run(ctx, home, nil, argv...) })
		if err != nil {
			return err
		}
		over := got[1].median() - got[0].median()
		rss, err := b.memory(ctx, home, argv...)
		name := "recall " + words[0]
		errs = append(errs, err, check(name+" over a no-op", float64(over)/float64(time.Millisecond), 50, "ms"),
			check(name+", resident", float64(rss)/(1<<20), 64, "MB"))
	}
	return errors.Join(errs...)
}
