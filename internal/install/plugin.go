package install

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PluginFolder is where Claude Code loads a plugin from without being told of it: of
// every version since 2.1.200 at the latest, in every session of the person's, and with
// no settings changed.
func (h Home) PluginFolder() string { return filepath.Join(h.Claude, "skills", "duplex") }

// manifest is the file that makes a folder a plugin. It is written last and removed
// first: a session that starts meanwhile sees a whole plugin or none.
const manifest = ".claude-plugin/plugin.json"

// layout is the version of the plugin's files, changed with them; it is not Duplex's.
const layout = "1.0.0"

//go:embed skill.md
var skill string

// PluginFiles are the files of the plugin, by their names in its folder.
func PluginFiles(program string) (map[string]string, error) {
	events := map[string][]group{}
	for _, e := range claudeEvents() {
		events[e.event] = []group{e.group(Line(program, claude))}
	}
	command := program
	if command == "" {
		command = "duplex"
	}
	files := map[string]string{"skills/duplex/SKILL.md": skill}
	for name, content := range map[string]any{
		manifest: map[string]any{
			"name": "duplex", "version": layout, "author": map[string]string{"name": "Duplex"},
			"description": "Keeps long work one tracked job: records every step, hands over by itself, and gives the next session its brief.",
		},
		"hooks/hooks.json": map[string]any{"hooks": events},
		".mcp.json":        map[string]any{"mcpServers": map[string]any{"duplex": map[string]any{"command": command, "args": []string{"mcp"}}}},
	} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(content); err != nil {
			return nil, err
		}
		files[name] = b.String()
	}
	return files, nil
}

func pluginFile(folder, name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }

// names are a plugin's files, the manifest last.
func names[V any](files map[string]V) []string {
	sorted := slices.Sorted(maps.Keys(files))
	if i := slices.Index(sorted, manifest); i >= 0 {
		sorted = append(slices.Delete(sorted, i, i+1), manifest)
	}
	return sorted
}

// PlanPlugin plans a plugin in a folder.
func (h Home) PlanPlugin(folder string) (Plan, error) {
	p := Plan{home: h, Setup: Setup{Agent: claude, Kind: Plugin, Path: folder, Program: h.Program, At: h.Now, Files: map[string]string{}}}
	old, known, err := h.recorded(Plugin, folder)
	if err != nil {
		return p, err
	}
	if known {
		p.Setup.At, p.Setup.Folders = old.At, old.Folders
	} else if err := free(folder); err != nil {
		return p, err
	}
	files, err := PluginFiles(h.Program)
	if err != nil {
		return p, err
	}
	for _, name := range names(files) {
		c, err := look(pluginFile(folder, name))
		if err != nil {
			return p, err
		}
		if !c.Was {
			c.mode = 0o644
		}
		c.After, c.Stays = []byte(files[name]), true
		p.Setup.Files[name] = digest(c.After, true)
		if !c.same() {
			p.Changes = append(p.Changes, c)
		}
	}
	return p, nil
}

// free is an error when a folder holds something that is not our plugin.
func free(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 || isOurs(folder) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is there already and is not Duplex's: move it away, or choose another folder with --plugin-dir", folder)
}

// isOurs reports whether a folder holds our plugin, whoever remembers it.
func isOurs(folder string) bool {
	var is struct{ Name string }
	text, err := os.ReadFile(pluginFile(folder, manifest))
	if err != nil || json.Unmarshal(text, &is) != nil || is.Name != "duplex" {
		return false
	}
	text, err = os.ReadFile(pluginFile(folder, "hooks/hooks.json"))
	if err != nil {
		return false
	}
	d, err := parse(text)
	return err == nil && d.ours() > 0
}

// planPluginUndo plans to remove a plugin: every file that is as it was written.
func (h Home) planPluginUndo(s Setup) (Plan, error) {
	p := Plan{home: h, Setup: s, Undo: true}
	if len(s.Files) == 0 { // not remembered: what we would write is ours
		files, err := PluginFiles("")
		if err != nil {
			return p, err
		}
		p.Setup.Files = map[string]string{}
		for name := range files {
			p.Setup.Files[name] = ""
		}
		p.Setup.Folders = append([]string{s.Path}, p.Setup.Folders...)
	}
	for _, name := range slices.Backward(names(p.Setup.Files)) {
		c, err := look(pluginFile(s.Path, name))
		if err != nil {
			return p, err
		}
		if want := p.Setup.Files[name]; want != "" && c.Was && digest(c.Before, true) != want {
			p.Notes = append(p.Notes, c.Path+" was changed by others since: it goes too, as part of the plugin.")
		}
		if c.Stays = false; c.Was {
			p.Changes = append(p.Changes, c)
		}
	}
	for dir := range folders(p.Setup.Files) {
		p.Setup.Folders = append(p.Setup.Folders, pluginFile(s.Path, dir))
	}
	for _, from := range []string{"skills-dir", "inline"} {
		// Claude Code gives each plugin a folder for data. Ours keeps none there.
		p.Setup.Folders = append(p.Setup.Folders, filepath.Join(h.Claude, "plugins", "data", "duplex-"+from))
	}
	slices.Sort(p.Setup.Folders)
	p.Setup.Folders = slices.Compact(p.Setup.Folders)
	p.Notes = append(p.Notes, p.strangers()...)
	return p, nil
}

// folders are those that a plugin's files are in.
func folders(files map[string]string) map[string]bool {
	all := map[string]bool{}
	for name := range files {
		for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
			all[name[:i]] = true
		}
	}
	return all
}

// strangers names what in a plugin's folder is not ours, and stays.
func (p Plan) strangers() []string {
	var found []string
	_ = filepath.WalkDir(p.Setup.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		name, err := filepath.Rel(p.Setup.Path, path)
		if _, ours := p.Setup.Files[filepath.ToSlash(name)]; err == nil && !ours {
			found = append(found, path+" is not Duplex's, and stays.")
		}
		return nil
	})
	return found
}
