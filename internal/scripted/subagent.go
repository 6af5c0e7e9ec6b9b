package scripted

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// delegate runs a sub-agent to its end: a context and a transcript of its own,
// the parent's hooks and session id, its usage in the session's totals.
func (s *session) delegate(ctx context.Context, u script.Use) done {
	sub := s.script.Agents[u.Input.Agent]
	if sub == nil {
		return failed("No such agent: " + u.Input.Agent)
	}
	id := s.nextID("")
	file, err := create(filepath.Join(strings.TrimSuffix(s.main.path, ".jsonl"), "subagents", "agent-"+id+".jsonl"))
	if err != nil {
		return failed(err.Error())
	}
	defer file.close()
	t := &thread{file: file, agent: id, context: []script.Message{s.self()}}
	l := s.line(t, script.LineSession)
	l.Agent, l.Version, l.Source, l.Dir, l.Model, l.Window = "script", script.Version, "sub-agent", s.o.Dir, s.model, s.window
	if err := file.add(l); err != nil {
		return failed(err.Error())
	}
	heard := s.fire(ctx, script.HookInput{Event: script.HookSubagentStart, AgentID: id, AgentType: u.Input.Agent})
	if err := s.addUser(t, u.Input.Prompt, false); err != nil {
		return failed(err.Error())
	}
	if err := s.inject(t, script.HookSubagentStart, heard.context); err != nil {
		return failed(err.Error())
	}
	end, err := s.loop(ctx, t, sub.For(s.model))
	if err != nil {
		return failed(err.Error())
	}
	s.fire(ctx, script.HookInput{Event: script.HookSubagentStop, AgentID: id, AgentType: u.Input.Agent, AgentTranscript: file.path, LastMessage: end.text})
	if end.failed {
		return failed("The sub-agent failed: " + end.text)
	}
	return done{text: end.text, result: script.OK, response: script.ToolResponse{AgentID: id, Tokens: t.used.Context(),
		Content: []script.Block{{Type: "text", Text: end.text}}}}
}
