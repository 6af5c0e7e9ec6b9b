package tracker

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

// arrive lets a session of Claude Code call its first hook.
func (w *world) arrive(session string, pid int) {
	w.t.Helper()
	ev := agent.Event{Kind: agent.SessionStart, Source: "startup", Session: session, Dir: w.repo, PID: pid}
	if _, err := w.Observe(context.Background(), claude.Adapter{}, ev); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) asked(env map[string]string) Actor {
	w.t.Helper()
	w.getenv = func(name string) string { return env[name] }
	by, err := w.AgentActor(context.Background(), w.repo)
	if err != nil {
		w.t.Fatal(err)
	}
	return by
}

func (w *world) session(name string) job.ID {
	w.t.Helper()
	w.getenv = func(env string) string { return map[string]string{"CLAUDE_CODE_SESSION_ID": name}[env] }
	row, err := w.callingSession(context.Background())
	if err != nil || row == nil {
		w.t.Fatalf("session %s: %v, %v", name, row, err)
	}
	return row.ID
}

// sleeper is a process that is nobody's ancestor.
func sleeper(t *testing.T) int {
	t.Helper()
	c := exec.Command("sleep", "600")
	if err := c.Start(); err != nil {
		t.Skipf("no process to start: %v", err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c.Process.Pid
}

// What a process was started with still names the session before /clear.
func TestActorAfterClear(t *testing.T) {
	t.Parallel()
	w, pid := newWorld(t), sleeper(t)
	w.arrive("old", pid)
	before := w.session("old")
	w.arrive("new", pid)
	w.arrive("another", sleeper(t))
	after := w.session("new")
	if by := w.asked(map[string]string{"CLAUDE_CODE_SESSION_ID": "old"}); by.Session != after || by.Session == before {
		t.Errorf("asked under the old name it is %s; want %s, the session the process is at", by.Session, after)
	}
}

func TestAgentActorWithoutName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := func(why string) {
		t.Helper()
		if by := w.asked(nil); by.Session != "" || by.Author.Kind != job.Agent {
			t.Errorf("%s: the caller is %+v; want an agent of no session", why, by)
		}
	}
	nobody("no session at all")
	w.arrive("elsewhere", sleeper(t))
	nobody("a session whose process is somebody else's")
	w.arrive("here", 0)
	if by, want := w.asked(nil), w.session("here"); by.Session != want {
		t.Errorf("the one session without a process: got %+v, want %s", by, want)
	}
	w.arrive("here too", 0)
	nobody("two it could be")
	w.now = w.now.Add(job.RemoteSilence + time.Minute)
	nobody("both silent for long")
}

// A process that a session started is that session, whatever its environment says.
func TestAgentActorByProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.arrive("parent", os.Getppid())
	if by, want := w.asked(nil), w.session("parent"); by.Session != want {
		t.Errorf("got %+v, want session %s", by, want)
	}
}
