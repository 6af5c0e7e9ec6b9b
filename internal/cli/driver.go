package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/all"
	"github.com/seed-5777983b/duplex/internal/process"
)

// What it takes to start an agent's own program: where it is, and what it may do.

// driver is the agent of a name that can be started; nil when there is none.
func driver(name string) agent.Driver {
	for _, d := range all.Drivers() {
		if d.Name() == name {
			return d
		}
	}
	return nil
}

func driverNames() string {
	var names []string
	for _, d := range all.Drivers() {
		names = append(names, d.Name())
	}
	return strings.Join(names, ", ")
}

// agentProgram finds an agent's program before a job is claimed for it.
func (a *App) agentProgram(name string) (string, error) {
	program, err := process.Look(name, a.Environ)
	if err != nil {
		return "", usagef("%s is not on the PATH: install it (npm install -g @anthropic-ai/claude-code), or name an agent that is there with --agent", name)
	}
	return program, nil
}

// acceptEdits is what a driven Claude Code may do unless somebody says otherwise:
// edit files of the folder, which is kept in a safe point first.
const acceptEdits = "acceptEdits"

// permissionMode is what Claude Code is told on its command line: what was asked
// for, nothing where a person's settings name a mode, and acceptEdits elsewhere.
func (a *App) permissionMode(asked string) string {
	if asked != "" {
		return asked
	}
	home := a.Getenv("CLAUDE_CONFIG_DIR")
	if home == "" {
		home = filepath.Join(a.home(), ".claude")
	}
	for _, file := range []string{filepath.Join(home, "settings.json"), filepath.Join(a.Dir, ".claude", "settings.json"), filepath.Join(a.Dir, ".claude", "settings.local.json")} {
		var s struct {
			Permissions struct {
				DefaultMode string `json:"defaultMode"`
			} `json:"permissions"`
		}
		data, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(data, &s) == nil && s.Permissions.DefaultMode != "" {
			return ""
		}
	}
	return acceptEdits
}

// withDuplex lets the agent's shell find this program, at the end of the PATH, when
// no duplex is on it.
func (a *App) withDuplex() []string {
	if _, err := process.Look("duplex", a.Environ); err == nil || strings.TrimSuffix(filepath.Base(a.Program), ".exe") != "duplex" {
		return nil
	}
	path, _ := process.Lookup(a.Environ, "PATH")
	return []string{"PATH=" + path + string(os.PathListSeparator) + filepath.Dir(a.Program)}
}
