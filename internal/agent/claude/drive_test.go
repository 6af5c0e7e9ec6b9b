package claude

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
)

func TestStream(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		want       agent.Streamed
	}{
		{"said", `{"type":"assistant","message":{"model":"claude-opus-5-5","content":[{"type":"text","text":"I will."}],"usage":{"input_tokens":100,"cache_creation_input_tokens":500,"cache_read_input_tokens":2000,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s"}`,
			agent.Streamed{Session: "s", Text: "I will.", Context: 2601}},
		{"calls", `{"type":"assistant","message":{"model":"claude-opus-5-5","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":10,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s"}`,
			agent.Streamed{Session: "s", Calls: 1, Context: 11}},
		{"said by a sub-agent", `{"type":"assistant","message":{"model":"claude-opus-5-5","content":[{"type":"text","text":"aside"}]},"parent_tool_use_id":"toolu_1","session_id":"s"}`,
			agent.Streamed{Session: "s"}},
		{"an error in the model's place", `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"You've hit your limit"}]},"parent_tool_use_id":null,"session_id":"s"}`,
			agent.Streamed{Session: "s"}},
		{"a tool answered", `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"Exit code 3","is_error":true,"tool_use_id":"t"}]},"parent_tool_use_id":null,"session_id":"s"}`,
			agent.Streamed{Session: "s", Results: 1}},
		{"a sub-agent's tool answered", `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]},"parent_tool_use_id":"toolu_1","session_id":"s"}`,
			agent.Streamed{Session: "s"}},
		{"interrupted", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null,"session_id":"s"}`,
			agent.Streamed{Session: "s"}},
		{"refused credentials", `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":612,"error_status":401,"error":"authentication_failed","session_id":"s"}`,
			agent.Streamed{Session: "s", End: agent.EndRefused, Reason: "the provider refuses the credentials (401)"}},
		{"overloaded, again", `{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":1036,"error_status":529,"error":"overloaded","session_id":"s"}`,
			agent.Streamed{Session: "s", Trouble: "overloaded (529), attempt 2 of 10"}},
		{"denied", `{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t","message":"touch needs approval.","session_id":"s"}`,
			agent.Streamed{Session: "s", Denied: "Bash: touch needs approval."}},
		{"a limit that refuses", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1796100000,"rateLimitType":"five_hour"},"session_id":"s"}`,
			agent.Streamed{Session: "s", Until: 1796100000_000_000}},
		{"a limit that warns", `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1796100000,"utilization":0.9},"session_id":"s"}`,
			agent.Streamed{Session: "s"}},
		{"measured", `{"type":"control_response","response":{"subtype":"success","request_id":"duplex-measure","response":{"totalTokens":9668,"maxTokens":100000,"rawMaxTokens":100000,"autoCompactThreshold":67000,"isAutoCompactEnabled":true}}}`,
			agent.Streamed{Levels: agent.Levels{Window: 100_000, Level: 67_000}}},
		{"measured without compaction", `{"type":"control_response","response":{"subtype":"success","request_id":"duplex-measure","response":{"rawMaxTokens":200000,"isAutoCompactEnabled":false}}}`,
			agent.Streamed{Levels: agent.Levels{Window: 200_000, Level: 177_000}}},
		{"interrupt taken", `{"type":"control_response","response":{"subtype":"success","request_id":"duplex-interrupt","response":{"still_queued":[]}}}`, agent.Streamed{}},
		{"a sub-agent works", `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b","task_type":"local_bash"},{"task_id":"a","task_type":"local_agent"}],"session_id":"s"}`,
			agent.Streamed{Session: "s", Busy: true}},
		{"a server runs", `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b","task_type":"local_bash"}],"session_id":"s"}`,
			agent.Streamed{Session: "s", Idle: true}},
		{"unknown", `{"type":"bell","session_id":"s"}`, agent.Streamed{Session: "s"}},
	} {
		if got, err := (Adapter{}).Stream([]byte(c.line)); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
	if _, err := (Adapter{}).Stream([]byte("Error: no such flag")); err == nil {
		t.Error("a line that is no JSON gives no error")
	}
}

