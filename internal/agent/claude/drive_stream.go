package claude

import (
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// streamed is one line of the headless output, walked but not decoded.
type streamed struct {
	kind, subtype                  string
	message, parent, info, answer  raw
	failure, status, tool, attempt raw
	attempts, result, reason, said raw
	tasks                          raw
	isError                        bool
}

// Stream reads one line that headless Claude Code prints. Lines of sub-agents say
// nothing here, and neither do kinds that are not known.
func (Adapter) Stream(text []byte) (agent.Streamed, error) {
	var s agent.Streamed
	var l streamed
	err := fields(text, func(key []byte, value raw) {
		switch string(key) {
		case "type":
			l.kind = value.text()
		case "subtype":
			l.subtype = value.text()
		case "session_id":
			s.Session = value.text()
		case "parent_tool_use_id":
			l.parent = value
		case "message":
			l.message = value
		case "rate_limit_info":
			l.info = value
		case "response":
			l.answer = value
		case "error":
			l.failure = value
		case "error_status", "api_error_status":
			l.status = value
		case "attempt":
			l.attempt = value
		case "max_retries":
			l.attempts = value
		case "tasks":
			l.tasks = value
		case "tool_name":
			l.tool = value
		case "result":
			l.result = value
		case "terminal_reason":
			l.reason = value
		case "errors":
			value.elements(func(v raw) { l.said = v })
		case "is_error":
			l.isError = value.isTrue()
		}
	})
	if err != nil {
		return agent.Streamed{}, fmt.Errorf("claude's output: %w", err)
	}
	switch {
	case l.kind == "result":
		l.ended(&s)
	case l.kind == "system":
		l.told(&s)
	case l.kind == "rate_limit_event" && l.info.get("status").text() == "rejected":
		s.Until = reset(l.info.get("resetsAt"))
	case l.kind == "control_response":
		s.Levels = levelsIn(l.answer.get("response"))
	case l.parent.isNull():
		l.spoke(&s)
	}
	return s, nil
}

// spoke reads what the agent said, and that a tool has answered.
func (l *streamed) spoke(s *agent.Streamed) {
	content := l.message.get("content")
	switch l.kind {
	case "assistant":
		if l.message.get("model").text() == synthetic {
			return // the result says it again
		}
		s.Text = allText(content)
		blocks(content, func(b block) {
			if b.kind == "tool_use" {
				s.Calls++
			}
		})
		s.Context = oneUsage(l.message.get("usage")).context
	case "user":
		blocks(content, func(b block) {
			if b.kind == "tool_result" {
				s.Results++
			}
		})
	}
}

// told reads what Claude Code says of itself.
func (l *streamed) told(s *agent.Streamed) {
	switch l.subtype {
	case "api_retry":
		word, status := l.failure.text(), l.status.number()
		if word == "authentication_failed" {
			// It would try ten times, for minutes, with the same credentials.
			s.End, s.Reason = agent.EndRefused, fmt.Sprintf("the provider refuses the credentials (%d)", status)
			return
		}
		s.Trouble = fmt.Sprintf("%s (%d), attempt %d of %d", strings.ReplaceAll(word, "_", " "), status, l.attempt.number(), l.attempts.number())
	case "background_tasks_changed":
		// A command in the background may never end; a sub-agent reports, and that
		// begins a turn of its own.
		l.tasks.elements(func(task raw) { s.Busy = s.Busy || task.get("task_type").text() != "local_bash" })
		s.Idle = !s.Busy
	case "permission_denied":
		s.Denied = l.tool.text()
		if text := l.message.text(); text != "" {
			s.Denied += ": " + text
		}
	}
}

// levelsIn reads an answer to Measure. Without compaction the context ends where
// Claude Code stops.
func levelsIn(answer raw) agent.Levels {
	window := count(answer.get("rawMaxTokens"))
	if window == 0 {
		return agent.Levels{}
	}
	levels := agent.Levels{Window: window, Level: count(answer.get("autoCompactThreshold"))}
	if levels.Level == 0 {
		levels.Level = max(0, window-stopAt)
	}
	return levels
}

// ended reads the result of a turn. Its subtype is "success" even for errors, so
// it is no help.
func (l *streamed) ended(s *agent.Streamed) {
	reason := l.reason.text()
	if l.isError { // else the result is what the agent has said already
		s.Reason = agent.OneLine(l.result.text())
	}
	if s.Reason == "" {
		s.Reason = agent.OneLine(l.said.text())
	}
	if s.Reason == "" {
		s.Reason = strings.ReplaceAll(reason, "_", " ")
	}
	switch reason {
	case "prompt_too_long", "blocking_limit", "rapid_refill_breaker":
		s.End = agent.EndFull
	case "max_turns":
		s.End = agent.EndTurns
	case "aborted_streaming", "aborted_tools":
		s.End = agent.EndInterrupted
	case "hook_stopped":
		s.End = agent.EndStopped
	default:
		s.End = l.failed()
	}
}

func (l *streamed) failed() agent.End {
	text := strings.ToLower(l.result.text())
	switch status := l.status.number(); {
	case !l.isError:
		return agent.EndDone
	case l.subtype == "error_max_turns", l.subtype == "error_max_budget_usd":
		return agent.EndTurns
	case status == 429:
		return agent.EndLimit
	case status >= 500:
		return agent.EndOverloaded
	case status == 401, status == 403, status == 404:
		return agent.EndRefused
	case strings.Contains(text, "credit balance"):
		return agent.EndCredit
	case strings.Contains(text, "prompt is too long"):
		return agent.EndFull
	}
	return agent.EndFailed
}
