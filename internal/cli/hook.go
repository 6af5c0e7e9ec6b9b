package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/all"
	"github.com/seed-5777983b/duplex/internal/config"
	"github.com/seed-5777983b/duplex/internal/hook"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// hookPatience is how long a hook waits for another writer before it spools.
const hookPatience = 3 * time.Second

// hook answers one hook call. It always exits 0 unless the answer itself is an
// exit code: our own failure is logged and the agent goes on.
func (a *App) hook(ctx context.Context, args []string) int {
	// A hook lives for milliseconds: collecting garbage costs it more than keeping
	// it, up to the limit that Main has set.
	debug.SetGCPercent(-1)
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprint(a.Out, hookHelp)
		return ExitOK
	}
	driven := len(args) == 2 && args[1] == agent.Driven
	if len(args) != 1 && !driven {
		fmt.Fprint(a.Err, hookHelp)
		return ExitOK // to an agent the exit code of a wrong call would be a refusal
	}
	if args[0] == takeIn {
		return a.takeIn(ctx)
	}
	ad := adapter(args[0])
	if ad == nil {
		fmt.Fprintf(a.Err, "duplex: no agent %q; the agents are in duplex hook --help\n", args[0])
		return ExitOK // a hook line must never stop its agent
	}
	dir, err := config.StateDir(a.Getenv)
	if err != nil {
		return ExitOK
	}
	out, err := hook.Run(ctx, hook.Call{Adapter: ad, Driven: driven, Stdin: a.In, Getenv: a.Getenv, Dir: dir, Now: a.Now, TakeIn: startTakeIn,
		Open: func(ctx context.Context, refold bool) (*tracker.Tracker, error) {
			if refold {
				a.tracker = nil // the one that does not is let go: a hook closes nothing
			}
			return a.open(ctx, opening{create: true, busy: hookPatience, bare: !refold, look: true})
		},
		Redact: func() (*redact.Redactor, error) {
			known, err := a.known()
			if err != nil {
				return nil, err
			}
			return tracker.Redactor(dir, known)
		}})
	if err != nil {
		a.logHook(dir, err)
	}
	_, _ = a.Out.Write(out.Stdout)
	_, _ = a.Err.Write(out.Stderr)
	return out.Exit
}

// adapter is the agent of a name that hooks can tell of; nil when there is none.
func adapter(name string) agent.Adapter {
	for _, ad := range all.Adapters() {
		if ad.Name() == name {
			return ad
		}
	}
	return nil
}

// takeIn is the argument of the process that hooks start when much was spooled.
const takeIn = "--take-in"

func startTakeIn() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = process.Detach([]string{self, "hook", takeIn}, "", nil, "")
	return err
}

func (a *App) takeIn(ctx context.Context) int {
	if _, err := a.open(ctx, opening{look: true}); err != nil {
		if dir, derr := config.StateDir(a.Getenv); derr == nil {
			a.logHook(dir, err) // it waits for the next command
		}
	}
	return ExitOK
}

// logHook keeps why hooks failed, for a person who asks; the log is bounded.
func (a *App) logHook(dir string, err error) {
	path := filepath.Join(dir, "hook.log")
	if info, serr := os.Stat(path); serr == nil && info.Size() > 1<<20 {
		_ = os.Rename(path, path+".old")
	}
	f, oerr := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if oerr != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s\n", a.Now().UTC().Format(time.RFC3339), a.clean(err.Error()))
}

const hookHelp = `Usage: duplex hook AGENT

Called by an agent's hooks with one JSON event on standard input; the answer, if
any, is JSON on standard output. It binds the session to its job, records steps
and spend, hands over by fill level, gives the brief, and refuses a session that
was replaced. It exits 0 also when Duplex itself fails, so the agent goes on.

After a tool it only spools its call; what is spooled is taken in by the next hook
that asks the store, by any command, and by duplex hook --take-in, which hooks
start by themselves when much has come together.

Agents: claude, script

Example:
  echo '{"hook_event_name":"SessionStart","session_id":"1","source":"startup"}' | duplex hook script
`
