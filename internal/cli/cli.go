// Package cli is the command line: one file a command, small ones together. A command parses into
// options, runs one use case of the tracker and prints; it decides nothing about
// jobs. Everything shown leaves through page or showJSON, and so through the
// redaction funnel.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/agent/all"
	"github.com/seed-5777983b/duplex/internal/config"
	"github.com/seed-5777983b/duplex/internal/hook"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// App is the world a command runs in. Tests make their own.
type App struct {
	Args    []string // without the program's name
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Getenv  func(string) string
	Environ []string
	Dir     string // working folder
	Program string // path of this binary, for hooks and the scripted agent
	Now     func() time.Time
	Version Version
	Demo    Demo

	InTerminal  bool
	OutTerminal bool
	ErrTerminal bool
	Width       int // columns of the terminal; 0: not one

	// Global flags.
	asJSON  bool
	jobName string

	tracker *tracker.Tracker
	config  *config.Config
}

// Version says which build this is.
type Version struct {
	Number, Commit, Date string
}

// Main runs one command and returns its exit code. The codes are a contract; see
// codes in exit.go.
func Main(ctx context.Context, a *App) int {
	// However long the ledger, a command stays small beside the agent it serves.
	debug.SetMemoryLimit(memoryLimit)
	if len(a.Args) > 0 && a.Args[0] == "hook" {
		return a.hook(ctx, a.Args[1:]) // the one command that must start in no time
	}
	root := a.root()
	root.SetArgs(a.Args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if a.tracker != nil {
		err = errors.Join(err, a.tracker.Close())
	}
	return a.exit(err)
}

// memoryLimit is the heap, in bytes, from which garbage is collected at every turn.
const memoryLimit = 40 << 20

// settings loads the configuration once.
func (a *App) settings() (*config.Config, error) {
	if a.config != nil {
		return a.config, nil
	}
	c, err := config.Load(a.sources())
	if err != nil {
		return nil, usageError{err}
	}
	a.config = &c
	return a.config, nil
}

// opening says how a command needs the tracker.
type opening struct {
	create bool // the first command of a new user makes the store
	read   bool // looking works on a read-only and on a full disk
	busy   time.Duration
	bare   bool // a hook: nothing is delivered or swept
	look   bool // nothing is decided
}

// open opens the tracker once; it is closed when the command ends.
func (a *App) open(ctx context.Context, how opening) (*tracker.Tracker, error) {
	if a.tracker != nil {
		return a.tracker, nil
	}
	c, err := a.settings()
	if err != nil {
		return nil, err
	}
	dir, err := config.StateDir(a.Getenv)
	if err != nil {
		return nil, err
	}
	known, err := a.known()
	if err != nil {
		return nil, err
	}
	markers := ""
	if a.Getenv("DUPLEX_HOME") == "" { // a folder chosen by hand is looked after by hand
		if markers, err = config.UserDir(a.Getenv); err != nil {
			return nil, err
		}
	}
	t, err := tracker.Open(ctx, tracker.Options{Dir: dir, Create: how.create, ReadOnly: how.read, Busy: how.busy, Now: a.Now, Getenv: a.Getenv,
		Hook: how.bare, Markers: markers, Version: a.Version.Number,
		Agents: all.Adapters(), Known: known, Settings: tracker.Settings{Auto: job.Auto(c.Auto), Nudge: c.Nudge, Handover: c.Handover,
			BriefTokens: c.BriefTokens, OnCrash: c.OnCrash, KeepSafePoints: c.SafepointKeep, CaptureIgnored: c.SafepointCaptureIgnored}})
	if errors.Is(err, fs.ErrNotExist) && !how.create && !how.read {
		return nil, fmt.Errorf("%w, and none anywhere yet: start one with duplex start \"GOAL\"", tracker.ErrNoJobHere)
	}
	if err != nil {
		return nil, err
	}
	a.tracker = t
	if how.bare || how.read {
		return t, nil
	}
	if err := hook.Deliver(ctx, t, dir); err != nil {
		return nil, err
	}
	if how.look {
		return t, nil
	}
	return t, hook.Forget(dir) // what this command decides, hooks shall know of
}

// known are the values known to be credentials.
func (a *App) known() ([]string, error) {
	c, err := a.settings()
	if err != nil {
		return nil, err
	}
	return knownValues(c.RedactKnownFiles, a.Dir, a.Environ)
}

// look opens the tracker for a command that only reads. What hooks spooled is
// taken in and crashes are noticed first, where the store lets us write; where it
// does not, what is there is shown.
func (a *App) look(ctx context.Context) (*tracker.Tracker, error) {
	t, err := a.open(ctx, opening{create: true, look: true})
	if err == nil {
		_, err = t.Sweep(ctx)
	}
	if err == nil {
		return t, nil
	}
	if !unwritable(err) {
		return nil, err
	}
	if a.tracker != nil {
		if err := a.tracker.Close(); err != nil {
			return nil, err
		}
		a.tracker = nil
	}
	fmt.Fprintf(a.Err, "duplex: %v; this is what was recorded before\n", err)
	return a.open(ctx, opening{read: true})
}

// find names the job a command is about, and who asks.
func (a *App) find(ctx context.Context, t *tracker.Tracker, name string) (job.ID, tracker.Actor, error) {
	by, err := t.Actor(ctx)
	if err != nil {
		return "", by, err
	}
	if name == "" {
		name = a.jobName
	}
	id, err := t.Find(ctx, by, name, a.Dir)
	if name != "" && errors.Is(err, job.ErrNotFound) {
		err = fmt.Errorf("%w; duplex jobs --all lists them", err)
	}
	return id, by, err
}

// onJob opens the tracker for a command that changes a job, and finds the job.
func (a *App) onJob(ctx context.Context, name string) (*tracker.Tracker, job.ID, tracker.Actor, error) {
	t, err := a.open(ctx, opening{})
	if err != nil {
		return nil, "", tracker.Actor{}, err
	}
	id, by, err := a.find(ctx, t, name)
	return t, id, by, err
}

// first is the job named as a command's first argument, if any.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// root builds the command tree.
func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "duplex",
		Short: "Keep the long work of AI agents one tracked job, to a checked finish",
		Long: `Duplex keeps work that outlasts contexts, sessions, models and days ONE job:
every step recorded with its result and cost, a handover written by itself when
a context is full, safe points to go back to, and a finish checked outside the
agent. Without a command it lists your jobs.`,
		Example: `  duplex start "Move the tests to Vitest" --check "npm test"
  duplex                 who needs you, what runs, what is ready to resume
  duplex show            where the job of this folder stands
  duplex demo            a whole job in under a minute`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.overview(cmd.Context()) },
	}
	root.PersistentFlags().BoolVar(&a.asJSON, "json", false, "print JSON; its first field names the schema")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand(root))
	for _, g := range []struct{ id, title string }{
		{"work", "Work on a job:"}, {"record", "Record what only you know:"}, {"back", "Go on, go back:"},
		{"finish", "Finish:"}, {"look", "Look:"}, {"set", "Set up:"},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	root.AddCommand(a.commands()...)
	explainArgs(root)
	return root
}

