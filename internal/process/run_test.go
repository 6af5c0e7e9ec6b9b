//go:build !windows

package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		spec Spec
		want Result
	}{
		{"exit code", Spec{Shell: "exit 7"}, Result{Exit: 7, Started: true}},
		{"both streams in order", Spec{Shell: "echo a; echo b >&2; echo c"}, Result{Started: true, Output: "a\nb\nc\n"}},
		{"argv is not read by a shell", Spec{Argv: []string{"echo", "$HOME", "a  b"}}, Result{Started: true, Output: "$HOME a  b\n"}},
		{"input", Spec{Shell: "cat", Stdin: strings.NewReader("words")}, Result{Started: true, Output: "words"}},
		{"input it does not read", Spec{Shell: "exit 0", Stdin: strings.NewReader(strings.Repeat("x", 1<<20))}, Result{Started: true}},
		{"no input", Spec{Shell: "cat"}, Result{Started: true}},
		{"signal", Spec{Shell: "kill -9 $$"}, Result{Exit: -1, Started: true, Signal: "killed"}},
		{"tail", Spec{Shell: "printf 0123456789", TailBytes: 4}, Result{Started: true, Output: "6789", Truncated: 6}},
		{"time is up", Spec{Shell: "echo begun; exec sleep 300", Timeout: 200 * time.Millisecond}, Result{Exit: -1, Started: true, TimedOut: true, Signal: "terminated", Output: "begun\n"}},
		{"only the given environment", Spec{Shell: `echo "$A-$HOME"`, Env: []string{"A=1", "A=2"}}, Result{Started: true, Output: "2-\n"}},
		{"last lines of a substituted process", Spec{Argv: []string{"bash", "-c", "exec > >(sleep 0.05; cat); echo late"}}, Result{Started: true, Output: "late\n"}},
		{"no command", Spec{}, Result{Exit: -1, Err: "no command to run"}},
		{"no program", Spec{Argv: []string{"no-such-program"}}, Result{Exit: -1, Err: "look for no-such-program on PATH: executable file not found in $PATH"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if len(tt.spec.Argv) > 0 && tt.want.Err == "" {
				if _, err := exec.LookPath(tt.spec.Argv[0]); err != nil {
					t.Skip(err)
				}
			}
			got := Run(t.Context(), tt.spec)
			got.Duration = 0
			if got != tt.want {
				t.Errorf("Run(%+v)\n got %+v\nwant %+v", tt.spec, got, tt.want)
			}
			if passed := tt.want.Started && tt.want.Exit == 0; got.Passed() != passed {
				t.Errorf("Passed() = %v, want %v", got.Passed(), passed)
			}
		})
	}
}

func TestRunInADirThatIsNotThere(t *testing.T) {
	t.Parallel()
	got := Run(t.Context(), Spec{Shell: "true", Dir: filepath.Join(t.TempDir(), "none")})
	if got.Started || got.Err == "" || got.Passed() {
		t.Errorf("Run = %+v, want it not started, with a reason", got)
	}
}

func TestRunCancelledBeforeItStarts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Run(ctx, Spec{Shell: "true"}); got.Started || !got.Cancelled || got.Passed() {
		t.Errorf("Run = %+v, want cancelled and not started", got)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if got := Run(late, Spec{Shell: "true"}); got.Started || !got.TimedOut || got.Cancelled {
		t.Errorf("Run = %+v, want timed out and not started", got)
	}
}

func TestRunWritesStreamsApart(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	got := Run(t.Context(), Spec{Shell: "echo one; echo two >&2", Stdout: &out, Stderr: &errs})
	if out.String() != "one\n" || errs.String() != "two\n" || len(got.Output) != len("one\ntwo\n") {
		t.Errorf("stdout %q, stderr %q, output %q", out.String(), errs.String(), got.Output)
	}
}

func TestRunReadsOnWhenAWriterFails(t *testing.T) {
	t.Parallel()
	got := Run(t.Context(), Spec{Shell: "head -c 300000 /dev/zero; echo end", Stdout: broken{}, TailBytes: 4})
	if got.Output != "end\n" || got.Truncated != 300000 || !got.Passed() {
		t.Errorf("Run = %+v, want all read and a pass", got)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestRunDoesNotWaitForItsInput(t *testing.T) {
	t.Parallel()
	held, hold := io.Pipe()
	defer hold.Close()
	if got := Run(t.Context(), Spec{Shell: "true", Stdin: held}); !got.Passed() {
		t.Errorf("Run = %+v, want a pass while the input stays open", got)
	}
}

func TestRunTellsWhoWasStarted(t *testing.T) {
	t.Parallel()
	var who Ident
	var then Liveness
	got := Run(t.Context(), Spec{Shell: "read line; echo $$", Stdin: strings.NewReader("go\n"),
		OnStart: func(i Ident) { who = i }})
	then = who.Liveness()
	if !got.Passed() || who.PID == 0 || who.Start == "" && Self().Start != "" || then == Live {
		t.Errorf("told %+v, %s afterwards; result %+v", who, then, got)
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("tool", 0o755)
	write("notes", 0o644)
	env := []string{"PATH=" + dir}
	if got, err := Look("tool", env); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("Look(tool) = %q, %v", got, err)
	}
	for _, name := range []string{"notes", "missing", "sh"} {
		if got, err := Look(name, env); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("Look(%s) = %q, %v, want exec.ErrNotFound: only env's PATH counts", name, got, err)
		}
	}
}
