//go:build !windows

package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/process"
)

func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, command string
		needs         []string
		state         State
		reason        string
	}{
		{"green", "exit 0", nil, Passed, ""},
		{"red", "exit 3", nil, Failed, "it exited with 3"},
		{"no command", "  ", nil, CannotRun, "it has no command"},
		{"program missing", "no-such-program --all", nil, CannotRun, "a program is missing: /bin/sh: 1: no-such-program: not found"},
		{"program missing in a script", "echo 'tool: not found'; exit 127", nil, CannotRun, "a program is missing: tool: not found"},
		{"not executable", "./notes", nil, CannotRun, "a program cannot be executed: /bin/sh: 1: ./notes: Permission denied"},
		{"not a command line", "if", nil, CannotRun, `it could not begin: /bin/sh: 1: Syntax error: end of file unexpected`},
		{"make finds no program", "echo 'make: *** [Makefile:2: test] Error 127'; exit 2", nil, CannotRun, "it could not begin: make: *** [Makefile:2: test] Error 127"},
		{"no such script", `echo 'npm error Missing script: "test"'; exit 1`, nil, CannotRun, `it could not begin: npm error Missing script: "test"`},
		{"needs a variable", "true", []string{"DATABASE_URL"}, CannotRun, "it needs the variable DATABASE_URL, which is not set"},
		{"needs an empty variable", "true", []string{"EMPTY"}, CannotRun, "it needs the variable EMPTY, which is not set"},
		{"needs a program", "true", []string{"sh", "no-such-program"}, CannotRun, "it needs no-such-program, which is neither a program on PATH nor a variable that is set"},
		{"has what it needs", "true", []string{"WORD", "sh"}, Passed, ""},
		{"no tests", `printf 'ok  \tx\t0.1s [no tests to run]\n'`, nil, CannotRun, "the test runner found no tests to run"},
		{"no tests, and red", "echo 'no tests ran in 0.01s'; exit 5", nil, CannotRun, "the test runner found no tests to run"},
		{"all skipped", "echo '3 skipped in 0.01s'", nil, CannotRun, "no test ran: 3 skipped"},
		{"failed tests", "echo 'FAILED a.py::b - x'; echo '1 failed, 2 passed in 0.01s'; exit 1", nil, Failed, "1 of 3 tests failed: a.py::b"},
		{"a hidden failure", "echo '1 failed, 2 passed in 0.01s' || true", nil, Failed, "1 of 3 tests failed, though the command exited with 0: a pipe or `|| true` hides its runner's exit code"},
		{"killed", "kill -9 $$", nil, Failed, "it was ended by a signal: killed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			then := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
			env := append(process.Scrubbed(os.Environ()), "WORD=1", "EMPTY=")
			got := Run(t.Context(), dir, env, Check{ID: "c1", Command: tt.command, Needs: tt.needs}, func() time.Time { return then })
			if got.State != tt.state || !sameShell(got.Reason, tt.reason) {
				t.Errorf("Run(%q) = %s, %q\nwant %s, %q\n%s", tt.command, got.State, got.Reason, tt.state, tt.reason, got.Output)
			}
			if got.ID != "c1" || !got.Started.Equal(then) {
				t.Errorf("result is of %q at %v, want c1 at %v", got.ID, got.Started, then)
			}
		})
	}
}

// sameShell compares reasons that quote the shell, each of which words its
// errors its own way: what stands before the quotation decides.
func sameShell(got, want string) bool {
	if what, quoted, ok := strings.Cut(want, ": /bin/sh: "); ok && quoted != "" {
		return strings.HasPrefix(got, what+": ")
	}
	return got == want
}

func TestRunOutOfTime(t *testing.T) {
	t.Parallel()
	got := Run(t.Context(), t.TempDir(), os.Environ(), Check{Command: "exec sleep 300", Timeout: 50 * time.Millisecond}, time.Now)
	if got.State != Failed || got.Reason != "it did not end within 50ms" {
		t.Errorf("Run = %s, %q", got.State, got.Reason)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Run(ctx, t.TempDir(), os.Environ(), Check{Command: "true"}, time.Now); got.State != CannotRun {
		t.Errorf("cancelled: Run = %s, %q, want %s", got.State, got.Reason, CannotRun)
	}
}

// Counts come from the whole output, also where only its tail is kept.
func TestRunCountsWhatItDoesNotKeep(t *testing.T) {
	t.Parallel()
	command := `printf -- '--- FAIL: TestEarly (0.00s)\n'; head -c 400000 /dev/zero | tr '\0' '\n'; printf 'FAIL\tx\t1s\n'; exit 1`
	got := Run(t.Context(), t.TempDir(), os.Environ(), Check{Command: command}, time.Now)
	if got.Tests == nil || got.Tests.Failed != 1 || got.Reason != "1 of 1 tests failed: TestEarly" || len(got.Output) > tailBytes {
		t.Errorf("Run = %s, %q, %+v, %d bytes kept", got.State, got.Reason, got.Tests, len(got.Output))
	}
}
