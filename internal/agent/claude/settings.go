package claude

import (
	"bytes"
	"path"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

var _ agent.Settled = Adapter{}

// managed are the settings that whoever runs a machine imposes on it.
var managed = []string{"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"}

// Settings are the places of a session's settings, the strongest first: those that
// are imposed, --settings, the folder's own that are not shared, the folder's, the
// person's.
func (Adapter) Settings(home, dir string, args []string, env func(string) string) []string {
	places := append([]string(nil), managed...)
	for i := range args {
		name, value := option(args[i:])
		if name != "--settings" {
			continue
		}
		if value = strings.TrimSpace(value); value != "" && value[0] != '{' && !path.IsAbs(value) {
			value = path.Join(dir, value)
		}
		if value != "" {
			places = append(places, value)
		}
	}
	if project := env("CLAUDE_PROJECT_DIR"); project != "" {
		dir = project // the session's, which may have gone elsewhere since
	}
	if dir != "" {
		places = append(places, path.Join(dir, ".claude", "settings.local.json"), path.Join(dir, ".claude", "settings.json"))
	}
	if base := configDir(home, env); base != "" {
		places = append(places, path.Join(base, "settings.json"))
	}
	return places
}

// option reads the option that a command line goes on with: --name=value, or --name
// and the value behind it. Of a flag without a value, that is the next word.
func option(args []string) (name, value string) {
	name, value, joined := strings.Cut(args[0], "=")
	if !joined && len(args) > 1 {
		value = args[1]
	}
	return name, value
}

// Setting looks up ".autoCompactWindow", ".modelSettings.MODEL.autoCompactWindow"
// and the like. Only numbers, words and yes or no are values.
func (Adapter) Setting(text []byte, name string) string {
	at := raw(bytes.TrimPrefix(text, []byte("\uFEFF")))
	at = at[space(at, 0):]
	if fields(at, func([]byte, raw) {}) != nil {
		return "" // Claude Code reads nothing of a file that is not whole
	}
	name = strings.TrimPrefix(name, ".")
	if rest, ok := strings.CutPrefix(name, "modelSettings."); ok {
		i := strings.LastIndexByte(rest, '.') // models have dots in their names
		at, name = at.get("modelSettings").get(rest[:max(i, 0)]), rest[i+1:]
	}
	value := at.get(name)
	if value.isString() {
		return value.text()
	}
	if value.isObject() || value.isArray() || value.isNull() {
		return ""
	}
	return string(value)
}
