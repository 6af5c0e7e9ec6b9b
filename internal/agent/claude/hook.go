package claude

import (
	"fmt"
	"strconv"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// hookCall is one hook call, walked but not decoded.
type hookCall struct {
	tool, input, toolID, response, failure, millis, interrupt raw
	agentID, agentType, last, details, source, model          raw
}

// DecodeHook reads one hook call. env looks up the hook's environment: of it
// only CLAUDE_PID, CLAUDE_CODE_SESSION_ID and CLAUDE_PROJECT_DIR are read, for it
// holds a token.
func (Adapter) DecodeHook(stdin []byte, env func(string) string) (agent.Event, error) {
	var e agent.Event
	var h hookCall
	err := fields(stdin, func(key []byte, value raw) {
		switch string(key) {
		case "hook_event_name":
			e.Name = value.text()
		case "session_id":
			e.Session = value.text()
		case "transcript_path":
			e.Transcript = value.text()
		case "cwd":
			e.Dir = value.text()
		case "source":
			h.source = value
		case "model":
			e.Model = modelName(value)
		case "prompt_id":
			e.PromptID = value.text()
		case "prompt":
			e.Prompt = words(value.text())
		case "reason":
			e.Reason = value.text()
		case "trigger":
			e.Trigger = value.text()
		case "stop_hook_active":
			e.Looping = value.isTrue()
		case "context_tokens":
			e.Context = count(value)
		case "tool_name":
			h.tool = value
		case "tool_input":
			h.input = value
		case "tool_use_id":
			h.toolID = value
		case "tool_response":
			h.response = value
		case "duration_ms":
			h.millis = value
		case "is_interrupt":
			h.interrupt = value
		case "error":
			h.failure = value
		case "agent_id":
			h.agentID = value
		case "agent_type":
			h.agentType = value
		case "last_assistant_message":
			h.last = value
		case "error_details":
			h.details = value
		case "to_model":
			h.model = value
		}
	})
	if err != nil {
		return agent.Event{}, fmt.Errorf("claude hook: %w", err)
	}
	if e.Session == "" {
		e.Session = env("CLAUDE_CODE_SESSION_ID")
	}
	if e.Dir == "" {
		e.Dir = env("CLAUDE_PROJECT_DIR")
	}
	if pid, err := strconv.Atoi(env("CLAUDE_PID")); err == nil && pid > 0 {
		e.PID = pid
	}
	e.Kind = kindOf(e.Name)
	e.Subagent = h.agentID.text()
	h.complete(&e)
	return e, nil
}

// complete fills in what depends on the kind of the event.
func (h *hookCall) complete(e *agent.Event) {
	switch e.Kind {
	case agent.SessionStart:
		e.Source = h.source.text()
	case agent.Prompt:
		if !typed(h.source.text()) {
			e.Prompt = ""
		}
	case agent.BeforeTool, agent.AfterTool:
		c := describe(h.tool.text(), h.input, e.Dir)
		c.ID = h.toolID.text()
		if e.Kind == agent.AfterTool {
			h.finish(&c, e.Name)
			if ownHouse(&c) {
				return // what matters of it has rows of its own
			}
		}
		e.Tool = &c
	case agent.TurnEnd:
		e.Message = h.last.text()
	case agent.TurnFailed:
		e.Reason, e.Message = h.failure.text(), h.last.text()
		if e.Message == "" {
			e.Message = h.details.text()
		}
	case agent.SubagentEnd:
		e.Message = h.last.text()
		if h.agentType.text() == "" {
			// The summariser of a compaction ends like a sub-agent without a type.
			e.Kind = agent.OtherEvent
		}
	case agent.OtherEvent:
		if e.Name == "PostModelSwitch" {
			e.Model = h.model.text()
		}
	}
}

// typed reports whether a prompt of this source may be a person's. Others are
// wakeups, schedules, and what the machine puts in by itself.
func typed(source string) bool { return source == "" || source == "user" || source == "sdk" }

func (h *hookCall) finish(c *agent.Call, event string) {
	did := structuredOf(h.response)
	o := outcome{did: &did, stopped: h.interrupt.isTrue()}
	if event == "PostToolUseFailure" {
		o.failed, o.text = true, h.failure.text()
	} else {
		o.text = did.output()
	}
	finish(c, o)
	if h.millis != nil {
		c.Done.Millis = h.millis.number()
	}
}

// modelName reads a model that is given as its id or as {"id": …}.
func modelName(value raw) string {
	if value.isObject() {
		return value.get("id").text()
	}
	return value.text()
}

func kindOf(name string) agent.EventKind {
	switch name {
	case "SessionStart":
		return agent.SessionStart
	case "UserPromptSubmit":
		return agent.Prompt
	case "PreToolUse":
		return agent.BeforeTool
	case "PostToolUse", "PostToolUseFailure":
		return agent.AfterTool
	case "PreCompact":
		return agent.BeforeCompact
	case "PostCompact":
		return agent.AfterCompact
	case "Stop":
		return agent.TurnEnd
	case "StopFailure":
		return agent.TurnFailed
	case "SubagentStart":
		return agent.SubagentStart
	case "SubagentStop":
		return agent.SubagentEnd
	case "SessionEnd":
		return agent.SessionEnd
	}
	return agent.OtherEvent
}
