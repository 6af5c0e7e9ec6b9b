package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/install"
)

// setup is one place set up, or undone, as JSON has it.
type setup struct {
	Agent   string        `json:"agent"`
	Kind    install.Kind  `json:"kind,omitempty"`
	Path    string        `json:"path,omitempty"`
	Line    string        `json:"line,omitempty"`
	Undo    bool          `json:"undo"`
	DryRun  bool          `json:"dry_run"`
	Changed bool          `json:"changed"`
	Changes []setupChange `json:"changes"`
	Notes   []string      `json:"notes"`
}

type setupChange struct {
	Path string   `json:"path"`
	What string   `json:"what"` // made, changed, removed
	Diff []string `json:"diff,omitempty"`
}

// carryOut shows a plan, asks where there is somebody to ask, and does it.
func (a *App) carryOut(plan *install.Plan, o setupOptions) error {
	if !a.asJSON {
		if err := a.showPlan(plan); err != nil {
			return err
		}
	}
	done := false
	if !o.dry {
		if !plan.Nothing() && !o.yes && !a.agree("Go on?") {
			return errors.New("nothing was changed")
		}
		if err := plan.Apply(); err != nil {
			return err
		}
		done = true
	}
	if a.asJSON {
		return a.showJSON("setup/1", planned(plan, done))
	}
	p := a.page()
	switch {
	case !done:
		p.line("Nothing was changed: this is what it would do.")
	case plan.Nothing():
	case plan.Undo && plan.Setup.Kind == install.Plugin:
		p.line("Undone. A session that runs may complain that the plugin is missing, until it ends; that stops nothing.")
	case plan.Undo:
		p.line("Undone.")
	default:
		p.line("%s is set up: sessions that start from now on are recorded. See that it works: duplex doctor", plan.Setup.Agent)
	}
	return p.flush()
}

func planned(plan *install.Plan, done bool) setup {
	s := setup{Agent: plan.Setup.Agent, Kind: plan.Setup.Kind, Path: plan.Setup.Path, Undo: plan.Undo, DryRun: !done,
		Changed: done && !plan.Nothing(), Changes: []setupChange{}, Notes: listed(plan.Notes)}
	if !plan.Undo {
		s.Line = install.Line(plan.Setup.Program, plan.Setup.Agent)
	}
	for _, c := range plan.Changes {
		s.Changes = append(s.Changes, setupChange{c.Path, changeWord(c), c.Diff()})
	}
	return s
}

func changeWord(c install.Change) string {
	switch {
	case !c.Was:
		return "made"
	case !c.Stays:
		return "removed"
	}
	return "changed"
}

// showPlan tells what would change: of a person's file every line, of ours that are new
// or go only their names.
func (a *App) showPlan(plan *install.Plan) error {
	p := a.page()
	s := plan.Setup
	what := "the plugin in "
	if s.Kind == install.Entries {
		what = "hooks in "
	}
	head := "%s: %s%s"
	if plan.Undo {
		head = "%s, undo: %s%s"
	}
	p.line(head, a.paint(bold, s.Agent), what, a.shortPath(s.Path))
	if plan.Nothing() {
		p.line("  Everything is there already.")
		if plan.Undo {
			p.buf.Reset()
			p.line("%s: %s holds nothing of Duplex any more.", s.Agent, a.shortPath(s.Path))
		}
	}
	for _, c := range plan.Changes {
		p.line("  %s%s", pad(changeWord(c), 9), a.shortPath(c.Path))
		if c.Stays && (c.Was || s.Kind == install.Entries) {
			for _, l := range c.Diff() {
				p.line("    %s", a.diffLine(l))
			}
		}
	}
	if !plan.Undo && !plan.Nothing() && s.Kind == install.Plugin {
		p.line("  At %s it runs, in sh:", plural(install.Events(), "event"))
		p.line("    %s", install.Line(s.Program, s.Agent))
	}
	for _, n := range plan.Notes {
		p.line("%s", n)
	}
	return p.flush()
}

// diffLine is a line of a diff, within the terminal.
func (a *App) diffLine(l string) string {
	if n := a.Width - 5; n > 40 && utf8.RuneCountInString(l) > n {
		l = string([]rune(l)[:n]) + "…"
	}
	switch {
	case strings.HasPrefix(l, "+"):
		return a.paint(colourOK, l)
	case strings.HasPrefix(l, "-"):
		return a.paint(colourFail, l)
	case strings.HasPrefix(l, "@@"):
		return a.paint(dim, l)
	}
	return l
}

// agree asks a person at a terminal; where there is none, who called meant it.
func (a *App) agree(question string) bool {
	if !a.InTerminal || !a.OutTerminal {
		return true
	}
	fmt.Fprintf(a.Err, "%s [Y/n] ", question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "", "y", "yes":
		return true
	}
	return false
}
