package tracker

import (
	"context"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Redeliver takes in a hook call that had to be spooled, at the time it happened.
// Nothing is answered: the agent has gone on long since.
func (t *Tracker) Redeliver(ctx context.Context, ad agent.Adapter, ev agent.Event, named string, at time.Time) error {
	past := *t
	past.clock = func() time.Time { return at }
	past.getenv = func(name string) string {
		if name == "DUPLEX_JOB" {
			return named
		}
		return ""
	}
	_, err := past.Observe(ctx, ad, ev)
	return err
}

// TornSpool records spooled lines that could not be read. They name no job, so
// every open job that a session sat at meanwhile is told.
func (t *Tracker) TornSpool(ctx context.Context, lines int64) error {
	var open []store.JobRow
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		open, err = tx.Jobs(store.JobFilter{Open: true, Held: true})
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range open {
		err := t.write(ctx, Actor{Author: job.Author{Kind: job.Duplex}}, false, func(c *change) error {
			_, err := c.append(r.ID, &job.Gap{What: "spooled hook calls that could not be read; the transcript may still hold them", Count: lines, Source: "spool"})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
