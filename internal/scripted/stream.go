package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// print writes one line for whoever drives the agent.
func (s *session) print(l script.StreamLine) error {
	l.SessionID = s.id
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := s.o.Stdout.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func (s *session) printMessage(t *thread, l script.Line) error {
	return s.print(script.StreamLine{Type: l.Type, AgentID: t.agent, Message: l.Message})
}

// printResult ends a turn: why, what was used by this session so far.
func (s *session) printResult(end turn) error {
	total := script.Usage{}
	for _, u := range s.totals {
		total = total.Plus(u)
	}
	l := script.StreamLine{Type: script.StreamResult, Subtype: "success", IsError: end.failed, TerminalReason: end.reason,
		Result: end.text, Turns: s.turns, Usage: &total, ModelUsage: s.totals, Window: s.window, Resets: end.resets}
	switch end.reason {
	case script.EndMaxTurns:
		l.Subtype = "error_max_turns"
	case script.EndAborted:
		l.Subtype = "error_during_execution"
	}
	return s.print(l)
}
