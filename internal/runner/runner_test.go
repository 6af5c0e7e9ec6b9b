package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func init() {
	acts["done"] = func(a *actor) {
		a.arrives()
		a.works(0)
		a.prints(agent.Streamed{Text: "All done.", End: agent.EndDone})
		a.until("nothing") // until we hang up
		a.leaves()
	}
	acts["full, and its hook cannot end the turn"] = func(a *actor) {
		a.arrives()
		a.works(30_000)
		if answer := a.works(90_000); !answer.EndTurn {
			a.prints(agent.Streamed{End: agent.EndFailed, Reason: "the hook did not hand over"})
		} else if a.until("interrupt") {
			a.prints(agent.Streamed{End: agent.EndInterrupted})
		}
		a.until("nothing")
		a.leaves()
	}
	acts["two calls at once"] = func(a *actor) {
		a.arrives()
		a.prints(agent.Streamed{Calls: 1, Context: 1}) // goes on while the next one ends
		a.works(90_000)
		began := make(chan bool)
		go func() { began <- a.until("interrupt") }()
		select {
		case <-began:
			a.prints(agent.Streamed{End: agent.EndFailed, Reason: "interrupted in the middle of a call"})
		case <-time.After(300 * time.Millisecond):
			a.prints(agent.Streamed{Results: 1})
			<-began
			a.prints(agent.Streamed{End: agent.EndInterrupted})
		}
		a.leaves()
	}
	acts["a sub-agent is not done"] = func(a *actor) {
		a.arrives()
		a.works(0)
		a.prints(agent.Streamed{Busy: true})
		a.prints(agent.Streamed{Text: "It works on.", End: agent.EndDone})
		over := make(chan bool)
		go func() { over <- a.until("nothing") }()
		select {
		case <-over:
			os.Exit(3) // hung up on
		case <-time.After(300 * time.Millisecond):
		}
		a.prints(agent.Streamed{Idle: true})
		a.works(0)
		a.prints(agent.Streamed{Text: "Now it is done.", End: agent.EndDone})
		<-over
		a.leaves()
	}
	acts["stays"] = func(a *actor) { // as one does that left a server running
		a.arrives()
		a.works(0)
		a.prints(agent.Streamed{End: agent.EndDone})
		a.until("nothing")
		select {}
	}
	acts["works until it is told to end"] = func(a *actor) {
		a.arrives()
		a.works(0)
		if a.until("interrupt") {
			a.prints(agent.Streamed{End: agent.EndInterrupted})
		}
		a.until("nothing")
		a.leaves()
	}
	acts["does not listen"] = func(a *actor) {
		a.arrives()
		a.works(0)
		select {}
	}
	acts["limited"] = func(a *actor) {
		a.arrives()
		if _, err := os.Stat(filepath.Join(a.dir, "free")); err == nil {
			a.works(0)
			a.prints(agent.Streamed{End: agent.EndDone})
		} else {
			a.prints(agent.Streamed{End: agent.EndLimit, Reason: "too many requests"})
		}
		a.until("nothing")
		a.leaves()
	}
	acts["fails"] = func(a *actor) {
		a.arrives()
		a.prints(agent.Streamed{End: agent.EndFailed, Reason: "no such tool version"})
		a.until("nothing")
		a.leaves()
	}
	acts["crashes"] = func(a *actor) {
		a.arrives()
		a.works(0)
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {}
	}
	acts["has half of its turns"] = func(a *actor) {
		a.arrives()
		if a.resumed {
			a.works(0)
			a.prints(agent.Streamed{Text: "I was here before.", End: agent.EndDone})
		} else {
			a.works(10_000)
			a.prints(agent.Streamed{End: agent.EndTurns, Reason: "2 turns"})
		}
		a.until("nothing")
		a.leaves()
	}
	acts["tells its level"] = func(a *actor) {
		a.arrives()
		a.works(1_000)
		if a.until("measure") {
			a.prints(agent.Streamed{Levels: agent.Levels{Window: 50_000, Level: 20_000}})
		}
		a.works(1_000)
		a.prints(agent.Streamed{End: agent.EndDone})
		a.until("nothing")
		a.leaves()
	}
}