// The results of headless runs of 2.1.332, each with what of it is read.
func TestStreamedEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line   string
		want   agent.End
		reason string
	}{
		{`"is_error":false,"subtype":"success","terminal_reason":"completed","result":"All done."`, agent.EndDone, "completed"},
		{`"is_error":false,"subtype":"success","terminal_reason":"hook_stopped","result":""`, agent.EndStopped, "hook stopped"},
		{`"is_error":true,"subtype":"error_during_execution","terminal_reason":"aborted_streaming","errors":["[ede_diagnostic] x"]`, agent.EndInterrupted, "[ede_diagnostic] x"},
		{`"is_error":true,"subtype":"error_during_execution","terminal_reason":"aborted_tools"`, agent.EndInterrupted, "aborted tools"},
		{`"is_error":true,"subtype":"error_max_turns","terminal_reason":"max_turns","errors":["Reached maximum number of turns (2)"]`, agent.EndTurns, "Reached maximum number of turns (2)"},
		{`"is_error":true,"subtype":"error_max_budget_usd"`, agent.EndTurns, ""},
		{`"is_error":true,"subtype":"success","terminal_reason":"api_error","api_error_status":429,"result":"You've hit your limit · resets 2:35am (UTC)"`, agent.EndLimit, "You've hit your limit · resets 2:35am (UTC)"},
		{`"is_error":true,"subtype":"success","terminal_reason":"api_error","api_error_status":529,"result":"API Error: 529 Overloaded."`, agent.EndOverloaded, "API Error: 529 Overloaded."},
		{`"is_error":true,"subtype":"success","terminal_reason":"api_error","api_error_status":400,"result":"Credit balance is too low"`, agent.EndCredit, "Credit balance is too low"},
		{`"is_error":true,"subtype":"success","terminal_reason":"api_error","api_error_status":404,"result":"There's an issue with the selected model (claude-foo)."`, agent.EndRefused, "There's an issue with the selected model (claude-foo)."},
		{`"is_error":true,"subtype":"success","terminal_reason":"prompt_too_long","api_error_status":400,"result":"Prompt is too long"`, agent.EndFull, "Prompt is too long"},
		{`"is_error":true,"subtype":"success","terminal_reason":"blocking_limit","result":"Prompt is too long"`, agent.EndFull, "Prompt is too long"},
		{`"is_error":true,"subtype":"success","terminal_reason":"rapid_refill_breaker"`, agent.EndFull, "rapid refill breaker"},
		{`"is_error":true,"subtype":"success","terminal_reason":"api_error","api_error_status":400,"result":"API Error: 400 messages: x"`, agent.EndFailed, "API Error: 400 messages: x"},
	} {
		got, err := (Adapter{}).Stream([]byte(`{"type":"result","session_id":"s",` + c.line + `}`))
		if err != nil || got.End != c.want || got.Reason != c.reason {
			t.Errorf("%s: %+v, %v; want %s %q", c.line, got, err, c.want, c.reason)
		}
	}
}

// Recorded streams, where they are: each ends as it did.
func TestStreamSamples(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "..", "shared", "agents", "claude-code", "stream")
	for name, want := range map[string]agent.End{"tools": agent.EndDone, "max-turns": agent.EndTurns, "rate-limited-retry": agent.EndLimit,
		"subscription-limit-rejected": agent.EndLimit, "subscription-limit-warning": agent.EndDone, "auto-compact": agent.EndDone} {
		f, err := os.Open(filepath.Join(dir, name+".jsonl"))
		if err != nil {
			continue
		}
		defer f.Close()
		var end agent.End
		lines := bufio.NewScanner(f)
		for lines.Buffer(nil, 8<<20); lines.Scan(); {
			s, err := (Adapter{}).Stream(lines.Bytes())
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if s.End != "" {
				end = s.End
			}
		}
		if end != want {
			t.Errorf("%s ended %q, want %q", name, end, want)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"type":"result","is_error":true,"api_error_status":429,"errors":["x"]}`))
	f.Add([]byte(`{"type":"system","subtype":"permission_denied","message":{"a":[1]}}`))
	f.Add([]byte(`{"type":"control_response","response":{"response":{"rawMaxTokens":-5}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := (Adapter{}).Stream(line)
		if err == nil && (s.Context < 0 || s.Levels.Level < 0 || s.Levels.Level > 1<<40) {
			t.Errorf("%q gives %+v", line, s)
		}
	})
}

