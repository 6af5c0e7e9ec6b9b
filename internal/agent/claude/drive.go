package claude

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

var (
	_ agent.Talker = Adapter{}
	_ agent.Host   = Adapter{}
)

// Command starts Claude Code without a person, to be spoken to in lines of JSON.
// What it needs of ours comes with the command line, so that nothing has to be set
// up: hooks, the MCP server, and what it may run unasked.
func (a Adapter) Command(d agent.Drive) (argv, env []string) {
	argv = []string{cmp.Or(d.Program, "claude"), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}
	return append(argv, a.flags(d)...), environ(d)
}

// Interactive starts Claude Code in a person's terminal. A Prompt is its first
// words; most often there is none, for the brief comes by the hook.
func (a Adapter) Interactive(d agent.Drive) (argv, env []string) {
	argv = append([]string{cmp.Or(d.Program, "claude")}, a.flags(d)...)
	if d.Prompt != "" {
		argv = append(argv, d.Prompt)
	}
	return argv, environ(d)
}

// flags are those of both ways to start. The ones that take several values stand
// before another flag, so that no prompt is taken for one of them.
func (Adapter) flags(d agent.Drive) []string {
	var argv []string
	flag := func(name, value string) {
		if value != "" {
			argv = append(argv, name, value)
		}
	}
	if len(d.Server) > 0 {
		flag("--mcp-config", servers(d.Server))
	}
	flag("--settings", settings(d))
	if d.Resume {
		flag("--resume", d.Session)
	} else {
		flag("--session-id", d.Session)
	}
	flag("--model", d.Model)
	flag("--permission-mode", d.Mode)
	return append(argv, d.Args...)
}

// environ is what the session's environment has beside ours. What another session
// of Claude Code left in it, around us, is taken out.
func environ(d agent.Drive) []string {
	env := []string{"CLAUDECODE", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
		"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_SESSION_ATTENDED",
		"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "AI_AGENT"}
	if len(d.Hook) > 0 {
		env = append(env, agent.DrivenEnv+"="+d.Session)
	}
	return env
}

// The settings of one run, as Claude Code reads them.
type (
	runSettings struct {
		Hooks       map[string][]matcher `json:"hooks,omitempty"`
		Permissions *permissions         `json:"permissions,omitempty"`
	}
	matcher struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []hook `json:"hooks"`
	}
	hook struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"` // as they are, without a shell
		Timeout int      `json:"timeout"`
	}
	permissions struct {
		Allow []string `json:"allow"`
	}
)

// drivenHooks are the events we want to hear of, with the most seconds that each
// may take. Those that hand over keep the workspace first.
func drivenHooks() map[string]int {
	return map[string]int{"SessionStart": 60, "UserPromptSubmit": 30, "PreToolUse": 30, "PostToolUse": 60, "PostToolUseFailure": 60,
		"PreCompact": 60, "PostCompact": 30, "Stop": 30, "StopFailure": 30, "SubagentStop": 30, "SessionEnd": 60}
}

func settings(d agent.Drive) string {
	var s runSettings
	if len(d.Hook) > 0 {
		s.Hooks = map[string][]matcher{}
		line := append(slices.Clone(d.Hook[1:]), "claude", agent.Driven)
		for event, seconds := range drivenHooks() {
			m := matcher{Hooks: []hook{{Type: "command", Command: d.Hook[0], Args: line, Timeout: seconds}}}
			if strings.Contains(event, "ToolUse") {
				m.Matcher = "*"
			}
			s.Hooks[event] = []matcher{m}
		}
	}
	if allow := allowed(d); len(allow) > 0 {
		s.Permissions = &permissions{Allow: allow}
	}
	return encode(s)
}

// allowed are the rules for what runs unasked: Duplex's own tools, and the command
// lines of the job, each as it stands. One in which Claude Code would read a
// pattern is left out: it would allow more than was meant.
func allowed(d agent.Drive) []string {
	var rules []string
	if len(d.Server) > 0 {
		rules = append(rules, "mcp__"+serverName)
	}
	for _, line := range d.Allow {
		if !strings.ContainsAny(line, "*\n") {
			rules = append(rules, "Bash("+line+")")
		}
	}
	return rules
}

// serverName is what our MCP server is called; its tools are mcp__duplex__decide
// and so on.
const serverName = "duplex"

func servers(command []string) string {
	type server struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	return encode(map[string]map[string]server{"mcpServers": {serverName: {Type: "stdio", Command: command[0], Args: command[1:]}}})
}

// Begin greets the agent and gives it the prompt.
func (Adapter) Begin(d agent.Drive) []byte {
	greeting := control("hello", "initialize")
	said := map[string]any{"type": "user", "message": map[string]string{"role": "user", "content": d.Prompt}}
	return append(greeting, encode(said)+"\n"...)
}

// Interrupt ends the turn under way and the tools it runs; the result says so.
func (Adapter) Interrupt() []byte { return control("interrupt", "interrupt") }

// Measure asks how full the context is and where it compacts. It makes the agent
// count tokens some twenty times, so it is for once a session.
func (Adapter) Measure() []byte { return control("measure", "get_context_usage") }

func control(id, request string) []byte {
	return []byte(encode(map[string]any{"type": "control_request", "request_id": "duplex-" + id, "request": map[string]string{"subtype": request}}) + "\n")
}

// encode writes what is made of strings, numbers and yes or no, which cannot fail.
func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}
