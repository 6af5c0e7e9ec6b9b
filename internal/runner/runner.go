// Package runner drives a job: it claims the lease, takes a safe point, starts an
// agent headless, beats while it works, and when the context is full, the agent
// ends or crashes, it goes on with the next session until the checks pass or the
// job has to wait. What the agent does is recorded by its hooks, as for anyone.
package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Choice is one agent and model; sessions take them in turn.
type Choice struct {
	Driver agent.Driver
	Model  string
	Args   []string // the agent's own
}

// Options of one run.
type Options struct {
	Tracker  *tracker.Tracker
	Job      job.ID
	Dir      string
	Choices  []Choice
	Sessions int // at most; 0: as the job's budget says
	Program  string
	Hook     []string
	Env      []string
	Take     bool          // from a live session
	Wait     time.Duration // longest wait for a rate limit
	Prompt   string        // instead of the usual first words
	NoCheck  bool          // do not finish when the agent says it is done
	Tell     func(Event)   // progress
	Beat     time.Duration // 0: job.Heartbeat
}

// Event is one thing to tell a person who watches.
type Event struct {
	Kind    string // session, said, ended, handed over, went back, check, finish, wait
	Text    string
	Session int
	Agent   string
	Model   string
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

// How many sessions in a row may change nothing, and how many may crash, before a
// person is asked to look.
const (
	stallLimit = 2
	crashLimit = 3
)

type run struct {
	Options
	duplex  tracker.Actor
	idle    int  // sessions in a row without a change
	crashes int  // sessions in a row that crashed
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
	if _, err := r.Tracker.PauseFor(ctx, r.duplex, r.Job, job.PauseHand, "the agent says it is done; check it with duplex finish", 0); err != nil {
		return err
	}
	s, err = r.standing(ctx)
	r.out.Pause = s.Pause
	return err
}

func (r *run) standing(ctx context.Context) (job.Standing, error) {
	return r.Tracker.Standing(ctx, r.Job)
}

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
			if _, err := r.Tracker.PauseFor(ctx, r.duplex, r.Job, why, evidence, 0); err != nil {
				return true, err
			}
			s, err := r.standing(ctx)
			r.out.Pause = s.Pause
			return true, err
		}
		return true, nil
	}
	switch b := s.Budget; {
	case b.Pico > 0 && s.Spend.Pico >= b.Pico:
		return wait(job.PauseBudget, "the budget in USD is used up")
	case b.Tokens > 0 && s.Spend.Tokens.Total() >= b.Tokens:
		return wait(job.PauseBudget, "the budget in tokens is used up")
	case b.Sessions > 0 && s.Sessions >= b.Sessions:
		return wait(job.PauseBudget, fmt.Sprintf("%d of %d sessions are used", s.Sessions, b.Sessions))
	case b.Deadline > 0 && now > b.Deadline:
		return wait(job.PauseBudget, "the deadline has passed")
	case s.Questions > 0:
		return wait(job.PauseAnswer, s.Newest[job.KindAsked].Text)
	case s.Pause != nil && s.Pause.Reason == job.PauseAnswer:
		return true, nil
	case r.crashes >= crashLimit:
		return wait(job.PauseCrashed, fmt.Sprintf("%d sessions in a row crashed", r.crashes))
	case r.idle >= stallLimit:
		return wait(job.PauseStalled, fmt.Sprintf("%d sessions in a row changed nothing", r.idle))
	}
	if s.Pause != nil && s.Pause.Reason == job.PauseRate && (n > 0 || s.Pause.Until > now) {
		left := s.Pause.Until.Sub(now)
		if s.Pause.Until == 0 || left > r.Wait {
			return true, nil
		}
		r.Tell(Event{Kind: "wait", Text: "rate limit, until " + s.Pause.Until.Time().Local().Format("15:04:05")})
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(left):
		}
	}
	if r.Sessions > 0 && n >= r.Sessions {
		if s.Pause == nil {
			return wait(job.PauseHand, fmt.Sprintf("sessions used in this run: %d of %d", n, r.Sessions))
		}
		return true, nil
	}
	return false, nil
}

