package claude

import (
	"fmt"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
)

func TestSays(t *testing.T) {
	t.Parallel()
	row := func(kind, more, content string) string {
		return fmt.Sprintf(`{"type":%q,"sessionId":"s","uuid":"u","timestamp":"2026-11-28T10:00:00.000Z",%s"message":{"role":"x","content":%s}}`, kind, more, content)
	}
	for _, c := range []struct{ name, line, want string }{
		{"a person", row("user", "", `"Keep the lexer"`), "person: Keep the lexer"},
		{"the model", row("assistant", "", `[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I keep it."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"secret"}}]`), "agent: I keep it."},
		{"a result", row("user", "", `[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"ok"}]}]`), "command: ok"},
		{"a sub-agent's prompt", row("user", `"isSidechain":true,`, `"Look for the lexer"`), "agent: Look for the lexer"},
		{"a summary", row("user", `"isCompactSummary":true,`, `"The lexer is kept."`), "agent: The lexer is kept."},
		{"the agent's own", row("user", `"isMeta":true,`, `"Caveat: the messages below"`), ""},
		{"ours", row("user", "", `"<duplex-brief>the goal</duplex-brief>"`), ""},
		{"a system prompt", `{"type":"api-request-blob","sessionId":"s","content":"Keep the lexer"}`, ""},
		{"an attachment", `{"type":"attachment","attachment":{"content":"Keep the lexer"},"sessionId":"s"}`, ""},
		{"an API error", row("assistant", `"isApiErrorMessage":true,`, `[{"type":"text","text":"limit"}]`), ""},
		{"no JSON", `{"type":"user","mess`, ""},
	} {
		if got := told(Adapter{}.Says([]byte(c.line))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func told(list []agent.Says) string {
	s := ""
	for i, x := range list {
		if i > 0 {
			s += "; "
		}
		s += string(x.By) + ": " + x.Text
	}
	return s
}

func FuzzSays(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":"x"},{"type":"text","text":"y"}]}}`))
	f.Add([]byte(`{"type":"assistant","message":{"content":"x"},"timestamp":"2026-11-28T10:00:00Z"}`))
	f.Add([]byte(`{"type":"user"`))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, s := range (Adapter{}).Says(line) {
			if s.Text == "" || s.By == "" {
				t.Fatalf("nobody or nothing: %+v", s)
			}
		}
	})
}
