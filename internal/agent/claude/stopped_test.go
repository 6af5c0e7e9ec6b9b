package claude_test

import (
	"fmt"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

// TestStoppedCalls: an interrupt in the middle of a call is written as if a person had
// refused it, and it has run all the same.
func TestStoppedCalls(t *testing.T) {
	t.Parallel()
	const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
	for name, c := range map[string]struct {
		mode, tool, text, denial string
		want                     job.Result
	}{
		"refused at the prompt":              {"default", "Bash", refused, "user-rejected", job.Denied},
		"interrupted, and it says so":        {"default", "Bash", refused + " Correction to the text above: this call was stopped while running, not refused before it ran.", "user-rejected", job.ResultUnknown},
		"where nobody is asked":              {"bypassPermissions", "Bash", refused, "user-rejected", job.ResultUnknown},
		"refused by a hook, in any mode":     {"bypassPermissions", "Bash", "PreToolUse:Bash hook error: fenced", "hook", job.Denied},
		"a plan is a person's, in any mode":  {"bypassPermissions", "ExitPlanMode", refused, "user-rejected", job.Denied},
		"a command that prints these words":  {"default", "Bash", "Exit code 1\nuser-rejected", "", job.Failed},
		"a refusal of versions before today": {"default", "Bash", refused, "", job.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := claude.Adapter{}.NewReader()
			denial := ""
			if c.denial != "" {
				denial = fmt.Sprintf(`,"toolDenialKind":%q`, c.denial)
			}
			var got job.Result
			for _, line := range []string{
				fmt.Sprintf(`{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s","permissionMode":%q,"message":{"role":"user","content":"Go on."}}`, c.mode),
				fmt.Sprintf(`{"type":"assistant","uuid":"u2","parentUuid":"u1","isSidechain":false,"sessionId":"s","message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"t1","name":%q,"input":{"command":"make"}}]}}`, c.tool),
				fmt.Sprintf(`{"type":"user","uuid":"u3","parentUuid":"u2","isSidechain":false,"sessionId":"s"%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":%q}]}}`, denial, c.text),
			} {
				rows, err := r.Line([]byte(line), 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					if row.Kind == agent.RowResult {
						got = row.Call.Done.Result
					}
				}
			}
			if got != c.want {
				t.Errorf("the call is %q, want %q", got, c.want)
			}
		})
	}
}
