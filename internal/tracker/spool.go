package tracker

import (
	"context"
	"errors"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Late is a hook call that was spooled.
type Late struct {
	Event agent.Event
	Named string // the job its environment named
	At    time.Time
}

// With reports whether a call may be taken in with the one before it: both only
// report a tool's result, of one session, folder and transcript.
func (l Late) With(before Late) bool {
	a, b := l.Event, before.Event
	return a.Kind == agent.AfterTool && b.Kind == agent.AfterTool && l.Named == before.Named &&
		a.Session == b.Session && a.Dir == b.Dir && a.Transcript == b.Transcript
}

// Redeliver takes in hook calls that were spooled, all of which go with each other
// (Late.With), at the time they happened. Nothing is answered: the agent has gone on
// long since.
func (t *Tracker) Redeliver(ctx context.Context, ad agent.Adapter, calls []Late) (Observed, error) {
	if len(calls) > 1 {
		row, err := t.sessionOf(ctx, ad, calls[0].Event.Session)
		if err != nil {
			return Observed{}, err
		}
		if row == nil || row.Job == "" { // it comes to its job with its first call, not with its last
			if _, err := t.redeliver(ctx, ad, calls[:1]); err != nil {
				return Observed{}, err
			}
			calls = calls[1:]
		}
	}
	return t.redeliver(ctx, ad, calls)
}

// sessionOf is nil for a session that is not known.
func (t *Tracker) sessionOf(ctx context.Context, ad agent.Adapter, session string) (row *store.Session, err error) {
	err = t.store.Read(ctx, func(tx *store.Tx) error {
		row, err = tx.Session(ad.Name(), session)
		if errors.Is(err, job.ErrNotFound) {
			return nil
		}
		return err
	})
	return row, err
}

func (t *Tracker) redeliver(ctx context.Context, ad agent.Adapter, calls []Late) (Observed, error) {
	last := calls[len(calls)-1]
	past := *t
	past.present = t.clock
	past.clock = func() time.Time { return last.At }
	past.getenv = func(name string) string {
		if name == "DUPLEX_JOB" {
			return last.Named
		}
		return ""
	}
	return past.observe(ctx, &observing{Tracker: &past, ad: ad, ev: last.Event, late: calls})
}

// Unheard records hook calls that never arrived: what says why. They name no job, so
// every open job that a session sits at is told, or else the one that was worked at
// last.
func (t *Tracker) Unheard(ctx context.Context, what string, calls int64) error {
	var open []store.JobRow
	err := t.store.Read(ctx, func(tx *store.Tx) (err error) {
		if open, err = tx.Jobs(store.JobFilter{Open: true, Held: true}); err != nil || len(open) > 0 {
			return err
		}
		open, err = tx.Jobs(store.JobFilter{Open: true, Limit: 1}) // the last changed
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range open {
		err := t.write(ctx, Actor{Author: job.Author{Kind: job.Duplex}}, false, func(c *change) error {
			_, err := c.append(r.ID, &job.Gap{What: what + "; the transcript may still hold them", Count: calls, Source: "spool"})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
