package claude

import (
	"unicode/utf16"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// hookOutput is what Claude Code reads from a hook.
type hookOutput struct {
	Continue *bool     `json:"continue,omitempty"`
	Stop     string    `json:"stopReason,omitempty"`
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event    string `json:"hookEventName"`
	Context  string `json:"additionalContext,omitempty"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
}

// EncodeAnswer writes an answer in the form that the event takes. What the event
// cannot carry is left out, and nothing at all is the answer when nothing is
// left: the agent goes on. A turn that ends is never continued by us. The exit code
// is always 0; a refusal is in the text.
func (Adapter) EncodeAnswer(e agent.Event, a agent.Answer) agent.Output {
	var out hookOutput
	if e.Name == "" {
		e.Name = nameOf(e.Kind)
	}
	switch e.Kind {
	case agent.BeforeCompact:
		// Only plain text reaches the prompt of the compaction.
		return agent.Output{Stdout: []byte(cut(a.Steer))}
	case agent.BeforeTool:
		if a.Deny != "" {
			out.Specific = &specific{Event: e.Name, Decision: "deny", Reason: cut(a.Deny)}
			if a.EndTurn {
				// This alone would let the tool run; together they end the turn.
				no := false
				out.Continue, out.Stop = &no, cut(a.Deny)
			}
		} else if a.Context != "" {
			out.Specific = &specific{Event: e.Name, Context: cut(a.Context)}
		}
	case agent.Prompt:
		if a.Block != "" {
			out.Decision, out.Reason = "block", cut(a.Block)
		} else if a.Context != "" {
			out.Specific = &specific{Event: e.Name, Context: cut(a.Context)}
		}
	case agent.SessionStart, agent.AfterTool, agent.SubagentStart:
		if a.EndTurn && e.Name == "PostToolUse" {
			// The turn ends here, before the model is asked again: calls made beside
			// this one run to their end first. After a failure it would go on.
			no := false
			out.Continue, out.Stop = &no, cut(a.Context)
		} else if a.Context != "" {
			out.Specific = &specific{Event: e.Name, Context: cut(a.Context)}
		}
	}
	if out == (hookOutput{}) {
		return agent.Output{}
	}
	return agent.Output{Stdout: []byte(encode(out) + "\n")}
}

// nameOf is Claude Code's name of a moment that can be answered.
func nameOf(kind agent.EventKind) string {
	for _, name := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"} {
		if kindOf(name) == kind {
			return name
		}
	}
	return ""
}

// cut bounds a text to what Claude Code takes whole, counted as it counts: in
// UTF-16 units.
func cut(text string) string {
	if len(text) <= bounded {
		return text
	}
	units := 0
	for i, r := range text {
		if units += utf16.RuneLen(r); units > bounded-1 {
			return text[:i] + "…"
		}
	}
	return text
}
