package script

import (
	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// Says gives the texts of one line: what a person or the model said, and what calls
// gave back. What hooks put into the context says nothing.
func (Adapter) Says(line []byte) []agent.Says {
	l, err := ParseLine(line)
	if err != nil || l.Message == nil {
		return nil
	}
	own := job.Agent
	if l.Type == LineUser && l.AgentID == "" && !l.Summary {
		own = job.Person
	}
	var out []agent.Says
	for _, b := range l.Message.Content {
		s := agent.Says{By: own, Text: b.Text, At: job.At(l.Time)}
		if b.Type == "tool_result" {
			s.By, s.Text = job.Command, b.Content
		}
		if s.Text != "" {
			out = append(out, s)
		}
	}
	return out
}
