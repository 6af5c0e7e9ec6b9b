package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

func none(string) string { return "" }

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func decode(t *testing.T, text string) agent.Event {
	t.Helper()
	e, err := claude.Adapter{}.DecodeHook([]byte(text), none)
	if err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return e
}

const always = `"session_id":"s1","transcript_path":"/h/.claude/projects/-w/s1.jsonl","cwd":"/w","prompt_id":"p1"`

func TestDecodeMoments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]agent.Event{
		`"hook_event_name":"SessionStart","source":"startup"`: {Kind: agent.SessionStart, Source: "startup"},
		`"hook_event_name":"SessionStart","source":"resume","context_tokens":3050,"model":"claude-opus-5-5"`: {
			Kind: agent.SessionStart, Source: "resume", Context: 3050, Model: "claude-opus-5-5"},
		`"hook_event_name":"SessionStart","source":"clear","model":{"id":"claude-haiku-4-5","display_name":"Haiku"}`: {
			Kind: agent.SessionStart, Source: "clear", Model: "claude-haiku-4-5"},
		`"hook_event_name":"UserPromptSubmit","prompt":"make it\nso <system-reminder>x</system-reminder>"`: {
			Kind: agent.Prompt, Prompt: "make it\nso"},
		`"hook_event_name":"UserPromptSubmit","prompt":"<duplex-brief job=\"k\">x</duplex-brief>"`: {Kind: agent.Prompt},
		`"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null`:               {Kind: agent.BeforeCompact, Trigger: "auto"},
		`"hook_event_name":"PostCompact","trigger":"manual","compact_summary":"s"`:                 {Kind: agent.AfterCompact, Trigger: "manual"},
		`"hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"All done."`: {
			Kind: agent.TurnEnd, Looping: true, Message: "All done."},
		`"hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"API Error: 429"`: {
			Kind: agent.TurnFailed, Reason: "rate_limit", Message: "API Error: 429"},
		`"hook_event_name":"SubagentStart","agent_id":"a1","agent_type":"Explore"`:                                {Kind: agent.SubagentStart, Subagent: "a1"},
		`"hook_event_name":"SubagentStop","agent_id":"a1","agent_type":"Explore","last_assistant_message":"Yes."`: {Kind: agent.SubagentEnd, Subagent: "a1", Message: "Yes."},
		`"hook_event_name":"SubagentStop","agent_id":"a2","agent_type":"","last_assistant_message":"a summary"`:   {Kind: agent.OtherEvent, Subagent: "a2", Message: "a summary"},
		`"hook_event_name":"SessionEnd","reason":"prompt_input_exit"`:                                             {Kind: agent.SessionEnd, Reason: "prompt_input_exit"},
		`"hook_event_name":"Notification","message":"needs you","notification_type":"permission_prompt"`:          {Kind: agent.OtherEvent},
		`"hook_event_name":"UserPromptSubmit","prompt":"go on","source":"user","session_title":"x"`:               {Kind: agent.Prompt, Prompt: "go on"},
		`"hook_event_name":"UserPromptSubmit","prompt":"go on","source":"sdk"`:                                    {Kind: agent.Prompt, Prompt: "go on"},
		`"hook_event_name":"UserPromptSubmit","prompt":"go on","source":"loop_wakeup"`:                            {Kind: agent.Prompt},
		`"hook_event_name":"UserPromptSubmit","prompt":"go on","source":"system"`:                                 {Kind: agent.Prompt},
		`"hook_event_name":"StopFailure","error":"overloaded","error_details":"529"`:                              {Kind: agent.TurnFailed, Reason: "overloaded", Message: "529"},
		`"hook_event_name":"PreModelSwitch","from_model":"a","to_model":"claude-haiku-4-5"`:                       {Kind: agent.OtherEvent},
		`"hook_event_name":"PostModelSwitch","source":"picker","to_model":"b","context_tokens":7`:                 {Kind: agent.OtherEvent, Model: "b", Context: 7},
		`"hook_event_name":"SomethingNew","reason":7,"source":["x"],"stop_hook_active":"yes"`:                     {Kind: agent.OtherEvent},
	} {
		got := decode(t, "{"+always+","+text+"}")
		want.Name = got.Name
		want.Session, want.Transcript, want.Dir, want.PromptID = "s1", "/h/.claude/projects/-w/s1.jsonl", "/w", "p1"
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, want)
		}
		if got.Name == "" {
			t.Errorf("%s: the event's own name is lost", text)
		}
	}
}

