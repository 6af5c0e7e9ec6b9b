package tracker

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// What a driven session that crashed left running is ended by whoever records the
// crash, though that did not start it.
func TestACrashEndsWhatItLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.start(StartRequest{Goal: "Go on", NoBaseline: true}).Job
	place, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	seat, err := w.ClaimSeat(t.Context(), id, SeatRequest{Agent: "script", AgentSession: "s1", Model: "script-large", Place: place})
	if err != nil {
		t.Fatal(err)
	}
	left := exec.Command("sleep", "300")
	left.Env = append(os.Environ(), "DUPLEX_TREE="+string(seat.Session))
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	if err := w.Crashed(t.Context(), seat, "killed"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = left.Process.Kill()
		t.Error("what it left runs on")
	}
}
