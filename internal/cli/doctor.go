package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/spool"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// finding is one thing that doctor looked at.
type finding struct {
	Agent string `json:"agent,omitempty"`
	About string `json:"about"` // setup, hook, version, sessions, settings, store, spool, log
	State string `json:"state"` // ok, note, broken
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"`
	// Millis is what one hook call takes after a tool, in milliseconds of the clock.
	Millis float64 `json:"millis,omitempty"`
}

// What a finding may be.
const (
	isOK     = "ok"
	isNote   = "note"
	isBroken = "broken"
)

// diagnosis is what doctor found, in the order it looked.
type diagnosis struct {
	Findings []finding `json:"findings"`
	Broken   int       `json:"broken"`
}

func (d *diagnosis) add(f finding) {
	d.Findings = append(d.Findings, f)
	if f.State == isBroken {
		d.Broken++
	}
}

func (a *App) doctorCommand() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Look whether hooks fire and the store holds", GroupID: "set", Args: cobra.NoArgs,
		Long: `Look at every agent that is set up: whether its hooks are where it looks for them,
whether a real call of them works and how long it takes (in a store of its own, which
is thrown away), whether its sessions moved without us, whether its version is one that
was measured; and at the store, the spool and what hooks complained of. With each
finding stands what to do. It ends with 5 when something is broken.`,
		Example: "  duplex doctor\n  duplex doctor --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) }}
}

func (a *App) doctor(ctx context.Context) error {
	home, err := a.installHome()
	if err != nil {
		return err
	}
	var d diagnosis
	holds := a.examineStore(ctx, &d, home.State)
	a.examineClaude(ctx, &d, home, holds)
	if a.asJSON {
		err = a.showJSON("doctor/1", d)
	} else {
		err = a.showDiagnosis(d)
	}
	if err == nil && d.Broken > 0 {
		err = silent{errNotPassed}
	}
	return err
}

func (a *App) showDiagnosis(d diagnosis) error {
	p := a.page()
	for _, f := range d.Findings {
		sign := map[string]string{isOK: a.paint(colourOK, "✓"), isNote: a.paint(colourAsk, "–"), isBroken: a.paint(colourFail, "✕")}[f.State]
		about := f.About
		if f.Agent != "" {
			about = f.Agent + " " + f.About
		}
		p.line("%s %s%s", sign, pad(about, 16), f.Says)
		if f.Do != "" {
			p.line("  %s→ %s", pad("", 16), f.Do)
		}
	}
	p.line("")
	if d.Broken > 0 {
		p.line("%s.", plural(d.Broken, "thing")+" broken")
	} else {
		p.line("Nothing is broken.")
	}
	return p.flush()
}

// examineStore looks at the store, at what waits beside it, and at what hooks said. It
// reports whether the store holds; one that is not there yet does.
func (a *App) examineStore(ctx context.Context, d *diagnosis, state string) bool {
	store := finding{About: "store", State: isOK, Says: a.shortPath(state)}
	if _, err := a.open(ctx, opening{look: true}); errors.Is(err, tracker.ErrNoJobHere) {
		store.State, store.Says = isNote, "none yet: the first hook, or duplex start, makes one in "+a.shortPath(state)
	} else if err != nil {
		store.State, store.Says, store.Do = isBroken, withoutKind(err), cmp.Or(wayOutOf(err), "See what the commands say: duplex")
	}
	d.add(store)
	if store.State == isNote {
		return true
	}
	if size, err := spool.Size(filepath.Join(state, "spool")); err != nil {
		d.add(finding{About: "spool", State: isBroken, Says: err.Error(), Do: "Make the folder readable and writable."})
	} else if size > 0 {
		d.add(finding{About: "spool", State: isNote, Says: fmt.Sprintf("%s bytes of hook calls wait for the store", thousands(size)), Do: "Nothing, once the store can be written: the next command takes them in."})
	}
	a.examineLog(d, filepath.Join(state, "hook.log"))
	return store.State == isOK
}

// recently is how far back complaints and transcripts are of interest.
const recently = 14 * 24 * time.Hour