func TestDone(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	r, err := s.run(t.Context(), "done", nil)
	if err != nil || r.Sessions != 1 || r.Pause == nil || !strings.Contains(r.Pause.Evidence, "says it is done") {
		t.Fatalf("%+v, %v\n%q", r, err, s.told)
	}
	if now := s.standing(); now.Lease != nil || now.Steps != 1 || now.Sitting[0].Reason != "ended" {
		t.Errorf("the job stands at %+v", now)
	}
}

// A full context ends the turn between two calls: by the agent's own hook, or, where
// that cannot, by an interrupt, which never falls into a call that is under way.
func TestTheTurnEndsBetweenTwoCalls(t *testing.T) {
	for _, act := range []string{"full, and its hook cannot end the turn", "two calls at once"} {
		t.Run(act, func(t *testing.T) {
			s := newStage(t, tracker.StartRequest{})
			r, err := s.run(t.Context(), act, func(o *Options) { o.Sessions = 1 })
			if err != nil || !s.says("handed over context limit") {
				t.Fatalf("%+v, %v\n%q", r, err, s.told)
			}
			if now := s.standing(); now.Handover == nil || now.Sitting[0].Reason != "limit" {
				t.Errorf("the job stands at %+v", now)
			}
		})
	}
}

func TestSubAgentsAreWaitedFor(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	if r, err := s.run(t.Context(), "a sub-agent is not done", nil); err != nil || s.standing().Steps != 2 || s.standing().Sitting[0].Reason != "ended" {
		t.Fatalf("%+v, %v\n%q", r, err, s.told)
	}
}

// An agent that says it is done and does not go is asked to.
func TestAnAgentThatStays(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	r, err := s.run(t.Context(), "stays", func(o *Options) { o.patience.rest = 50 * time.Millisecond })
	if err != nil || r.Pause == nil || s.standing().Sitting[0].Reason != "ended" {
		t.Fatalf("%+v, %v\n%q", r, err, s.told)
	}
	if s.says("without a goodbye") {
		t.Errorf("its end is taken for a crash: %q", s.told)
	}
}

// Ctrl-C: the agent is interrupted, says goodbye, and the job can be resumed.
func TestInterrupted(t *testing.T) {
	for act, change := range map[string]func(*Options){
		"works until it is told to end": nil,
		"does not listen":               func(o *Options) { o.patience.turn, o.patience.end = 50*time.Millisecond, 50*time.Millisecond },
	} {
		t.Run(act, func(t *testing.T) {
			s := newStage(t, tracker.StartRequest{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for s.standing().Steps == 0 {
					time.Sleep(5 * time.Millisecond) // the step is the agent's: nothing here tells of it
				}
				cancel()
			}()
			_, err := s.run(ctx, act, change)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%v\n%q", err, s.told)
			}
			if now := s.standing(); now.Lease != nil || now.Pause == nil || now.Pause.Reason != job.PauseHand || now.Handover == nil {
				t.Errorf("the job stands at %+v", now)
			}
		})
	}
}

func TestBudgetEndsASessionAtWork(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	soon := job.At(time.Now().Add(500 * time.Millisecond))
	if _, err := s.Amend(t.Context(), tracker.APerson(), s.id, &job.Amended{Budget: &job.Budget{Deadline: soon}}); err != nil {
		t.Fatal(err)
	}
	r, err := s.run(t.Context(), "works until it is told to end", nil)
	if err != nil || r.Sessions != 1 || r.Pause == nil || r.Pause.Reason != job.PauseBudget || !strings.Contains(r.Pause.Evidence, "deadline") {
		t.Errorf("%+v, %v\n%q", r, err, s.told)
	}
}

