package tracker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/store"
)

// claim asks the rule for the lease as things stand in this transaction.
func (c *change) claim(s *job.Standing, a job.Asking) (*job.LeaseTaken, error) {
	renewed, err := c.tx.Renewed(s.Job)
	if err != nil {
		return nil, err
	}
	alive := job.LivenessUnknown
	if s.Lease != nil {
		alive = liveness(s.Lease.Process)
	}
	lease, err := job.Claim(s, a, c.now, renewed, alive)
	if errors.Is(err, job.ErrHeld) {
		err = fmt.Errorf("%w by a session at work: duplex show %s says which; wait for its end, or take it from it: duplex take %s --take", job.ErrHeld, s.Short, s.Short)
	}
	return lease, err
}

// working reports whether a live session holds the job's lease.
func (t *Tracker) working(s *job.Standing, renewed, now job.Time) bool {
	return s.Lease != nil && s.Lease.Held(now, renewed, liveness(s.Lease.Process))
}

// Sitting is a session's row as it is now, for the runner to see what its
// agent's hooks recorded.
func (t *Tracker) Sitting(ctx context.Context, id job.ID) (*store.Session, error) {
	var row *store.Session
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		row, err = tx.SessionByID(id)
		return err
	})
	return row, err
}

// EndRequest says how a session ended.
type EndRequest struct {
	Reason   string // ended, cleared, limit, crashed, replaced, failed
	Evidence string
	Pause    bool // the job waits from now on; a runner goes on by itself
}

// SessionEnded records a session's end and gives its lease back.
func (t *Tracker) SessionEnded(ctx context.Context, by Actor, id job.ID, r EndRequest) error {
	return t.write(ctx, by, true, func(c *change) error { return c.sessionEnded(id, r) })
}

func (c *change) sessionEnded(id job.ID, r EndRequest) error {
	by := said(job.Author{Kind: job.Duplex})
	if _, err := c.append(id, &job.SessionEnded{Reason: r.Reason, Evidence: c.clip(r.Evidence, 300)}, by); err != nil {
		return err
	}
	s, err := c.tx.Standing(id)
	if err != nil || s.Lease == nil || s.Lease.Session != c.by.Session || s.Done() {
		return err
	}
	if _, err := c.append(id, &job.LeaseReleased{Why: r.Reason}, by); err != nil {
		return err
	}
	if !r.Pause || s.Pause != nil {
		return nil
	}
	p := &job.Paused{Reason: job.PauseHand, Evidence: c.clip(r.Evidence, 300)}
	asked := s.Newest[job.KindAsked]
	switch {
	case r.Reason == "crashed":
		p.Reason = job.PauseCrashed
	case s.Questions > 0: // whoever goes on needs the answer
		p = &job.Paused{Reason: job.PauseAnswer, Evidence: asked.Text, On: asked.ID}
	case r.Reason == "limit":
		p.Reason = job.PauseContext
	}
	// Between sessions Duplex keeps the book itself: no session acts.
	book := *c
	book.by = Actor{Author: job.Author{Kind: job.Duplex}}
	_, err = book.append(id, p)
	return err
}

// Sweep finds jobs whose holder's process is gone without having said goodbye,
// and records each crash: its end, the call whose outcome is unknown, a handover
// built from what is there, and the pause. It returns the jobs it found.
func (t *Tracker) Sweep(ctx context.Context) ([]job.ID, error) { return t.sweep(ctx, "") }