func TestCommand(t *testing.T) {
	t.Parallel()
	d := agent.Drive{Dir: "/w", Session: "11111111-2222-4333-8444-555555555501", Model: "opus", Prompt: "<duplex-driver>go</duplex-driver>", Mode: "acceptEdits",
		Hook: []string{"/opt/my duplex", "hook"}, Server: []string{"/opt/my duplex", "mcp"}, Allow: []string{"go test ./...", "rm -rf *", "a\nb"}, Args: []string{"--max-turns", "9"}}
	argv, env := Adapter{}.Command(d)
	for _, want := range [][]string{{"claude", "-p", "--input-format", "stream-json"}, {"--session-id", d.Session}, {"--model", "opus"}, {"--permission-mode", "acceptEdits"}, {"--max-turns", "9"}} {
		if !has(argv, want) {
			t.Errorf("%q is not in %q", want, argv)
		}
	}
	if slices.Contains(argv, d.Prompt) {
		t.Errorf("the prompt is on the command line: %q", argv)
	}
	if !slices.Contains(env, "DUPLEX_DRIVEN="+d.Session) || !slices.Contains(env, "CLAUDECODE") {
		t.Errorf("environment %q", env)
	}
	var s runSettings
	if err := json.Unmarshal([]byte(argv[slices.Index(argv, "--settings")+1]), &s); err != nil {
		t.Fatal(err)
	}
	pre := s.Hooks["PreToolUse"]
	if len(s.Hooks) < 10 || len(pre) != 1 || pre[0].Matcher != "*" || pre[0].Hooks[0].Command != "/opt/my duplex" || !slices.Equal(pre[0].Hooks[0].Args, []string{"hook", "claude", "--driven"}) {
		t.Errorf("hooks are %+v", s.Hooks)
	}
	if want := []string{"mcp__duplex", "Bash(go test ./...)"}; !slices.Equal(s.Permissions.Allow, want) {
		t.Errorf("allowed are %q, want %q", s.Permissions.Allow, want)
	}

	d.Resume, d.Hook, d.Server, d.Allow, d.Mode = true, nil, nil, nil, ""
	argv, env = Adapter{}.Command(d)
	if !has(argv, []string{"--resume", d.Session}) || slices.Contains(argv, "--session-id") || slices.Contains(argv, "--mcp-config") || slices.Contains(argv, "--permission-mode") {
		t.Errorf("resumed by %q", argv)
	}
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, agent.DrivenEnv) }) {
		t.Error("a session without our hooks says that it has them")
	}

	d.Prompt = "What is left?"
	argv, _ = Adapter{}.Interactive(d)
	if argv[0] != "claude" || slices.Contains(argv, "-p") || argv[len(argv)-1] != d.Prompt {
		t.Errorf("a person's session is started by %q", argv)
	}
}

func has(argv, part []string) bool {
	for i := range argv {
		if i+len(part) <= len(argv) && slices.Equal(argv[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// What is said is whole lines of JSON, whatever the prompt holds.
func TestBegin(t *testing.T) {
	t.Parallel()
	prompt := "<duplex-driver>first\nsecond \"third\"</duplex-driver>"
	lines := strings.Split(strings.TrimSuffix(string(Adapter{}.Begin(agent.Drive{Prompt: prompt})), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	var said struct {
		Type    string
		Message struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(lines[1]), &said); err != nil || said.Type != "user" || said.Message.Role != "user" || said.Message.Content != prompt {
		t.Errorf("%q says %+v, %v", lines[1], said, err)
	}
	for _, line := range [][]byte{[]byte(lines[0]), (Adapter{}).Interrupt(), (Adapter{}).Measure()} {
		var c struct {
			Type    string
			Request struct{ Subtype string }
		}
		if err := json.Unmarshal(line, &c); err != nil || c.Type != "control_request" || c.Request.Subtype == "" {
			t.Errorf("%q is no request: %v", line, err)
		}
	}
}
