package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/config"
	"github.com/seed-5777983b/duplex/internal/job"
)

type configOptions struct {
	key, value    string
	set           bool
	user, project bool
}

func (a *App) configCommand() *cobra.Command {
	var o configOptions
	c := &cobra.Command{Use: "config [KEY] [VALUE]", Short: "Show each setting and where it comes from, or set one", GroupID: "set", Args: cobra.MaximumNArgs(2),
		Long: `Without arguments every setting, its value and where that comes from. A flag is
stronger than the environment, which is stronger than .duplex.local.toml, then
.duplex.toml in the work tree, then your own file. With a value it is written to
your own file, or with --project to .duplex.toml, for all who work on the project.`,
		Example: "  duplex config\n  duplex config brief.tokens\n  duplex config brief.tokens 3000\n  duplex config on-crash keep --project",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.key, o.set = first(args), len(args) == 2
			if o.set {
				o.value = args[1]
			}
			return a.configure(o)
		}}
	c.Flags().BoolVar(&o.user, "user", false, "write to your own file (the default)")
	c.Flags().BoolVar(&o.project, "project", false, "write to .duplex.toml of this work tree")
	return c
}

// sources says where this call's settings come from.
func (a *App) sources() config.Sources {
	return config.Sources{Folder: a.Dir, Getenv: a.Getenv, UserFile: config.UserFile(a.Getenv)}
}

// setting is one as config prints it as JSON.
type setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`           // default, flag, environment, file
	Name  string `json:"name,omitempty"` // the flag, the variable, or the file
	Line  int    `json:"line,omitempty"` // in the file
	About string `json:"about"`
}

func settingOf(v config.Value) setting {
	return setting{Key: v.Key, Value: v.Value, From: v.Origin.Kind, Name: v.Origin.Name, Line: v.Origin.Line, About: v.About}
}

func (a *App) configure(o configOptions) error {
	if o.user && o.project {
		return usagef("--user and --project are two files; choose one")
	}
	if (o.user || o.project) && !o.set {
		return usagef("--user and --project say where a value is written: duplex config KEY VALUE")
	}
	if o.set {
		return a.setSetting(o)
	}
	c, wrong := config.Load(a.sources()) // what can be read is shown all the same
	list := c.All()
	if o.key != "" {
		v, err := c.Get(o.key)
		if err != nil {
			return usageError{err}
		}
		list = []config.Value{v}
	}
	if err := a.showSettings(list, o.key == ""); err != nil {
		return err
	}
	if wrong != nil {
		return usageError{wrong}
	}
	return nil
}

func (a *App) showSettings(list []config.Value, all bool) error {
	state, err := config.StateDir(a.Getenv)
	if err != nil {
		return err
	}
	if a.asJSON {
		out := make([]setting, 0, len(list))
		for _, v := range list {
			out = append(out, settingOf(v))
		}
		return a.showJSON("config/1", map[string]any{"state": state, "user_file": config.UserFile(a.Getenv), "settings": out})
	}
	p := a.page()
	if all {
		p.line("State is kept in %s", state)
		p.line("Your own file is %s", orNone(config.UserFile(a.Getenv), "nowhere: there is no home folder"))
		p.line("")
	}
	for _, v := range list {
		p.line("  %s%s%s", pad(v.Key, 28), pad(orNone(v.Value, "none"), 14), a.paint(dim, v.Origin.String()))
		if !all || a.OutTerminal {
			p.line("  %s%s", pad("", 28), a.paint(dim, v.About))
		}
	}
	return p.flush()
}

func (a *App) setSetting(o configOptions) error {
	file := config.UserFile(a.Getenv)
	if o.project {
		file = filepath.Join(workTree(a.Dir), config.ProjectFile)
	}
	if file == "" {
		return usagef("there is no home folder for your own file; set HOME, or use --project")
	}
	if err := config.Set(file, o.key, o.value); err != nil {
		return usageError{err}
	}
	a.config = nil
	c, wrong := config.Load(a.sources())
	v, err := c.Get(o.key)
	if err != nil {
		return usageError{err}
	}
	if a.asJSON {
		return a.showJSON("setting/1", map[string]any{"file": file, "setting": settingOf(v)})
	}
	p := a.page()
	p.line("%s is %s in %s", o.key, orNone(o.value, "none"), file)
	if v.Origin.Name != file {
		p.line("In force is %s, from %s, which is stronger.", orNone(v.Value, "none"), v.Origin)
	}
	if err := p.flush(); err != nil {
		return err
	}
	if wrong != nil {
		return usageError{wrong}
	}
	return nil
}

// workTree is the top of the work tree a folder is in, or the folder itself.
func workTree(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{".git", config.ProjectFile, config.LocalFile} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

func (a *App) onCommand() *cobra.Command {
	return &cobra.Command{Use: "on", Short: "Follow the sessions of this folder again", GroupID: "set",
		Long:    "Undo duplex off: sessions that begin in this folder's work tree are bound to its job again.",
		Example: "  duplex on",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.setOff(cmd.Context(), false) }}
}

func (a *App) offCommand() *cobra.Command {
	return &cobra.Command{Use: "off", Short: "Leave the sessions of this folder alone", GroupID: "set",
		Long: `Leave every session that begins in this folder's work tree alone: nothing of it is
recorded. Jobs stay, and a session that sits at one already goes on with it. Only a
person may do this. For one session: DUPLEX_OFF=1.`,
		Example: "  duplex off",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.setOff(cmd.Context(), true) }}
}

func (a *App) setOff(ctx context.Context, off bool) error {
	t, err := a.open(ctx, opening{create: true})
	if err != nil {
		return err
	}
	by, err := t.Actor(ctx)
	if err != nil {
		return err
	}
	place, err := t.SetOff(ctx, by, a.Dir, off)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("workspace/1", struct {
			Workspace job.ID `json:"workspace"`
			Path      string `json:"path"`
			Off       bool   `json:"off"`
		}{place.ID, place.Top, off})
	}
	p := a.page()
	if off {
		p.line("Sessions that begin in %s are left alone. Follow them again: duplex on", place.Top)
	} else {
		p.line("Sessions in %s are followed.", place.Top)
	}
	return p.flush()
}
