// Package scripted is the program of the built-in agent: it keeps the context of
// a session, asks the model (package agent/script) what to do, runs the tools it
// calls, writes the transcript, calls hooks, compacts, and prints what a headless
// agent prints, with the exit codes of Claude Code. What is true of real agents
// and inconvenient is true here as well: hooks fail open, a killed agent leaves
// its commands running, two processes may write to one session.
//
// It knows nothing of Duplex: it only runs the hook command it was given.
package scripted

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/process"
)

// Options of one run.
type Options struct {
	Script  string   // file
	Session string   // id of the new session; random when empty
	Resume  string   // id of the session to go on with
	Fork    bool     // with Resume: under a new id, from a copy
	Model   string   // script-small when empty
	Prompts []string // one turn each; "/clear" and "/compact" are commands
	Answer  string   // to the next question; without one a question ends the turn
	Dir     string   // working folder; ours when empty
	Home    string   // state; SCRIPT_HOME, else ~/.duplex-script
	Hook    string   // command line for every event; "" for "duplex hook script", "-" for none
	Window  int64    // tokens; the model's own when 0
	Steps   int      // most model calls a turn; no bound when 0

	HookTimeout time.Duration    // 10 s when 0
	Env         []string         // of hooks and tools; ours when nil
	Stdout      io.Writer        // one JSON object a line
	Stderr      io.Writer        // what went wrong before a session began
	Now         func() time.Time // the clock; the system's when nil
	// Kill ends this process at once, as kill -9 does. When nil it really does.
	Kill func()
}

// Parse reads the command line of `duplex agent-script`. The error is
// flag.ErrHelp when only help was asked for, and then has been printed.
func Parse(args []string, stderr io.Writer) (Options, error) {
	var o Options
	f := flag.NewFlagSet("duplex agent-script", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.Script, "script", "", "`file` with the script: what the model does")
	f.StringVar(&o.Session, "session-id", "", "`id` of the new session")
	f.StringVar(&o.Resume, "resume", "", "go on with the session of this `id`")
	f.BoolVar(&o.Fork, "fork", false, "with --resume: go on in a new session")
	f.StringVar(&o.Model, "model", "", "script-small (12,000 tokens) or script-large (40,000)")
	f.Func("prompt", "`text` of a turn, several times for several turns; /clear and /compact are commands", func(text string) error {
		o.Prompts = append(o.Prompts, text)
		return nil
	})
	f.StringVar(&o.Answer, "answer", "", "`text` that answers the first question; - reads it from standard input")
	f.StringVar(&o.Dir, "dir", "", "`folder` to work in")
	f.StringVar(&o.Home, "home", "", "`folder` for transcripts")
	f.StringVar(&o.Hook, "hook", "", "`command` for every event; - for none (default \"duplex hook script\")")
	f.Int64Var(&o.Window, "window", 0, "context window in `tokens`, in place of the model's")
	f.IntVar(&o.Steps, "max-steps", 0, "most model `calls` in a turn")
	f.DurationVar(&o.HookTimeout, "hook-timeout", 0, "how long a hook may take (default 10s)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected %q: the prompt is given by --prompt", f.Arg(0))
	}
	return o, nil
}

// Main is the command `duplex agent-script`: Parse and Run, by the clock of who
// starts it; nil is the system's. The answer to the first question may come on
// stdin when the arguments say "--answer -".
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string, now func() time.Time) int {
	o, err := Parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		complain(stderr, err)
		return 2
	}
	if o.Answer == "-" {
		data, err := io.ReadAll(stdin)
		if err != nil {
			complain(stderr, fmt.Errorf("read answer: %w", err))
			return 1
		}
		o.Answer = strings.TrimSpace(string(data))
	}
	o.Stdout, o.Stderr, o.Env, o.Now = stdout, stderr, env, now
	return Run(ctx, o)
}

// complete fills in what was left open and reads the script.
func (o *Options) complete() (*script.Script, error) {
	if o.Script == "" {
		return nil, errors.New("no script: give one by --script FILE")
	}
	data, err := os.ReadFile(o.Script)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	s, err := script.Load(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Script, err)
	}
	switch {
	case len(o.Prompts) == 0:
		return nil, errors.New("no prompt: give one by --prompt TEXT")
	case o.Fork && o.Resume == "":
		return nil, errors.New("--fork needs --resume ID")
	case o.Session != "" && filepath.Base(o.Session) != o.Session, o.Resume != "" && filepath.Base(o.Resume) != o.Resume:
		return nil, errors.New("a session id has no slash")
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if o.Home == "" {
		o.Home, _ = process.Lookup(o.Env, "SCRIPT_HOME")
	}
	if o.Home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("no home folder, give one by --home: %w", err)
		}
		o.Home = filepath.Join(home, ".duplex-script")
	}
	if o.Home, err = filepath.Abs(o.Home); err != nil {
		return nil, err
	}
	if o.Hook == "" {
		o.Hook = "duplex hook script"
	}
	if o.HookTimeout <= 0 {
		o.HookTimeout = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Kill == nil {
		o.Kill = killSelf
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	return s, nil
}

// killSelf ends this process the way nothing can catch.
func killSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}
