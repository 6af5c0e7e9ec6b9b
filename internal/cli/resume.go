package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/runner"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

type resumeOptions struct {
	take, check, print, brief, fresh bool
	agent, typed                     string
}

func (a *App) resumeCommand() *cobra.Command {
	var o resumeOptions
	c := &cobra.Command{Use: "resume [JOB]", Short: "End a job's pause and go on with it in an agent", GroupID: "back", Args: oneJob,
		Long: `End a job's pause and go on with it: in a terminal the agent opens in the job's
folder and starts from the brief, which its hooks give it. Where they are not set up,
they come with the command line for this once. A session whose context is at most half
full goes on with that context, and with the brief of what is new; --fresh begins anew.

Elsewhere, or with --brief, what the next session starts from is printed instead, and
with --print the command line that would open the agent. An agent started in the job's
folder by itself gets the same brief; duplex run drives one.

--check runs the checks in the workspace first, so that the brief's results are of
today. --take replaces a live session: a person's act.`,
		Example: "  duplex resume k7m2\n  duplex resume k7m2 --agent claude:opus\n  duplex resume k7m2 --print\n  duplex resume k7m2 --brief --check\n  duplex resume k7m2 --take",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			host, model, err := o.host()
			if err != nil {
				return err
			}
			t, err := a.open(ctx, opening{})
			if err != nil {
				return err
			}
			if _, err := t.Sweep(ctx); err != nil {
				return err
			}
			id, by, err := a.find(ctx, t, first(args))
			if err != nil {
				return err
			}
			shown, err := t.Show(ctx, id)
			if err != nil {
				return err
			}
			if shown.Place == job.PlaceFinished {
				return fmt.Errorf("%w: %s; start another with duplex start", job.ErrFinished, shown.Standing.Outcome.Outcome)
			}
			if err := a.mayResume(ctx, t, by, id, shown, o); err != nil {
				return err
			}
			program := ""
			opens := a.InTerminal && a.OutTerminal && !a.asJSON && !o.brief
			if o.print || opens || o.agent != "" {
				if program, err = a.agentProgram(host.Name()); err != nil && (o.print || o.agent != "") {
					return err
				}
			}
			if o.print {
				line, err := a.hostLine(ctx, t, id, shown.Standing, host, model, program, o.fresh)
				if err != nil {
					return err
				}
				return a.showLine(line)
			}
			if o.agent != "" && !opens {
				return usagef("%s opens in a terminal, and this is none; to drive it without one: duplex run --agent %s", host.Name(), o.agent)
			}
			if o.check {
				p := a.progress()
				_, err := t.Check(ctx, by, id, tracker.CheckRequest{Here: true, Progress: p.say})
				p.end()
				if err != nil {
					return err
				}
			}
			if err := t.Unpause(ctx, by, id, "resumed by hand"); err != nil {
				return err
			}
			if opens && program != "" {
				line, err := a.hostLine(ctx, t, id, shown.Standing, host, model, program, o.fresh)
				if err != nil {
					return err
				}
				return a.become(t, line)
			}
			return a.showBrief(ctx, t, id, shown.Standing)
		}}
	f := c.Flags()
	f.StringVar(&o.agent, "agent", "", "agent, or agent:model, to open (claude)")
	f.BoolVar(&o.fresh, "fresh", false, "a new session, also where the last one has room")
	f.BoolVar(&o.print, "print", false, "print the command line that opens the agent, and do nothing")
	f.BoolVar(&o.brief, "brief", false, "print what the next session starts from, in a terminal too")
	f.BoolVar(&o.take, "take", false, "from a live session: a person's act")
	f.BoolVar(&o.check, "check", false, "run the checks in the workspace first")
	confirmFlag(c, &o.typed)
	return c
}

// host is the agent that is opened, and its model.
func (o resumeOptions) host() (agent.Host, string, error) {
	name, model, _ := strings.Cut(o.agent, ":")
	if name == "" {
		name = "claude"
	}
	host, ok := driver(name).(agent.Host)
	if !ok {
		return nil, "", usagef("no agent %q can be opened by this version; there is: claude", name)
	}
	return host, model, nil
}