// session drives one sitting, from the claim to its end.
func (r *run) session(ctx context.Context, s *job.Standing, c Choice) error {
	place, err := r.Tracker.Place(r.Dir)
	if err != nil {
		return err
	}
	levels := c.Driver.Levels(c.Model, os.Getenv)
	seat, err := r.Tracker.ClaimSeat(ctx, r.Job, tracker.SeatRequest{Agent: c.Driver.Name(), AgentSession: newUUID(), Model: c.Model,
		Place: place, Window: levels.Window, Level: levels.Level, Take: r.Take})
	if err != nil {
		return err
	}
	by := seat.Actor(c.Driver.Name())
	kept, err := r.Tracker.Keep(ctx, by, r.Job, tracker.KeepRequest{Why: "before session " + fmt.Sprint(seat.Number), Quiet: true})
	if err != nil {
		return errors.Join(err, r.Tracker.SessionEnded(ctx, by, r.Job, tracker.EndRequest{Reason: "failed", Evidence: "no safe point could be taken", Pause: true}))
	}
	r.began = kept.Number
	r.Tell(Event{Kind: "session", Session: seat.Number, Agent: c.Driver.Name(), Model: c.Model})
	before := s.Counts[job.KindStep]
	end := r.drive(ctx, seat, c)
	return r.settle(context.WithoutCancel(ctx), ctx, seat, by, end, before)
}

// ending is how an agent's process ended.
type ending struct {
	result   process.Result
	streamed agent.Streamed
	fenced   bool
	budget   bool
}

// drive runs the agent's process, beating while it lives.
func (r *run) drive(ctx context.Context, seat tracker.Seat, c Choice) ending {
	prompt := r.Prompt
	if prompt == "" {
		prompt = firstWords
	}
	argv, env := c.Driver.Command(agent.Drive{Program: r.Program, Dir: r.Dir, Session: seat.AgentSession, Model: c.Model, Prompt: prompt, Args: c.Args, Hook: r.Hook})
	var end ending
	drive, stop := context.WithCancel(ctx)
	defer stop()
	lines := &lineWriter{each: func(line []byte) {
		st, err := c.Driver.Stream(line)
		if err != nil {
			return
		}
		if st.Text != "" {
			r.Tell(Event{Kind: "said", Text: st.Text, Session: seat.Number})
		}
		if st.End != "" {
			end.streamed = st
		}
	}}
	beats := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-beats:
				return
			case <-time.After(r.Beat):
			}
			if err := r.Tracker.Beat(drive, seat); errors.Is(err, job.ErrFenced) {
				end.fenced = true
				stop()
				return
			}
			if s, err := r.standing(drive); err == nil && s.Budget.Pico > 0 && s.Spend.Pico >= s.Budget.Pico {
				end.budget = true
				stop()
				return
			}
		}
	}()
	environ := append(append(os.Environ(), env...), "DUPLEX_JOB="+string(r.Job))
	result := process.Run(drive, process.Spec{Dir: r.Dir, Env: append(environ, r.Env...), Argv: argv, Stdout: lines, TailBytes: 16 << 10})
	close(beats)
	<-done
	lines.flush()
	end.result = result
	return end
}

// firstWords are what a driven agent is told. They carry Duplex's marker, so they
// are never taken for a person's.
const firstWords = `<duplex-driver>Go on with the job in the brief above until its checks pass. Work from what the brief says is left; do not start over. When everything is done, say so and stop.</duplex-driver>`

// settle decides what the end of a session means, and records it.
func (r *run) settle(ctx, asked context.Context, seat tracker.Seat, by tracker.Actor, end ending, stepsBefore int64) error {
	row, err := r.Tracker.Sitting(ctx, seat.Session)
	if err != nil {
		return err
	}
	s, err := r.standing(ctx)
	if err != nil {
		return err
	}
	if end.fenced || s.Token > seat.Token { // also when the agent ended before the next beat: the job is another's
		return fmt.Errorf("%w: session %d was replaced; its agent was ended", job.ErrFenced, seat.Number)
	}
	crashed := row.Ended == 0 && asked.Err() == nil && !end.budget
	if r.crashes++; !crashed {
		r.crashes = 0
	}
	switch {
	case crashed:
		evidence := "the agent ended without a goodbye"
		if end.result.Signal != "" {
			evidence += ": " + end.result.Signal
		} else if end.result.Err != "" {
			evidence = "the agent could not be started: " + end.result.Err
		}
		r.Tell(Event{Kind: "ended", Text: evidence, Session: seat.Number})
		if err := r.Tracker.Crashed(ctx, seat, evidence); err != nil {
			return err
		}
		if end.result.Err != "" && !end.result.Started {
			return fmt.Errorf("%s; the job can be resumed", evidence)
		}
		return r.afterCrash(ctx, seat)
	case row.Ended == 0: // ended by us, at a person's Ctrl-C or the budget
		if _, err := r.Tracker.HandOver(ctx, by, r.Job, tracker.HandOverRequest{Why: "request", Claim: row.Said}); err != nil {
			return err
		}
		evidence := "interrupted"
		if end.budget {
			evidence = "the budget was reached"
		}
		if err := r.Tracker.SessionEnded(ctx, by, r.Job, tracker.EndRequest{Reason: "ended", Evidence: evidence, Pause: !end.budget}); err != nil {
			return err
		}
		return asked.Err()
	}
	if asked.Err() != nil {
		_, err := r.Tracker.PauseFor(ctx, r.duplex, r.Job, job.PauseHand, "interrupted", 0)
		return errors.Join(asked.Err(), err)
	}
	return r.afterEnd(ctx, seat, row.HandedOver > 0, end, stepsBefore)
}

