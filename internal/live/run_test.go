//go:build unix

package live_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// drive runs duplex run in the repository, and returns what it printed, also where
// a person watches, and its exit code.
func (w *world) drive(args ...string) (printed string, code int) {
	w.Helper()
	cmd := w.driving(args...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		w.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// driving is a duplex run that is not started yet. The agent is found on its PATH,
// as it is for a person.
func (w *world) driving(args ...string) *exec.Cmd {
	w.Helper()
	bin := filepath.Join(w.home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.Symlink(claudeProgram(w), filepath.Join(bin, "claude")); err != nil && !os.IsExist(err) {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), program, append([]string{"run"}, args...)...)
	cmd.Dir, cmd.Env = w.repo, append(w.env, "PATH="+bin+string(os.PathListSeparator)+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd
}

// crashOnce makes the worker's agent die, once, in the middle of a command that
// leaves something running: when the model is about to write a file.
func crashOnce(k *worker, path, left string) {
	var once sync.Once
	k.instead = func(reply script.Reply) (turn *play.Turn) {
		for _, u := range reply.Uses {
			if u.Name == script.Edit && u.Input.Path == path {
				once.Do(func() {
					turn = &play.Turn{Text: "Now the long part.", Tools: []play.Tool{bash("sh -c 'sleep 300 & echo $! >" + left + "; kill -9 $CLAUDE_PID; wait'")}}
				})
			}
		}
		return turn
	}
}

// across drives a job of 16 files, in contexts of which each has room for six, through
// a crash. It returns what duplex run printed, its exit code and what the model did.
func across(w *world, left string, args ...string) (printed string, code int, k *worker) {
	w.Helper()
	w.notes(16)
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000") // compacts at 67,000, so that it is handed over at 56,950
	job := w.start("Every note says new", "--check", "! grep -rl old notes")
	k = newWorker(w, 3000)
	crashOnce(k, "notes/08.txt", left)
	if err := w.model.Load(play.Script{Default: &play.Turn{Do: k.answer}}); err != nil {
		w.Fatal(err)
	}
	w.showOnFailure()
	printed, code = w.drive(append([]string{job, "--permission-mode", "bypassPermissions"}, args...)...)
	w.Log(printed)
	return printed, code, k
}

// TestDrivenToAFinish: duplex run takes Claude Code through two context limits and a
// crash to a passed finish, and nobody is there. The brief is what does it: with it,
// the files read again in the first ten actions after each takeover are at most half
// of those with it withheld.
func TestDrivenToAFinish(t *testing.T) {
	var with, without []int
	t.Run("both", func(t *testing.T) {
		t.Run("with the brief", func(t *testing.T) {
			w := newWorld(t, play.Script{})
			left := filepath.Join(w.home, "left")
			_, code, k := across(w, left)
			if code != 0 {
				t.Errorf("duplex run ended with %d\n%s", code, k.told())
			}
			if out, err := exec.Command("grep", "-rl", "old", filepath.Join(w.repo, "notes")).Output(); err == nil {
				t.Errorf("left as they were:\n%s", out)
			}
			limits, crashes := 0, 0
			all := w.entries()
			for _, e := range all {
				switch {
				case e.Kind == "handed over" && e.Payload.Why == "level":
					limits++
				case e.Kind == "session ended" && e.Payload.Reason == "crashed":
					crashes++
				}
			}
			if limits != 2 || crashes != 1 {
				t.Errorf("it went through %d context limits and %d crashes, want 2 and 1:\n%s", limits, crashes, tell(all))
			}
			if pid, err := strconv.Atoi(strings.TrimSpace(w.read(left))); err != nil || syscall.Kill(pid, 0) == nil {
				t.Errorf("what the crash left running runs still: %d, %v", pid, err)
			}
			if got, want := billed(w), k.used(); got != want {
				t.Errorf("the bill is of %+v, the model gave %+v", got, want)
			}
			with = k.rereads(10)
		})
		t.Run("with the brief withheld", func(t *testing.T) {
			w := newWorld(t, play.Script{})
			w.set("DUPLEX_EMPTY_BRIEF", "1")
			_, _, k := across(w, filepath.Join(w.home, "left"), "--sessions", "4") // it would not come to an end
			without = k.rereads(10)
		})
	})
	t.Logf("files read again in the first 10 actions after each takeover: %v with the brief, %v with it withheld", with, without)
	if len(with) != 3 || len(without) != 3 || sum(without) == 0 || sum(with)*2 > sum(without) {
		t.Errorf("files read again in the first 10 actions after each takeover: %v with the brief, %v with it withheld", with, without)
	}
}

// billed is what the job's ledger says was used.
func billed(w *world) tokens {
	return asked[struct {
		Total struct{ Tokens tokens }
	}](w, "cost").Total.Tokens
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// TestKilledRunner: when duplex run itself is killed, its agent and what that runs end
// too, and the next run goes on.
func TestKilledRunner(t *testing.T) {
	w := newWorld(t, play.Script{})
	job := w.start("Every note says new", "--check", "test -f done.txt", "--on-crash", "keep")
	w.showOnFailure()
	left := filepath.Join(w.home, "left")
	if err := w.model.Load(play.Script{Turns: []play.Turn{{Tools: []play.Tool{bash("sh -c 'setsid sleep 300 & echo $! >" + left + "; wait'")}}}}); err != nil {
		t.Fatal(err)
	}
	run := w.driving(job, "--permission-mode", "bypassPermissions")
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	w.until("the agent's command runs", func() bool { b, err := os.ReadFile(left); return err == nil && len(bytes.TrimSpace(b)) > 0 })
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(w.read(left)))
	if err != nil {
		t.Fatal(err)
	}
	w.until("the command that the killed run left ends", func() bool { return syscall.Kill(pid, 0) != nil })
	w.until("the agent of the killed run ends", func() bool { return len(w.processes()) == 0 })

	if err := w.model.Load(play.Script{Turns: []play.Turn{{Tools: []play.Tool{bash("touch done.txt")}}, {Text: "Done."}}}); err != nil {
		t.Fatal(err)
	}
	if printed, code := w.drive(job); code != 0 || !strings.Contains(printed, "passed") {
		t.Errorf("the next run ended with %d\n%s", code, printed)
	}
}
