package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-5777983b/duplex/internal/agent"
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
	return actorOf(row), nil
}

// AgentActor is Actor for a caller that is no person whatever its process says, as
// over MCP. Who cannot be told by process or environment is the one session of the
// folder whose process is unknown too. Without any it is an agent of no session,
// who may only look.
func (t *Tracker) AgentActor(ctx context.Context, dir string) (Actor, error) {
	row, err := t.callingSession(ctx)
	if err == nil && row == nil {
		row, err = t.onlySession(ctx, dir)
	}
	if err != nil || row == nil {
		return Actor{Author: job.Author{Kind: job.Agent}}, err
	}
	return actorOf(row), nil
}

func actorOf(row *store.Session) Actor {
	return Actor{Author: job.Author{Kind: job.Agent, Name: row.Agent}, Session: row.ID, Token: row.Token, Job: row.Job,
		Workspace: row.Workspace, Guest: row.Guest}
}

// sessionVariables say in which variable an agent gives what it starts the id of its session.
var sessionVariables = []struct{ agent, variable string }{{"script", "SCRIPT_SESSION_ID"}, {"claude", "CLAUDE_CODE_SESSION_ID"}}

// Introduce takes in a session that the environment names and no hook has told of, as
// its first hook would, and gives AgentActor's answer then. pid is the agent's process.
func (t *Tracker) Introduce(ctx context.Context, dir string, pid int) (Actor, error) {
	for _, v := range sessionVariables {
		id, ad := t.getenv(v.variable), t.Agent(v.agent)
		if id == "" || ad == nil {
			continue
		}
		if _, err := t.Observe(ctx, ad, agent.Event{Kind: agent.OtherEvent, Session: id, Dir: dir, PID: pid}); err != nil {
			return Actor{}, err
		}
	}
	return t.AgentActor(ctx, dir)
}

// onlySession is the one session under way in a folder of which no process is known;
// nil when there is none, or several.
func (t *Tracker) onlySession(ctx context.Context, dir string) (*store.Session, error) {
	p, err := t.Place(dir)
	if err != nil {
		return nil, nil // no session works in a folder that cannot be a workspace
	}
	var found []store.Session
	err = t.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Sessions(100)
		for _, r := range rows {
			if r.Workspace == p.ID && r.Process.PID == 0 && r.Ended == 0 && !r.Off && t.Now().Sub(r.LastHook) < job.RemoteSilence {
				found = append(found, r)
			}
		}
		return err
	})
	if err != nil || len(found) != 1 {
		return nil, err
	}
	return &found[0], nil
}

// callingSession is the session an ancestor process belongs to. The environment
// is asked first: it names a session directly, and costs no walk.
func (t *Tracker) callingSession(ctx context.Context) (*store.Session, error) {
	var found *store.Session
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		for _, v := range sessionVariables {
			if id := t.getenv(v.variable); id != "" {
				row, err := tx.Session(v.agent, id)
				if err != nil && !errors.Is(err, job.ErrNotFound) {
					return err
				}
				if row != nil {
					found, err = latest(tx, row)
					return err
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

// latest is the session that an agent's process is at now. After /clear that is
// another one, and what the process had started before still names the old. Driven
// sessions are told by their own name alone: a runner has one after another.
func latest(tx *store.Tx, row *store.Session) (*store.Session, error) {
	if row.Driven || row.Process.PID == 0 {
		return row, nil
	}
	now, err := tx.SessionByProcess(row.Process)
	if errors.Is(err, job.ErrNotFound) || err == nil && (now.Driven || now.Agent != row.Agent) {
		return row, nil
	}
	return now, err
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
