package play

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Request is one request that the server was sent.
type Request struct {
	N       int               `json:"n"` // from 1, in the order of arrival
	At      time.Time         `json:"at"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"` // names in lower case; of a credential only that it was there
	Body    json.RawMessage   `json:"body,omitempty"`
	Played  string            `json:"played"` // "turn 3", "rule 1", "default", or what else was asked for

	// Ask is the body of a request for an answer, decoded.
	Ask Ask `json:"-"`
}

// Ask is what an agent sends its model.
type Ask struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	System   Content   `json:"system"`
	Messages []Message `json:"messages"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// Message is one of a conversation: of role user, assistant or system.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Content is a list of blocks; a bare string is one block of text.
type Content []Block

// Block is a piece of a message: text, thinking, a call of a tool or its result.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`          // of a call
	Name      string          `json:"name"`        // of the tool called
	Input     json.RawMessage `json:"input"`       // of a call
	ToolUseID string          `json:"tool_use_id"` // of a result: its call
	Content   Content         `json:"content"`     // of a result
	IsError   bool            `json:"is_error"`    // of a result
}

// UnmarshalJSON reads either form of content; what it does not know is left out.
func (c *Content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = Content{{Type: "text", Text: text}}
		return nil
	}
	var blocks []json.RawMessage
	if json.Unmarshal(b, &blocks) != nil {
		return nil // an object, say: nothing that is read
	}
	*c = nil
	for _, raw := range blocks {
		var block Block
		if json.Unmarshal(raw, &block) == nil {
			*c = append(*c, block)
		}
	}
	return nil
}

// String is all text of the blocks, a line between two of them.
func (c Content) String() string {
	var parts []string
	for _, b := range c {
		if text := b.Text + b.Content.String(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// Text is everything the model is given to read in this request, in its order: the
// system prompt and the text of all messages, results of tools among it.
func (r Request) Text() string {
	parts := []string{r.Ask.System.String()}
	for _, m := range r.Ask.Messages {
		parts = append(parts, m.Content.String())
	}
	return strings.Join(parts, "\n")
}

// Says tells whether the model reads this in the request.
func (r Request) Says(text string) bool { return strings.Contains(r.Text(), text) }

// Last is the newest message of a role, or nothing.
func (r Request) Last(role string) string {
	for i := len(r.Ask.Messages) - 1; i >= 0; i-- {
		if m := r.Ask.Messages[i]; m.Role == role {
			return m.Content.String()
		}
	}
	return ""
}

// Results are the results of tools in the newest message of the user, in order.
func (r Request) Results() []Block {
	var results []Block
	for i := len(r.Ask.Messages) - 1; i >= 0 && len(results) == 0; i-- {
		if m := r.Ask.Messages[i]; m.Role == "user" {
			for _, b := range m.Content {
				if b.Type == "tool_result" {
					results = append(results, b)
				}
			}
			break
		}
	}
	return results
}

// Asked tells whether the request wanted an answer of the model, not a count or a list.
func (r Request) Asked() bool { return len(r.Ask.Messages) > 0 && !strings.HasSuffix(r.Path, counting) }

// headers keeps what may be kept of a request's headers.
func headers(h http.Header) map[string]string {
	kept := map[string]string{}
	for name := range h {
		value := h.Get(name)
		switch name {
		case "Authorization", "Proxy-Authorization", "X-Api-Key", "Cookie":
			value = "(withheld)"
		}
		kept[strings.ToLower(name)] = value
	}
	return kept
}
