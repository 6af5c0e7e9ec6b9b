package tracker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// What each moment of a session means, and what the hook answers.

// keepLease renews the lease of a holder by its hook; a holder whose lease ran
// out but whom nobody replaced gets it back.
func (o *observing) keepLease(c *change) error {
	if o.row.Guest || o.stale || o.row.Driven || o.ev.Kind == agent.SessionEnd {
		return nil
	}
	s, err := c.tx.Standing(o.row.Job)
	if err != nil || s.Done() {
		return err
	}
	if s.Lease != nil && s.Lease.Session == o.row.ID {
		if c.now.Sub(o.row.Renewed) < askEvery && c.now >= o.row.Renewed {
			return nil
		}
		o.row.Renewed = c.now
		_, err := c.tx.Renew(o.row.Job, o.row.ID, o.row.Token, c.now)
		return err
	}
	if s.Pause != nil && (s.Pause.Reason == job.PauseAnswer || s.Pause.Reason == job.PauseBudget) && o.ev.Kind != agent.Prompt {
		return nil
	}
	lease, err := c.claim(&s, o.asking(false))
	if errors.Is(err, job.ErrHeld) || errors.Is(err, job.ErrFinished) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := c.append(o.row.Job, lease, in(o.row.ID)); err != nil {
		return err
	}
	o.row.Token, c.by.Token, o.row.Guest = lease.Token, lease.Token, false
	return nil
}

// moment does what the event itself asks for, within the transaction.
func (o *observing) moment(c *change) error {
	switch o.ev.Kind {
	case agent.BeforeTool:
		o.refuse()
	case agent.BeforeCompact:
		o.handover = "compaction"
	case agent.AfterCompact:
		compacted(o.row, 0)
	case agent.SessionStart:
		switch o.ev.Source {
		case "compact", "clear":
			compacted(o.row, 0)
		case "resume":
			return o.rec.resumed()
		}
	case agent.TurnFailed:
		return o.turnFailed(c)
	case agent.TurnEnd: // the answer itself may not be in the transcript yet
		return o.rec.goesOn(func(*job.Envelope) {})
	case agent.SessionEnd:
		o.row.Ended = c.now
		if !o.stale && !o.row.Guest && !o.standing.Done() {
			o.handover = "end"
		}
	}
	return nil
}

// refuse denies a replaced session what may change something; reads pass.
func (o *observing) refuse() {
	if o.stale && o.ev.Tool != nil && o.ev.Tool.Changes {
		o.answer.Deny = fmt.Sprintf("Duplex: job %s has gone to another session; this one may read but change nothing. Take it back only when a person says so: duplex take %s --take",
			o.standing.Short, o.standing.Short)
		o.answer.EndTurn = true
	}
}

// after is what follows the transaction: the handover and the brief want a look
// at the workspace, which is too slow for it.
func (o *observing) after(ctx context.Context) (agent.Answer, error) {
	if o.row.Job == "" {
		if len(o.offer) > 1 && o.ev.Kind == agent.SessionStart {
			o.answer.Context = fmt.Sprintf("Duplex: %d jobs are open in this folder: %s. To work on one: duplex take JOB", len(o.offer), strings.Join(o.offer, ", "))
		}
		if o.ask && o.canHear() {
			o.answer.Context = "Duplex: this session belongs to no job, so what it knows ends with its context. Ask the person whether it shall be carried on as a job; if so: duplex start \"GOAL\" --check \"COMMAND\""
		}
		return o.answer, nil
	}
	by := o.actor()
	if o.handover != "" && !o.stale && !o.row.Guest {
		if err := o.leave(ctx, by); err != nil {
			return o.answer, err
		}
	}
	if o.ev.Kind == agent.SessionStart && !o.stale {
		if err := o.welcome(ctx, by); err != nil {
			return o.answer, err
		}
	}
	if o.nudge && o.answer.Context == "" && !o.answer.EndTurn && o.canHear() {
		o.answer.Context = fmt.Sprintf("Duplex: %d %% of this context is used; the handover is written at %d %%. Record now what only you know: duplex decide \"…\" --why \"…\", duplex raise \"…\", duplex deadend \"…\" --why \"…\". Then go on.",
			int(o.fillOf().Share()*100), int(o.set.Handover*100))
	}
	return o.answer, nil
}