// examineLog tells the newest complaints of hooks.
func (a *App) examineLog(d *diagnosis, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return // none, as it should be
	}
	var recent []string
	for line := range strings.Lines(string(text)) {
		at, _, _ := strings.Cut(line, " ")
		if when, err := time.Parse(time.RFC3339, at); err == nil && a.Now().Sub(when) < recently {
			recent = append(recent, strings.TrimSpace(line))
		}
	}
	if len(recent) == 0 {
		return
	}
	last := recent[len(recent)-1]
	d.add(finding{About: "log", State: isNote, Says: fmt.Sprintf("hooks complained %s in two weeks, last: %s", times(len(recent)), cut(last, 200)),
		Do: "What they could not record was spooled and is taken in later; all of it: " + a.shortPath(path)})
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(int64(n)) + " times"
}

// examineClaude looks at Claude Code, and at its sessions when the store can be asked.
func (a *App) examineClaude(ctx context.Context, d *diagnosis, h install.Home, holds bool) {
	found, err := h.Find()
	if err != nil {
		d.add(finding{Agent: "claude", About: "setup", State: isBroken, Says: err.Error(), Do: "Then: duplex setup claude"})
		return
	}
	if len(found) == 0 {
		d.add(finding{Agent: "claude", About: "setup", State: isNote, Says: "not set up: its sessions are not recorded", Do: "duplex setup claude"})
		return
	}
	for _, f := range found {
		d.add(a.place(f))
	}
	for _, o := range h.Obstacles(found) {
		d.add(finding{Agent: "claude", About: "settings", State: isBroken, Says: a.shortPath(o.Path) + ": " + o.Says, Do: o.Do})
	}
	if a.Getenv("DUPLEX_OFF") == "1" {
		d.add(finding{Agent: "claude", About: "settings", State: isNote, Says: "DUPLEX_OFF=1 is set here: sessions that start from this shell are left alone", Do: "unset DUPLEX_OFF"})
	}
	tried := map[string]bool{}
	for _, f := range found {
		if f.Hooks > 0 && !tried[f.Line] {
			tried[f.Line] = true
			d.add(a.tryHook(ctx, f))
		}
	}
	d.add(a.claudeRelease(ctx, found, h))
	if holds {
		a.examineSessions(ctx, d, h, found)
	}
}

// place tells of one place where an agent is set up.
func (a *App) place(f install.Found) finding {
	what := "plugin in " + a.shortPath(f.Path)
	if f.Kind == install.Entries {
		what = "hooks in " + a.shortPath(f.Path)
	}
	r := finding{Agent: f.Agent, About: "setup", State: isOK, Says: what}
	switch {
	case f.Wrong != "":
		r.State, r.Says, r.Do = isBroken, f.Wrong, "Mend the file; Claude Code names the place when it starts."
	case f.Hooks == 0:
		r.State, r.Says, r.Do = isBroken, what+" are gone: nothing is recorded", "Set it up again: duplex setup claude. Or forget it: duplex setup claude --undo"
		if f.Kind == install.Plugin {
			r.Says = what + " is gone: nothing is recorded"
		}
	case !f.Whole:
		r.State, r.Says, r.Do = isNote, what+", not as this version makes it", "duplex setup claude brings it up to date."
	case !f.Remembered:
		r.Says += ", of which nothing is remembered"
	default:
		r.Says += ", since " + f.At.In(a.zone()).Format("2 Jan 2006")
	}
	return r
}

// claudeRelease holds the agent's version against those that were measured.
func (a *App) claudeRelease(ctx context.Context, found []install.Found, h install.Home) finding {
	r := finding{Agent: "claude", About: "version", State: isOK}
	v, err := a.claudeVersion(ctx)
	byPlugin := false
	for _, f := range found {
		byPlugin = byPlugin || f.Path == h.PluginFolder()
	}
	switch {
	case err != nil:
		r.State, r.Says, r.Do = isNote, "not known: "+withoutKind(err), "If it is an editor that brings Claude Code, nothing."
	case byPlugin && v.before(pluginSince):
		r.State, r.Says = isBroken, fmt.Sprintf("%s does not load the plugin; %s does", v, pluginSince)
		r.Do = "Update it; or: duplex setup claude --undo, then duplex setup claude --user"
	case v[0] != measuredUntil[0] || v[1] != measuredUntil[1]:
		r.State, r.Says, r.Do = isNote, fmt.Sprintf("%s: Duplex was measured with 2.1, up to %s, and may not hear all of it", v, measuredUntil), "Look here again after the next session; a newer Duplex may know it."
	case measuredUntil.before(v):
		r.Says = fmt.Sprintf("%s; measured up to %s", v, measuredUntil)
	default:
		r.Says = v.String()
	}
	return r
}

// measuredUntil is the newest version of Claude Code that Duplex was measured with.
var measuredUntil = release{2, 1, 332}
