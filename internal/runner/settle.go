package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Errors of a session that no further session would mend.
var (
	// ErrStart: the agent's program ended before it did anything.
	ErrStart = errors.New("the agent could not be started")
	// ErrRefused: the provider takes neither these credentials nor this model.
	ErrRefused = errors.New("the provider refused")
	// ErrUnheard: the agent worked, and its hooks did not reach us.
	ErrUnheard = errors.New("the agent's hooks did not call duplex")
)

// settle decides what the end of a session means, and records it. asked is the
// context that a person may have cancelled.
func (w *sitting) settle(ctx, asked context.Context) error {
	if err := w.Tracker.Reread(ctx, w.seat); err != nil {
		return err
	}
	row, err := w.Tracker.Sitting(ctx, w.seat.Session)
	if err != nil {
		return err
	}
	s, err := w.standing(ctx)
	if err != nil {
		return err
	}
	if w.fenced || s.Token > w.seat.Token { // also when the agent ended before the next beat: the job is another's
		return fmt.Errorf("%w: session %d was replaced; its agent was ended", job.ErrFenced, w.seat.Number)
	}
	parted := row.Ended > 0 && (s.Lease == nil || s.Lease.Session != w.seat.Session)
	if done, err := w.stillborn(ctx, asked, row, parted); done || err != nil {
		return err
	}
	// An agent that ended its turn and its process did not crash, though its last hook
	// may not have reached us, or been cut short.
	ours := asked.Err() != nil || w.budget != ""
	crashed := !parted && !ours && (w.end.End == "" || w.result.Signal != "" && !w.asked)
	if w.crashes++; !crashed {
		w.crashes = 0
	}
	if crashed {
		evidence := "the agent ended without a goodbye"
		if w.result.Signal != "" {
			evidence += ": " + w.result.Signal
		}
		w.Tell(Event{Kind: "ended", Text: evidence, Session: w.seat.Number})
		if err := w.Tracker.Crashed(ctx, w.seat, evidence); err != nil {
			return err
		}
		return w.afterCrash(ctx)
	}
	if !parted {
		evidence := cmp.Or(w.budget, "interrupted")
		if !ours {
			evidence = w.end.Reason
		}
		end := tracker.EndRequest{Reason: "ended", Evidence: evidence, Pause: asked.Err() != nil}
		if row.HandedOver > 0 {
			end.Reason = "limit"
		}
		if err := w.Tracker.Parted(ctx, w.seat, end); err != nil {
			return err
		}
	}
	if asked.Err() != nil {
		if s, err := w.standing(ctx); err != nil || s.Pause != nil {
			return errors.Join(asked.Err(), err)
		}
		_, err := w.Tracker.PauseFor(ctx, w.duplex, w.Job, job.PauseHand, "interrupted", 0)
		return errors.Join(asked.Err(), err)
	}
	if w.budget != "" {
		return nil
	}
	return w.afterEnd(ctx, row)
}

// stillborn meets a session that never was: its program could not be started or
// ended at once, or its hooks did not reach us. done: there is nothing more to it.
func (w *sitting) stillborn(ctx, asked context.Context, row *store.Session, parted bool) (done bool, err error) {
	if asked.Err() != nil || parted {
		return false, nil
	}
	silent := !w.heard && w.result.Signal == ""
	switch {
	case w.result.Err != "":
		err = fmt.Errorf("%w: %s", ErrStart, w.result.Err)
	case silent && w.resumed:
		w.afresh = true // the agent does not know that session any more
	case silent:
		err = fmt.Errorf("%w: it exited with %d: %s", ErrStart, w.result.Exit, lastWords(w.result.Output))
	case !w.resumed && row.Transcript == "" && w.end.End != "" && w.end.End != agent.EndRefused:
		err = fmt.Errorf("%w: its settings may turn hooks off", ErrUnheard)
	default:
		return false, nil
	}
	evidence := "the agent does not know the session that was to go on"
	if err != nil {
		evidence = err.Error()
		w.Tell(Event{Kind: "ended", Text: evidence, Session: w.seat.Number})
	}
	end := tracker.EndRequest{Reason: "failed", Evidence: evidence, Pause: err != nil}
	return true, errors.Join(err, w.Tracker.SessionEnded(ctx, w.seat.Actor(w.driver.Name()), w.Job, end))
}

