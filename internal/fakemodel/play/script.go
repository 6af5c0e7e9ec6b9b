// Package play is a model server that plays a script: what an agent's model would
// answer is written down beforehand, so that a real agent can be driven on one
// machine, without a network, and comes to the same end each time. It speaks
// Anthropic Messages; another protocol is another file beside anthropic.go.
//
// Tests start one with New. It is no model and no proxy: it never thinks, and what
// it says costs nothing.
package play

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// Script says what the model answers. A request goes to the first rule that it
// matches; else to the next of Turns; and, when those are over, to Default, which
// is a plain "done" unless it is given.
type Script struct {
	Rules   []Rule `json:"rules,omitempty"`
	Turns   []Turn `json:"turns,omitempty"`
	Default *Turn  `json:"default,omitempty"`
	// CountTokens is what a request for a count is answered; 0: a token for four bytes of it.
	CountTokens int `json:"count_tokens,omitempty"`
	// Models is what a request for the list of models is answered, as it stands.
	Models []json.RawMessage `json:"models,omitempty"`
}

// Rule is an answer to every request of some kind. A rule that is played does not
// move on in Turns.
type Rule struct {
	// Match is a regular expression over the request's body as it was sent, in which a dot is any byte.
	Match string `json:"match,omitempty"`
	// When must hold as well, where it is given.
	When func(Request) bool `json:"-"`
	Turn Turn               `json:"turn"`
	Once bool               `json:"once,omitempty"` // the first such request only
}

// Turn is one answer of the model, or what becomes of it.
type Turn struct {
	Thinking string `json:"thinking,omitempty"`
	Text     string `json:"text,omitempty"`
	Tools    []Tool `json:"tools,omitempty"` // calls of the agent's tools
	Usage    Usage  `json:"usage,omitzero"`
	Stop     string `json:"stop,omitempty"` // the reason to stop; tool_use or end_turn by itself

	Status  int               `json:"status,omitempty"`  // an HTTP error instead, such as 429, with Body
	Headers map[string]string `json:"headers,omitempty"` // of an answer or an error
	Body    json.RawMessage   `json:"body,omitempty"`    // of an error; a plain one by itself

	SSEError json.RawMessage `json:"sse_error,omitempty"` // the stream ends in this error event
	Delay    float64         `json:"delay,omitempty"`     // seconds before the answer begins
	Hang     bool            `json:"hang,omitempty"`      // the answer begins and never ends
	Cut      bool            `json:"cut,omitempty"`       // the connection is dropped before the answer ends

	// Do makes the answer out of the request, in place of all the above. It may take its time: the agent
	// waits for its model.
	Do func(Request) Turn `json:"-"`
}

// Tool is one call of a tool of the agent.
type Tool struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Usage is what the answer claims to have used, in tokens. The kinds are disjoint.
// Where all are 0, the answer claims 10 in and 5 out.
type Usage struct {
	In         int `json:"in,omitempty"`          // not cached
	CacheRead  int `json:"cache_read,omitempty"`  //
	CacheWrite int `json:"cache_write,omitempty"` // kept for five minutes
	CacheHour  int `json:"cache_hour,omitempty"`  // kept for an hour
	Out        int `json:"out,omitempty"`         //
}

// Call is a call of a tool, its input given in Go: a struct or a map.
func Call(name string, input any) Tool {
	b, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("input of %s: %v", name, err)) // the script is wrong
	}
	return Tool{Name: name, Input: b}
}

// Parse reads a script. A key that no script has is an error: it would be played as
// if it were not there.
func Parse(b []byte) (Script, error) {
	var s Script
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read script: %w", err)
	}
	if d.More() {
		return Script{}, fmt.Errorf("read script: there is more after its end")
	}
	_, err := s.compile()
	return s, err
}

// compile reads the rules' expressions, in the order of the rules.
func (s Script) compile() ([]*regexp.Regexp, error) {
	all := make([]*regexp.Regexp, len(s.Rules))
	for i, r := range s.Rules {
		match, err := regexp.Compile("(?s)" + r.Match)
		if err != nil {
			return nil, fmt.Errorf("rule %d of the script: %w", i+1, err)
		}
		all[i] = match
	}
	return all, nil
}

// made is the turn itself, or what its Do makes of the request.
func (t Turn) made(r Request) Turn {
	for t.Do != nil {
		t = t.Do(r)
	}
	return t
}
