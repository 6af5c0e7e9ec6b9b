package claude

import (
	"path"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// describe says what a call is about, from the tool's name and its input alone.
// Paths in titles are shown below dir, the session's folder.
func describe(name string, input raw, dir string) agent.Call {
	c := agent.Call{Name: name}
	switch name {
	case "Bash", "PowerShell":
		command(&c, input)
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		edit(&c, input, dir)
	case "Read", "NotebookRead", "LS", "Grep", "Glob", "LSP", "WebFetch", "WebSearch":
		look(&c, input, dir)
	case "Task", "Agent", "Workflow":
		delegate(&c, input)
	case "TodoWrite", "TaskCreate", "TaskUpdate":
		c.Tasks = tasksOf(name, input)
		c.Title = "task list"
	case "ExitPlanMode":
		c.Class, c.Title = job.ClassOther, "plan shown for approval"
	case "AskUserQuestion":
		c.Title = "asked a question"
	default:
		other(&c, name)
	}
	return c
}

// shell reports whether a tool runs command lines.
func shell(name string) bool { return name == "Bash" || name == "PowerShell" }

// quiet reports whether a tool only keeps the agent's own house: plans, task
// lists, waiting, its own tools and skills, and Duplex itself. Their calls are
// neither steps nor do they touch anything; what matters of them has rows of its own.
func quiet(name string) bool {
	switch name {
	case "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "BashOutput", "AgentOutputTool",
		"AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "ToolSearch", "Skill", "SlashCommand", "Monitor", "ScheduleWakeup",
		"ListMcpResourcesTool", "StructuredOutput", "Advisor":
		return true
	}
	return duplexTool(name)
}

// ownHouse reports whether a call that has its result is one of these. A plan that the
// person did not approve is told.
func ownHouse(c *agent.Call) bool {
	return quiet(c.Name) && (c.Done.Result == job.OK || c.Name != "ExitPlanMode")
}

func duplexTool(name string) bool {
	return strings.HasPrefix(name, "mcp__duplex__") || strings.HasPrefix(name, "mcp__plugin_duplex_duplex__")
}

func command(c *agent.Call, input raw) {
	c.CommandLine(input.get("command").text())
	if c.Name != "Bash" {
		c.Changes = true // not the shell that is understood
	}
	if input.get("run_in_background").isTrue() {
		c.Title += " (in the background)"
	}
}

func edit(c *agent.Call, input raw, dir string) {
	var file, written string
	c.Class, c.Changes = job.ClassEdit, true
	one := func(change raw) {
		before, after := change.get("old_string").text(), change.get("new_string").text()
		added, removed := agent.LinesChanged(before, after)
		c.Added, c.Removed = c.Added+added, c.Removed+removed
		written += after + "\n"
	}
	file = input.get("file_path").text()
	verb := "edited "
	switch c.Name {
	case "Edit":
		one(input)
	case "MultiEdit":
		input.get("edits").elements(one)
	case "Write":
		verb, written = "wrote ", input.get("content").text()
		c.Added, _ = agent.LinesChanged("", written)
	case "NotebookEdit":
		file, written = input.get("notebook_path").text(), input.get("new_source").text()
		if mode := input.get("edit_mode").text(); mode != "delete" {
			c.Added, _ = agent.LinesChanged("", written)
		}
	}
	if file == "" {
		c.Title = strings.TrimSpace(verb) + " a file"
		return
	}
	c.Title = verb + shown(file, dir)
	c.Paths = []job.Touch{{Name: file, Role: job.RoleEdit}}
	c.Symbols = agent.SymbolTouches(written, job.RoleEdit, file)
}

func look(c *agent.Call, input raw, dir string) {
	at := input.get("path").text()
	pattern := input.get("pattern").text()
	switch c.Name {
	case "Read", "NotebookRead", "LSP":
		for _, field := range []string{"file_path", "notebook_path", "filePath"} {
			if file := input.get(field).text(); file != "" {
				c.Paths = []job.Touch{{Name: file, Role: job.RoleRead}}
				c.Title = "read " + shown(file, dir)
				break
			}
		}
	case "LS":
		c.Title = "listed " + shown(at, dir)
		c.Paths = touched(at, job.RoleRead)
	case "Grep":
		c.Title = "searched for " + quoted(pattern)
		c.Paths = touched(at, job.RoleSearch)
		c.Symbols = agent.SymbolTouches(pattern, job.RoleSearch, "")
	case "Glob":
		c.Title = "looked for files " + quoted(pattern)
		c.Paths = touched(at, job.RoleSearch)
	case "WebFetch":
		c.Title = "fetched " + job.Clip(input.get("url").text(), 120)
	case "WebSearch":
		c.Title = "searched the web for " + quoted(input.get("query").text())
	}
}

func touched(name string, role job.Role) []job.Touch {
	if name == "" {
		return nil
	}
	return []job.Touch{{Name: name, Role: role}}
}

func quoted(text string) string { return "“" + job.Clip(agent.OneLine(text), 80) + "”" }

func delegate(c *agent.Call, input raw) {
	c.Class, c.Changes = job.ClassDelegate, true
	kind := input.get("subagent_type").text()
	if kind == "" {
		kind = strings.ToLower(c.Name)
	}
	c.Title = "sub-agent " + kind
	if about := agent.OneLine(input.get("description").text()); about != "" {
		c.Title += ": " + job.Clip(about, 100)
	}
}

// other is a tool of a server, or one that is not known: it may change anything
// unless its name says that it looks.
func other(c *agent.Call, name string) {
	c.Title = name
	if server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); ok && strings.HasPrefix(name, "mcp__") {
		c.Title = tool + " of " + server
		if looks(tool) || duplexTool(name) {
			return
		}
	} else if quiet(name) {
		return
	}
	c.Class, c.Changes = job.ClassOther, true
}

// looks reports whether a tool's name begins or ends with a word for looking.
func looks(tool string) bool {
	parts := strings.FieldsFunc(tool, func(r rune) bool { return r == '_' || r == '-' })
	if len(parts) == 0 {
		return false
	}
	verb := func(w string) bool {
		switch w {
		case "get", "list", "search", "query", "read", "find", "fetch", "show", "describe", "resolve", "view", "lookup":
			return true
		}
		return false
	}
	return verb(parts[0]) || verb(parts[len(parts)-1])
}

// shown is a path as a title shows it: below the session's folder, else its last
// two parts.
func shown(file, dir string) string {
	file, dir = strings.ReplaceAll(file, `\`, "/"), strings.ReplaceAll(dir, `\`, "/")
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" {
		return rest
	}
	if !strings.HasPrefix(file, "/") {
		return file
	}
	if parent := path.Base(path.Dir(file)); parent != "/" && parent != "." {
		return parent + "/" + path.Base(file)
	}
	return path.Base(file)
}
