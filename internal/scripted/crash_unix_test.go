//go:build unix

package scripted

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
)

func killedBy(t *testing.T, err error, want syscall.Signal) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != want {
		t.Fatalf("the process ended with %v, want %s", err, want)
	}
}

func TestACrashInTheMiddleOfAWrite(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(3)
	o := s.options(`{` + moves + `, "extras": [{"name": "crash", "when": {"writing": "01"}, "do": {"crash": true}}]}`)
	killedBy(t, s.process(o).Run(), syscall.SIGKILL)
	if half := s.file("t/01.txt"); len(half) == 0 || len(half) > len(s.file("t/00.txt"))/2+1 || strings.Contains(half, "end") {
		t.Errorf("the file is %q, want half of it", half)
	}
	if got := s.events(); !strings.HasSuffix(got, "PreToolUse(Edit)") {
		t.Errorf("hooks were %s", got)
	}
	rows, _ := s.rows(s.path("s1"))
	last := rows[len(rows)-1]
	if last.Kind != agent.RowCall || last.Call.Class != job.ClassEdit || last.Call.Paths[0].Name != "t/01.txt" {
		t.Errorf("the last row is %+v, want the edit in flight", last)
	}
	if has(rows, func(r agent.Row) bool { return r.Kind == agent.RowTotals }) {
		t.Error("a crashed session wrote its totals")
	}

	// A resumed session knows that it does not know.
	s.items(3)
	o.Resume = "s1"
	s.out.Reset()
	if err := s.process(o).Run(); err != nil {
		t.Fatalf("resume: %v\n%s", err, s.out.String())
	}
	rows, _ = s.rows(s.path("s1"))
	if !has(rows, func(r agent.Row) bool {
		return r.Kind == agent.RowResult && r.Call.Done.Result == job.ResultUnknown && r.Call.ID == last.Call.ID
	}) {
		t.Error("the call in flight has no result 'unknown'")
	}
	if !strings.HasSuffix(s.file("t/01.txt"), "new end\n") {
		t.Errorf("after resume the file is %q", s.file("t/01.txt"))
	}
}

func TestACrashLeavesItsCommandRunning(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	fifo := filepath.Join(s.work, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.options(`{"extras": [{"name": "crash", "do": {"run": "read x <fifo; echo late >late.txt", "crash": true}}]}`)
	killedBy(t, s.process(o).Run(), syscall.SIGKILL)
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the command, which is alive
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString("go\n")
	_ = f.Close()
	await(t, filepath.Join(s.work, "late.txt"))
}

// await waits for a file that another process is about to write.
func await(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	t.Fatalf("%s did not come", path)
}

func TestToldToEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.options(`{"extras": [{"name": "slow", "do": {"run": "touch begun; exec sleep 60"}}]}`)
	cmd := s.process(o)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(s.work, "begun"))
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 143 {
		t.Fatalf("ended with %v, want exit 143\n%s", err, s.out.String())
	}
	if got := s.events(); !strings.HasSuffix(got, "PostToolUseFailure(Bash) SessionEnd(other)") {
		t.Errorf("hooks were %s", got)
	}
	rows, _ := s.rows(s.path("s1"))
	if !has(rows, func(r agent.Row) bool { return r.Kind == agent.RowTotals }) {
		t.Error("no totals at an orderly end")
	}
}

func TestFrozenOnAFifo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	fifo := filepath.Join(s.work, "go-on")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.options(`{"end": "Done.", "extras": [{"name": "freeze", "do": {"wait": "go-on", "say": "I waited."}}]}`)
	cmd := s.process(o)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits until the agent reads
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.lines("s1") {
		if l.Type == script.LineAssistant {
			t.Errorf("it said something while it was frozen: %+v", l.Message)
		}
	}
	_ = f.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("ended with %v\n%s", err, s.out.String())
	}
	if !strings.Contains(s.out.String(), "I waited.") {
		t.Errorf("it said %s", s.out.String())
	}
}

// As with real agents, nothing keeps two processes from one session.
func TestTwoProcessesOnOneSession(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(1)
	o := s.options(`{` + moves + `}`)
	if err := s.process(o).Run(); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	o.Resume = "s1"
	a, b := s.process(o), s.process(o)
	a.Stdout, a.Stderr, b.Stdout, b.Stderr = nil, nil, nil, nil
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	if err := b.Run(); err != nil {
		t.Error(err)
	}
	if err := a.Wait(); err != nil {
		t.Error(err)
	}
	rows, r := s.rows(s.path("s1"))
	if n := len(rows); n < 20 || len(r.Skipped()) != 0 {
		t.Errorf("%d rows, skipped %v", n, r.Skipped())
	}
}