// canHear reports whether the moment's answer reaches the model.
func (o *observing) canHear() bool {
	return !o.deaf() && (o.ev.Kind == agent.AfterTool || o.ev.Kind == agent.Prompt || o.ev.Kind == agent.SessionStart)
}

func (o *observing) actor() Actor {
	return Actor{Author: job.Author{Kind: job.Agent, Name: o.row.Agent}, Session: o.row.ID, Token: o.row.Token, Job: o.row.Job,
		Workspace: o.row.Workspace, Guest: o.row.Guest}
}

// leave writes the handover, with a safe point before it, and at a session's end
// gives the job back.
func (o *observing) leave(ctx context.Context, by Actor) error {
	s, err := o.Tracker.Standing(ctx, o.row.Job)
	if err != nil {
		return err
	}
	if o.mayAct(&s, by, job.KindHandedOver) != nil {
		return nil // the job went to another, or ended, while this session was leaving
	}
	if o.place.Workspace != nil {
		// A safe point that cannot be taken must not keep the handover from
		// being written: the job is told, and goes on without.
		if _, err := o.Keep(ctx, by, o.row.Job, KeepRequest{Why: "before a handover", Quiet: true}); err != nil {
			if err := o.gap(ctx, by, o.row.Job, "a safe point before a handover: "+err.Error()); err != nil {
				return err
			}
		}
	}
	if _, err := o.HandOver(ctx, by, o.row.Job, HandOverRequest{Why: o.handover, Fill: o.fillOf().Share(), Claim: o.row.Said}); err != nil {
		return err
	}
	switch {
	case o.ev.Kind == agent.SessionEnd:
		return o.SessionEnded(ctx, by, o.row.Job, EndRequest{Reason: endReason(o.ev.Reason, o.fillOf().Share(), o.set.Handover), Evidence: "the agent ended: " + o.ev.Reason, Pause: !o.row.Driven})
	case o.row.Driven && o.handover == "level":
		o.answer.EndTurn = true
		o.answer.Context = "Duplex: the handover is written. The next session goes on from it."
	case o.ev.Kind == agent.BeforeCompact:
		o.answer.Steer = "Duplex keeps this job's goal, decisions, dead ends, open items and working set, and gives them back after the compaction. Summarise only what is not there: what you were just doing and why."
	}
	return nil
}

// endReason is the word for how a session ended.
func endReason(said string, fill, level float64) string {
	switch {
	case said == "clear":
		return "cleared"
	case fill >= level:
		return "limit"
	}
	return "ended"
}

// welcome gives an arriving session the brief; a guest is told in one line.
func (o *observing) welcome(ctx context.Context, by Actor) error {
	if o.row.Guest {
		o.answer.Context = fmt.Sprintf("Duplex: job %s (%s) is held by another session. You are a guest here: look and answer freely; what you do is recorded, not as the job's work.",
			o.standing.Short, job.Clip(o.standing.Goal, 100))
		return nil
	}
	if o.standing.Done() {
		return nil
	}
	empty := o.getenv("DUPLEX_EMPTY_BRIEF") == "1" // measures what the brief is worth: duplex demo, and anyone
	text, err := o.TakeOver(ctx, by, o.row.Job, TakeOverRequest{How: o.ev.Source, Characters: o.ad.Bounded(), Empty: empty})
	if err != nil {
		return err
	}
	o.answer.Context = text
	return nil
}

// gap records what could not be recorded, or done.
func (t *Tracker) gap(ctx context.Context, by Actor, id job.ID, what string) error {
	return t.write(ctx, by, false, func(c *change) error {
		_, err := c.append(id, &job.Gap{What: c.clip(what, 500), Count: 1, Source: "duplex"}, said(job.Author{Kind: job.Duplex}))
		return err
	})
}
