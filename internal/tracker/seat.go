package tracker

import (
	"context"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Seat is a session that the runner drives: made before its agent starts, so that
// the agent's first hook finds it bound and holding the lease.
type Seat struct {
	Session      job.ID
	Number       int
	AgentSession string
	Token        int64
	Job          job.ID
	Workspace    job.ID
}

// Actor acts as the seat's session.
func (s Seat) Actor(agentName string) Actor {
	return Actor{Author: job.Author{Kind: job.Agent, Name: agentName}, Session: s.Session, Token: s.Token, Job: s.Job, Workspace: s.Workspace}
}

// SeatRequest asks for a driven session at a job.
type SeatRequest struct {
	Agent, AgentSession, Model string
	Place                      Place
	Window, Level              int64
	Take                       bool // a person wants it from a live session, whose process tree has ended
	Resume                     bool // AgentSession is one of the job's that goes on with its own context
}

// ClaimSeat takes the lease for a session that is about to be driven. It gives
// job.ErrHeld when a live session has it.
func (t *Tracker) ClaimSeat(ctx context.Context, id job.ID, r SeatRequest) (Seat, error) {
	var seat Seat
	err := t.write(ctx, Actor{Author: job.Author{Kind: job.Duplex}}, true, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil {
			return err
		}
		row, err := c.seatRow(id, r)
		if err != nil {
			return err
		}
		row.Number, row.Driven, row.Asked, row.LastHook, row.Process = s.Sessions+1, true, r.Model, c.now, processOf(process.Self())
		lease, err := c.claim(&s, job.Asking{Session: row.ID, Driven: true, Process: row.Process, Take: r.Take})
		if err != nil {
			return err
		}
		c.by.Session, c.by.Workspace = row.ID, row.Workspace
		started := &job.SessionStarted{Agent: r.Agent, AgentSession: r.AgentSession, Number: row.Number, Model: r.Model, Source: "startup",
			How: "driven", Driven: true, Process: row.Process, Window: row.Window, Level: row.Level, Workspace: r.Place.workspace(), Transcript: row.Transcript}
		if r.Resume {
			started.Source, started.From = "resume", row.ID
		}
		if _, err := c.append(id, started); err != nil {
			return err
		}
		if _, err := c.append(id, lease); err != nil {
			return err
		}
		row.Token = lease.Token
		seat = Seat{Session: row.ID, Number: row.Number, AgentSession: r.AgentSession, Token: lease.Token, Job: id, Workspace: row.Workspace}
		return c.saveSession(row)
	})
	return seat, err
}

// seatRow is the row of the session that takes the seat: a new one, or the one that
// goes on, with how full its context is and how far its transcript was read.
func (c *change) seatRow(id job.ID, r SeatRequest) (*store.Session, error) {
	if !r.Resume {
		return &store.Session{ID: newID(), Agent: r.Agent, AgentSession: r.AgentSession, Job: id, Model: r.Model, Window: r.Window, Level: r.Level,
			Workspace: r.Place.ID}, nil
	}
	row, err := c.tx.Session(r.Agent, r.AgentSession)
	if err != nil {
		return nil, err
	}
	if row.Job != id {
		return nil, fmt.Errorf("%w: session %s of %s is not one of this job", job.ErrInvalid, r.AgentSession, r.Agent)
	}
	row.Ended, row.Guest, row.Nudged, row.HandedOver, row.Workspace = 0, false, 0, 0, r.Place.ID
	return row, nil
}

// Resumable is the newest session of a job, when an agent could go on with it in a
// workspace: it fits, it ended in good order, its context is not fuller than share
// of its level, and nothing has made that untrue since. Nil when there is none.
func (t *Tracker) Resumable(ctx context.Context, id job.ID, agentName string, place Place, share float64, fits func(*store.Session) bool) (*store.Session, error) {
	var found *store.Session
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Standing(id)
		if err != nil {
			return err
		}
		all, err := tx.SessionsOf(id)
		if err != nil || len(all) == 0 {
			return err
		}
		row := &all[0]
		for i := range all {
			if all[i].Number > row.Number {
				row = &all[i]
			}
		}
		seat := s.Seat(row.ID)
		switch {
		case row.Agent != agentName || row.Ended == 0 || row.Guest || row.Workspace != place.ID || row.Transcript == "":
		case seat == nil || seat.Reason == "crashed" || seat.Reason == "failed" || seat.Reason == "cleared":
		case s.Newest[job.KindWentBack].Position > s.Newest[job.KindSessionEnded].Position: // it knows of files that are no more
		case row.Level == 0 || row.Context == 0 || float64(row.Context) > share*float64(row.Level):
		case fits(row):
			found = row
		}
		return nil
	})
	return found, err
}

// Told keeps what the agent itself said of its levels, which is better than any
// table.
func (t *Tracker) Told(ctx context.Context, seat Seat, l agent.Levels) error {
	return t.write(ctx, Actor{}, false, func(c *change) error {
		row, err := c.tx.SessionByID(seat.Session)
		if err != nil {
			return err
		}
		row.ToldWindow, row.ToldLevel = l.Window, l.Level
		row.Window, row.Level = levelsOf(row, l)
		return c.saveSession(row)
	})
}

// levelsOf are a session's levels: what the agent told, unless the table knows of a
// setting that ends its context earlier within the same window; else the table's,
// corrected by the compactions that were seen.
func levelsOf(row *store.Session, table agent.Levels) (window, level int64) {
	switch {
	case row.ToldLevel == 0:
		l := table.Learn(row.Compacted, row.Largest)
		return l.Window, l.Level
	case row.ToldWindow == table.Window && table.Level > 0:
		return table.Window, min(row.ToldLevel, table.Level)
	}
	return row.ToldWindow, row.ToldLevel
}

// Beat renews a driven session's lease; job.ErrFenced means it has gone to
// another, and the agent must be ended.
func (t *Tracker) Beat(ctx context.Context, seat Seat) error {
	return t.write(ctx, Actor{}, false, func(c *change) error {
		ok, err := c.tx.Renew(seat.Job, seat.Session, seat.Token, c.now)
		if err != nil || ok {
			return err
		}
		// Given back by the agent's own goodbye is not replaced: its process is
		// about to end.
		s, err := c.tx.Standing(seat.Job)
		if err == nil && s.Token > seat.Token {
			return fmt.Errorf("%w: session %d of this job was replaced", job.ErrFenced, seat.Number)
		}
		return err
	})
}

// Reread takes in what a driven session's transcript says beyond what its last hook
// read: an agent writes its totals when that is over.
func (t *Tracker) Reread(ctx context.Context, seat Seat) error {
	row, err := t.Sitting(ctx, seat.Session)
	if err != nil {
		return err
	}
	return t.catchUp(ctx, Actor{Author: job.Author{Kind: job.Duplex}, Session: seat.Session, Token: seat.Token, Job: seat.Job, Workspace: row.Workspace}, row)
}

// Parted records the end of a driven session whose own goodbye did not reach us: the
// handover that its last hook would have written, and its end.
func (t *Tracker) Parted(ctx context.Context, seat Seat, r EndRequest) error {
	row, err := t.Sitting(ctx, seat.Session)
	if err != nil {
		return err
	}
	by := seat.Actor(row.Agent)
	if _, err := t.HandOver(ctx, by, seat.Job, HandOverRequest{Why: "request", Claim: row.Said}); err != nil {
		return err
	}
	return t.SessionEnded(ctx, by, seat.Job, r)
}