func TestDecodeCalls(t *testing.T) {
	t.Parallel()
	bash := `"tool_name":"Bash","tool_input":{"command":"go test ./...","description":"x"},"tool_use_id":"toolu_1"`
	before := decode(t, `{`+always+`,"hook_event_name":"PreToolUse","agent_id":"a1",`+bash+`}`)
	if before.Kind != agent.BeforeTool || before.Subagent != "a1" || before.Tool == nil || before.Tool.Done != nil {
		t.Fatalf("before: %+v", before)
	}
	if c := before.Tool; c.ID != "toolu_1" || c.Class != job.ClassTest || !c.Changes || c.Command != "go test ./..." {
		t.Errorf("before: call %+v", c)
	}

	failed := decode(t, `{`+always+`,"hook_event_name":"PostToolUseFailure",`+bash+`,"error":"Exit code 3\nFAIL","is_interrupt":false,"duration_ms":306}`)
	if d := failed.Tool.Done; failed.Kind != agent.AfterTool || d.Result != job.Failed || d.Exit == nil || *d.Exit != 3 || d.Millis != 306 || d.Output != "FAIL" {
		t.Errorf("failed: %+v", d)
	}

	stopped := decode(t, `{`+always+`,"hook_event_name":"PostToolUseFailure",`+bash+`,"error":"Request interrupted","is_interrupt":true}`)
	if d := stopped.Tool.Done; d.Result != job.ResultUnknown || d.Exit != nil {
		t.Errorf("interrupted: %+v", d)
	}

	commit := decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"git commit -m 'cart: add tax'"},`+
		`"tool_response":{"stdout":"[main 4e1c9ab] cart: add tax\n 1 file changed\n","stderr":"warning: crlf","interrupted":false,"isImage":false},"tool_use_id":"t2","duration_ms":134}`)
	if c := commit.Tool; c.Class != job.ClassCommit || c.Commit != "4e1c9ab" || c.Done.Result != job.OK || *c.Done.Exit != 0 ||
		c.Done.Output != "[main 4e1c9ab] cart: add tax\n 1 file changed\nwarning: crlf" {
		t.Errorf("commit: %+v %+v", c, c.Done)
	}

	edit := decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"/w/a.go","old_string":"x","new_string":"addTax\ny","replace_all":true},`+
		`"tool_response":{"filePath":"/w/a.go","structuredPatch":[{"lines":["-x","+addTax","+y"," z"]},{"lines":["-x","+addTax","+y"]}]},"tool_use_id":"t3"}`)
	if c := edit.Tool; c.Class != job.ClassEdit || c.Added != 4 || c.Removed != 2 || c.Title != "edited a.go" ||
		len(c.Paths) != 1 || c.Paths[0] != (job.Touch{Name: "/w/a.go", Role: job.RoleEdit}) ||
		len(c.Symbols) != 1 || c.Symbols[0] != (job.Touch{Name: "addTax", Role: job.RoleEdit, In: "/w/a.go"}) {
		t.Errorf("edit: %+v", c)
	}

	read := decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/elsewhere/deep/b.go"},"tool_response":{"type":"text","file":{"content":"see deep/c.go:7"}}}`)
	if c := read.Tool; c.Class != "" || c.Changes || c.Title != "read deep/b.go" || c.Done.Output != "" || len(c.Paths) != 2 ||
		c.Paths[0].Role != job.RoleRead || c.Paths[1] != (job.Touch{Name: "deep/c.go", Role: job.RoleResult}) {
		t.Errorf("read: %+v %+v", c, c.Done)
	}

	write := decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"/w/n.go","content":"a\nb\n"},`+
		`"tool_response":{"type":"create","filePath":"/w/n.go","content":"a\nb\n","structuredPatch":[]}}`)
	if c := write.Tool; c.Title != "wrote n.go" || c.Added != 2 || c.Done.Output != "" {
		t.Errorf("write: %+v %+v", c, c.Done)
	}

	sub := decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"Agent","tool_input":{"description":"look","prompt":"p","subagent_type":"Explore"},`+
		`"tool_response":{"status":"completed","agentId":"a1","content":[{"type":"text","text":"found"}],"totalDurationMs":720}}`)
	if c := sub.Tool; c.Class != job.ClassDelegate || !c.Changes || c.Done.Output != "found" || c.Done.Millis != 720 {
		t.Errorf("sub-agent: %+v %+v", c, c.Done)
	}

	mcp := decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"mcp__tracker__create_issue","tool_input":{"title":"x"},"tool_response":[{"type":"text","text":"issue 7"}]}`)
	if c := mcp.Tool; c.Class != job.ClassOther || !c.Changes || c.Done.Output != "issue 7" {
		t.Errorf("server tool: %+v %+v", c, c.Done)
	}
	own := decode(t, `{`+always+`,"hook_event_name":"PreToolUse","tool_name":"mcp__plugin_duplex_duplex__standing","tool_input":{}}`)
	if own.Tool.Changes {
		t.Error("a stale actor must be able to ask where its job stands")
	}
	own = decode(t, `{`+always+`,"hook_event_name":"PostToolUse","tool_name":"mcp__duplex__decide","tool_input":{"text":"x"},"tool_response":"{}","tool_use_id":"t1"}`)
	if own.Kind != agent.AfterTool || own.Tool != nil {
		t.Errorf("what Duplex recorded itself is told again: %+v", own.Tool)
	}
}

func TestDecodeEnvironment(t *testing.T) {
	t.Parallel()
	env := environment("CLAUDE_PID", "4321", "CLAUDE_CODE_SESSION_ID", "from-env", "CLAUDE_PROJECT_DIR", "/p")
	e, err := claude.Adapter{}.DecodeHook([]byte(`{"hook_event_name":"Stop"}`), env)
	if err != nil || e.PID != 4321 || e.Session != "from-env" || e.Dir != "/p" {
		t.Errorf("got %+v, %v", e, err)
	}
	for _, text := range []string{"", "null", "[]", `{"session_id":"s"`, `{"session_id":"s"} x`, `"x"`} {
		if e, err := (claude.Adapter{}).DecodeHook([]byte(text), none); err == nil {
			t.Errorf("%q decoded to %+v", text, e)
		}
	}
}

func TestDecodeRecordedHooks(t *testing.T) {
	t.Parallel()
	dir, ok := shared("agents", "claude-code", "hooks")
	if !ok {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e, err := claude.Adapter{}.DecodeHook(text, none)
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if err != nil || e.Name != name || e.Session == "" || e.Transcript == "" || e.Dir == "" {
			t.Errorf("%s: %+v, %v", filepath.Base(file), e, err)
		}
		if filepath.Base(file) == "PostToolUse.mcp.json" { // Duplex's own tool
			if e.Tool != nil {
				t.Errorf("a call of Duplex is told as work: %+v", e.Tool)
			}
			continue
		}
		if tool := strings.HasPrefix(name, "PreToolUse") || strings.HasPrefix(name, "PostToolUse"); tool && (e.Tool == nil || e.Tool.ID == "" || e.Tool.Title == "") {
			t.Errorf("%s: call %+v", filepath.Base(file), e.Tool)
		}
	}
}

func TestEncodeAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   agent.EventKind
		name   string
		answer agent.Answer
		want   string
	}{
		{agent.SessionStart, "SessionStart", agent.Answer{Context: "a <b> & “c”"},
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a <b> & “c”"}}`},
		{agent.SessionStart, "SessionStart", agent.Answer{}, ``},
		{agent.Prompt, "UserPromptSubmit", agent.Answer{Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`},
		{agent.Prompt, "UserPromptSubmit", agent.Answer{Block: "taken over", Context: "c"}, `{"decision":"block","reason":"taken over"}`},
		{agent.AfterTool, "PostToolUse", agent.Answer{Context: "nudge"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"nudge"}}`},
		{agent.AfterTool, "PostToolUseFailure", agent.Answer{Context: "nudge"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"nudge"}}`},
		{agent.AfterTool, "PostToolUse", agent.Answer{Context: "handed over", EndTurn: true}, `{"continue":false,"stopReason":"handed over"}`},
		{agent.AfterTool, "PostToolUseFailure", agent.Answer{Context: "handed over", EndTurn: true},
			`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"handed over"}}`},
		{agent.BeforeTool, "PreToolUse", agent.Answer{Deny: "fenced", EndTurn: true},
			`{"continue":false,"stopReason":"fenced","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"fenced"}}`},
		{agent.BeforeTool, "PreToolUse", agent.Answer{Deny: "not now"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not now"}}`},
		{agent.BeforeTool, "PreToolUse", agent.Answer{}, ``},
		{agent.BeforeCompact, "PreCompact", agent.Answer{Steer: "keep the plan", Context: "lost"}, `keep the plan`},
		{agent.TurnEnd, "Stop", agent.Answer{Block: "lost", Context: "lost"}, ``},
		{agent.SubagentEnd, "SubagentStop", agent.Answer{Block: "lost", Context: "lost"}, ``},
		{agent.AfterCompact, "PostCompact", agent.Answer{Context: "lost", Steer: "lost"}, ``},
		{agent.TurnFailed, "StopFailure", agent.Answer{Context: "lost"}, ``},
		{agent.SessionEnd, "SessionEnd", agent.Answer{Context: "lost"}, ``},
		{agent.OtherEvent, "Notification", agent.Answer{Context: "lost", Deny: "lost"}, ``},
		{agent.SessionStart, "", agent.Answer{Context: "c"}, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},
	} {
		out := claude.Adapter{}.EncodeAnswer(agent.Event{Kind: c.kind, Name: c.name}, c.answer)
		if got := strings.TrimSpace(string(out.Stdout)); got != c.want || out.Exit != 0 || len(out.Stderr) > 0 {
			t.Errorf("%s, %+v:\n got %s (exit %d)\nwant %s", c.kind, c.answer, got, out.Exit, c.want)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	a := claude.Adapter{}
	for _, piece := range []string{"x", "“é”", "𝕏"} {
		out := a.EncodeAnswer(agent.Event{Kind: agent.SessionStart, Name: "SessionStart"}, agent.Answer{Context: strings.Repeat(piece, 12_000)})
		var got struct {
			Specific struct {
				Context string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal(out.Stdout, &got); err != nil {
			t.Fatal(err)
		}
		units := 0
		for _, r := range got.Specific.Context {
			units++
			if r > 0xFFFF {
				units++
			}
		}
		if units > a.Bounded() || units < a.Bounded()-2 || !strings.HasSuffix(got.Specific.Context, "…") {
			t.Errorf("%q × 12,000: %d units, want %d", piece, units, a.Bounded())
		}
	}
}

// TestEveryEvent: what each event of the reference is taken for, and what of an
// answer it carries. An event that is not listed is nothing and carries nothing.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	const context, deny, block, steer = "the context", "the denial", "the block", "the steer"
	carried := map[string][]string{
		"SessionStart": {context}, "UserPromptSubmit": {block}, "PreToolUse": {deny}, "PostToolUse": {context}, "PostToolUseFailure": {context},
		"PreCompact": {steer}, "SubagentStart": {context},
	}
	known := map[string]agent.EventKind{
		"SessionStart": agent.SessionStart, "UserPromptSubmit": agent.Prompt, "PreToolUse": agent.BeforeTool, "PostToolUse": agent.AfterTool,
		"PostToolUseFailure": agent.AfterTool, "PreCompact": agent.BeforeCompact, "PostCompact": agent.AfterCompact, "Stop": agent.TurnEnd,
		"StopFailure": agent.TurnFailed, "SubagentStart": agent.SubagentStart, "SubagentStop": agent.SubagentEnd, "SessionEnd": agent.SessionEnd,
	}
	names := strings.Fields(`PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion SessionStart
		SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied
		Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded
		CwdChanged FileChanged DirectoryAdded MessageDisplay PreSkillShellCommand`)
	if len(names) != 34 {
		t.Fatalf("%d events, want 34", len(names))
	}
	for _, name := range append(names, "OfTheNextVersion") {
		e := decode(t, `{`+always+`,"hook_event_name":"`+name+`","agent_type":"Explore","tool_name":"Bash","tool_input":{"command":"ls"}}`)
		want := known[name]
		if want == "" {
			want = agent.OtherEvent
		}
		if e.Kind != want || e.Name != name {
			t.Errorf("%s is taken for %q, want %q", name, e.Kind, want)
		}
		out := claude.Adapter{}.EncodeAnswer(e, agent.Answer{Context: context, Deny: deny, Block: block, Steer: steer})
		for _, part := range []string{context, deny, block, steer} {
			if got := strings.Contains(string(out.Stdout), part); got != slices.Contains(carried[name], part) {
				t.Errorf("%s: the answer %s, of which it carries %q", name, out.Stdout, carried[name])
			}
		}
		if out.Exit != 0 || len(out.Stderr) > 0 {
			t.Errorf("%s: exit %d, %s", name, out.Exit, out.Stderr)
		}
	}
}

func FuzzDecodeHook(f *testing.F) {
	f.Add([]byte(`{` + always + `,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`))
	f.Add([]byte(`{` + always + `,"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"a"},"tool_response":{"structuredPatch":[{"lines":["+x"]}]}}`))
	f.Add([]byte(`{` + always + `,"hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"Exit code 3\n\ud83d\ude00"}`))
	f.Add([]byte(`{` + always + `,"hook_event_name":"UserPromptSubmit","prompt":"a <system-reminder>b"}`))
	f.Add([]byte(`{"hook_event_name":"StopFailure","last_assistant_message":"resets 4:40am (UTC)"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a := claude.Adapter{}
		e, err := a.DecodeHook(text, none)
		if err != nil {
			return
		}
		if (e.Tool != nil) != (e.Kind == agent.BeforeTool || e.Kind == agent.AfterTool) {
			t.Errorf("%s has call %+v", e.Kind, e.Tool)
		}
		if e.Kind == agent.AfterTool && e.Tool.Done == nil {
			t.Error("a call that ran has no result")
		}
		if out := a.EncodeAnswer(e, agent.Answer{Context: "c", Deny: "d", Steer: "s", Block: "b"}); out.Exit != 0 {
			t.Errorf("exit %d", out.Exit)
		}
	})
}
