// Package check runs acceptance checks and lists the tests of a folder it is
// given, so that a finish rests on what really ran.
//
// One rule holds throughout: what did not run is never a pass. A missing
// program, a runner that found no tests, and a list that could not be made are
// told apart from a red result, and none of them counts as green.
//
// It does not bring the folder (a clean checkout is its caller's), does not
// decide what a result means for a job, and stores nothing.
package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/process"
)

// DefaultTimeout ends a check that was given no time limit.
const DefaultTimeout = 30 * time.Minute

// tailBytes is how much of a check's output is kept. The counts are taken from
// all of it, as it is written.
const tailBytes = 256 << 10

// Check is one acceptance command.
type Check struct {
	ID, Command string
	Timeout     time.Duration // DefaultTimeout when 0
	Needs       []string      // variables that must be set, or programs that must be on PATH
}

// State is what a check came to.
type State string

const (
	Passed    State = "passed"
	Failed    State = "failed"
	CannotRun State = "cannot run" // nothing was tested: never a pass, and not the work's fault either
)

// Result is a check, and what came of running it.
type Result struct {
	Check
	State    State
	Exit     int    // -1 when it did not end by itself
	Reason   string // why it is not passed, in words for a person; empty when it is
	Output   string // the last 256 KB, as written; FailingOutput picks the lines that matter
	Started  time.Time
	Duration time.Duration
	Tests    *Counts // nil when no test runner was recognised
}

// Run runs one check in dir. env is what it may see: process.Scrubbed with the
// check's Needs kept. now dates the start.
func Run(ctx context.Context, dir string, env []string, c Check, now func() time.Time) Result {
	r := Result{Check: c, State: CannotRun, Exit: -1, Started: now()}
	if strings.TrimSpace(c.Command) == "" {
		r.Reason = "it has no command"
		return r
	}
	if r.Reason = missing(c.Needs, env); r.Reason != "" {
		return r
	}
	limit := c.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	var seen counter
	lines := &lineWriter{line: seen.line}
	ran := process.Run(ctx, process.Spec{
		Dir: dir, Env: env, Shell: c.Command, Timeout: limit,
		Stdout: lines, Stderr: lines, TailBytes: tailBytes, Bound: true,
	})
	lines.flush()
	r.Exit, r.Output, r.Duration, r.Tests = ran.Exit, ran.Output, ran.Duration, seen.counts()
	r.State, r.Reason = judge(ran, r.Tests, limit)
	return r
}

// missing names the first thing a check needs and does not have.
func missing(needs, env []string) string {
	for _, need := range needs {
		if value, ok := process.Lookup(env, need); ok && value != "" {
			continue
		}
		if _, err := process.Look(need, env); err == nil {
			continue
		}
		if need == strings.ToUpper(need) {
			return fmt.Sprintf("it needs the variable %s, which is not set", need)
		}
		return fmt.Sprintf("it needs %s, which is neither a program on PATH nor a variable that is set", need)
	}
	return ""
}

// judge says what a command that was run came to, and why it is not passed.
func judge(ran process.Result, tests *Counts, limit time.Duration) (State, string) {
	switch {
	case ran.Cancelled:
		return CannotRun, "it was cancelled before it ended"
	case !ran.Started && ran.TimedOut:
		return CannotRun, "there was no time left to start it"
	case !ran.Started:
		return CannotRun, "it did not start: " + ran.Err
	case ran.TimedOut:
		return Failed, fmt.Sprintf("it did not end within %v", limit)
	case ran.Signal != "":
		return Failed, "it was ended by a signal: " + ran.Signal
	}
	if why := notRun(ran.Exit, ran.Output); why != "" {
		return CannotRun, why
	}
	if tests != nil && tests.Passed+tests.Failed == 0 {
		if tests.Skipped > 0 {
			return CannotRun, fmt.Sprintf("no test ran: %d skipped", tests.Skipped)
		}
		return CannotRun, "the test runner found no tests to run"
	}
	failing := tests != nil && tests.Failed > 0
	switch {
	case ran.Exit == 0 && failing:
		return Failed, tests.failed() + ", though the command exited with 0: a pipe or `|| true` hides its runner's exit code"
	case failing:
		return Failed, tests.failed()
	case ran.Exit != 0:
		return Failed, fmt.Sprintf("it exited with %d", ran.Exit)
	}
	return Passed, ""
}

// notRun recognises a command that ended before it tested anything.
func notRun(exit int, output string) string {
	switch exit {
	case 0:
		return ""
	case 126:
		return reason("a program cannot be executed", lastWith(output, "ermission denied", "xec format error", "is a directory"))
	case 127:
		return reason("a program is missing", lastWith(output, "not found", "o such file"))
	}
	line := lastWith(output,
		"] Error 127",                // make, whose own exit code is 2
		"Missing script:",            // npm, yarn, pnpm
		"No rule to make target",     // make
		"No module named pytest",     // python -m pytest
		"cannot find main module",    // go
		"go.mod file not found",      // go
		"not contain main module",    // go
		"could not find `Cargo.toml", // cargo
	)
	if line == "" && exit == 2 {
		if line = lastWith(output, "yntax error"); !strings.HasPrefix(line, "/bin/sh: ") && !strings.HasPrefix(line, "sh: ") {
			return ""
		}
	}
	if line == "" {
		return ""
	}
	return reason("it could not begin", line)
}

func reason(what, line string) string {
	if line == "" {
		return what
	}
	return what + ": " + clip(line, 300)
}

// lastWith returns the last line that holds one of the phrases.
func lastWith(output string, phrases ...string) string {
	found := ""
	for line := range strings.Lines(output) {
		for _, phrase := range phrases {
			if strings.Contains(line, phrase) {
				found = strings.TrimSpace(plain(line))
				break
			}
		}
	}
	return found
}
