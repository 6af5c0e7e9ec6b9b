package tracker

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// What the state folder keeps beside the store goes with a job too: it may hold
// the job's words without naming the job.
func TestRemoveTakesWhatNamesNoJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(StartRequest{Goal: "Leave nothing", NoBaseline: true})
	for _, name := range []string{"hook.log", "hook.log.old", "spool/1.torn", "checkouts/" + s.Short + "-1-2/f"} {
		path := filepath.Join(w.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("a canary"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := w.Remove(context.Background(), APerson(), s.Job, RemoveRequest{Abandon: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.Found {
		t.Errorf("still there: %s in %s", l.Name, l.Where)
	}
	for _, pattern := range []string{"hook.log*", "spool/*", "checkouts/*", "cache"} {
		if left, _ := filepath.Glob(filepath.Join(w.home, pattern)); len(left) > 0 {
			t.Errorf("left after the removal: %v", left)
		}
	}
}

// A check that was killed leaves its checkout; the next one clears it away, and
// leaves those of processes that live.
func TestCheckSweepsKilledCheckouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(StartRequest{Goal: "Tidy", NoBaseline: true, Checks: []job.Check{{Command: "true"}}})
	ended := exec.Command("git", "version")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	at := func(pid int) string {
		return filepath.Join(w.home, "checkouts", s.Short+"-"+strconv.Itoa(pid)+"-7")
	}
	for _, pid := range []int{ended.Process.Pid, os.Getpid()} {
		if err := os.MkdirAll(filepath.Join(at(pid), "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Check(context.Background(), APerson(), s.Job, CheckRequest{}); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(w.home, "checkouts", "*"))
	if err != nil || len(left) != 1 || left[0] != at(os.Getpid()) {
		t.Errorf("left are %v, %v; want only that of the living process", left, err)
	}
}