// sweep looks at the jobs of one workspace, or at all.
func (t *Tracker) sweep(ctx context.Context, workspace job.ID) ([]job.ID, error) {
	var dead []store.JobRow
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Jobs(store.JobFilter{Open: true, Held: true, Workspace: workspace})
		if err != nil {
			return err
		}
		for _, r := range rows {
			if l := r.Standing.Lease; l != nil {
				if alive := liveness(l.Process); alive != job.Live && !l.Held(t.Now(), r.Renewed, alive) {
					dead = append(dead, r)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var found []job.ID
	for _, r := range dead {
		ok, err := t.crashed(ctx, r)
		if err != nil {
			return found, err
		}
		if ok {
			found = append(found, r.ID)
		}
	}
	return found, nil
}

// Crashed records that a driven session's agent ended without a goodbye.
func (t *Tracker) Crashed(ctx context.Context, seat Seat, evidence string) error {
	var row store.JobRow
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Standing(seat.Job)
		row = store.JobRow{ID: seat.Job, Standing: s}
		return err
	})
	if err != nil {
		return err
	}
	_, err = t.crash(ctx, row, seat.Session, evidence, false)
	return err
}

// crashGrace is how long what a crashed session left running has to end by itself.
const crashGrace = 2 * time.Second

func (t *Tracker) crashed(ctx context.Context, r store.JobRow) (bool, error) {
	evidence := "its process is gone without a goodbye"
	if l := r.Standing.Lease; l.Process.PID > 0 {
		evidence = fmt.Sprintf("process %d is gone without a goodbye", l.Process.PID)
	}
	return t.crash(ctx, r, r.Standing.Lease.Session, evidence, true)
}

func (t *Tracker) crash(ctx context.Context, r store.JobRow, session job.ID, evidence string, pause bool) (bool, error) {
	row, err := t.Sitting(ctx, session)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return false, err
	}
	by := Actor{Author: job.Author{Kind: job.Duplex}, Session: session, Token: r.Standing.Token, Job: r.ID}
	if row != nil && row.Driven { // its runner may be gone, and what it drove still at work
		process.KillMarked(string(row.ID), crashGrace)
	}
	if row != nil {
		by.Workspace = row.Workspace
		if row.Adopting {
			evidence = "reading its transcript was interrupted; duplex adopt goes on with it"
		} else if err := t.catchUp(ctx, by, row); err != nil {
			return false, err
		}
	}
	done := false
	err = t.write(ctx, by, true, func(c *change) error {
		s, err := c.tx.Standing(r.ID)
		if err != nil || s.Done() || s.Lease == nil || s.Lease.Session != session || s.Token != r.Standing.Token {
			return err // somebody was faster
		}
		done = true
		if row != nil && row.InFlight != "" {
			step := &job.Step{Class: job.ClassOther, Title: row.InFlight, Result: job.ResultUnknown, Action: s.Actions + 1}
			if _, err := c.append(r.ID, step, said(job.Author{Kind: job.Duplex})); err != nil {
				return err
			}
		}
		if row != nil {
			row.Ended, row.InFlight = c.now, ""
			if err := c.saveSession(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !done {
		return false, err
	}
	claim := ""
	if row != nil {
		claim = row.Said
	}
	// The tree as the crash left it is kept first: going back must not lose it.
	if _, err := t.Keep(ctx, by, r.ID, KeepRequest{Why: "after a crash", Quiet: true}); err != nil {
		if err := t.gap(ctx, by, r.ID, "a safe point after a crash: "+err.Error()); err != nil {
			return false, err
		}
	}
	if _, err := t.HandOver(ctx, by, r.ID, HandOverRequest{Why: "crash", Claim: claim}); err != nil {
		return false, err
	}
	return true, t.SessionEnded(ctx, by, r.ID, EndRequest{Reason: "crashed", Evidence: evidence, Pause: pause})
}

// TakeRequest asks for a job from within a session, or for this work tree.
type TakeRequest struct {
	Dir   string
	Take  bool          // from a live session
	Grace time.Duration // for its process tree to end
}

// Taken says what take did.
type Taken struct {
	Job       job.ID `json:"job"`
	Short     string `json:"short"`
	Workspace string `json:"workspace"`
	Added     bool   `json:"workspace_added"`
	Session   job.ID `json:"session,omitempty"`
	Token     int64  `json:"token,omitempty"`
	Ended     []int  `json:"ended_processes,omitempty"`
	Brief     string `json:"brief,omitempty"`
}

// Take binds the calling session to a job and claims the lease for it; from a
// terminal it adds this work tree to the job. Taking over from a live process
// ends the old process tree first.
func (t *Tracker) Take(ctx context.Context, by Actor, id job.ID, r TakeRequest) (Taken, error) {
	p, err := t.Place(r.Dir)
	if err != nil {
		return Taken{}, err
	}
	out := Taken{Job: id, Workspace: p.Top}
	if r.Take {
		if out.Ended, err = t.unseat(ctx, id, r.Grace); err != nil {
			return out, err
		}
	}
	var row *store.Session // nil: a person's terminal
	if by.Session != "" {
		if row, err = t.Sitting(ctx, by.Session); err != nil {
			return out, err
		}
	}
	err = t.write(ctx, by, true, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil {
			return err
		}
		out.Short = s.Short
		known := false
		for _, w := range s.Workspaces {
			known = known || w.ID == p.ID
		}
		if row == nil {
			if r.Take && s.Lease != nil {
				if _, err := c.append(id, &job.LeaseReleased{Why: "taken by a person"}); err != nil {
					return err
				}
			}
			ws, why := p.workspace(), "work goes on in another work tree"
			if known {
				if seen, err := c.tx.Workspace(p.ID); err != nil && !errors.Is(err, job.ErrNotFound) || err == nil && seen.Path == ws.Path {
					return err
				}
				why = "its folder was moved"
			}
			out.Added = !known
			_, err := c.append(id, &job.Amended{Workspace: &ws, Why: why})
			return err
		}
		ad := &observing{Tracker: t, row: row, place: p}
		lease, err := c.claim(&s, ad.asking(r.Take))
		if err != nil {
			return err
		}
		row.Job, row.Guest, row.Number, row.Workspace = id, false, s.Sessions+1, p.ID
		c.by = Actor{Author: job.Author{Kind: job.Agent, Name: row.Agent}, Session: row.ID, Workspace: p.ID}
		started := &job.SessionStarted{Agent: row.Agent, AgentSession: row.AgentSession, Number: row.Number, Model: row.Model, Source: "take", How: "taken",
			Process: row.Process, Window: row.Window, Level: row.Level, Workspace: p.workspace(), Transcript: row.Transcript}
		if _, err := c.append(id, started); err != nil {
			return err
		}
		if _, err := c.append(id, lease); err != nil {
			return err
		}
		out.Added, out.Session, out.Token, row.Token = !known, row.ID, lease.Token, lease.Token
		return c.saveSession(row)
	})
	return out, err
}

// unseat ends the process tree of a job's live holder.
func (t *Tracker) unseat(ctx context.Context, id job.ID, grace time.Duration) ([]int, error) {
	var holder *job.Lease
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Standing(id)
		holder = s.Lease
		return err
	})
	if err != nil || holder == nil {
		return nil, err
	}
	row, err := t.Sitting(ctx, holder.Session)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	var ended []int
	procs := []job.Process{holder.Process}
	if row != nil && row.Process != holder.Process {
		procs = append(procs, row.Process)
	}
	if row != nil && row.Driven {
		for _, i := range process.KillMarked(string(row.ID), grace) {
			ended = append(ended, i.PID)
		}
	}
	for _, p := range procs {
		if liveness(p) != job.Live {
			continue
		}
		for _, i := range process.KillTree(p.PID, grace) {
			ended = append(ended, i.PID)
		}
	}
	return ended, nil
}
