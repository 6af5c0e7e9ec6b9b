package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/runner"
	"github.com/seed-5777983b/duplex/internal/scripted"
)

type runOptions struct {
	agents   []string
	script   string
	args     []string
	mode     string
	sessions int
	wait     time.Duration
	take     bool
	noCheck  bool
	prompt   string
	typed    string
}

// patience is how long duplex run waits for rate limits by itself: the longest that
// providers commonly have is five hours.
const patience = 6 * time.Hour

func (a *App) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{Use: "run [JOB]", Short: "Drive a job with an agent, through as many sessions as it takes", GroupID: "work", Args: oneJob,
		Long: `Drive a job: claim it, keep the workspace, start the agent with the brief, record
what it does, hand over when its context is full, go on with the next session, and
check when it says it is done. Several agents or models take the sessions in turn.
Ctrl-C ends the agent, hands over and leaves the job ready to resume.

The agents are claude, which is Claude Code as it is installed and logged in here, and
script, the built-in scripted one. Nothing has to be set up for a driven session: its
hooks and its MCP server come with it.

Claude Code asks nobody while it is driven, so its permission rules decide. They are
your own, with two additions: the job's checks and Duplex's tools run unasked. Where
your settings name no permissions.defaultMode, files of the folder may be edited
(acceptEdits) and other commands are refused. --permission-mode says otherwise for
this run; bypassPermissions, which refuses nothing, is yours to ask for, and as root
Claude Code takes it in a sandbox only (IS_SANDBOX=1).

A rate limit is waited for, up to --wait: until the time the provider says, or, when
it says none, by trying again after a minute, two, and so on. A session that ended
with half of its context free goes on with it; any other begins with the brief.

What a script may say stands in internal/agent/script/doc.go of the sources, a whole
one beside it in testdata.`,
		Example: `  duplex run k7m2
  duplex run --agent claude:opus,claude:sonnet --sessions 6
  duplex run --permission-mode bypassPermissions --wait 0
  duplex run --agent script:script-small,script:script-large --script migrate.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if o.sessions < 0 {
				return usagef("--sessions %d: at least 1, or leave it out for as many as it takes", o.sessions)
			}
			choices, err := a.choices(o)
			if err != nil {
				return err
			}
			t, id, by, err := a.onJob(ctx, first(args))
			if err != nil {
				return err
			}
			if o.take {
				if _, err := a.takeFromLive(ctx, t, by, id, o.typed); err != nil {
					return err
				}
			}
			if o.prompt != "" && by.Author.Kind != job.Person {
				o.prompt = "<duplex-driver>" + o.prompt + "</duplex-driver>" // an agent's words, which bind nobody
			}
			p := a.progress()
			result, err := runner.Run(ctx, runner.Options{Tracker: t, Job: id, Dir: a.Dir, Choices: choices, Sessions: o.sessions, Wait: o.wait,
				NoCheck: o.noCheck, Prompt: o.prompt, Program: a.Program, Hook: []string{a.Program, "hook"}, Server: []string{a.Program, "mcp"},
				Env: a.withDuplex(), Alone: process.Subreaper() == nil, Tell: func(e runner.Event) { a.tell(p, e) }})
			p.end()
			if err != nil {
				return a.notDriven(ctx, err)
			}
			return a.ran(result)
		}}
	f := c.Flags()
	f.StringSliceVar(&o.agents, "agent", nil, "agent, or agent:model; several take the sessions in turn (claude; script, when there is a --script)")
	f.StringVar(&o.mode, "permission-mode", "", "what Claude Code may do unasked: acceptEdits, auto, bypassPermissions, dontAsk, plan")
	f.StringArrayVar(&o.args, "agent-arg", nil, "one more argument for Claude Code's command line (repeat)")
	f.StringVar(&o.script, "script", "", "the scripted agent's script")
	f.IntVar(&o.sessions, "sessions", 0, "at most so many sessions in this run")
	f.DurationVar(&o.wait, "wait", patience, "longest wait for rate limits; beyond it the job is left waiting")
	f.BoolVar(&o.take, "take", false, "from a live session: a person's act")
	f.BoolVar(&o.noCheck, "no-finish", false, "do not finish when the agent says it is done")
	f.StringVar(&o.prompt, "prompt", "", "first words to the agent instead of the usual ones")
	confirmFlag(c, &o.typed)
	return c
}

// choices reads --agent.
func (a *App) choices(o runOptions) ([]runner.Choice, error) {
	names := o.agents
	if len(names) == 0 {
		names = []string{"claude"}
		if o.script != "" {
			names = []string{"script"}
		}
	}
	var out []runner.Choice
	for _, text := range names {
		name, model, _ := strings.Cut(text, ":")
		d := driver(name)
		if d == nil {
			return nil, usagef("no agent %q can be driven by this version; there are: %s", name, driverNames())
		}
		c := runner.Choice{Driver: d, Model: model, Args: []string{"--script", o.script}}
		if name != "script" {
			program, err := a.agentProgram(name)
			if err != nil {
				return nil, err
			}
			c.Program, c.Args, c.Mode = program, o.args, a.permissionMode(o.mode)
		} else if err := o.readScript(a.Dir); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// readScript finds a missing or wrong script before a session is spent on it.
func (o runOptions) readScript(dir string) error {
	if o.script == "" {
		return usagef("the scripted agent wants a script: --script FILE; see duplex run --help")
	}
	path := o.script
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return usagef("read script: %w", err)
	}
	if _, err := script.Load(data); err != nil {
		return usagef("%s: %w", o.script, err)
	}
	return nil
}

// notDriven says of a run that ended in an error what to do.
func (a *App) notDriven(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, runner.ErrRefused):
		return fmt.Errorf("%w; log in (start claude by itself, then /login) or set its key, or name another model with --agent claude:MODEL. The job can be resumed", err)
	case errors.Is(err, runner.ErrUnheard):
		return fmt.Errorf("%w: look for disableAllHooks in them, and in those of your organisation. The job can be resumed", err)
	case errors.Is(err, runner.ErrStart):
		return fmt.Errorf("%w; the job can be resumed", err)
	}
	return interrupted(ctx, err)
}

// tell shows one event of a run as a line.
func (a *App) tell(p *progress, e runner.Event) {
	switch e.Kind {
	case "said", "check":
		p.say(cut(e.Text, 100))
		return
	case "trouble":
		p.say("the provider does not answer: " + cut(e.Text, 80))
		return
	case "denied":
		p.say("refused by the agent's rules: " + cut(e.Text, 80))
		return
	}
	p.end()
	if a.asJSON {
		return
	}
	switch e.Kind {
	case "session":
		on := ""
		if e.Resumed {
			on = ", goes on with its context"
		}
		fmt.Fprintln(a.Err, a.clean(fmt.Sprintf("▼ session %d, %s%s", e.Session, sessionName(e.Agent, e.Model), on)))
	case "handed over":
		fmt.Fprintln(a.Err, "  handed over: "+a.clean(e.Text))
	case "went back":
		fmt.Fprintln(a.Err, "  went back "+a.clean(e.Text))
	case "done", "ended", "wait":
		fmt.Fprintln(a.Err, "  "+a.clean(e.Text))
	case "finish":
		fmt.Fprintln(a.Err, a.clean(fmt.Sprintf("  finish: %s %s", e.Verdict.Verdict.Outcome, e.Verdict.Verdict.Reason)))
	}
}

// ran prints how a run ended.
func (a *App) ran(r runner.Result) error {
	if a.asJSON {
		if err := a.showJSON("run/1", r); err != nil {
			return err
		}
	} else if r.Verdict != nil && (r.Pause == nil || r.Verdict.Verdict.Outcome.Ends()) {
		return a.showVerdict(*r.Verdict)
	}
	if r.Pause != nil {
		if !a.asJSON {
			p := a.page()
			p.line("%s waits: %s%s%s", r.Short, r.Pause.Reason, a.untilWhen(r.Pause), evidence(r.Pause.Evidence))
			p.line("%s", goOn(r))
			if err := p.flush(); err != nil {
				return err
			}
		}
		return silent{errWaits}
	}
	return nil
}

// goOn is what a person does about a job that waits.
func goOn(r runner.Result) string {
	switch r.Pause.Reason {
	case job.PauseAnswer:
		return fmt.Sprintf("Answer it: duplex answer %s \"…\". Then go on: duplex run %s", r.Short, r.Short)
	case job.PauseBudget:
		return fmt.Sprintf("Raise the budget: duplex amend %s, see its --help. Then go on: duplex run %s", r.Short, r.Short)
	}
	if strings.HasPrefix(r.Pause.Evidence, "the agent's own rules") {
		return "Allow them in Claude Code's settings (permissions.allow), or for one run: duplex run " + r.Short + " --permission-mode MODE, see its --help"
	}
	return "Go on: duplex run " + r.Short
}

// untilWhen says how long a rate limit is to be waited for.
func (a *App) untilWhen(p *job.Pause) string {
	switch {
	case p.Reason != job.PauseRate:
		return ""
	case p.Until == 0:
		return ", time unknown"
	}
	return " until " + a.when(p.Until)
}

func evidence(s string) string {
	if s == "" {
		return ""
	}
	return " (" + cut(s, 100) + ")"
}

// scriptCommand is the built-in scripted agent's own program: what duplex run
// starts for --agent script.
func (a *App) scriptCommand() *cobra.Command {
	return &cobra.Command{Use: "agent-script", Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			code := scripted.Main(cmd.Context(), args, a.In, a.Out, a.Err, os.Environ(), a.Now)
			if code != 0 {
				return exitCode(code)
			}
			return nil
		}}
}
