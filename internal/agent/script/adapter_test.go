package script

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDecodeHook(t *testing.T) {
	t.Parallel()
	const common = `"session_id":"s1","transcript_path":"/h/s1.jsonl","cwd":"/w","prompt_id":"p1",`
	zero, three := 0, 3
	for _, c := range []struct {
		in   string
		want agent.Event
	}{
		{`"hook_event_name":"SessionStart","source":"fork","model":"script-small","from_session_id":"s0","context_tokens":900`,
			agent.Event{Kind: agent.SessionStart, Name: "SessionStart", Source: "fork", Model: "script-small", From: "s0", Context: 900}},
		{`"hook_event_name":"UserPromptSubmit","prompt":"do it"`, agent.Event{Kind: agent.Prompt, Name: "UserPromptSubmit", Prompt: "do it"}},
		{`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"go test ./..."}`,
			agent.Event{Kind: agent.BeforeTool, Name: "PreToolUse", Tool: &agent.Call{ID: "c1", Name: "Bash", Class: job.ClassTest,
				Title: "go test ./...", Command: "go test ./...", Changes: true}}},
		{`"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"c1","duration_ms":7,"tool_input":{"command":"git commit -qam x"},"tool_response":{"stdout":"[main 4e1c9ab] x\n"}`,
			agent.Event{Kind: agent.AfterTool, Name: "PostToolUse", Tool: &agent.Call{ID: "c1", Name: "Bash", Class: job.ClassCommit,
				Title: "commit “x”", Command: "git commit -qam x", Changes: true, Commit: "4e1c9ab",
				Done: &agent.Done{Result: job.OK, Exit: &zero, Output: "[main 4e1c9ab] x\n", Millis: 7}}}},
		{`"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"make"},"error":"Exit code 3\nno rule"`,
			agent.Event{Kind: agent.AfterTool, Name: "PostToolUseFailure", Tool: &agent.Call{ID: "c1", Name: "Bash", Class: job.ClassCommand,
				Title: "make", Command: "make", Changes: true, Done: &agent.Done{Result: job.Failed, Exit: &three, Output: "no rule"}}}},
		{`"hook_event_name":"PostToolUseFailure","tool_name":"Read","tool_use_id":"c1","tool_input":{"file_path":"/w/a.go"},"error":"gone","is_interrupt":true`,
			agent.Event{Kind: agent.AfterTool, Name: "PostToolUseFailure", Tool: &agent.Call{ID: "c1", Name: "Read", Title: "read a.go",
				Paths: []job.Touch{{Name: "/w/a.go", Role: job.RoleRead}}, Done: &agent.Done{Result: job.ResultUnknown, Output: "gone"}}}},
		{`"hook_event_name":"PreToolUse","agent_id":"a1","tool_name":"Edit","tool_use_id":"c1","tool_input":{"file_path":"a.go","old_string":"x\ny","new_string":"x\nparseTable"}`,
			agent.Event{Kind: agent.BeforeTool, Name: "PreToolUse", Subagent: "a1", Tool: &agent.Call{ID: "c1", Name: "Edit", Class: job.ClassEdit,
				Title: "edited a.go", Changes: true, Added: 1, Removed: 1, Paths: []job.Touch{{Name: "a.go", Role: job.RoleEdit}},
				Symbols: []job.Touch{{Name: "parseTable", Role: job.RoleEdit, In: "a.go"}}}}},
		{`"hook_event_name":"PreToolUse","tool_name":"Grep","tool_use_id":"c1","tool_input":{"pattern":"fooBar\\(","path":"src"}`,
			agent.Event{Kind: agent.BeforeTool, Name: "PreToolUse", Tool: &agent.Call{ID: "c1", Name: "Grep", Title: `searched for fooBar\(`,
				Paths: []job.Touch{{Name: "src", Role: job.RoleSearch}}, Symbols: []job.Touch{{Name: "fooBar", Role: job.RoleSearch}}}}},
		{`"hook_event_name":"PostToolUse","tool_name":"Agent","tool_use_id":"c1","tool_input":{"description":"look","prompt":"p"},"tool_response":{"agentId":"a1","content":[{"type":"text","text":"found src/a.go"}]}`,
			agent.Event{Kind: agent.AfterTool, Name: "PostToolUse", Tool: &agent.Call{ID: "c1", Name: "Agent", Class: job.ClassDelegate, Title: "delegated: look",
				Changes: true, Paths: []job.Touch{{Name: "src/a.go", Role: job.RoleResult}}, Done: &agent.Done{Result: job.OK, Output: "found src/a.go"}}}},
		{`"hook_event_name":"PreCompact","trigger":"auto"`, agent.Event{Kind: agent.BeforeCompact, Name: "PreCompact", Trigger: "auto"}},
		{`"hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"`, agent.Event{Kind: agent.TurnEnd, Name: "Stop", Looping: true, Message: "done"}},
		{`"hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"429"`, agent.Event{Kind: agent.TurnFailed, Name: "StopFailure", Reason: "rate_limit", Message: "429"}},
		{`"hook_event_name":"SubagentStop","agent_id":"a1","last_assistant_message":"x"`, agent.Event{Kind: agent.SubagentEnd, Name: "SubagentStop", Subagent: "a1", Message: "x"}},
		{`"hook_event_name":"SessionEnd","reason":"clear"`, agent.Event{Kind: agent.SessionEnd, Name: "SessionEnd", Reason: "clear"}},
		{`"hook_event_name":"Novelty"`, agent.Event{Kind: agent.OtherEvent, Name: "Novelty"}},
	} {
		got, err := Adapter{}.DecodeHook([]byte("{"+common+c.in+"}"), env(EnvPID, "42"))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		c.want.Session, c.want.Transcript, c.want.Dir, c.want.PromptID, c.want.PID = "s1", "/h/s1.jsonl", "/w", "p1", 42
		if !reflect.DeepEqual(got, c.want) {
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(c.want)
			t.Errorf("%s gives\n%s, want\n%s", c.in, a, b)
		}
	}
	for _, bad := range []string{``, `[]`, `{"session_id":7}`, `{"hook_event_name":"Stop"}`} {
		if e, err := (Adapter{}).DecodeHook([]byte(bad), env()); err == nil {
			t.Errorf("%q gives %+v, want an error", bad, e)
		}
	}
}

func TestEncodeAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event  string
		answer agent.Answer
		want   string
	}{
		{HookSessionStart, agent.Answer{Context: "brief"}, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"brief"}}` + "\n"},
		{HookAfterTool, agent.Answer{Context: "nudge"}, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"nudge"}}` + "\n"},
		{HookToolFailed, agent.Answer{Context: "nudge"}, `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"nudge"}}` + "\n"},
		{HookBeforeTool, agent.Answer{Deny: "gone"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"gone"}}` + "\n"},
		{HookBeforeTool, agent.Answer{Deny: "gone", EndTurn: true}, `{"continue":false,"stopReason":"gone","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"gone"}}` + "\n"},
		{HookPrompt, agent.Answer{Block: "budget"}, `{"decision":"block","reason":"budget"}` + "\n"},
		{HookBeforeCompact, agent.Answer{Steer: "keep this", Context: "lost"}, "keep this"},
		{HookStop, agent.Answer{Context: "nothing to add here"}, ""},
		{HookSessionEnd, agent.Answer{Context: "too late", Deny: "x", Block: "y"}, ""},
		{HookBeforeTool, agent.Answer{}, ""},
	} {
		got := Adapter{}.EncodeAnswer(agent.Event{Kind: kind(c.event), Name: c.event}, c.answer)
		if string(got.Stdout) != c.want || got.Exit != 0 || len(got.Stderr) != 0 {
			t.Errorf("%s %+v gives %q, want %q", c.event, c.answer, got.Stdout, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	argv, _ := Adapter{}.Command(agent.Drive{Program: "/opt/my duplex", Dir: "/w", Session: "s1", Model: "script-large", Prompt: "Go on.",
		Args: []string{"--script", "x.json"}, Hook: []string{"/opt/my duplex", "hook"}})
	want := []string{"/opt/my duplex", "agent-script", "--dir", "/w", "--session-id", "s1", "--model", "script-large",
		"--hook", "'/opt/my duplex' hook script", "--script", "x.json", "--prompt", "Go on."}
	if !slices.Equal(argv, want) {
		t.Errorf("command is %q, want %q", argv, want)
	}
	argv, _ = Adapter{}.Command(agent.Drive{Session: "s1", Resume: true, Prompt: "x"})
	if want := []string{"duplex", "agent-script", "--resume", "s1", "--prompt", "x"}; !slices.Equal(argv, want) {
		t.Errorf("command is %q, want %q", argv, want)
	}
	if got := commandLine([]string{"a", "", "it's"}); got != `a '' 'it'\''s'` {
		t.Errorf("quoted to %s", got)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	a := Adapter{}
	for _, c := range []struct {
		model, window string
		want          agent.Levels
	}{
		{"script-small", "", agent.Levels{Window: 12_000, Level: 10_800}},
		{"script-large", "", agent.Levels{Window: 40_000, Level: 36_000}},
		{"script-large", "5000", agent.Levels{Window: 5000, Level: 4500}},
		{"script-small", "-1", agent.Levels{Window: 12_000, Level: 10_800}},
		{"other", "", agent.Levels{}},
	} {
		if got := a.Levels(c.model, env(EnvWindow, c.window)); got != c.want {
			t.Errorf("levels of %s with window %q are %+v, want %+v", c.model, c.window, got, c.want)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	reset := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, c := range []struct {
		line StreamLine
		want agent.Streamed
	}{
		{StreamLine{Type: StreamSystem, Subtype: "init", SessionID: "s"}, agent.Streamed{Session: "s"}},
		{StreamLine{Type: LineAssistant, SessionID: "s", Message: &Content{Content: []Block{{Type: "text", Text: "hello"}}}}, agent.Streamed{Session: "s", Text: "hello"}},
		{StreamLine{Type: LineAssistant, AgentID: "a", Message: &Content{Content: []Block{{Type: "text", Text: "aside"}}}}, agent.Streamed{}},
		{StreamLine{Type: StreamResult, TerminalReason: EndCompleted, Result: "x"}, agent.Streamed{End: agent.EndDone, Reason: EndCompleted}},
		{StreamLine{Type: StreamResult, IsError: true, TerminalReason: EndContextLimit}, agent.Streamed{End: agent.EndFull, Reason: EndContextLimit}},
		{StreamLine{Type: StreamResult, IsError: true, TerminalReason: EndRateLimit, Result: "until", Resets: reset.Unix()},
			agent.Streamed{End: agent.EndLimit, Reason: "until", Until: job.At(reset)}},
	} {
		data, err := json.Marshal(c.line)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := (Adapter{}).Stream(data); err != nil || got != c.want {
			t.Errorf("%s gives %+v, %v; want %+v", data, got, err, c.want)
		}
	}
	if _, err := (Adapter{}).Stream([]byte("oops")); err == nil {
		t.Error("a line that is no JSON gives no error")
	}
}

// transcript is one of each line.
func transcript() string {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	usage := func(output int64) *Usage { return &Usage{Input: 10, CacheWrite: 20, CacheRead: 30, Output: output} }
	lines := []Line{
		{Type: LineSession, SessionID: "s1", Agent: "script", Version: Version, From: "s0", Dir: "/w", Branch: "main", Model: "script-small"},
		{Type: LineContext, Hook: HookSessionStart, Text: "brief"},
		{Type: LineUser, PromptID: "p1", UUID: "u1", Message: &Content{Role: User, Content: []Block{{Type: "text", Text: "do it"}}}},
		{Type: LineAssistant, UUID: "u2", Message: &Content{ID: "m1", Role: Assistant, Model: "script-small", Content: []Block{{Type: "text", Text: "I will."}}, Usage: usage(1)}},
		{Type: LineAssistant, UUID: "u3", Message: &Content{ID: "m1", Role: Assistant, Model: "script-small", StopReason: "tool_use", Usage: usage(40),
			Content: []Block{{Type: "tool_use", ID: "c1", Name: Bash, Input: &Input{Command: "go test ./a"}}}}},
		{Type: LineUser, Result: Failed, Millis: 12, Message: &Content{Role: User, Content: []Block{{Type: "tool_result", Of: "c1", Content: "Exit code 1\na/a_test.go:7: no", Failed: true}}}},
		{Type: "novelty"},
		{Type: LineBoundary, Compact: &Boundary{Trigger: "auto", Before: 9, After: 2}},
		{Type: LineUser, Summary: true, Message: &Content{Role: User, Content: []Block{{Type: "text", Text: "Summary"}}}},
		{Type: LineAssistant, Message: &Content{ID: "m2", Role: Assistant, Model: "script-small", StopReason: "tool_use", Usage: usage(5),
			Content: []Block{{Type: "tool_use", ID: "c2", Name: AskUser, Input: &Input{Question: "Keep it?", Options: []string{"yes", "no"}}}}}},
		{Type: LineUser, Message: &Content{Role: User, Content: []Block{{Type: "tool_result", Of: "c2", Content: "yes"}}}},
		{Type: LineAssistant, Error: "rate_limit", Resets: at.Unix(), Message: &Content{ID: "e1", Role: Assistant, Model: "<synthetic>", Content: []Block{{Type: "text", Text: "limit"}}}},
		{Type: LineTotals, Totals: map[string]Usage{"script-small": *usage(45)}},
		{Type: LineEnd, Reason: "other"},
		{Type: LineAssistant, Message: &Content{ID: "m3", Role: Assistant, Model: "script-small", StopReason: "tool_use", Usage: usage(5),
			Content: []Block{{Type: "tool_use", ID: "c3", Name: Write, Input: &Input{Path: "/w/b.go", Content: "x\n"}}}}},
	}
	var out strings.Builder
	for i, l := range lines {
		l.Time = at.Add(time.Duration(i) * time.Second)
		out.Write(l.Encode())
	}
	return out.String()
}

func readAll(t testing.TB, r agent.Reader, text string, offset int64) (rows []agent.Row) {
	t.Helper()
	for line := range strings.Lines(text) {
		got, err := r.Line([]byte(strings.TrimSuffix(line, "\n")), offset)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, got...)
		offset += int64(len(line))
	}
	return rows
}

func TestReader(t *testing.T) {
	t.Parallel()
	r := Adapter{}.NewReader()
	rows := append(readAll(t, r, transcript(), 0), r.End()...)
	var got []string
	for _, row := range rows {
		s := string(row.Kind)
		switch {
		case row.Call != nil:
			s += " " + row.Call.Title
			if d := row.Call.Done; d != nil {
				s += " " + string(d.Result) + " " + d.Output
			}
		case row.Usage != nil:
			s += " " + row.Usage.Message
			if row.Usage.Final {
				s += " final"
			}
		case row.Text != "":
			s += " " + row.Text
		}
		got = append(got, s)
	}
	want := []string{"instruction do it", "said I will.", "usage m1", "usage m1 final", "result go test ./a failed a/a_test.go:7: no", "compacted",
		"asked Keep it?", "usage m2 final", "answered yes", "limit rate_limit: limit", "totals", "ended other", "usage m3 final", "call edited b.go"}
	if !slices.Equal(got, want) {
		t.Errorf("rows are\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if h := r.Header(); h.Session != "s1" || h.From != "s0" || h.Dir != "/w" || h.Branch != "main" || h.Model != "script-small" || h.Version != Version || h.Started == 0 {
		t.Errorf("header is %+v", h)
	}
	if !reflect.DeepEqual(r.Skipped(), map[string]int{"novelty": 1}) {
		t.Errorf("skipped %v", r.Skipped())
	}
	for _, row := range rows {
		switch row.Kind {
		case agent.RowInstruction:
			if row.Record != "p1" {
				t.Errorf("the record of an instruction is %q, want the prompt's id, as hooks say it", row.Record)
			}
		case agent.RowResult:
			if d := row.Call.Done; row.Record != "c1" || *d.Exit != 1 || d.Millis != 12 || row.Call.Paths[0].Name != "a/a_test.go" {
				t.Errorf("result is %+v", row.Call)
			}
		case agent.RowUsage:
			if u := row.Usage; u.Message == "m1" && u.Final && (u.Context != 100 || u.Tokens.CacheWrite5m != 20) {
				t.Errorf("usage is %+v", u)
			}
		}
	}
}

// Reading on in another process gives what reading in one go gives.
func TestReaderGoesOnFromAnyLine(t *testing.T) {
	t.Parallel()
	whole := transcript()
	once := Adapter{}.NewReader()
	want := append(readAll(t, once, whole, 0), once.End()...)
	for i := range len(whole) {
		if i > 0 && whole[i-1] != '\n' {
			continue
		}
		first := Adapter{}.NewReader()
		got := readAll(t, first, whole[:i], 0)
		state, err := first.State()
		if err != nil {
			t.Fatal(err)
		}
		second := Adapter{}.NewReader()
		if err := second.Restore(state); err != nil {
			t.Fatal(err)
		}
		got = append(append(got, readAll(t, second, whole[i:], int64(i))...), second.End()...)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(second.Header(), once.Header()) || !reflect.DeepEqual(second.Skipped(), once.Skipped()) {
			t.Fatalf("cut at %d it read something else", i)
		}
	}
	if err := (Adapter{}).NewReader().Restore([]byte("x")); err == nil {
		t.Error("a broken state is taken")
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		transcript(): true,
		`{"type":"user","message":{"role":"user","content":"x"},"uuid":"u","sessionId":"s","version":"2.1.332"}`: false,
		`{"type":"session_meta","payload":{}}`: false,
		"":                                     false, "session": false,
	} {
		if got := (Adapter{}).Sniff([]byte(head)); got != want {
			t.Errorf("Sniff(%.60q) = %v, want %v", head, got, want)
		}
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	var lines []Line
	for raw := range strings.Lines(transcript()) {
		l, err := ParseLine([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	p := Recall(lines)
	if p.Opened != 1 || p.Prompts != 1 || p.Model != "script-small" || len(p.Dangling) != 1 || p.Dangling[0].ID != "c3" {
		t.Errorf("recalled %+v", p)
	}
	if want := (Usage{Input: 20, CacheWrite: 40, CacheRead: 60, Output: 50}); p.Totals["script-small"] != want {
		t.Errorf("totals are %+v, want the last ones and the message since: %+v", p.Totals, want)
	}
	before := Recall(lines[:6]).Context
	if len(before) != 4 || before[2].Text != "I will." || before[2].Uses[0].ID != "c1" || before[3].Result != Failed {
		t.Errorf("before the boundary the context is %+v", before)
	}
	if p.Context[0].Text != "Summary" {
		t.Errorf("after the boundary the context is %+v", p.Context)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(transcript())
	f.Add(`{"type":"assistant","message":{"content":[{"type":"tool_use"},{"type":"tool_use"}]}}` + "\n" + `{"type":"user","message":{"content":[{"type":"tool_result"}]}}`)
	f.Add("{}\n\nnull\n[]\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, fresh := Adapter{}.NewReader(), Adapter{}.NewReader()
		offset := int64(0)
		var parsed []Line
		for line := range strings.Lines(text) {
			data := []byte(strings.TrimSuffix(line, "\n"))
			rows, err := r.Line(data, offset)
			if err != nil && len(rows) > 0 {
				t.Fatal("rows with an error")
			}
			for i, row := range rows {
				if row.Offset != offset || row.Ordinal != i {
					t.Fatalf("row %+v of offset %d", row, offset)
				}
			}
			if l, err := ParseLine(data); err == nil {
				parsed = append(parsed, l)
			}
			offset += int64(len(line))
		}
		state, err := r.State()
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.Restore(state); err != nil {
			t.Fatal(err)
		}
		if len(fresh.End()) != len(r.End()) {
			t.Fatal("calls in flight were lost")
		}
		Adapter{}.Sniff([]byte(text))
		Tokens(Recall(parsed).Context)
	})
}

func FuzzDecodeHook(f *testing.F) {
	f.Add(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"git commit -m x"},"tool_response":{"stdout":"[main 1234567] x"}}`)
	f.Add(`{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Edit","tool_input":null,"tool_response":"text","error":"Exit code 99999999999999999999\n"}`)
	f.Add(`{"session_id":"s","hook_event_name":"Stop"}`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Adapter{}.DecodeHook([]byte(text), env())
		if err != nil {
			return
		}
		if e.Session == "" || e.Kind == "" {
			t.Fatalf("event %+v", e)
		}
		if e.Tool != nil && (strings.Contains(e.Tool.Title, "\n") || len(e.Tool.Paths) > job.MaxPaths) {
			t.Fatalf("call %+v", e.Tool)
		}
		out := Adapter{}.EncodeAnswer(e, agent.Answer{Context: text, Deny: text, Block: text})
		if len(out.Stdout) > 0 && e.Kind != agent.BeforeCompact && !json.Valid(out.Stdout) {
			t.Fatalf("answer %q", out.Stdout)
		}
		_, _ = Adapter{}.Stream([]byte(text))
	})
}
