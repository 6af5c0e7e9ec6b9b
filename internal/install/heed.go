package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Obstacle is a setting by which the agent passes over hooks that are set up.
type Obstacle struct {
	Path string // of the settings file
	Says string // what stands there
	Do   string // what to do about it
}

// Obstacles looks for them in every settings file that holds in this folder. of are the
// places where the agent is set up.
func (h Home) Obstacles(of []Found) []Obstacle {
	var found []Obstacle
	files := append([]string{h.SettingsFile(User), h.SettingsFile(Project), h.SettingsFile(Local)}, h.Managed...)
	plugin := slices.ContainsFunc(of, func(f Found) bool { return f.Kind == Plugin && f.Path == h.PluginFolder() })
	for _, path := range slices.Compact(files) {
		text, err := os.ReadFile(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				found = append(found, Obstacle{path, "it cannot be read: " + err.Error(), "Make it readable."})
			}
			continue
		}
		found = append(found, heed(path, text, plugin, slices.Contains(h.Managed, path))...)
	}
	return found
}

// heed reads one settings file as the agent does.
func heed(path string, text []byte, plugin, managed bool) []Obstacle {
	var found []Obstacle
	add := func(do, format string, args ...any) {
		found = append(found, Obstacle{path, fmt.Sprintf(format, args...), do})
	}
	text = bytes.TrimPrefix(text, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var s struct {
		Off     bool                       `json:"disableAllHooks"`
		Plugins map[string]json.RawMessage `json:"enabledPlugins"`
		Hooks   bool                       `json:"allowManagedHooksOnly"`
		Known   []struct{ Source string }  `json:"strictKnownMarketplaces"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		if !json.Valid(text) {
			add("Mend it: Claude Code names the place when it starts.", "it is no JSON, and Claude Code loads nothing of it")
		}
		return found
	}
	if s.Off {
		add("Take that line out.", "disableAllHooks is on: no hook is called at all")
	}
	if plugin && string(s.Plugins["duplex@skills-dir"]) == "false" {
		add("claude plugin enable duplex@skills-dir", "the plugin is switched off")
	}
	if managed && s.Hooks {
		add("Ask who manages this machine.", "your organization allows its own hooks only")
	}
	if managed && plugin && s.Known != nil && !slices.ContainsFunc(s.Known, func(k struct{ Source string }) bool { return k.Source == "skills-dir" }) {
		add("Take the plugin back (duplex setup claude --undo) and put entries into your settings file: duplex setup claude --user", "your organization does not allow plugins from the skills folder")
	}
	return found
}

// Session is one transcript that Claude Code keeps.
type Session struct {
	ID    string
	Path  string
	Moved time.Time
}

// Recent lists the sessions whose transcripts changed after a time, the newest first and
// at most so many. Sub-agents' files are part of their session's.
func (h Home) Recent(after time.Time, most int) ([]Session, error) {
	var found []Session
	folders, err := os.ReadDir(filepath.Join(h.Claude, "projects"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		dir := filepath.Join(h.Claude, "projects", folder.Name())
		files, _ := os.ReadDir(dir) // one that cannot be read hides its sessions, no more
		for _, f := range files {
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() || filepath.Ext(f.Name()) != ".jsonl" || !info.ModTime().After(after) {
				continue
			}
			found = append(found, Session{f.Name()[:len(f.Name())-len(".jsonl")], filepath.Join(dir, f.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b Session) int { return b.Moved.Compare(a.Moved) })
	return found[:min(most, len(found))], nil
}
