package runner

import (
	"context"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// afterCrash goes back to the last safe point when a call's outcome is unknown or
// a quick check is red, as the job's crash policy says. The tree as the crash
// left it is in a safe point of its own.
func (w *sitting) afterCrash(ctx context.Context) error {
	s, err := w.standing(ctx)
	if err != nil {
		return err
	}
	policy := s.OnCrash
	if policy == "" {
		policy = w.Tracker.OnCrash()
	}
	switch policy {
	case "keep":
		return nil
	case "ask":
		return w.askAfterCrash(ctx)
	}
	why := fmt.Sprintf("session %d crashed with a call in flight", w.seat.Number)
	if s.InFlight == nil {
		why = fmt.Sprintf("session %d crashed, and a quick check is red", w.seat.Number)
		run, err := w.Tracker.Check(ctx, w.duplex, w.Job, tracker.CheckRequest{Here: true, Quick: true})
		if err != nil {
			return err
		}
		red := false
		for _, c := range run.Results {
			red = red || c.State == job.CheckFailed
		}
		if !red {
			return nil
		}
	}
	p, err := w.before(ctx)
	if err != nil || p == nil {
		return err
	}
	back, err := w.Tracker.Restore(ctx, w.duplex, w.Job, tracker.RestoreRequest{Number: p.Number, Why: why})
	if err != nil {
		return err
	}
	w.Tell(Event{Kind: "went back", Text: fmt.Sprintf("to safe point %d; what was there is in safe point %d", back.To, back.Undo), Session: w.seat.Number})
	return nil
}

// before is the newest safe point from before a crash; nil when there is none.
func (r *run) before(ctx context.Context) (*tracker.Kept, error) {
	points, err := r.Tracker.SafePoints(ctx, r.Job)
	for i := range points {
		if points[i].Why != "after a crash" {
			return &points[i], err
		}
	}
	return nil, err
}

// askAfterCrash lets the job wait for a person, who is told how to go back.
func (w *sitting) askAfterCrash(ctx context.Context) error {
	p, err := w.before(ctx)
	if err != nil {
		return err
	}
	back := ""
	if p != nil {
		back = " Go back with duplex restore " + p.ID() + ", or leave the tree as it is; then answer."
	}
	_, err = w.Tracker.Ask(ctx, w.duplex, w.Job, fmt.Sprintf("Session %d crashed.%s", w.seat.Number, back), []string{"gone back", "left as it is"})
	return err
}
