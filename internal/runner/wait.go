package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// mustWait decides, between two sessions, whether the job can go on.
func (r *run) mustWait(ctx context.Context, s *job.Standing, n int) (bool, error) {
	now := r.Tracker.Now()
	if s.Done() {
		if r.out.Verdict == nil && n == 0 {
			return true, fmt.Errorf("%w: %s", job.ErrFinished, s.Outcome.Outcome)
		}
		return true, nil
	}
	wait := func(why job.PauseReason, evidence string) (bool, error) {
		if s.Pause == nil || s.Pause.Reason != why {
			return true, r.pause(ctx, why, evidence, 0)
		}
		return true, nil
	}
	spent := usedUp(s, now)
	switch {
	case spent != "":
		return wait(job.PauseBudget, spent)
	case s.Questions > 0:
		return wait(job.PauseAnswer, s.Newest[job.KindAsked].Text)
	case s.Pause != nil && s.Pause.Reason == job.PauseAnswer:
		return true, nil
	case r.crashes >= crashLimit:
		return wait(job.PauseCrashed, fmt.Sprintf("%d sessions in a row crashed", r.crashes))
	case r.failed >= crashLimit:
		return wait(job.PauseStalled, fmt.Sprintf("%d sessions in a row failed: %s", r.failed, r.failure))
	case r.idle >= stallLimit:
		return wait(job.PauseStalled, fmt.Sprintf("%d sessions in a row changed nothing", r.idle))
	}
	if s.Pause != nil && s.Pause.Reason == job.PauseRate && (n > 0 || s.Pause.Until > now) {
		if waited, err := r.limited(ctx, s.Pause, now); !waited || err != nil {
			return true, err
		}
	}
	if r.Sessions > 0 && n >= r.Sessions {
		if s.Pause == nil {
			return wait(job.PauseHand, fmt.Sprintf("sessions used in this run: %d of %d", n, r.Sessions))
		}
		return true, nil
	}
	return s.Pause != nil && n > 0 && s.Pause.Reason == job.PauseHand, nil // a session of this run let it wait
}

// usedUp says which of the job's budgets is, or nothing.
func usedUp(s *job.Standing, now job.Time) string {
	switch b := s.Budget; {
	case b.Sessions > 0 && s.Sessions >= b.Sessions:
		return fmt.Sprintf("%d of %d sessions are used", s.Sessions, b.Sessions)
	default:
		return overspent(s, now)
	}
}

// overspent is usedUp while a session works, which is not counted against the
// number of sessions any more.
func overspent(s *job.Standing, now job.Time) string {
	switch b := s.Budget; {
	case b.Pico > 0 && s.Spend.Pico >= b.Pico:
		return "the budget in USD is used up"
	case b.Tokens > 0 && s.Spend.Tokens.Total() >= b.Tokens:
		return "the budget in tokens is used up"
	case b.Deadline > 0 && now > b.Deadline:
		return "the deadline has passed"
	}
	return ""
}

// limited waits for a rate limit, if that is within what was allowed. A limit that
// does not say until when is probed.
func (r *run) limited(ctx context.Context, p *job.Pause, now job.Time) (waited bool, err error) {
	left, told := p.Until.Sub(now), "rate limit, until "+p.Until.Time().Local().Format("15:04:05")
	if p.Until == 0 {
		left = probe(r.patience.probe, r.probes)
		told = fmt.Sprintf("rate limit, time unknown: tried again in %s", left)
	}
	if r.waited+left > r.Wait {
		return false, nil
	}
	if p.Until == 0 {
		r.probes++
	}
	r.waited += max(0, left)
	r.Tell(Event{Kind: "wait", Text: told})
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(left):
		return true, nil
	}
}

// probe is how long to wait before a limit is tried for the n-th time: longer each
// time, since asking too often is what a limit is against.
func probe(first time.Duration, n int) time.Duration {
	return min(first<<min(n, 10), 60*first)
}
