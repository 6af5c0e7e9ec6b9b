package scripted

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
)

func TestAWholeSession(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(2)
	code, end := s.run(s.options(`{` + moves + `}`))
	if code != 0 || end.TerminalReason != script.EndCompleted || end.Result != "All moved." || end.IsError {
		t.Fatalf("exit %d, result %+v\n%s", code, end, s.out.String())
	}
	if !strings.HasSuffix(s.file("t/01.txt"), "new end\n") {
		t.Errorf("file is %q", s.file("t/01.txt"))
	}
	want := "SessionStart(startup) UserPromptSubmit" + strings.Repeat(" PreToolUse(Bash) PostToolUse(Bash)", 1) +
		strings.Repeat(" PreToolUse(Read) PostToolUse(Read) PreToolUse(Edit) PostToolUse(Edit)", 2) +
		" PreToolUse(Bash) PostToolUse(Bash) Stop SessionEnd(other)"
	if got := s.events(); got != want {
		t.Errorf("hooks were\n%s, want\n%s", got, want)
	}

	rows, r := s.rows(s.path("s1"))
	if h := r.Header(); h.Session != "s1" || h.Dir != s.work || h.Model != "script-small" || h.Started == 0 {
		t.Errorf("header is %+v", h)
	}
	kinds := map[agent.RowKind]int{}
	spent := map[string]job.Tokens{}
	var totals job.Tokens
	for _, row := range rows {
		kinds[row.Kind]++
		switch row.Kind {
		case agent.RowUsage:
			spent[row.Usage.Message] = row.Usage.Tokens
		case agent.RowTotals:
			totals = row.Totals[0].Tokens
		}
	}
	if kinds[agent.RowInstruction] != 1 || kinds[agent.RowResult] != 6 || kinds[agent.RowTotals] != 1 || kinds[agent.RowEnded] != 1 || kinds[agent.RowCall] != 0 {
		t.Errorf("rows are %v", kinds)
	}
	var sum job.Tokens
	for _, u := range spent {
		sum = sum.Plus(u)
	}
	if sum != totals || len(spent) != 7 || kinds[agent.RowUsage] <= len(spent) {
		t.Errorf("the last usage rows of %d messages (%d rows) add up to %+v, the agent's own total is %+v", len(spent), kinds[agent.RowUsage], sum, totals)
	}
	if end.Usage == nil || end.Usage.Context() != totals.Total() {
		t.Errorf("the stream says %+v", end.Usage)
	}
}

// Keeping the first row of a message instead of the last loses its output.
func TestUsageGrowsOverTheBlocksOfAMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(1)
	s.run(s.options(`{` + moves + `}`))
	byMessage := map[string][]script.Usage{}
	for _, l := range s.lines("s1") {
		if l.Type == script.LineAssistant {
			byMessage[l.Message.ID] = append(byMessage[l.Message.ID], *l.Message.Usage)
		}
	}
	several := 0
	for id, list := range byMessage {
		if len(list) < 2 {
			continue
		}
		several++
		first, last := list[0], list[len(list)-1]
		if first.Output != 1 || last.Output <= 1 || first.Input != last.Input || first.CacheRead != last.CacheRead {
			t.Errorf("usage of %s goes from %+v to %+v", id, first, last)
		}
	}
	if several == 0 {
		t.Error("no message has several blocks")
	}
}

func TestTheCacheHoldsWhatWasSeen(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(2)
	s.run(s.options(`{` + moves + `}`))
	var before script.Usage
	for _, l := range s.lines("s1") {
		if l.Type != script.LineAssistant || l.Message.StopReason == "" {
			continue
		}
		u := *l.Message.Usage
		if u.CacheRead != before.CacheRead+before.CacheWrite || u.Context() <= before.Context() {
			t.Errorf("after %+v came %+v", before, u)
		}
		before = u
	}
}