// Somebody else was given the job: the agent is ended, and nothing of the end is
// written as the job's.
func TestReplaced(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	go func() {
		for s.standing().Steps == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		place, err := s.Place(s.repo)
		if err == nil {
			_, err = s.ClaimSeat(context.Background(), s.id, tracker.SeatRequest{Agent: "script", AgentSession: NewSession(), Model: "script-large", Place: place, Take: true})
		}
		if err != nil {
			t.Error(err)
		}
	}()
	_, err := s.run(t.Context(), "works until it is told to end", nil)
	if !errors.Is(err, job.ErrFenced) {
		t.Fatalf("%v\n%q", err, s.told)
	}
	if now := s.standing(); now.Lease == nil || now.Token != 2 || now.Pause != nil {
		t.Errorf("the job stands at %+v", now)
	}
}

func TestLimitsAreProbed(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	r, err := s.run(t.Context(), "limited", func(o *Options) { o.Wait = 10 * time.Millisecond })
	if err != nil || r.Sessions != 4 || r.Pause == nil || r.Pause.Reason != job.PauseRate || r.Pause.Until != 0 {
		t.Fatalf("1 + 2 + 4 ms fit into 10: %+v, %v\n%q", r, err, s.told)
	}
	for _, want := range []string{"time unknown: tried again in 1ms", "tried again in 2ms", "tried again in 4ms"} {
		if !s.says(want) {
			t.Errorf("%q is not among %q", want, s.told)
		}
	}
	if err := os.WriteFile(filepath.Join(s.repo, "free"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := s.run(t.Context(), "limited", nil); err != nil || r.Sessions != 1 || r.Pause.Reason != job.PauseHand {
		t.Errorf("%+v, %v\n%q", r, err, s.told)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{0: time.Minute, 1: 2 * time.Minute, 5: 32 * time.Minute, 6: time.Hour, 99: time.Hour} {
		if got := probe(time.Minute, n); got != want {
			t.Errorf("the wait before probe %d is %s, want %s", n, got, want)
		}
	}
}

func TestFailingAgainAndAgain(t *testing.T) {
	for act, want := range map[string]struct {
		why      job.PauseReason
		evidence string
		sessions int
	}{
		"fails":   {job.PauseStalled, "3 sessions in a row failed: no such tool version", 3},
		"crashes": {job.PauseCrashed, "3 sessions in a row crashed", 3},
	} {
		t.Run(act, func(t *testing.T) {
			s := newStage(t, tracker.StartRequest{OnCrash: "keep"})
			r, err := s.run(t.Context(), act, nil)
			if err != nil || r.Sessions != want.sessions || r.Pause == nil || r.Pause.Reason != want.why || r.Pause.Evidence != want.evidence {
				t.Errorf("%+v, %+v, %v\n%q", r, r.Pause, err, s.told)
			}
		})
	}
}

// A session that ended with room goes on with its own context, and is one more
// sitting.
func TestGoesOnWhereThereIsRoom(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	if r, err := s.run(t.Context(), "has half of its turns", nil); err != nil || r.Sessions != 2 || !s.says("I was here before.") {
		t.Fatalf("%+v, %v\n%q", r, err, s.told)
	}
	if now := s.standing(); now.Sessions != 2 || now.Steps != 2 {
		t.Errorf("the job stands at %+v", now)
	}
}

func TestAnotherModelBeginsAfresh(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	_, err := s.run(t.Context(), "has half of its turns", func(o *Options) {
		o.Choices, o.Sessions = append(o.Choices, Choice{Driver: speaker{}, Model: "script-small"}), 2
	})
	if err != nil || s.says("I was here before.") || s.standing().Sessions != 2 {
		t.Errorf("another model went on with the context: %v, %q", err, s.told)
	}
}

func TestTheAgentsOwnWordOnItsLevel(t *testing.T) {
	s := newStage(t, tracker.StartRequest{})
	if _, err := s.run(t.Context(), "tells its level", nil); err != nil {
		t.Fatalf("%v\n%q", err, s.told)
	}
	row, err := s.Sitting(t.Context(), s.standing().Sitting[0].ID)
	if err != nil || row.Level != 20_000 || row.Window != 50_000 {
		t.Errorf("its level is %d of %d, %v; want 20000 of 50000", row.Level, row.Window, err)
	}
}
