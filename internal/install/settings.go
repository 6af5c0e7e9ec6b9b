package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
)

// Scope says whose sessions a settings file is for.
type Scope string

// The settings files of Claude Code. One for a project is read by sessions that start in
// its very folder, and is committed; a local one by those that start anywhere in the
// work tree, and is a person's own.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
)

// SettingsFile is the file of a scope.
func (h Home) SettingsFile(s Scope) string {
	switch s {
	case Project:
		return filepath.Join(h.Dir, ".claude", "settings.json")
	case Local:
		return filepath.Join(h.Top, ".claude", "settings.local.json")
	}
	return filepath.Join(h.Claude, "settings.json")
}

// PlanEntries plans hooks as entries in a settings file.
func (h Home) PlanEntries(scope Scope) (Plan, error) {
	p := Plan{home: h, Setup: Setup{Agent: claude, Kind: Entries, Path: h.SettingsFile(scope), Program: h.Program, At: h.Now}}
	if scope == Project {
		p.Setup.Program = "" // others have duplex elsewhere
		p.Notes = append(p.Notes, "The file is shared with who works here: for somebody without Duplex the line does nothing.")
	}
	old, known, err := h.recorded(Entries, p.Setup.Path)
	if err != nil {
		return p, err
	}
	c, err := look(p.Setup.Path)
	if err != nil {
		return p, err
	}
	if scope == Project && !c.Was {
		c.mode = 0o644
	}
	after, edits, err := withEntries(c.Before, Line(p.Setup.Program, claude))
	if err != nil {
		return p, fmt.Errorf("%s: %w", c.Path, err)
	}
	c.After, c.Stays = after, true
	if known {
		p.Setup.At, p.Setup.Had, p.Setup.Folders = old.At, old.Had, old.Folders
		p.Setup.Revisions = old.Revisions
	} else if p.Setup.Had, err = had(c.Before); err != nil {
		return p, err
	}
	if len(edits) == 0 {
		return p, nil
	}
	p.Setup.Revisions = append(p.Setup.Revisions, revision{digest(c.Before, c.Was), edits})
	p.Changes = append(p.Changes, c)
	return p, c.may()
}

// planEntriesUndo plans to take our entries out of a settings file again: by undoing our
// own edits when nobody else changed it since, and else by looking for them.
func (h Home) planEntriesUndo(s Setup, forGood bool) (Plan, error) {
	p := Plan{home: h, Setup: s, Undo: true}
	c, err := look(s.Path)
	if err != nil {
		return p, err
	}
	if !c.Was {
		p.Notes = append(p.Notes, s.Path+" is gone, and its hooks with it.")
		return p, nil
	}
	text, first, exact := s.revert(c.Before)
	if c.Stays = !exact || first != ""; !exact {
		text = c.Before
	}
	var gone int
	if without, n, err := withoutEntries(text, s.Had); err != nil {
		return p, fmt.Errorf("%s: %w: mend it, or take the lines with duplex hook out by hand", s.Path, err)
	} else if !exact || forGood {
		text, gone = without, n
	} else if n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s of Duplex stood in %s before: they are there again. duplex uninstall takes them out too.", count(n, "hook"), s.Path))
	}
	if !exact && len(s.Revisions) > 0 && gone > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s was changed by others since: only the %s of Duplex go, the rest stays as it is.", s.Path, count(gone, "hook")))
	}
	if made := slices.ContainsFunc(s.Revisions, func(r revision) bool { return r.Before == "" }); made && !exact && empty(text) {
		c.Stays = false // it was made for our hooks, and nothing else came into it
	}
	p.Notes = append(p.Notes, byHand(s.Path, text)...)
	if c.After = text; !c.same() {
		p.Changes = append(p.Changes, c)
		err = c.may()
	}
	return p, err
}

// byHand names lines of a person's own that call us. They stay, and call what may be gone.
func byHand(path string, text []byte) []string {
	d, err := parse(text)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range d.entries() {
		if calls(e.line, claude) && !written(e.line, claude) {
			found = append(found, fmt.Sprintf("%s calls Duplex at %s in a line that setup did not write, which stays: %s", path, e.event, e.line))
		}
	}
	return found
}

// revert undoes every revision, and gives the digest of what was there before the first.
// It is not exact when the text is not what we left.
func (s Setup) revert(text []byte) (_ []byte, first string, exact bool) {
	for _, r := range slices.Backward(s.Revisions) {
		first = r.Before
		if digest(text, true) == first {
			continue // it was killed before it was made
		}
		for _, e := range slices.Backward(r.Edits) {
			var ok bool
			if text, ok = e.undone(text); !ok {
				return nil, "", false
			}
		}
		if digest(text, first != "" || len(text) > 0) != first {
			return nil, "", false
		}
	}
	return text, first, len(s.Revisions) > 0
}

// had are the containers for hooks that a text has without ours.
func had(text []byte) (map[string]bool, error) {
	without, _, err := withoutEntries(text, nil)
	if err != nil {
		return nil, err
	}
	d, err := parse(without)
	if err != nil {
		return nil, err
	}
	return d.containers(), nil
}

// empty reports whether a text is an object with nothing in it.
func empty(text []byte) bool {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
	return len(text) == 0 || text[0] == '{' && len(bytes.TrimSpace(text[1:])) == 1
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprint(n, " ", noun, "s")
}