// helpCommand is duplex help COMMAND, for fingers that know it from elsewhere. It is not
// listed: --help is the way.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND]", Hidden: true, GroupID: "set", Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("no command is called %q; duplex --help lists them", strings.Join(args, " "))
			}
			return c.Help()
		}}
}

// explainArgs makes a wrong number of arguments an error that says the right call, of a
// command and of those below it.
func explainArgs(c *cobra.Command) {
	fits := c.Args
	if fits == nil {
		fits = cobra.NoArgs
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		err := fits(cmd, args)
		switch {
		case err == nil:
			return nil
		case cmd.HasSubCommands(): // no such command
			return usagef("%w; see %s --help", err, cmd.CommandPath())
		}
		return usagef("%s %s got %s; see %s --help", cmd.Parent().CommandPath(), cmd.Use, plural(len(args), "argument"), cmd.CommandPath())
	}
	for _, below := range c.Commands() {
		explainArgs(below)
	}
}

// oneJob is the argument rule of commands about one job.
var oneJob = cobra.MaximumNArgs(1)

// usageError is a call that cannot be meant.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// confirm asks a person for the job's short name, typed; piped, --confirm gives it.
func (a *App) confirm(what, short, given string) (string, error) {
	if given != "" || !a.InTerminal || !a.OutTerminal {
		return given, nil
	}
	fmt.Fprintf(a.Err, "%s\nType %s to confirm: ", what, short)
	var typed string
	if _, err := fmt.Fscanln(a.In, &typed); err != nil && !errors.Is(err, io.EOF) {
		return "", usagef("nothing was typed")
	}
	return strings.TrimSpace(typed), nil
}
