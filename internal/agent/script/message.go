package script

import "encoding/json"

// Role says who a message of the context is from.
type Role string

// The roles. System is text that no person typed: what the program says of
// itself, and what hooks add.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of the model's context, which is all that it knows.
type Message struct {
	Role   Role
	Text   string
	Uses   []Use   // assistant: the calls it made
	Of     string  // tool: the id of the call this is the result of
	Result Outcome // tool
	Extra  string  // assistant: the extra of the script that this message was
}

// Use is one tool call.
type Use struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input Input  `json:"input"`
}

// The tools.
const (
	Bash    = "Bash"
	Read    = "Read"
	Edit    = "Edit"
	Write   = "Write"
	Grep    = "Grep"
	Glob    = "Glob"
	Agent   = "Agent"
	AskUser = "AskUser"
)

// Input is the input of any tool; each takes the fields it needs.
type Input struct {
	Command     string   `json:"command,omitempty"` // Bash
	Timeout     int64    `json:"timeout,omitempty"` // Bash, milliseconds
	Path        string   `json:"file_path,omitempty"`
	Old         string   `json:"old_string,omitempty"`
	New         string   `json:"new_string,omitempty"`
	Content     string   `json:"content,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	In          string   `json:"path,omitempty"`          // Grep, Glob: the folder to look in
	Agent       string   `json:"subagent_type,omitempty"` // Agent: a name in the script's agents
	Description string   `json:"description,omitempty"`
	Prompt      string   `json:"prompt,omitempty"`
	Question    string   `json:"question,omitempty"`
	Options     []string `json:"options,omitempty"`
}

// Outcome is what came of a call.
type Outcome string

// Unknown: the session ended before the result was recorded.
const (
	OK      Outcome = "ok"
	Failed  Outcome = "failed"
	Denied  Outcome = "denied"
	Unknown Outcome = "unknown"
)

// OutcomeUnknown is what a resumed session is told of a call that was in flight.
const OutcomeUnknown = "[outcome unknown] The session ended before this call's result was recorded. Look whether it took effect."

// Tokens counts a context: a token is four bytes of everything in it.
func Tokens(context []Message) int64 {
	var bytes int64
	for _, m := range context {
		bytes += m.bytes()
	}
	return (bytes + 3) / 4
}

// Tokens of one message alone.
func (m Message) Tokens() int64 { return (m.bytes() + 3) / 4 }

func (m Message) bytes() int64 {
	n := len(m.Role) + len(m.Text) + len(m.Of)
	for _, u := range m.Uses {
		data, _ := json.Marshal(u) // strings and numbers only: cannot fail
		n += len(data)
	}
	return int64(n)
}

// Usage is what one model call used, in tokens; the kinds are disjoint.
type Usage struct {
	Input      int64 `json:"input_tokens"` // not from the cache
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheWrite + v.CacheWrite, u.CacheRead + v.CacheRead, u.Output + v.Output}
}

// Context is how many tokens the context holds after the call.
func (u Usage) Context() int64 { return u.Input + u.CacheWrite + u.CacheRead + u.Output }

// Window is the context window of a model in tokens; 0 when the model is unknown.
func Window(model string) int64 {
	switch model {
	case "script-small":
		return 12_000
	case "script-large":
		return 40_000
	}
	return 0
}

// Level is where a window counts as full: 10 % below its end.
func Level(window int64) int64 { return window - window/10 }
