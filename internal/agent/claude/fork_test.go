package claude_test

import (
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
)

func TestForkedFrom(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"claude --resume s1 --fork-session":     "s1",
		"claude -p go --fork-session -r s1":     "s1",
		"claude --resume=s1 --fork-session":     "s1",
		"claude --resume s1":                    "",
		"claude --fork-session --resume":        "",
		"claude --resume --fork-session -p go":  "",
		"claude --continue --fork-session -p x": "",
		"":                                      "",
	} {
		if got := (claude.Adapter{}).ForkedFrom(strings.Fields(line)); got != want {
			t.Errorf("%q: forked from %q, want %q", line, got, want)
		}
	}
}

// TestForkOfToday: since 2.1 a fork's copied rows have a prompt id of the fork's own,
// and of the session they come from only the answers speak.
func TestForkOfToday(t *testing.T) {
	t.Parallel()
	copied := `{"type":"user","uuid":"11111111-2222-4333-8444-000000000001","promptId":"new","parentUuid":null,"isSidechain":false,"sessionId":"fork","message":{"role":"user","content":"Begin."}}
{"type":"assistant","uuid":"11111111-2222-4333-8444-000000000002","parentUuid":null,"isSidechain":false,"sessionId":"fork","requestSessionId":"parent","message":{"id":"m1","model":"claude-opus-5-5","content":[{"type":"text","text":"One."}],"usage":{"input_tokens":7,"output_tokens":1}}}
{"type":"user","uuid":"11111111-2222-4333-8444-000000000003","promptId":"new","parentUuid":null,"isSidechain":false,"sessionId":"fork","message":{"role":"user","content":"Go on."}}
{"type":"assistant","uuid":"11111111-2222-4333-8444-000000000004","parentUuid":null,"isSidechain":false,"sessionId":"fork","message":{"id":"m2","model":"claude-opus-5-5","content":[{"type":"text","text":"Two."}],"usage":{"input_tokens":8,"output_tokens":1}}}`
	r := claude.Adapter{}.NewReader()
	var said []string
	for line := range strings.Lines(copied) {
		rows, err := r.Line([]byte(line), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Kind == agent.RowInstruction {
				said = append(said, row.Record+" "+row.Text)
			}
		}
	}
	if h := r.Header(); h.Session != "fork" || h.From != "parent" {
		t.Errorf("the transcript is of %q, from %q", h.Session, h.From)
	}
	want := "11111111-2222-4333-8444-000000000001 Begin.|11111111-2222-4333-8444-000000000003 Go on."
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
