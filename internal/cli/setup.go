package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/config"
	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/process"
)

// setupOptions is where an agent is to be set up, and how far to go.
type setupOptions struct {
	user, project, local bool
	folder               string // of a plugin that the person loads by hand
	undo, dry, yes       bool
}

// places counts the places that are named.
func (o setupOptions) places() int {
	n := 0
	for _, named := range []bool{o.user, o.project, o.local, o.folder != ""} {
		if named {
			n++
		}
	}
	return n
}

func (a *App) setupCommand() *cobra.Command {
	var o setupOptions
	c := &cobra.Command{Use: "setup AGENT", Short: "Have an agent's sessions recorded and carried across", GroupID: "set", Args: cobra.ExactArgs(1),
		ValidArgs: []string{"claude"},
		Long: `Give an agent Duplex's hooks, its MCP server and a skill that says what to record.
What changes is shown first; --undo takes it back to the byte.

For Claude Code this is a plugin of its own, in the folder skills/duplex beside your
settings, which it loads by itself: no file of yours changes. A version before 2.1.200
gets entries in your settings file instead, as with --user. --project and --local put
entries into this folder's: the first is read by sessions that start in this very
folder and is committed, the second anywhere in the work tree and is your own. Entries
are hooks alone, without the MCP server. Sessions that run already hear of entries at
once, and of the plugin by /reload-plugins.

At each event the agent runs one line of sh, which does not change with versions of
Duplex and does nothing when Duplex is gone.`,
		Example: `  duplex setup claude --dry-run
  duplex setup claude
  duplex setup claude --project
  duplex setup claude --plugin-dir ~/plugins/duplex
  duplex setup claude --undo`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "claude" {
				return usagef("no agent %q can be set up; the agents are: claude", args[0])
			}
			if o.places() > 1 {
				return usagef("--user, --project, --local and --plugin-dir each name a place: give one of them")
			}
			home, err := a.installHome()
			if err != nil {
				return err
			}
			if o.undo {
				return a.undoSetup(home, o)
			}
			return a.setUp(cmd.Context(), home, o)
		}}
	f := c.Flags()
	f.BoolVar(&o.user, "user", false, "as entries in your own settings file")
	f.BoolVar(&o.project, "project", false, "as entries in .claude/settings.json of this folder")
	f.BoolVar(&o.local, "local", false, "as entries in .claude/settings.local.json of this work tree")
	f.StringVar(&o.folder, "plugin-dir", "", "as a plugin in this `folder`, for claude --plugin-dir")
	f.BoolVar(&o.undo, "undo", false, "take it back")
	f.BoolVar(&o.dry, "dry-run", false, "show what would change, and change nothing")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	return c
}

// pluginSince is the first version of Claude Code that is known to load a plugin from
// its skills folder: 2.1.140 does not, 2.1.200 and 2.1.332 do.
var pluginSince = release{2, 1, 200}

// installHome is where things are for this call.
func (a *App) installHome() (install.Home, error) {
	h := install.Home{Dir: a.Dir, Top: install.Top(a.Dir), Managed: install.ManagedFiles(runtime.GOOS), Now: a.Now().UTC().Truncate(time.Second)}
	var err error
	if h.State, err = config.StateDir(a.Getenv); err != nil {
		return h, err
	}
	if h.Claude = a.Getenv("CLAUDE_CONFIG_DIR"); h.Claude == "" {
		if a.home() == "" {
			return h, errors.New("no home folder is known: set HOME, or CLAUDE_CONFIG_DIR to the folder of Claude Code")
		}
		h.Claude = filepath.Join(a.home(), ".claude")
	} else if !filepath.IsAbs(h.Claude) {
		h.Claude = filepath.Join(a.Dir, h.Claude)
	}
	h.Program = a.hookProgram()
	return h, nil
}

func (a *App) home() string {
	if home := a.Getenv("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return a.Getenv("USERPROFILE")
}

// hookProgram is the path by which hooks call this program. The name on the PATH is
// kept as it stands there: where a package manager links to a folder of one version,
// the link outlives it. A program that go run made is gone tomorrow.
func (a *App) hookProgram() string {
	if named, err := process.Look("duplex", a.Environ); err == nil {
		one, err := os.Stat(named)
		two, other := os.Stat(a.Program)
		if err == nil && other == nil && os.SameFile(one, two) {
			return named
		}
	}
	if strings.Contains(filepath.ToSlash(a.Program), "/go-build") || !filepath.IsAbs(a.Program) || !utf8.ValidString(a.Program) {
		return ""
	}
	return a.Program
}

// shortPath is a path as people write it.
func (a *App) shortPath(path string) string {
	if home := a.home(); home != "" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return "~/" + filepath.ToSlash(rest)
		}
	}
	return fileName(path)
}

