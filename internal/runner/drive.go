package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// sitting is one session while its agent works, and how that ended.
type sitting struct {
	*run
	seat    tracker.Seat
	driver  agent.Driver
	resumed bool
	steps   int64 // of the job, before

	talk *talk // nil: the agent is not spoken to
	stop func()

	mu     sync.Mutex
	ident  process.Ident
	end    agent.Streamed // the newest end of a turn
	result process.Result
	heard  bool // it has said anything at all
	busy   bool // its sub-agents work on
	turn   bool // a turn is under way
	levels bool // its levels were asked for
	open   int  // calls without a result
	until  job.Time
	denied int
	denial string // the first of them
	asked  bool   // its process was, to end
	fenced bool
	budget string // which is used up

	parting int // how often its last hook was waited for
}

// drive runs the agent's process, beating while it lives.
func (w *sitting) drive(ctx context.Context, d agent.Drive) {
	argv, change := w.driver.Command(d)
	spec := process.Spec{Dir: w.Dir, Env: process.Changed(os.Environ(), slices.Concat(change, []string{"DUPLEX_JOB=" + string(w.Job)}, w.Env)...), Argv: argv, TailBytes: 16 << 10, Mark: string(w.seat.Session), Bound: true, Orphans: w.Alone}
	spec.OnStart = func(i process.Ident) { w.set(func() { w.ident = i }) }
	lines := &lineWriter{each: w.hear}
	spec.Stdout = lines
	if talker, ok := w.driver.(agent.Talker); ok {
		talk, stdin, err := newTalk(talker)
		if err != nil {
			w.result.Err = err.Error()
			return
		}
		w.talk, spec.Stdin = talk, stdin
		defer stdin.Close()
		talk.say(talker.Begin(d))
	}
	// Asked to end, the agent has time to; what is cut short is only what does not.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	w.stop = stop
	over := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		select {
		case <-over:
		case <-ctx.Done():
			w.leave(over)
		}
	})
	beside.Go(func() { w.beat(work, over) })
	w.result = process.Run(work, spec)
	close(over)
	beside.Wait()
	if w.talk != nil {
		w.talk.close()
	}
	lines.flush()
}

func (w *sitting) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// hear takes one line that the agent printed.
func (w *sitting) hear(line []byte) {
	st, err := w.driver.Stream(line)
	if err != nil {
		return
	}
	w.set(func() {
		w.heard = true
		w.busy = w.busy && !st.Idle || st.Busy
		w.turn = w.turn && st.End == "" || st.Text != "" || st.Results > 0 || st.Context > 0
		w.until = max(w.until, st.Until)
		if st.Denied != "" {
			if w.denied++; w.denied == 1 {
				w.denial = st.Denied
			}
		}
	})
	switch {
	case st.Text != "":
		w.Tell(Event{Kind: "said", Text: st.Text, Session: w.seat.Number})
	case st.Trouble != "":
		w.Tell(Event{Kind: "trouble", Text: st.Trouble, Session: w.seat.Number})
	case st.Denied != "":
		w.Tell(Event{Kind: "denied", Text: st.Denied, Session: w.seat.Number})
	case st.Levels.Level > 0:
		// A level that could not be kept is the table's, as without it.
		_ = w.Tracker.Told(context.Background(), w.seat, st.Levels)
	}
	if st.Context > 0 {
		w.measure()
	}
	w.open = max(0, w.open+st.Calls-st.Results)
	if st.Results > 0 && w.open == 0 && w.talk != nil {
		w.between()
	}
	if st.End != "" {
		w.ended(st)
	}
}

// measure asks the agent once what its levels are, when it is at work.
func (w *sitting) measure() {
	if w.talk == nil || w.levels {
		return
	}
	w.levels = true
	w.talk.say(w.talk.agent.Measure())
}

// between is the moment after the last call that was under way. The turn ends here
// when a budget is used up, or when the handover is written and the agent's hook
// could not end it.
func (w *sitting) between() {
	ctx := context.Background()
	spent := ""
	if s, err := w.standing(ctx); err == nil {
		spent = overspent(&s, w.Tracker.Now())
	}
	row, err := w.Tracker.Sitting(ctx, w.seat.Session)
	if spent == "" && (err != nil || row.HandedOver == 0) {
		return
	}
	w.set(func() { w.budget = cmp.Or(w.budget, spent) })
	w.talk.say(w.talk.agent.Interrupt())
}

// ended takes the end of a turn. With sub-agents still at work there is another one
// to come, unless they are not waited for.
func (w *sitting) ended(st agent.Streamed) {
	w.set(func() { w.end = st })
	if w.talk == nil || st.End == agent.EndDone && w.busy {
		return
	}
	w.talk.hangUp()
	if st.End == agent.EndRefused {
		w.ask()
		return
	}
	w.talk.after(w.patience.rest, w.rests, w.ask)
}

// rests tells whether the agent has nothing more to do: no turn, no sub-agent, and no
// last hook that is still writing, for which it is waited a few times.
func (w *sitting) rests() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn || w.busy {
		return false
	}
	ctx := context.Background()
	row, err := w.Tracker.Sitting(ctx, w.seat.Session)
	if err != nil || row.Ended == 0 {
		return true
	}
	s, err := w.standing(ctx)
	w.parting++
	return err != nil || s.Lease == nil || s.Lease.Session != w.seat.Session || w.parting > 4
}

// leave tells the agent to end: its turn first, then itself, then it is ended.
func (w *sitting) leave(over <-chan struct{}) {
	wait := func(d time.Duration) bool {
		select {
		case <-over:
			return true
		case <-time.After(d):
			return false
		}
	}
	if w.talk != nil {
		w.talk.say(w.talk.agent.Interrupt())
		if wait(w.patience.turn) {
			return
		}
		w.talk.hangUp()
	}
	w.ask()
	if !wait(w.patience.end) {
		w.stop()
	}
}

// ask asks the agent's process to end, and nothing that it runs: it ends that itself,
// and its last hook with it. What is left then is ended with the tree.
func (w *sitting) ask() {
	w.mu.Lock()
	ident := w.ident
	w.asked = true
	w.mu.Unlock()
	process.Ask(ident)
}

// beat renews the lease until the agent has ended. One whose job has gone to
// another, or whose budget is used up, has to end.
func (w *sitting) beat(ctx context.Context, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(w.Beat):
		}
		if err := w.Tracker.Beat(ctx, w.seat); errors.Is(err, job.ErrFenced) {
			w.set(func() { w.fenced = true })
			w.leave(over)
			return
		}
		if s, err := w.standing(ctx); err == nil {
			if spent := overspent(&s, w.Tracker.Now()); spent != "" {
				w.set(func() { w.budget = spent })
				w.leave(over)
				return
			}
		}
	}
}