// afterEnd follows a session that ended in good order: at its limit the next one
// goes on; an agent that says it is done is checked.
func (r *run) afterEnd(ctx context.Context, seat tracker.Seat, full bool, end ending, stepsBefore int64) error {
	s, err := r.standing(ctx)
	if err != nil {
		return err
	}
	r.idle++
	idle := r.idle
	if s.Counts[job.KindStep] > stepsBefore {
		r.idle = 0
	}
	if s.Done() {
		v := &tracker.Verdict{Job: r.Job, Short: s.Short, Goal: s.Goal, Spend: s.Spend, Verdict: job.Finished{Outcome: s.Outcome.Outcome, Reason: s.Outcome.Reason}}
		r.out.Verdict = v
		r.Tell(Event{Kind: "finish", Verdict: v})
		return nil
	}
	if end.streamed.End == agent.EndLimit || s.Pause != nil || s.Questions > 0 {
		r.Tell(Event{Kind: "ended", Text: end.streamed.Reason, Session: seat.Number})
		return nil
	}
	if full {
		r.Tell(Event{Kind: "handed over", Text: "context limit", Session: seat.Number})
		return nil
	}
	r.Tell(Event{Kind: "ended", Text: end.streamed.Reason, Session: seat.Number})
	if r.NoCheck {
		r.done = true
		return nil
	}
	v, err := r.Tracker.Finish(ctx, r.duplex, r.Job, func(what string) { r.Tell(Event{Kind: "check", Text: what}) })
	if err != nil {
		return err
	}
	r.out.Verdict = &v
	r.Tell(Event{Kind: "finish", Verdict: &v})
	// An agent that says again and again that it is done takes steps, and leaves the
	// workspace as it was.
	if s, err = r.standing(ctx); err == nil && s.SafePoint != nil && s.SafePoint.Number == r.began {
		r.idle = idle
	}
	return err
}

// afterCrash goes back to the last safe point when a call's outcome is unknown or
// a quick check is red, as the job's crash policy says. The tree as the crash
// left it is in a safe point of its own.
func (r *run) afterCrash(ctx context.Context, seat tracker.Seat) error {
	s, err := r.standing(ctx)
	if err != nil {
		return err
	}
	policy := s.OnCrash
	if policy == "" {
		policy = r.Tracker.OnCrash()
	}
	switch policy {
	case "keep":
		return nil
	case "ask":
		return r.askAfterCrash(ctx, seat)
	}
	why := fmt.Sprintf("session %d crashed with a call in flight", seat.Number)
	if s.InFlight == nil {
		why = fmt.Sprintf("session %d crashed, and a quick check is red", seat.Number)
		run, err := r.Tracker.Check(ctx, r.duplex, r.Job, tracker.CheckRequest{Here: true, Quick: true})
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
	p, err := r.before(ctx)
	if err != nil || p == nil {
		return err
	}
	back, err := r.Tracker.Restore(ctx, r.duplex, r.Job, tracker.RestoreRequest{Number: p.Number, Why: why})
	if err != nil {
		return err
	}
	r.Tell(Event{Kind: "went back", Text: fmt.Sprintf("to safe point %d; what was there is in safe point %d", back.To, back.Undo), Session: seat.Number})
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
func (r *run) askAfterCrash(ctx context.Context, seat tracker.Seat) error {
	p, err := r.before(ctx)
	if err != nil {
		return err
	}
	back := ""
	if p != nil {
		back = " Go back with duplex restore " + p.ID() + ", or leave the tree as it is; then answer."
	}
	_, err = r.Tracker.Ask(ctx, r.duplex, r.Job, fmt.Sprintf("Session %d crashed.%s", seat.Number, back), []string{"gone back", "left as it is"})
	return err
}

// lineWriter hands on whole lines.
type lineWriter struct {
	buf  bytes.Buffer
	each func([]byte)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf.Write(p)
	for {
		i := bytes.IndexByte(w.buf.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		w.each(bytes.TrimSpace(w.buf.Next(i + 1)))
	}
}

func (w *lineWriter) flush() {
	if w.buf.Len() > 0 {
		w.each(bytes.TrimSpace(w.buf.Bytes()))
	}
}

// newUUID makes the random id an agent's session is started under.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