// What the brief is for, with real files, processes and hooks: the same agent
// in the same half-done folder, with an empty brief and with ours.
func TestTheBriefReachesTheModel(t *testing.T) {
	t.Parallel()
	rereads := func(brief string) (n int, first string) {
		s := newStage(t)
		s.items(12)
		for i := range 6 {
			s.write(s.work, fmt.Sprintf("t/%02d.txt", i), "new end\n")
		}
		s.write(s.dir, "SessionStart.startup", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"`+brief+`"}}`)
		if code, end := s.run(s.options(`{` + moves + `}`)); code != 0 || end.Result != "All moved." {
			t.Fatalf("exit %d, %+v", code, end)
		}
		if strings.Contains(s.file("t/11.txt"), "old") {
			t.Error("the last file was left out")
		}
		actions := 0
		for _, in := range s.hooks() {
			if in.Event != script.HookAfterTool {
				continue
			}
			if actions++; actions > 10 {
				break
			}
			if actions == 1 {
				first = strings.TrimSpace(in.ToolName + " " + in.ToolInput.Path)
			}
			if in.ToolName == script.Read && in.ToolInput.Path < "t/06.txt" {
				n++
			}
		}
		return n, first
	}
	if n, first := rereads(""); n != 6 || first != "Bash" {
		t.Errorf("with an empty brief it began with %s and re-read %d files in 10 actions, want 6", first, n)
	}
	if n, first := rereads("#21 duplex: left in t/: 06.txt, 07.txt, 08.txt +3 more"); n != 0 || first != "Read t/06.txt" {
		t.Errorf("with a brief it began with %s and re-read %d files in 10 actions, want none", first, n)
	}
}

func TestHooksAndToolsKnowWhoTheyWorkFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := s.options(`{"extras": [{"name": "env", "do": {"run": "echo $SCRIPT_SESSION_ID $SCRIPT_PID $SCRIPT_WINDOW >env.txt"}}]}`)
	o.Window = 5000
	s.run(o)
	if got, want := s.file("env.txt"), fmt.Sprintf("s1 %d 5000\n", os.Getpid()); got != want {
		t.Errorf("the environment says %q, want %q", got, want)
	}
}

func TestHooksFailOpen(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]string{"missing": "/no/such/hook-program", "exit 1": "exit 1", "nonsense": "echo '{\"continue\": 7'", "none": "-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.items(1)
			o := s.options(`{` + moves + `}`)
			o.Hook = hook
			if code, end := s.run(o); code != 0 || end.Result != "All moved." {
				t.Errorf("exit %d, %+v", code, end)
			}
		})
	}
}

func TestHooksAreObeyed(t *testing.T) {
	t.Parallel()
	deny := func(more string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"the lease has gone"}` + more + `}`
	}
	for _, c := range []struct {
		name, file, answer, reason, result string
		tools                              int
		calls                              bool // of the model
	}{
		{"deny", "PreToolUse", deny(""), script.EndCompleted, "the lease has gone", 0, true},
		{"deny and stop", "PreToolUse", deny(`,"continue":false,"stopReason":"fenced"`), script.EndHookStopped, "the lease has gone", 0, true},
		{"stop alone does not keep a tool from running", "PreToolUse", `{"continue":false}`, script.EndHookStopped, "t/00.txt", 1, true},
		{"stop after a tool", "PostToolUse", `{"continue":false}`, script.EndHookStopped, "t/00.txt", 1, true},
		{"prompt blocked", "UserPromptSubmit", `{"decision":"block","reason":"budget reached"}`, script.EndBlocked, "budget reached", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.items(1)
			s.write(s.dir, c.file, c.answer)
			code, end := s.run(s.options(`{` + moves + `}`))
			if code != 0 || end.TerminalReason != c.reason || !strings.Contains(end.Result, c.result) {
				t.Errorf("exit %d, %+v; want %s %q", code, end, c.reason, c.result)
			}
			if got := strings.Count(s.events(), "PostToolUse("); got != c.tools {
				t.Errorf("%d tools ran, want %d: %s", got, c.tools, s.events())
			}
			if got := end.Usage.Output > 0; got != c.calls {
				t.Errorf("the model was called: %v, want %v", got, c.calls)
			}
		})
	}
}

