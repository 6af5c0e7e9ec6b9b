package script

import (
	"encoding/json"
	"fmt"
	"time"
)

// Line is one line of a transcript, <home>/sessions/<session>.jsonl. A message
// of the model is written one content block a line, each with the message's id
// and its usage so far: only the last one, which has a stop reason, has all of
// its output tokens.
type Line struct {
	Type      string    `json:"type"`
	UUID      string    `json:"uuid,omitempty"`
	Time      time.Time `json:"timestamp,omitzero"`
	SessionID string    `json:"session_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"` // a sub-agent's line
	PromptID  string    `json:"prompt_id,omitempty"`

	// session: the file's first line, and one more each time it is resumed.
	Agent   string `json:"agent,omitempty"`
	Version string `json:"version,omitempty"`
	Source  string `json:"source,omitempty"`
	From    string `json:"from_session_id,omitempty"`
	Dir     string `json:"cwd,omitempty"`
	Branch  string `json:"git_branch,omitempty"`
	Model   string `json:"model,omitempty"`
	Window  int64  `json:"window,omitempty"`

	// user, assistant
	Message *Content `json:"message,omitempty"`
	Summary bool     `json:"is_compact_summary,omitempty"`
	Extra   string   `json:"extra,omitempty"`
	Millis  int64    `json:"duration_ms,omitempty"`
	Result  Outcome  `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`     // rate_limit, prompt_too_long: no model said this
	Resets  int64    `json:"resets_at,omitempty"` // Unix seconds

	Hook string `json:"hook,omitempty"` // context: the event that added it
	Text string `json:"text,omitempty"` // context

	Compact *Boundary        `json:"compact,omitempty"` // compact_boundary
	Totals  map[string]Usage `json:"model_usage,omitempty"`
	Reason  string           `json:"reason,omitempty"` // end
}

// The types of lines.
const (
	LineSession   = "session"
	LineUser      = "user"
	LineAssistant = "assistant"
	LineContext   = "context"
	LineBoundary  = "compact_boundary"
	LineTotals    = "totals" // of the whole session, resumes and sub-agents included
	LineEnd       = "end"
)

// Version is what the scripted agent says its version is.
const Version = "1"

// Content is the message in a line.
type Content struct {
	ID         string  `json:"id,omitempty"`
	Role       Role    `json:"role"`
	Model      string  `json:"model,omitempty"`
	Content    []Block `json:"content"`
	StopReason string  `json:"stop_reason,omitempty"`
	Usage      *Usage  `json:"usage,omitempty"`
}

// Block is one content block.
type Block struct {
	Type    string `json:"type"` // text, tool_use, tool_result
	Text    string `json:"text,omitempty"`
	ID      string `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Input   *Input `json:"input,omitempty"`
	Of      string `json:"tool_use_id,omitempty"`
	Content string `json:"content,omitempty"`
	Failed  bool   `json:"is_error,omitempty"`
}

// Boundary is where a context was compacted.
type Boundary struct {
	Trigger string `json:"trigger"`
	Before  int64  `json:"pre_tokens"`
	After   int64  `json:"post_tokens"`
}

// ParseLine reads one line.
func ParseLine(data []byte) (Line, error) {
	var l Line
	if err := json.Unmarshal(data, &l); err != nil {
		return Line{}, fmt.Errorf("read transcript line: %w", err)
	}
	return l, nil
}

// Encode gives the line with its end.
func (l Line) Encode() []byte {
	data, err := json.Marshal(l)
	if err != nil { // only a time outside years 0 to 9999
		panic(err)
	}
	return append(data, '\n')
}

// Past is what a transcript says to the session that goes on from it.
type Past struct {
	Context  []Message // without the system message
	Opened   int       // how often it was begun or resumed
	Dangling []Use     // calls without a result
	Totals   map[string]Usage
	Prompts  int
	lastID   string // of the message read last
	Model    string
}

// Recall rebuilds the context from the lines of a transcript. Totals are those
// last written, plus the messages since; what a crash kept from being written
// is lost to them.
func Recall(lines []Line) Past {
	p := Past{Totals: map[string]Usage{}}
	open := map[string]Use{}
	var order []string
	since := map[string]Content{} // by message id
	for _, l := range lines {
		switch l.Type {
		case LineSession:
			p.Opened++
			p.Model = l.Model
		case LineContext:
			p.Context = append(p.Context, Message{Role: System, Text: l.Text})
		case LineBoundary:
			p.Context = nil
		case LineTotals:
			p.Totals = map[string]Usage{}
			for model, u := range l.Totals {
				p.Totals[model] = u
			}
			since = map[string]Content{}
		case LineUser, LineAssistant:
			if l.Message == nil {
				continue
			}
			if l.Message.Usage != nil {
				since[l.Message.ID] = *l.Message
			}
			if l.Type == LineUser && len(l.Message.Content) > 0 && l.Message.Content[0].Type == "text" && !l.Summary {
				p.Prompts++
			}
			for _, b := range l.Message.Content {
				switch b.Type {
				case "tool_use":
					open[b.ID] = b.use()
					order = append(order, b.ID)
				case "tool_result":
					delete(open, b.Of)
				}
			}
			p.add(l)
		}
	}
	for _, m := range since {
		p.Totals[m.Model] = p.Totals[m.Model].Plus(*m.Usage)
	}
	for _, id := range order {
		if u, ok := open[id]; ok {
			p.Dangling = append(p.Dangling, u)
			delete(open, id)
		}
	}
	return p
}

func (b Block) use() Use {
	u := Use{ID: b.ID, Name: b.Name}
	if b.Input != nil {
		u.Input = *b.Input
	}
	return u
}

// add puts one line's blocks into the context; the blocks of one message of
// the model become one message again.
func (p *Past) add(l Line) {
	for _, b := range l.Message.Content {
		switch {
		case b.Type == "tool_result":
			result := l.Result
			if result == "" {
				result = OK
			}
			p.Context = append(p.Context, Message{Role: Tool, Text: b.Content, Of: b.Of, Result: result})
		case l.Type == LineUser:
			p.Context = append(p.Context, Message{Role: User, Text: b.Text})
		default:
			p.say(l, b)
		}
	}
}

func (p *Past) say(l Line, b Block) {
	m := Message{Role: Assistant, Extra: l.Extra}
	n := len(p.Context)
	same := n > 0 && p.Context[n-1].Role == Assistant && l.Message.ID == p.lastID
	if same {
		m, p.Context = p.Context[n-1], p.Context[:n-1]
	}
	p.lastID = l.Message.ID
	if b.Type == "tool_use" {
		m.Uses = append(m.Uses, b.use())
	} else {
		m.Text += b.Text
	}
	p.Context = append(p.Context, m)
}
