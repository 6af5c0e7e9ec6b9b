package install

import (
	"fmt"
	"os"
	"path/filepath"
)

// Top is the top of the work tree that a folder is in; the folder itself when it is in
// none.
func Top(dir string) string {
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		above := filepath.Dir(at)
		if above == at {
			return dir
		}
		at = above
	}
}

// Alone is an error when another place already has the agent's hooks in every session:
// Claude Code calls both, and each thing would be told twice. Where that is so in this
// folder only, it is a note.
func (h Home) Alone(s Setup) (notes []string, err error) {
	found, err := h.Find()
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		// Of two plugins with one name the agent takes one, and of two entries with one
		// line too.
		if f.Hooks == 0 || f.Path == s.Path || f.Kind == s.Kind && (s.Kind == Plugin || f.Line == Line(s.Program, s.Agent)) {
			continue
		}
		switch f.Path {
		case h.PluginFolder(), h.SettingsFile(User):
			return nil, fmt.Errorf("%s has Duplex's hooks already, and the agent would call both: take those back first (duplex setup %s --undo), or leave it at that", f.Path, s.Agent)
		case h.SettingsFile(Project), h.SettingsFile(Local):
			notes = append(notes, f.Path+" has Duplex's hooks too: in this folder the agent calls both.")
		}
	}
	return notes, nil
}