// mayResume refuses while a live session holds the job, or takes it from that.
func (a *App) mayResume(ctx context.Context, t *tracker.Tracker, by tracker.Actor, id job.ID, shown tracker.Shown, o resumeOptions) error {
	if !o.take {
		if shown.Place == job.PlaceRunning {
			return fmt.Errorf("%w: session %d works on it now; wait for it, or replace it: duplex resume %s --take", job.ErrHeld, newestSeat(shown.Standing), shown.Standing.Short)
		}
		return nil
	}
	_, err := a.takeFromLive(ctx, t, by, id, o.typed)
	return err
}

// commandLine is what opens an agent, as --print shows it.
type commandLine struct {
	Dir  string   `json:"dir"`
	Env  []string `json:"env"` // set, beside what is there
	Argv []string `json:"argv"`

	change []string // Env, and what is taken out of it
}

// hostLine is the command line that opens an agent at a job.
func (a *App) hostLine(ctx context.Context, t *tracker.Tracker, id job.ID, s job.Standing, host agent.Host, model, program string, fresh bool) (commandLine, error) {
	dir := a.Dir
	place, err := t.Place(dir)
	if err != nil || !works(s, place.ID) {
		dir = workspacePath(s)
		if place, err = t.Place(dir); err != nil {
			return commandLine{}, fmt.Errorf("the job's folder: %w; if it was moved, go to where it is now and run duplex take %s", err, s.Short)
		}
	}
	d := agent.Drive{Program: program, Dir: dir, Session: runner.NewSession(), Model: model}
	if !fresh {
		fits := func(row *store.Session) bool { return model == "" || strings.Contains(row.Model, model) }
		row, err := t.Resumable(ctx, id, host.Name(), place, runner.Roomy, fits)
		if err != nil {
			return commandLine{}, err
		}
		if row != nil {
			d.Session, d.Resume = row.AgentSession, true
		}
	}
	if !a.hooked() {
		d.Hook, d.Server = []string{a.Program, "hook"}, []string{a.Program, "mcp"}
	}
	argv, change := host.Interactive(d)
	line := commandLine{Dir: dir, Argv: argv, change: append(change, "DUPLEX_JOB="+string(id))}
	line.change = append(line.change, a.withDuplex()...)
	for _, entry := range line.change {
		if strings.Contains(entry, "=") {
			line.Env = append(line.Env, entry)
		}
	}
	return line, nil
}

// hooked reports whether the agent's hooks are set up, here or for the person.
func (a *App) hooked() bool {
	h, err := a.installHome()
	if err != nil {
		return false
	}
	found, err := h.Find()
	for _, f := range found {
		if err == nil && f.Whole {
			return true
		}
	}
	return false
}

func works(s job.Standing, workspace job.ID) bool {
	for _, w := range s.Workspaces {
		if w.ID == workspace {
			return true
		}
	}
	return false
}

// become puts the agent in our place.
func (a *App) become(t *tracker.Tracker, line commandLine) error {
	if err := t.Close(); err != nil {
		return err
	}
	code, err := process.Become(line.Argv, line.Dir, process.Changed(a.Environ, line.change...))
	if err != nil {
		return err
	}
	return exitCode(code)
}

func (a *App) showLine(line commandLine) error {
	if a.asJSON {
		return a.showJSON("command-line/1", line)
	}
	words := []string{"cd", install.Word(line.Dir), "&&"}
	for _, entry := range line.Env {
		name, value, _ := strings.Cut(entry, "=")
		words = append(words, name+"="+install.Word(value))
	}
	for _, word := range line.Argv {
		words = append(words, install.Word(word))
	}
	_, err := fmt.Fprintln(a.Out, a.clean(strings.Join(words, " ")))
	return err
}

// showBrief prints what the next session starts from.
func (a *App) showBrief(ctx context.Context, t *tracker.Tracker, id job.ID, s job.Standing) error {
	b, err := t.Brief(ctx, id, tracker.BriefRequest{})
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("brief/1", b)
	}
	p := a.page()
	p.line("%s", strings.TrimRight(b.Text, "\n"))
	p.line("")
	p.line("Start an agent in %s and it goes on from here, or drive one: duplex run %s", workspacePath(s), b.Short)
	return p.flush()
}
