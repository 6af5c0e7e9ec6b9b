// Package runner drives a job: it claims the lease, takes a safe point, starts an
// agent headless, beats while it works, and when the context is full, the agent
// ends or crashes, it goes on with the next session until the checks pass or the
// job has to wait. What the agent does is recorded by its hooks, as for anyone.
//
// Run is the loop; wait.go decides whether the job can go on, session.go begins a
// session, drive.go is with it while its process runs, settle.go and crash.go make
// of its end what it means. It knows agents by agent.Driver alone.
package runner

import (
	"context"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Choice is one agent and model; sessions take them in turn.
type Choice struct {
	Driver  agent.Driver
	Model   string
	Args    []string // the agent's own
	Program string   // instead of Options.Program
	Mode    string   // the agent's own word for what it may do unasked
}

// Options of one run.
type Options struct {
	Tracker  *tracker.Tracker
	Job      job.ID
	Dir      string
	Choices  []Choice
	Sessions int // at most; 0: as the job's budget says
	Program  string
	Hook     []string // the command line of our hooks, without the agent's name
	Server   []string // the command line of our MCP server; none when empty
	Env      []string
	Take     bool          // from a live session
	Wait     time.Duration // longest wait for a rate limit
	Prompt   string        // instead of the usual first words
	NoCheck  bool          // do not finish when the agent says it is done
	Tell     func(Event)   // progress
	Beat     time.Duration // 0: job.Heartbeat
	// Alone: this process starts nothing else while an agent runs, and has called
	// process.Subreaper: what it is left with are the agent's orphans.
	Alone bool

	patience patience // zero: as it is
}

// patience is how long is waited for what should come by itself.
type patience struct {
	turn  time.Duration // for a turn that was interrupted
	end   time.Duration // for a process that was asked to end: its last hook keeps the workspace
	rest  time.Duration // for a process that has nothing more to say
	probe time.Duration // before a limit that does not say until when is tried again
}

// Event is one thing to tell a person who watches.
type Event struct {
	Kind    string // session, said, done, ended, handed over, went back, check, finish, wait, trouble, denied
	Text    string
	Session int
	Agent   string
	Model   string
	Resumed bool // the session goes on with its own context
	Verdict *tracker.Verdict
}

// Result says how a run ended: with an outcome, or with a reason to wait.
type Result struct {
	Job      job.ID           `json:"job"`
	Short    string           `json:"short"`
	Sessions int              `json:"sessions"`
	Verdict  *tracker.Verdict `json:"verdict,omitempty"`
	Pause    *job.Pause       `json:"pause,omitempty"`
}

// Roomy is how full a context may be, as a share of its level, to be gone on with. A
// fuller one would be handed over soon, and costs more than a brief to be read again.
const Roomy = 0.5

// How many sessions in a row may change nothing, and how many may crash or fail,
// before a person is asked to look.
const (
	stallLimit = 2
	crashLimit = 3
)

type run struct {
	Options
	duplex  tracker.Actor
	idle    int    // sessions in a row without a change
	crashes int    // sessions in a row that crashed
	failed  int    // sessions in a row that the provider ended
	failure string // what it said last
	probes  int    // limits in a row that did not say until when
	waited  time.Duration
	afresh  bool // the next session begins with the brief, whatever room the last one had
	began   int  // safe point before the session under way
	done    bool // the agent says it is done, and nobody wants that checked
	out     Result
}

// Run drives the job until it has an outcome that ends it, has to wait, or the
// context is cancelled: then the agent is ended and the job can be resumed.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Tell == nil {
		o.Tell = func(Event) {}
	}
	if o.Beat == 0 {
		o.Beat = job.Heartbeat
	}
	if o.patience == (patience{}) {
		o.patience = patience{turn: 10 * time.Second, end: time.Minute, rest: 15 * time.Second, probe: time.Minute}
	}
	r := &run{Options: o, duplex: tracker.Actor{Author: job.Author{Kind: job.Duplex}}}
	if _, err := o.Tracker.Sweep(ctx); err != nil {
		return r.out, err
	}
	for n := 0; ; n++ {
		s, err := r.standing(ctx)
		if err != nil {
			return r.out, err
		}
		r.out.Job, r.out.Short, r.out.Pause = s.Job, s.Short, s.Pause
		if done, err := r.mustWait(ctx, &s, n); done || err != nil {
			return r.out, err
		}
		if err := r.session(ctx, &s, r.Choices[n%len(r.Choices)]); err != nil {
			return r.out, err
		}
		r.out.Sessions++
		if r.out.Verdict != nil && r.out.Verdict.Verdict.Outcome.Ends() {
			r.out.Pause = nil
			return r.out, nil
		}
		if r.done {
			return r.out, r.leave(ctx)
		}
	}
}

// leave lets the job wait for what a person makes of the agent's word that it is
// done, unless it has to wait for something else.
func (r *run) leave(ctx context.Context) error {
	s, err := r.standing(ctx)
	if err != nil {
		return err
	}
	r.out.Pause = s.Pause
	if waits, err := r.mustWait(ctx, &s, r.out.Sessions); waits || err != nil {
		return err
	}
	return r.pause(ctx, job.PauseHand, "the agent says it is done; check it with duplex finish", 0)
}

// pause lets the job wait, and says so in the result.
func (r *run) pause(ctx context.Context, why job.PauseReason, evidence string, until job.Time) error {
	if _, err := r.Tracker.PauseFor(ctx, r.duplex, r.Job, why, evidence, until); err != nil {
		return err
	}
	s, err := r.standing(ctx)
	r.out.Pause = s.Pause
	return err
}

func (r *run) standing(ctx context.Context) (job.Standing, error) {
	return r.Tracker.Standing(ctx, r.Job)
}
