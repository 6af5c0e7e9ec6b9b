package install

import "fmt"

// What Claude Code is given. Measured with 2.1.200 and 2.1.332.

// claude is the agent's name, as in duplex hook claude.
const claude = "claude"

// hooked is one event that Duplex wants to hear of.
type hooked struct {
	event   string
	matcher string // of tools
	seconds int    // until the agent goes on without an answer
}

// claudeEvents are the events in the order of a session. Duplex itself gives up after 20
// seconds and spools; before a tool, where the agent has nothing else to do, sooner.
// What is not here says nothing that these do not.
func claudeEvents() []hooked {
	return []hooked{
		{"SessionStart", "", 30},
		{"UserPromptSubmit", "", 30},
		{"PreToolUse", "*", 10},
		{"PostToolUse", "*", 30},
		{"PostToolUseFailure", "*", 30},
		{"PreCompact", "", 30},
		{"PostCompact", "", 30},
		{"SubagentStop", "", 30},
		{"Stop", "", 30},
		{"StopFailure", "", 30},
		{"SessionEnd", "", 30},
	}
}

// group is one entry under an event, as Claude Code reads it.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

type handler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

func (h hooked) group(line string) group {
	return group{h.matcher, []handler{{"command", line, h.seconds}}}
}

// entry is the same as text on one line, for a file that people read.
func (h hooked) entry(line string) string {
	matcher := ""
	if h.matcher != "" {
		matcher = `"matcher": ` + quote(h.matcher) + ", "
	}
	return fmt.Sprintf(`{%s"hooks": [{"type": "command", "command": %s, "timeout": %d}]}`, matcher, quote(line), h.seconds)
}

// Events is how many events Duplex hears of.
func Events() int { return len(claudeEvents()) }

// ManagedFiles are where an organization keeps settings of Claude Code, by system.
func ManagedFiles(system string) []string {
	switch system {
	case "darwin":
		return []string{"/Library/Application Support/ClaudeCode/managed-settings.json"}
	case "windows":
		return []string{`C:\Program Files\ClaudeCode\managed-settings.json`}
	}
	return []string{"/etc/claude-code/managed-settings.json"}
}
