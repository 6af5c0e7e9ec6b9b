package tracker

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// drivenSession is a driven session of the scripted agent that worked and said goodbye.
func drivenSession(t *testing.T, w *world, id job.ID, context int64, end EndRequest) Seat {
	t.Helper()
	ctx := t.Context()
	place, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	seat, err := w.ClaimSeat(ctx, id, SeatRequest{Agent: "script", AgentSession: string(newID()), Model: "script-large", Place: place, Window: 200_000, Level: 150_000})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Tracker.write(ctx, Actor{}, false, func(c *change) error {
		row, err := c.tx.SessionByID(seat.Session)
		if err != nil {
			return err
		}
		row.Transcript, row.Context, row.Ended = filepath.Join(w.home, "none.jsonl"), context, c.now
		return c.saveSession(row)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SessionEnded(ctx, seat.Actor("script"), id, end); err != nil {
		t.Fatal(err)
	}
	return seat
}

// A session goes on with its own context where that has room, and where nothing has
// happened that its context would be wrong about.
func TestResumable(t *testing.T) {
	t.Parallel()
	ended := EndRequest{Reason: "ended"}
	for name, c := range map[string]struct {
		agent   string
		context int64
		end     EndRequest
		after   func(*world, job.ID, Seat) error
		want    bool
	}{
		"room":             {"script", 70_000, ended, nil, true},
		"half full":        {"script", 80_000, ended, nil, false},
		"another agent":    {"claude", 70_000, ended, nil, false},
		"crashed":          {"script", 70_000, EndRequest{Reason: "crashed"}, nil, false},
		"nothing is known": {"script", 0, ended, nil, false},
		"the workspace went back": {"script", 70_000, ended, func(w *world, id job.ID, _ Seat) error {
			_, err := w.Restore(context.Background(), APerson(), id, RestoreRequest{Number: 1, Force: true})
			return err
		}, false},
		"another came after it": {"script", 70_000, ended, func(w *world, id job.ID, _ Seat) error {
			drivenSession(w.t, w, id, 140_000, ended)
			return nil
		}, false},
		"it is resumed already": {"script", 70_000, ended, func(w *world, id job.ID, s Seat) error {
			place, err := w.Place(w.repo)
			if err == nil {
				_, err = w.ClaimSeat(context.Background(), id, SeatRequest{Agent: "script", AgentSession: s.AgentSession, Model: "script-large", Place: place, Resume: true})
			}
			return err
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.start(StartRequest{Goal: "Go on", NoBaseline: true}).Job
			w.write("shop.go", "package shop\n\nfunc Add(a, b int) int { return b + a }\n")
			seat := drivenSession(t, w, id, c.context, c.end)
			if c.after != nil {
				if err := c.after(w, id, seat); err != nil {
					t.Fatal(err)
				}
			}
			place, err := w.Place(w.repo)
			if err != nil {
				t.Fatal(err)
			}
			row, err := w.Resumable(t.Context(), id, c.agent, place, 0.5, func(s *store.Session) bool { return s.Asked == "script-large" })
			if err != nil || (row != nil) != c.want {
				t.Errorf("resumable is %+v, %v; want one: %v", row, err, c.want)
			}
		})
	}
}

// A session that goes on is the same session and one more sitting, under a new token.
func TestResumedSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.start(StartRequest{Goal: "Go on", NoBaseline: true}).Job
	first := drivenSession(t, w, id, 70_000, EndRequest{Reason: "ended"})
	place, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	r := SeatRequest{Agent: "script", AgentSession: first.AgentSession, Model: "script-large", Place: place, Resume: true}
	again, err := w.ClaimSeat(t.Context(), id, r)
	if err != nil || again.Session != first.Session || again.Number != 2 || again.Token != first.Token+1 {
		t.Fatalf("%+v went on as %+v, %v", first, again, err)
	}
	s, err := w.Standing(t.Context(), id)
	if err != nil || s.Sessions != 2 || s.Seat(first.Session).Ended != 0 || s.Lease == nil {
		t.Errorf("the job stands at %+v, %v", s, err)
	}
	row, err := w.Sitting(t.Context(), again.Session)
	if err != nil || row.Context != 70_000 || row.Ended != 0 || row.Level != 150_000 {
		t.Errorf("its row is %+v, %v", row, err)
	}
	r.AgentSession = "of nobody"
	if _, err := w.ClaimSeat(t.Context(), id, r); err == nil {
		t.Error("a session that nobody knows goes on")
	}
}

func TestLevelsOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		told, table, want agent.Levels
	}{
		{agent.Levels{}, agent.Levels{Window: 200_000, Level: 167_000}, agent.Levels{Window: 200_000, Level: 167_000}},
		{agent.Levels{Window: 1_000_000, Level: 967_000}, agent.Levels{Window: 200_000, Level: 167_000}, agent.Levels{Window: 1_000_000, Level: 967_000}},   // the table is old
		{agent.Levels{Window: 1_000_000, Level: 967_000}, agent.Levels{Window: 1_000_000, Level: 490_000}, agent.Levels{Window: 1_000_000, Level: 490_000}}, // a setting it does not tell of
		{agent.Levels{Window: 100_000, Level: 67_000}, agent.Levels{}, agent.Levels{Window: 100_000, Level: 67_000}},
	} {
		window, level := levelsOf(&store.Session{ToldWindow: c.told.Window, ToldLevel: c.told.Level}, c.table)
		if got := (agent.Levels{Window: window, Level: level}); got != c.want {
			t.Errorf("told %+v, by the table %+v: %+v, want %+v", c.told, c.table, got, c.want)
		}
	}
}
