package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// The events that hooks are called for, in Claude Code's words.
const (
	HookSessionStart  = "SessionStart"
	HookPrompt        = "UserPromptSubmit"
	HookBeforeTool    = "PreToolUse"
	HookAfterTool     = "PostToolUse"
	HookToolFailed    = "PostToolUseFailure"
	HookBeforeCompact = "PreCompact"
	HookAfterCompact  = "PostCompact"
	HookStop          = "Stop"
	HookStopFailure   = "StopFailure"
	HookSubagentStart = "SubagentStart"
	HookSubagentStop  = "SubagentStop"
	HookSessionEnd    = "SessionEnd"
)

// The variables that the environment of hooks and tools holds.
const (
	EnvSession = "SCRIPT_SESSION_ID"
	EnvPID     = "SCRIPT_PID"
	EnvWindow  = "SCRIPT_WINDOW" // when the window is not the model's own
)

// HookInput is what a hook reads on its standard input.
type HookInput struct {
	SessionID       string          `json:"session_id"`
	TranscriptPath  string          `json:"transcript_path"`
	Dir             string          `json:"cwd"`
	Event           string          `json:"hook_event_name"`
	PromptID        string          `json:"prompt_id,omitempty"`
	Model           string          `json:"model,omitempty"`
	AgentID         string          `json:"agent_id,omitempty"`
	AgentType       string          `json:"agent_type,omitempty"`
	Source          string          `json:"source,omitempty"`
	From            string          `json:"from_session_id,omitempty"`
	ContextTokens   int64           `json:"context_tokens,omitempty"` // resume, fork
	Prompt          string          `json:"prompt,omitempty"`
	ToolName        string          `json:"tool_name,omitempty"`
	ToolUseID       string          `json:"tool_use_id,omitempty"`
	ToolInput       *Input          `json:"tool_input,omitempty"`
	ToolResponse    json.RawMessage `json:"tool_response,omitempty"`
	Millis          int64           `json:"duration_ms,omitempty"`
	Error           string          `json:"error,omitempty"`
	Interrupted     bool            `json:"is_interrupt,omitempty"`
	Trigger         string          `json:"trigger,omitempty"`
	Summary         string          `json:"compact_summary,omitempty"`
	StopHookActive  bool            `json:"stop_hook_active,omitempty"`
	LastMessage     string          `json:"last_assistant_message,omitempty"`
	Reason          string          `json:"reason,omitempty"`
	AgentTranscript string          `json:"agent_transcript_path,omitempty"`
}

// HookAnswer is what a hook may write on its standard output.
type HookAnswer struct {
	Continue   *bool         `json:"continue,omitempty"`
	StopReason string        `json:"stopReason,omitempty"`
	Decision   string        `json:"decision,omitempty"` // block
	Reason     string        `json:"reason,omitempty"`
	Specific   *HookSpecific `json:"hookSpecificOutput,omitempty"`
}

