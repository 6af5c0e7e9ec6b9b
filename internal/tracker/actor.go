package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Actor is who asks for a use case: a person at a terminal, or the agent of a
// session, with the fencing token that session holds.
type Actor struct {
	Author    job.Author
	Session   job.ID
	Token     int64
	Job       job.ID // the job the session sits at, if any
	Workspace job.ID
	Guest     bool
}

// APerson is the actor at a terminal.
func APerson() Actor { return Actor{Author: job.Author{Kind: job.Person}} }

// ErrNotPerson: an act of a person was asked for from within an agent's session.
var ErrNotPerson = errors.New("only a person may do this, from a terminal that is not the agent's")

// Actor finds out who calls: the session whose agent is an ancestor of the
// calling process, or else a person. Sessions are told by the process that was
// recorded when they started, so this holds in any shell the agent opens.
func (t *Tracker) Actor(ctx context.Context) (Actor, error) {
	row, err := t.callingSession(ctx)
	if err != nil || row == nil {
		return APerson(), err
	}
	return Actor{Author: job.Author{Kind: job.Agent, Name: row.Agent}, Session: row.ID, Token: row.Token, Job: row.Job,
		Workspace: row.Workspace, Guest: row.Guest}, nil
}

// callingSession is the session an ancestor process belongs to. The environment
// is asked first: it names a session directly, and costs no walk.
func (t *Tracker) callingSession(ctx context.Context) (*store.Session, error) {
	var found *store.Session
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		for _, v := range []struct{ agent, name string }{{"script", "SCRIPT_SESSION_ID"}, {"claude", "CLAUDE_CODE_SESSION_ID"}} {
			if id := t.getenv(v.name); id != "" {
				row, err := tx.Session(v.agent, id)
				if err != nil && !errors.Is(err, job.ErrNotFound) {
					return err
				}
				if row != nil {
					found = row
					return nil
				}
			}
		}
		for _, p := range process.Ancestors(os.Getpid()) {
			ident, err := process.Of(p.PID)
			if err != nil {
				continue
			}
			row, err := tx.SessionByProcess(processOf(ident))
			if err != nil && !errors.Is(err, job.ErrNotFound) {
				return err
			}
			if row != nil {
				found = row
				return nil
			}
		}
		return nil
	})
	return found, err
}

// PersonOnly refuses an act of a person when an ancestor process is an agent, and
// otherwise wants the job's short name typed. This stops habit and accident, not
// a determined process: agent and person share one user.
func (t *Tracker) PersonOnly(ctx context.Context, by Actor, short, typed string) error {
	if by.Author.Kind != job.Person {
		return fmt.Errorf("%w (%w)", ErrNotPerson, job.ErrPersonOnly)
	}
	if typed != short {
		return fmt.Errorf("%w: type the job's name %s to confirm, or pass --confirm %s", job.ErrPersonOnly, short, short)
	}
	return nil
}
