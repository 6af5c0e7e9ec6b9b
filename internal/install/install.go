// Package install puts Duplex's hooks where an agent looks for them, and takes them out
// again: as a plugin in a folder of its own, or as entries in a settings file that is a
// person's. It plans first, so that what is to change can be shown; it changes a file in
// one step; and it remembers what it did, so that undoing gives back every byte.
//
// It is not what answers the hooks (package hook), and it starts no agent. Whether the
// hooks fire is found out a floor above, by duplex doctor.
package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Home is where things are, for one person and one folder.
type Home struct {
	State   string   // Duplex's state folder; what was set up is remembered there
	Claude  string   // Claude Code's folder: CLAUDE_CONFIG_DIR, or .claude at home
	Managed []string // settings of an organization, which Duplex only reads
	Dir     string   // the working folder
	Top     string   // the top of its work tree; Dir when it is in none
	Program string   // absolute path of duplex, as hooks will call it
	Now     time.Time
}

// Kind is a way of setting an agent up.
type Kind string

// The ways.
const (
	Plugin  Kind = "plugin"
	Entries Kind = "settings"
)

// Setup is one place where an agent is set up.
type Setup struct {
	Agent   string    `json:"agent"`
	Kind    Kind      `json:"kind"`
	Path    string    `json:"path"`              // the plugin's folder, or the settings file
	Program string    `json:"program,omitempty"` // what its hooks call first
	At      time.Time `json:"at,omitzero"`       // since when; zero when that is not remembered

	// Folders were made for it, the outermost first.
	Folders []string `json:"folders,omitempty"`
	// Revisions of a settings file, the newest last.
	Revisions []revision `json:"revisions,omitempty"`
	// Had are the containers for hooks that were in the file before.
	Had map[string]bool `json:"had,omitempty"`
	// Files of a plugin, with the digest of what was written.
	Files map[string]string `json:"files,omitempty"`
}

// revision is one change of ours to a settings file.
type revision struct {
	Before string   `json:"before,omitempty"` // digest; empty when the file was not there
	Edits  []splice `json:"edits"`
}

// Plan is what a setup, or its undoing, would do.
type Plan struct {
	Setup   Setup
	Undo    bool
	Changes []Change // in their order; without those that change nothing
	Notes   []string // what to know of it, as sentences
	home    Home
}

// Nothing reports whether everything is already as the plan would have it.
func (p Plan) Nothing() bool { return len(p.Changes) == 0 }

// Apply carries a plan out, all of it or nothing. A setup is remembered before it is
// made: killed between the two, it can still be undone.
func (p *Plan) Apply() error {
	for _, c := range p.Changes {
		if err := c.may(); err != nil {
			return err
		}
	}
	if p.Undo {
		if err := p.changeAll(); err != nil {
			return err
		}
		removeEmpty(p.Setup.Folders)
		return p.home.forget(p.Setup)
	}
	old, known, err := p.home.recorded(p.Setup.Kind, p.Setup.Path)
	if err != nil {
		return err
	}
	made := p.newFolders()
	p.Setup.Folders = append(p.Setup.Folders, made...)
	if err := p.home.remember(p.Setup); err != nil {
		return fmt.Errorf("remember what is set up: %w", err)
	}
	if err := p.make(made); err != nil {
		removeEmpty(made)
		if known {
			return errors.Join(err, p.home.remember(old))
		}
		return errors.Join(err, p.home.forget(p.Setup))
	}
	return nil
}

// make makes the folders, and then the changes.
func (p *Plan) make(folders []string) error {
	for _, dir := range folders {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	return p.changeAll()
}

// newFolders lists those that are not there yet, the outermost first.
func (p *Plan) newFolders() []string {
	var made []string
	for _, c := range p.Changes {
		for dir := filepath.Dir(c.Path); !slices.Contains(made, dir); dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); err == nil {
				break
			}
			made = append(made, dir)
		}
	}
	slices.Sort(made)
	return made
}

// changeAll makes the changes; when one cannot be made those before it are taken back.
func (p *Plan) changeAll() error {
	for i, c := range p.Changes {
		err := c.write()
		if err == nil {
			continue
		}
		for _, done := range slices.Backward(p.Changes[:i]) {
			done.Before, done.After, done.Was, done.Stays = done.After, done.Before, done.Stays, done.Was
			err = errors.Join(err, done.write())
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// removeEmpty removes folders that were made for a setup, the innermost first, as far as
// nothing of anybody else's is in them.
func removeEmpty(folders []string) {
	for _, dir := range slices.Backward(folders) {
		_ = os.Remove(dir) // unless something is in it
	}
}

// digest of a text that is there; empty for one that is not.
func digest(text []byte, there bool) string {
	if !there {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