// HookSpecific is the part of an answer that belongs to one event.
type HookSpecific struct {
	Event                    string `json:"hookEventName"`
	AdditionalContext        string `json:"additionalContext,omitempty"`
	PermissionDecision       string `json:"permissionDecision,omitempty"` // deny
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`
}

// DecodeHook reads one hook call.
func (Adapter) DecodeHook(stdin []byte, env func(string) string) (agent.Event, error) {
	var in HookInput
	if err := json.Unmarshal(stdin, &in); err != nil {
		return agent.Event{}, fmt.Errorf("read hook input: %w", err)
	}
	e := agent.Event{
		Kind: kind(in.Event), Name: in.Event, Session: in.SessionID, Source: in.Source, From: in.From,
		Transcript: in.TranscriptPath, Dir: in.Dir, Model: in.Model, PromptID: in.PromptID, Prompt: in.Prompt,
		Trigger: in.Trigger, Looping: in.StopHookActive, Subagent: in.AgentID, Context: in.ContextTokens,
	}
	if in.SessionID == "" {
		return agent.Event{}, fmt.Errorf("read hook input: no session_id")
	}
	e.PID, _ = strconv.Atoi(env(EnvPID))
	switch e.Kind {
	case agent.SessionEnd:
		e.Reason = in.Reason
	case agent.TurnEnd, agent.SubagentEnd:
		e.Message = in.LastMessage
	case agent.TurnFailed:
		e.Reason, e.Message = in.Error, in.LastMessage
	case agent.AfterCompact:
		e.Message = in.Summary
	case agent.BeforeTool, agent.AfterTool:
		e.Tool = in.call()
	}
	return e, nil
}

func (in *HookInput) call() *agent.Call {
	u := Use{ID: in.ToolUseID, Name: in.ToolName}
	if in.ToolInput != nil {
		u.Input = *in.ToolInput
	}
	c := call(u, in.Dir)
	switch {
	case in.Event == HookAfterTool:
		finish(c, in.output(), OK, in.Millis)
	case in.Event == HookToolFailed && in.Interrupted:
		finish(c, in.Error, Unknown, in.Millis)
	case in.Event == HookToolFailed:
		finish(c, in.Error, Failed, in.Millis)
	}
	return c
}

// ToolResponse is the answer of a tool as hooks see it.
type ToolResponse struct {
	Stdout  string  `json:"stdout,omitempty"` // Bash: both streams
	Text    string  `json:"text,omitempty"`   // other tools
	AgentID string  `json:"agentId,omitempty"`
	Content []Block `json:"content,omitempty"` // Agent
	Tokens  int64   `json:"totalTokens,omitempty"`
}

// output is the text in a tool's response.
func (in *HookInput) output() string {
	var r ToolResponse
	if json.Unmarshal(in.ToolResponse, &r) != nil {
		var text string
		if json.Unmarshal(in.ToolResponse, &text) != nil {
			return ""
		}
		return text
	}
	parts := []string{r.Stdout, r.Text}
	for _, b := range r.Content {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "")
}

func kind(event string) agent.EventKind {
	switch event {
	case HookSessionStart:
		return agent.SessionStart
	case HookPrompt:
		return agent.Prompt
	case HookBeforeTool:
		return agent.BeforeTool
	case HookAfterTool, HookToolFailed:
		return agent.AfterTool
	case HookBeforeCompact:
		return agent.BeforeCompact
	case HookAfterCompact:
		return agent.AfterCompact
	case HookStop:
		return agent.TurnEnd
	case HookStopFailure:
		return agent.TurnFailed
	case HookSubagentStart:
		return agent.SubagentStart
	case HookSubagentStop:
		return agent.SubagentEnd
	case HookSessionEnd:
		return agent.SessionEnd
	}
	return agent.OtherEvent
}

// EncodeAnswer writes an answer in the form the event understands. What an
// event has no place for is left out, and an empty answer is no output.
func (Adapter) EncodeAnswer(e agent.Event, a agent.Answer) agent.Output {
	var out HookAnswer
	specific := HookSpecific{Event: e.Name}
	switch e.Kind {
	case agent.BeforeCompact:
		return agent.Output{Stdout: []byte(a.Steer)}
	case agent.BeforeTool:
		if a.Deny != "" {
			specific.PermissionDecision, specific.PermissionDecisionReason = "deny", a.Deny
		}
	case agent.Prompt:
		if a.Block != "" {
			out.Decision, out.Reason = "block", a.Block
		}
	}
	switch e.Kind {
	case agent.SessionStart, agent.Prompt, agent.BeforeTool, agent.AfterTool, agent.SubagentStart:
		specific.AdditionalContext = a.Context
	}
	if a.EndTurn {
		no := false
		out.Continue, out.StopReason = &no, cmp.Or(a.Deny, a.Block)
	}
	if specific != (HookSpecific{Event: e.Name}) {
		out.Specific = &specific
	}
	if out == (HookAnswer{}) {
		return agent.Output{}
	}
	data, _ := json.Marshal(out) // strings only: cannot fail
	return agent.Output{Stdout: append(data, '\n')}
}