// lastWords are the last line of an output that is no JSON.
func lastWords(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && line[0] != '{' {
			return line
		}
	}
	return "it said nothing"
}

// afterEnd follows a session that ended in good order: at its limit the next one
// goes on; at the provider's the job waits; an agent that says it is done is checked.
func (w *sitting) afterEnd(ctx context.Context, row *store.Session) error {
	s, err := w.standing(ctx)
	if err != nil {
		return err
	}
	w.idle++
	idle := w.idle
	if s.Counts[job.KindStep] > w.steps {
		w.idle, w.probes = 0, 0
	}
	if s.Done() {
		v := &tracker.Verdict{Job: w.Job, Short: s.Short, Goal: s.Goal, Spend: s.Spend, Verdict: job.Finished{Outcome: s.Outcome.Outcome, Reason: s.Outcome.Reason}}
		w.out.Verdict = v
		w.Tell(Event{Kind: "finish", Verdict: v})
		return nil
	}
	if over, err := w.provided(ctx, &s); over || err != nil {
		return err
	}
	w.failed = 0
	switch {
	case s.Pause != nil || s.Questions > 0:
		w.Tell(Event{Kind: "ended", Text: w.end.Reason, Session: w.seat.Number})
		return nil
	case row.HandedOver > 0 || w.end.End == agent.EndFull:
		w.afresh = true
		w.Tell(Event{Kind: "handed over", Text: "context limit", Session: w.seat.Number})
		return nil
	}
	if w.end.End == agent.EndDone {
		w.Tell(Event{Kind: "done", Text: "the agent says that it is done", Session: w.seat.Number})
	} else {
		w.Tell(Event{Kind: "ended", Text: w.end.Reason, Session: w.seat.Number})
	}
	if w.end.End == agent.EndTurns || w.end.End == agent.EndInterrupted {
		return nil
	}
	if w.denied > 0 && s.Counts[job.KindStep]-w.steps <= int64(w.denied) { // a refused call is a step too
		return w.pause(ctx, job.PauseHand, fmt.Sprintf("the agent's own rules refused %d of its calls, and it did nothing else: %s", w.denied, w.denial), 0)
	}
	if w.NoCheck {
		w.done = true
		return nil
	}
	return w.check(ctx, idle)
}

// check holds the agent to its word that it is done.
func (w *sitting) check(ctx context.Context, idle int) error {
	v, err := w.Tracker.Finish(ctx, w.duplex, w.Job, func(what string) { w.Tell(Event{Kind: "check", Text: what}) })
	if err != nil {
		return err
	}
	w.out.Verdict = &v
	w.Tell(Event{Kind: "finish", Verdict: &v})
	// An agent that says again and again that it is done takes steps, and leaves the
	// workspace as it was.
	s, err := w.standing(ctx)
	if err == nil && s.SafePoint != nil && s.SafePoint.Number == w.began {
		w.idle = idle
	}
	return err
}

// provided meets an end that the provider made. over: nothing else is to be done.
func (w *sitting) provided(ctx context.Context, s *job.Standing) (over bool, err error) {
	why := cmp.Or(w.end.Reason, "the provider did not answer")
	tell := func() { w.Tell(Event{Kind: "ended", Text: why, Session: w.seat.Number}) }
	switch w.end.End {
	case agent.EndLimit, agent.EndOverloaded:
		tell()
		w.idle = max(0, w.idle-1) // it could not do anything
		until := max(w.until, w.end.Until)
		if s.Pause != nil && s.Pause.Reason == job.PauseRate && (s.Pause.Until > 0 || until == 0) {
			return true, nil
		}
		if until == 0 {
			why += " (time unknown)"
		}
		return true, w.pause(ctx, job.PauseRate, why, until)
	case agent.EndCredit:
		tell()
		return true, w.pause(ctx, job.PauseHand, "the account has no credit left: "+why, 0)
	case agent.EndRefused:
		tell()
		return true, errors.Join(fmt.Errorf("%w: %s", ErrRefused, why), w.pause(ctx, job.PauseHand, why, 0))
	case agent.EndFailed:
		tell()
		w.idle = max(0, w.idle-1)
		w.failed, w.failure, w.afresh = w.failed+1, why, true
		return true, nil
	}
	return false, nil
}
