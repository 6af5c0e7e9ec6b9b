package claude

import (
	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// Says gives the texts of one line: what a person or the model said, and what calls
// gave back. Rows that hold the agent's own prompts say nothing.
func (Adapter) Says(text []byte) []agent.Says {
	var l line
	if walk(text, func(key []byte, value raw) bool { l.field(key, value); return true }) != nil || l.apiError {
		return nil
	}
	var out []agent.Says
	add := func(by job.AuthorKind, text string) {
		if text != "" {
			out = append(out, agent.Says{By: by, Text: text, At: l.at})
		}
	}
	own := job.Agent
	switch l.kind {
	case "assistant":
	case "user":
		if !l.summary && !l.side {
			own = job.Person
		}
	default:
		return nil
	}
	blocks(l.message.get("content"), func(b block) {
		switch {
		case b.kind == "tool_result" && l.kind == "user":
			add(job.Command, allText(b.content))
		case b.kind == "text" && own == job.Agent:
			add(own, b.text.text())
		case b.kind == "text" && !l.meta && fromPerson(l.account):
			add(own, words(b.text.text()))
		}
	})
	return out
}
