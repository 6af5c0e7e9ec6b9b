package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/all"
	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// That hooks are in a file proves nothing: doctor runs the very line, in a shell, as the
// agent does, with made-up events and a store that is thrown away; and then asks that
// store what it heard.

// tries is how many calls after a tool are timed; the middle one counts.
const tries = 5

// tryHook finds out whether the line of a place works, and how long it takes.
func (a *App) tryHook(ctx context.Context, f install.Found) finding {
	r := finding{Agent: f.Agent, About: "hook", State: isOK}
	millis, err := a.callHook(ctx, f.Line)
	switch {
	case errors.Is(err, errNoShell):
		r.State, r.Says = isNote, "not tried: there is no sh on the PATH, which Claude Code brings or finds for itself"
	case err != nil:
		r.State, r.Says = isBroken, "a real call fails: "+err.Error()
		r.Do = "Run duplex setup claude again; the line it calls is: " + f.Line
	default:
		r.Millis = millis
		r.Says = fmt.Sprintf("a real call is recorded; after a tool it takes %.0f ms", millis)
		if p := f.Program; p != "" {
			if _, err := os.Stat(p); err != nil {
				r.State, r.Says = isNote, r.Says+fmt.Sprintf("; %s is gone, and the duplex on the PATH is called instead", a.shortPath(p))
				r.Do = "duplex setup claude writes the new place down."
			}
		}
	}
	return r
}

var errNoShell = errors.New("no sh")

// callHook calls a line as Claude Code would at a session's start and after tools, and
// returns the milliseconds of one call after a tool.
func (a *App) callHook(ctx context.Context, line string) (float64, error) {
	shell := "/bin/sh"
	if runtime.GOOS == "windows" {
		var err error
		if shell, err = process.Look("sh", a.Environ); err != nil {
			return 0, errNoShell
		}
	}
	dir, err := os.MkdirTemp("", "duplex-doctor-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	state, work, session := filepath.Join(dir, "state"), filepath.Join(dir, "work"), "doctor"
	if err := os.Mkdir(work, 0o700); err != nil {
		return 0, err
	}
	env := slices.DeleteFunc(slices.Clone(a.Environ), func(v string) bool {
		return strings.HasPrefix(v, "DUPLEX_") || strings.HasPrefix(v, "CLAUDE_")
	})
	env = append(env, "DUPLEX_HOME="+state, "DUPLEX_AUTO=on", "CLAUDE_PROJECT_DIR="+work)
	call := func(event, more string) (time.Duration, error) {
		in := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":%q%s}`, session, filepath.Join(work, session+".jsonl"), work, event, more)
		r := process.Run(ctx, process.Spec{Argv: []string{shell, "-c", line}, Dir: work, Env: env, Stdin: strings.NewReader(in), Timeout: 30 * time.Second})
		switch {
		case r.Err != "":
			return 0, errors.New(r.Err)
		case r.TimedOut:
			return 0, fmt.Errorf("at %s it did not answer within 30 seconds", event)
		case !r.Passed():
			return 0, fmt.Errorf("at %s it ends with %d: %s", event, r.Exit, cut(r.Output, 200))
		}
		return r.Duration, nil
	}
	if _, err := call("SessionStart", `,"source":"startup"`); err != nil {
		return 0, err
	}
	var took []time.Duration
	for i := range tries {
		t, err := call("PostToolUse", fmt.Sprintf(`,"tool_name":"Bash","tool_use_id":"doctor-%d","tool_input":{"command":"true"},"tool_response":{"stdout":""}`, i))
		if err != nil {
			return 0, err
		}
		took = append(took, t)
	}
	slices.Sort(took)
	return float64(took[tries/2].Microseconds()) / 1000, a.heardIn(ctx, state, session)
}

// heardIn is an error unless a store heard of a session.
func (a *App) heardIn(ctx context.Context, state, session string) error {
	said := ""
	if log, err := os.ReadFile(filepath.Join(state, "hook.log")); err == nil {
		said = ": " + cut(string(log), 200)
	}
	t, err := tracker.Open(ctx, tracker.Options{Dir: state, ReadOnly: true, Now: a.Now, Getenv: a.Getenv, Settings: tracker.DefaultSettings(), Agents: all.Adapters()})
	if err != nil {
		return fmt.Errorf("nothing was recorded, as when duplex is not where the line looks for it%s", said)
	}
	defer t.Close()
	known, err := t.Heard(ctx, "claude", []string{session})
	if err == nil && known[session].Last == 0 {
		err = fmt.Errorf("the session was not recorded%s", said)
	}
	return err
}