func TestAHookMayKeepATurnGoingButNotForEver(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(s.dir, "Stop", `{"decision":"block","reason":"write the handover"}`)
	code, _ := s.run(s.options(`{"end": "I am done."}`))
	if got := strings.Count(s.events(), "Stop"); code != 0 || got != maxStops+1 {
		t.Errorf("exit %d after %d Stop events, want %d", code, got, maxStops+1)
	}
	if all := s.hooks(); all[2].StopHookActive || !all[3].StopHookActive {
		t.Error("stop_hook_active is not said from the second time on")
	}
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(12)
	s.write(s.dir, "PreCompact", "keep: the names stay\n")
	s.write(s.dir, "SessionStart.compact", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"left in t: 10.txt, 11.txt"}}`)
	o := s.options(`{` + moves + `}`)
	o.Window = 2600
	code, end := s.run(o)
	if code != 0 || end.Result != "All moved." {
		t.Fatalf("exit %d, %+v\n%s", code, end, s.out.String())
	}
	if !strings.Contains(s.events(), "PreCompact SessionStart(compact) PostCompact") {
		t.Errorf("hooks were %s", s.events())
	}
	rows, _ := s.rows(s.path("s1"))
	var peak, seen int64
	compacted := 0
	for _, row := range rows {
		switch row.Kind {
		case agent.RowCompacted:
			compacted++
		case agent.RowUsage:
			peak = max(peak, row.Usage.Context)
			if row.Usage.Final {
				seen += row.Usage.Tokens.Total()
			}
		case agent.RowTotals:
			if row.Totals[0].Tokens.Total() <= seen {
				t.Errorf("the total %d does not hold the summary's own call beside the rows' %d", row.Totals[0].Tokens.Total(), seen)
			}
		}
	}
	if compacted == 0 || peak < 1800 || peak > 2600 {
		t.Errorf("compacted %d times, peak %d tokens", compacted, peak)
	}
	for _, in := range s.hooks() {
		if in.Event == script.HookAfterCompact && !strings.Contains(in.Summary, "keep: the names stay") {
			t.Errorf("the summary lost what the hook said: %q", in.Summary)
		}
	}
	after := script.Recall(s.lines("s1")).Context
	if after[0].Role != script.User || !strings.Contains(after[0].Text, "Summary:") || !strings.Contains(after[1].Text, "left in t:") {
		t.Errorf("the context after the boundary begins with %+v", after[:2])
	}
}

func TestTheLimitWithoutCompaction(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(12)
	o := s.options(`{"compact": "off", ` + moves + `}`)
	o.Window = 2000
	code, end := s.run(o)
	if code != 1 || end.TerminalReason != script.EndContextLimit || !end.IsError {
		t.Errorf("exit %d, %+v", code, end)
	}
	if got := s.events(); !strings.HasSuffix(got, "StopFailure(prompt_too_long) SessionEnd(other)") {
		t.Errorf("hooks were %s", got)
	}
	rows, _ := s.rows(s.path("s1"))
	if !has(rows, func(r agent.Row) bool {
		return r.Kind == agent.RowLimit && r.Text == "prompt_too_long: Prompt is too long"
	}) {
		t.Error("the transcript does not say that the context was full")
	}
}

func has(rows []agent.Row, is func(agent.Row) bool) bool {
	for _, r := range rows {
		if is(r) {
			return true
		}
	}
	return false
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	for limit, until := range map[string]bool{"2h": true, "unknown": false, "2026-03-02T12:00:00Z": true} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.items(2)
			code, end := s.run(s.options(`{` + moves + `, "extras": [{"name": "limit", "when": {"items": 1}, "do": {"limit": "` + limit + `"}}]}`))
			if code != 1 || end.TerminalReason != script.EndRateLimit || (end.Resets > s.now.Unix()) != until {
				t.Errorf("exit %d, %+v", code, end)
			}
			if got := s.events(); !strings.HasSuffix(got, "StopFailure(rate_limit) SessionEnd(other)") {
				t.Errorf("hooks were %s", got)
			}
			rows, _ := s.rows(s.path("s1"))
			if !has(rows, func(r agent.Row) bool { return r.Kind == agent.RowLimit && (r.Until > 0) == until }) {
				t.Error("the transcript does not say until when")
			}
			o := s.options(`{` + moves + `, "extras": [{"name": "limit", "when": {"items": 1}, "do": {"limit": "` + limit + `"}}]}`)
			o.Resume, o.Session = "s1", ""
			if code, end := s.run(o); code != 0 || end.Result != "All moved." {
				t.Errorf("when resumed: exit %d, %+v", code, end)
			}
		})
	}
}

func TestSubAgent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(s.work, "a.txt", "needle_in_hay here\n")
	code, end := s.run(s.options(`{"end": "Thanks.", "extras": [
		{"name": "delegate", "do": {"call": {"name": "Agent", "input": {"subagent_type": "look", "description": "find it", "prompt": "Where is the needle?"}}}}],
		"agents": {"look": {"end": "It is in a.txt.", "extras": [{"name": "grep", "do": {"call": {"name": "Grep", "input": {"pattern": "needle_in_hay"}}}}]}}}`))
	if code != 0 || end.Result != "Thanks." {
		t.Fatalf("exit %d, %+v", code, end)
	}
	if got := s.events(); !strings.Contains(got, "PreToolUse(Agent) SubagentStart PreToolUse(Grep) PostToolUse(Grep) SubagentStop PostToolUse(Agent)") {
		t.Errorf("hooks were %s", got)
	}
	var path, answer string
	for _, in := range s.hooks() {
		switch {
		case in.Event == script.HookSubagentStop:
			path = in.AgentTranscript
		case in.ToolName == script.Grep && in.AgentID == "":
			t.Error("a sub-agent's call does not say whose it is")
		case in.Event == script.HookAfterTool && in.ToolName == script.Agent:
			answer = string(in.ToolResponse)
		}
	}
	if !strings.Contains(answer, "It is in a.txt.") {
		t.Errorf("the parent was told %s", answer)
	}
	beside, err := filepath.Glob(script.Adapter{}.Beside(s.path("s1"))[0])
	if err != nil || len(beside) != 1 || beside[0] != path {
		t.Errorf("beside the transcript are %q, want %s", beside, path)
	}
	side, _ := s.rows(path)
	if !has(side, func(r agent.Row) bool {
		return r.Kind == agent.RowUsage && r.Side && r.Usage.Context == 0 && r.Usage.Purpose == "sub-agent"
	}) || has(side, func(r agent.Row) bool { return r.Kind == agent.RowInstruction }) {
		t.Errorf("the sub-agent's rows are %+v", side)
	}
	rows, _ := s.rows(s.path("s1"))
	var own, total int64
	for _, r := range rows {
		switch {
		case r.Kind == agent.RowUsage && r.Usage.Final:
			own += r.Usage.Tokens.Total()
		case r.Kind == agent.RowTotals:
			total = r.Totals[0].Tokens.Total()
		}
	}
	for _, r := range side {
		if r.Kind == agent.RowUsage && r.Usage.Final {
			own += r.Usage.Tokens.Total()
		}
	}
	if own != total {
		t.Errorf("both files add up to %d tokens, the total says %d", own, total)
	}
}

func TestAQuestionEndsTheTurnUnlessAnswered(t *testing.T) {
	t.Parallel()
	text := `{"end": "Then so.", "extras": [{"name": "ask", "do": {"call": {"name": "AskUser", "input": {"question": "Keep it?", "options": ["yes", "no"]}}}}]}`
	s := newStage(t)
	code, end := s.run(s.options(text))
	if code != 0 || end.TerminalReason != script.EndAsked || end.Result != "Keep it?" {
		t.Errorf("exit %d, %+v", code, end)
	}
	rows, _ := s.rows(s.path("s1"))
	if !has(rows, func(r agent.Row) bool { return r.Kind == agent.RowAsked && r.Text == "Keep it?" && len(r.Options) == 2 }) ||
		has(rows, func(r agent.Row) bool { return r.Kind == agent.RowAnswered }) {
		t.Errorf("rows are %+v", rows)
	}
	o := s.options(text)
	o.Session, o.Answer = "s2", "yes"
	if code, end := s.run(o); code != 0 || end.Result != "Then so." {
		t.Errorf("answered: exit %d, %+v", code, end)
	}
	rows, _ = s.rows(s.path("s2"))
	if !has(rows, func(r agent.Row) bool { return r.Kind == agent.RowAnswered && r.Text == "yes" }) {
		t.Errorf("rows are %+v", rows)
	}
}

func TestResumeForkAndClear(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.items(3)
	o := s.options(`{` + moves + `}`)
	o.Steps = 4 // list, read, edit, read
	if code, end := s.run(o); code != 1 || end.TerminalReason != script.EndMaxTurns || end.Subtype != "error_max_turns" {
		t.Fatalf("exit %d, %+v", code, end)
	}
	used := s.options(`{` + moves + `}`)
	if code, _ := s.run(used); code != 1 || !strings.Contains(s.out.String(), "already in use") {
		t.Errorf("a used id: exit %d, %s", code, s.out.String())
	}

	fork := s.options(`{` + moves + `}`)
	fork.Resume, fork.Fork, fork.Session, fork.Model = "s1", true, "s2", "script-large"
	if code, end := s.run(fork); code != 0 || end.Result != "All moved." {
		t.Fatalf("fork: exit %d, %+v\n%s", code, end, s.out.String())
	}
	old, copied := s.lines("s1"), s.lines("s2")
	if copied[0].From != "s1" || copied[0].Model != "script-large" {
		t.Errorf("the fork begins with %+v", copied[0])
	}
	ids := map[string]bool{}
	for _, l := range old {
		if l.Type == script.LineAssistant {
			ids[l.Message.ID] = true
		}
	}
	both, own := 0, map[string]bool{}
	for _, l := range copied {
		if l.Type == script.LineAssistant {
			if ids[l.Message.ID] {
				both++
			} else {
				own[l.Message.ID] = true
			}
		}
	}
	if both == 0 || len(own) == 0 {
		t.Errorf("%d rows copied, %d messages of its own", both, len(own))
	}
	reads := 0
	for _, in := range s.hooks() {
		if in.Event == script.HookBeforeTool && in.SessionID == "s2" && in.ToolName == script.Read {
			reads++
		}
	}
	if reads != 1 { // the first was done, the second read: both stand in the context
		t.Errorf("the fork read %d files, want 1", reads)
	}

	resumed := s.options(`{` + moves + `}`)
	resumed.Resume, resumed.Session, resumed.Prompts = "s1", "", []string{"Go on.", "/clear", "Again."}
	if code, end := s.run(resumed); code != 0 || end.Result != "All moved." {
		t.Fatalf("resume: exit %d, %+v\n%s", code, end, s.out.String())
	}
	got := s.events()
	for _, want := range []string{"SessionStart(fork)", "SessionStart(resume)", "SessionEnd(clear) SessionStart(clear)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	for _, in := range s.hooks() {
		switch in.Source {
		case "fork", "clear":
			if in.From != "s1" || in.SessionID == "s1" {
				t.Errorf("%s comes from %q as %q", in.Source, in.From, in.SessionID)
			}
		case "resume":
			if in.SessionID != "s1" || in.ContextTokens == 0 {
				t.Errorf("resumed as %q with %d tokens", in.SessionID, in.ContextTokens)
			}
		}
	}
	unknown := s.options(`{` + moves + `}`)
	unknown.Resume = "nobody"
	if code, _ := s.run(unknown); code != 1 {
		t.Errorf("an unknown id: exit %d", code)
	}
}

func TestTheSameTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	run := func() string {
		s.items(2)
		s.now = s.now.Truncate(1 << 62)
		_ = os.RemoveAll(s.home)
		o := s.options(`{` + moves + `}`)
		o.Hook = "-"
		s.run(o)
		data, err := os.ReadFile(s.path("s1"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs wrote\n%s\nand\n%s", a, b)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(s.work, "a/b.go", "one\ntwo fooBar\n")
	s.write(s.work, ".git/c.go", "fooBar\n")
	o := s.options(`{}`)
	if _, err := o.complete(); err != nil {
		t.Fatal(err)
	}
	n := &session{o: &o, env: os.Environ(), script: &script.Script{}}
	for _, c := range []struct {
		use    script.Use
		result script.Outcome
		text   string
	}{
		{script.Use{Name: "Bash", Input: script.Input{Command: "echo out; echo err >&2"}}, script.OK, "out\nerr\n"},
		{script.Use{Name: "Bash", Input: script.Input{Command: "echo no; exit 3"}}, script.Failed, "Exit code 3\nno"},
		{script.Use{Name: "Bash", Input: script.Input{Command: "sleep 60", Timeout: 100}}, script.Failed, "Exit code 124\n\nThe command took longer than 100ms and was ended."},
		{script.Use{Name: "Read", Input: script.Input{Path: "a/b.go"}}, script.OK, "     1\tone\n     2\ttwo fooBar\n"},
		{script.Use{Name: "Read", Input: script.Input{Path: "a/none.go"}}, script.Failed, "none.go: no such file or directory"},
		{script.Use{Name: "Grep", Input: script.Input{Pattern: "foo[A-Z]"}}, script.OK, "a/b.go:2:two fooBar"},
		{script.Use{Name: "Grep", Input: script.Input{Pattern: "("}}, script.Failed, "the pattern cannot be read: error parsing regexp: missing closing ): `(`"},
		{script.Use{Name: "Glob", Input: script.Input{Pattern: "**/*.go"}}, script.OK, "a/b.go"},
		{script.Use{Name: "Edit", Input: script.Input{Path: "a/b.go", Old: "o", New: "x"}}, script.Failed, "old_string stands 4 times in a/b.go: it must stand there once"},
		{script.Use{Name: "Edit", Input: script.Input{Path: "a/b.go", Old: "two", New: "three"}}, script.OK, "The file a/b.go has been updated."},
		{script.Use{Name: "Write", Input: script.Input{Path: "new/c.txt", Content: "c"}}, script.OK, "The file new/c.txt has been updated."},
		{script.Use{Name: "Agent", Input: script.Input{Agent: "nobody"}}, script.Failed, "No such agent: nobody"},
		{script.Use{Name: "WebFetch"}, script.Failed, "No such tool: WebFetch"},
	} {
		if got := n.tool(context.Background(), c.use, false); got.text != c.text || got.result != c.result {
			t.Errorf("%s %+v gave %s %q, want %s %q", c.use.Name, c.use.Input, got.result, got.text, c.result, c.text)
		}
	}
	if s.file("a/b.go") != "one\nthree fooBar\n" || s.file("new/c.txt") != "c" {
		t.Errorf("files are %q and %q", s.file("a/b.go"), s.file("new/c.txt"))
	}
}

func TestALongBriefIsCut(t *testing.T) {
	t.Parallel()
	for n, cut := range map[int]bool{script.Adapter{}.Bounded(): false, script.MaxContext: false, script.MaxContext + 1: true} {
		got := bounded(strings.Repeat("é", n))
		if strings.Contains(got, "left out") != cut {
			t.Errorf("%d characters became %d bytes", n, len(got))
		}
	}
}

func TestWrongOptions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(s.dir, "bad.json", "{")
	for want, change := range map[string]func(*Options){
		"no script":              func(o *Options) { o.Script = "" },
		"read script":            func(o *Options) { o.Script = filepath.Join(s.dir, "bad.json") },
		"no prompt":              func(o *Options) { o.Prompts = nil },
		"--fork needs":           func(o *Options) { o.Fork = true },
		"no slash":               func(o *Options) { o.Session = "../x" },
		`model "gpt" is unknown`: func(o *Options) { o.Model = "gpt" },
	} {
		o := s.options(`{}`)
		change(&o)
		if code, _ := s.run(o); code != 1 || !strings.Contains(s.out.String(), want) {
			t.Errorf("exit %d, %q; want %q", code, s.out.String(), want)
		}
	}
	if _, err := Parse([]string{"stray"}, &bytes.Buffer{}); err == nil {
		t.Error("a stray argument is taken")
	}
	o, err := Parse([]string{"--prompt", "a", "--prompt", "b", "--resume", "x", "--fork", "--window", "9"}, &bytes.Buffer{})
	if err != nil || fmt.Sprint(o.Prompts) != "[a b]" || !o.Fork || o.Window != 9 {
		t.Errorf("parsed %+v, %v", o, err)
	}
}
