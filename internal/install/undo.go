package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// PlanUndo plans the undoing of a setup, remembered or found: what was there before it
// is there again.
func (h Home) PlanUndo(s Setup) (Plan, error) { return h.planUndo(s, false) }

// PlanRemoval plans to leave nothing of Duplex's in a place, also what was there before
// the setup that is remembered.
func (h Home) PlanRemoval(s Setup) (Plan, error) { return h.planUndo(s, true) }

func (h Home) planUndo(s Setup, forGood bool) (Plan, error) {
	switch s.Kind {
	case Plugin:
		return h.planPluginUndo(s)
	case Entries:
		return h.planEntriesUndo(s, forGood)
	}
	return Plan{}, fmt.Errorf("%s is set up as a %q, which this version does not know: undo it with the version that did", s.Agent, s.Kind)
}

// Found is a place where the agent is set up, as it is now.
type Found struct {
	Setup
	Remembered bool
	Hooks      int  // of ours that are there; of a plugin's 0 when the folder is lost
	Whole      bool // all that this version would set up is there, as it would write it
	// Line is what the hooks run: what proves that they work.
	Line string
	// Wrong is why the place cannot be read; empty when it can.
	Wrong string
}

// Find looks at every place that is remembered, and at those where Claude Code would
// look from this folder.
func (h Home) Find() ([]Found, error) {
	all, err := h.Setups()
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, s := range all {
		found = append(found, h.inspect(s, true))
	}
	places := []Setup{{Kind: Plugin, Path: h.PluginFolder()}}
	for _, scope := range []Scope{User, Project, Local} {
		places = append(places, Setup{Kind: Entries, Path: h.SettingsFile(scope)})
	}
	for _, s := range places {
		s.Agent = claude
		if slices.ContainsFunc(all, func(known Setup) bool { return known.at(s.Kind, s.Path) }) {
			continue
		}
		if f := h.inspect(s, false); f.Hooks > 0 {
			found = append(found, f)
		}
	}
	return found, nil
}

func (h Home) inspect(s Setup, remembered bool) Found {
	f := Found{Setup: s, Remembered: remembered}
	err := f.read(h)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Wrong = err.Error()
	}
	return f
}

func (f *Found) read(h Home) error {
	path := f.Path
	if f.Kind == Plugin {
		if !isOurs(f.Path) {
			return nil
		}
		path = pluginFile(f.Path, "hooks/hooks.json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	heard := map[string]bool{}
	for _, e := range d.entries() {
		if !calls(e.line, claude) {
			continue
		}
		f.Hooks++
		f.Line = e.line
		heard[e.event] = heard[e.event] || e.everyTool()
	}
	f.Whole = true
	for _, want := range claudeEvents() {
		f.Whole = f.Whole && heard[want.event]
	}
	if f.Kind == Plugin && f.Whole {
		p, err := h.PlanPlugin(f.Path)
		f.Whole = err == nil && p.Nothing()
	}
	if f.Kind == Entries {
		if err := d.fit(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
