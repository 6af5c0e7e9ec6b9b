package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// session drives one sitting, from the claim to its end.
func (r *run) session(ctx context.Context, s *job.Standing, c Choice) error {
	place, err := r.Tracker.Place(r.Dir)
	if err != nil {
		return err
	}
	levels := c.Driver.Levels(c.Model, os.Getenv)
	request := tracker.SeatRequest{Agent: c.Driver.Name(), AgentSession: NewSession(), Model: c.Model, Place: place, Window: levels.Window, Level: levels.Level, Take: r.Take}
	if err := r.goOn(ctx, c, &request); err != nil {
		return err
	}
	seat, err := r.Tracker.ClaimSeat(ctx, r.Job, request)
	if err != nil {
		return err
	}
	by := seat.Actor(c.Driver.Name())
	kept, err := r.Tracker.Keep(ctx, by, r.Job, tracker.KeepRequest{Why: "before session " + fmt.Sprint(seat.Number), Quiet: true})
	if err != nil {
		return errors.Join(err, r.Tracker.SessionEnded(ctx, by, r.Job, tracker.EndRequest{Reason: "failed", Evidence: "no safe point could be taken", Pause: true}))
	}
	r.began = kept.Number
	r.Tell(Event{Kind: "session", Session: seat.Number, Agent: c.Driver.Name(), Model: c.Model, Resumed: request.Resume})
	d := agent.Drive{Program: cmp.Or(c.Program, r.Program), Dir: r.Dir, Session: seat.AgentSession, Resume: request.Resume, Model: c.Model, Args: c.Args,
		Hook: r.Hook, Server: r.Server, Mode: c.Mode, Allow: checksOf(s), Prompt: cmp.Or(r.Prompt, firstWords(s.Goal))}
	w := &sitting{run: r, seat: seat, driver: c.Driver, resumed: request.Resume, steps: s.Counts[job.KindStep]}
	w.drive(ctx, d)
	return w.settle(context.WithoutCancel(ctx), ctx)
}

// goOn has the last session go on with its own context where that has room. Only an
// agent that is spoken to can be told what is new.
func (r *run) goOn(ctx context.Context, c Choice, request *tracker.SeatRequest) error {
	afresh := r.afresh
	r.afresh = false
	if _, talks := c.Driver.(agent.Talker); !talks || afresh {
		return nil
	}
	same := func(s *store.Session) bool { return s.Driven && s.Asked == c.Model }
	row, err := r.Tracker.Resumable(ctx, r.Job, c.Driver.Name(), request.Place, Roomy, same)
	if err == nil && row != nil {
		request.AgentSession, request.Resume = row.AgentSession, true
	}
	return err
}

// checksOf are the command lines of the job's checks: a person has agreed to them,
// so that the agent may run them unasked. One too long to be known whole is not
// among them.
func checksOf(s *job.Standing) []string {
	var lines []string
	for _, c := range s.Checks {
		if c.Command != "" && !strings.HasSuffix(c.Command, "…") {
			lines = append(lines, c.Command)
		}
	}
	return lines
}

// firstWords are what a driven agent is told. They carry Duplex's marker, so they
// are never taken for a person's. Where no brief is given, to measure what it is
// worth, they name the goal.
func firstWords(goal string) string {
	if os.Getenv("DUPLEX_EMPTY_BRIEF") == "1" {
		return "<duplex-driver>The job: " + goal + "\nGo on with it until it is done; some of it may be done already. When everything is done, say so and stop.</duplex-driver>"
	}
	return `<duplex-driver>Go on with the job in the brief above until its checks pass. Work from what the brief says is left; do not start over. When everything is done, say so and stop.</duplex-driver>`
}

// NewSession makes the random id that an agent's session is started under.
func NewSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