// setUp plans, shows, asks, and does.
func (a *App) setUp(ctx context.Context, h install.Home, o setupOptions) error {
	if _, err := process.Look("duplex", a.Environ); h.Program == "" && err != nil {
		return errors.New("hooks would find no duplex: install it (go install ./cmd/duplex in its source), then run this again")
	}
	plan, err := a.planSetup(ctx, h, o)
	if err != nil {
		return err
	}
	also, err := h.Alone(plan.Setup)
	if err != nil {
		return err
	}
	plan.Notes = append(plan.Notes, also...)
	if a.Getenv("DUPLEX_HOME") != "" {
		plan.Notes = append(plan.Notes, "DUPLEX_HOME is set here. Hooks go by the agent's environment: an agent that is started without it keeps its jobs elsewhere.")
	}
	return a.carryOut(&plan, o)
}

func (a *App) planSetup(ctx context.Context, h install.Home, o setupOptions) (install.Plan, error) {
	p, err := a.planPlace(ctx, h, o)
	switch {
	case err != nil || p.Nothing():
	case p.Setup.Kind == install.Entries:
		p.Notes = append(p.Notes, "These are hooks alone. The MCP server, if you want it: claude mcp add --scope user duplex -- duplex mcp")
	default:
		p.Notes = append(p.Notes, "Claude Code asks you before it first uses the skill, and before each of Duplex's tools. To allow both for good: /permissions in a session, Allow, Skill(duplex:duplex) and mcp__plugin_duplex_duplex")
	}
	return p, err
}

func (a *App) planPlace(ctx context.Context, h install.Home, o setupOptions) (install.Plan, error) {
	switch {
	case o.project:
		return h.PlanEntries(install.Project)
	case o.local:
		return h.PlanEntries(install.Local)
	case o.user:
		return h.PlanEntries(install.User)
	case o.folder != "":
		folder := o.folder
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(a.Dir, folder)
		}
		p, err := h.PlanPlugin(filepath.Clean(folder))
		p.Notes = append(p.Notes, "It is loaded by sessions that are told of it: claude --plugin-dir "+folder)
		return p, err
	}
	if v, err := a.claudeVersion(ctx); err == nil && v.before(pluginSince) {
		p, err := h.PlanEntries(install.User)
		p.Notes = append(p.Notes, fmt.Sprintf("Claude Code %s loads no plugin by itself: its hooks are entries in your settings file. After an update, duplex setup claude --undo and duplex setup claude change that.", v))
		return p, err
	}
	return h.PlanPlugin(h.PluginFolder())
}

func (a *App) undoSetup(h install.Home, o setupOptions) error {
	found, err := h.Find()
	if err != nil {
		return err
	}
	var wrong []error
	n := 0
	for _, f := range found {
		if f.Agent != "claude" || !o.means(h, f.Setup, a.Dir) {
			continue
		}
		n++
		plan, err := h.PlanUndo(f.Setup)
		if err == nil {
			err = a.carryOut(&plan, o)
		}
		wrong = append(wrong, err)
	}
	if n == 0 {
		if a.asJSON {
			return a.showJSON("setup/1", setup{Agent: "claude", Undo: true, DryRun: o.dry, Changes: []setupChange{}, Notes: []string{}})
		}
		p := a.page()
		p.line("claude is not set up here: there is nothing to undo.")
		return p.flush()
	}
	return errors.Join(wrong...)
}

// means reports whether an undo with these options is about a place; without any it is
// about all.
func (o setupOptions) means(h install.Home, s install.Setup, dir string) bool {
	switch {
	case o.user:
		return s.Path == h.SettingsFile(install.User)
	case o.project:
		return s.Path == h.SettingsFile(install.Project)
	case o.local:
		return s.Path == h.SettingsFile(install.Local)
	case o.folder != "":
		return s.Path == filepath.Clean(o.folder) || s.Path == filepath.Join(dir, o.folder)
	}
	return true
}
