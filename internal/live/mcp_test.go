//go:build unix

package live_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// mcp are the flags that give a run Duplex's server, and no other.
func (w *world) mcp() []string {
	w.Helper()
	b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"duplex": map[string]any{"type": "stdio", "command": program, "args": []string{"mcp"}}}})
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(w.home, "mcp.json")
	w.write(file, string(b))
	return []string{"--mcp-config", file, "--strict-mcp-config"}
}

// tool is a turn that calls one tool of Duplex.
func tool(name string, input map[string]any) play.Turn {
	return play.Turn{Tools: []play.Tool{play.Call("mcp__duplex__"+name, input)}}
}

// TestMCP: Claude Code calls Duplex's tools, and what they record are its session's
// acts. What it reads of them is what happened, or why not and what to do next.
func TestMCP(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		tool("standing", map[string]any{}),
		tool("decide", map[string]any{"text": "Tax is rounded half up", "why": "the books do", "rejected": []string{"half to even"}}),
		tool("raise", map[string]any{"text": "Refunds have no tax yet", "next": true}),
		tool("dead_end", map[string]any{"text": "a tax table in code", "why": "it changes in January"}),
		tool("settle", map[string]any{"item": "Refunds have no", "how": "they carry it now"}),
		tool("take", map[string]any{"job": "x", "force": true}),
		tool("claim_finished", map[string]any{}),
		{Tools: []play.Tool{bash("echo 19 >rate.txt")}},
		tool("safe_point", map[string]any{"why": "the rate is there"}),
		tool("recall", map[string]any{"words": "January"}),
		tool("hand_over", map[string]any{"next": "claim it"}),
		tool("brief", map[string]any{"section": "decisions"}),
		tool("claim_finished", map[string]any{}),
		tool("decide", map[string]any{"text": "Too late"}),
		{Text: "Done."},
	}})
	short := w.start("Prices carry a tax of 19 percent", "--check", "grep -q 19 rate.txt")
	w.showOnFailure()

	w.claude("Begin.", w.mcp()...).done()

	requests := w.model.Requests()
	if !requests[0].Says("Duplex keeps long work one job") || !requests[0].Says("only the person does that") {
		t.Error("the server's instructions are not in the prompt")
	}
	for i, want := range []string{`"you":"you hold it, under token 1"`, `"kind":"decided"`, `"kind":"raised"`, `"kind":"dead end"`, `"kind":"settled"`,
		"only a person may force", `"outcome":"failed"`, "", `"schema":"duplex.safe-point/1"`, "a tax table in code", `"schema":"duplex.brief/1"`,
		"Tax is rounded half up", `"outcome":"passed"`, "nothing left to record on it"} {
		if results := requests[i+1].Results(); len(results) == 0 || !strings.Contains(results[len(results)-1].Content.String(), want) {
			t.Errorf("call %d is answered with %v; want %q in it", i+1, results, want)
		}
	}
	of := func(kind string) []entry { return w.entries(short, "--kind", kind) }
	begun := of("session started")
	if len(begun) != 1 {
		t.Fatalf("sessions are\n%s", tell(begun))
	}
	for what, n := range map[string]int{"decided": 1, "raised": 2, "dead end": 1, "settled": 2, "finished": 2} { // a failed finish raises an item, and a later one settles it
		acts := 0
		for _, e := range of(what) {
			if e.Author.Kind == "agent" && e.Author.Name == "claude" && e.Session == begun[0].Session {
				acts++
			} else if e.Author.Kind != "duplex" {
				t.Errorf("%q by %s %s in %s", what, e.Author.Kind, e.Author.Name, e.Session)
			}
		}
		if got := len(of(what)); got != n || acts == 0 {
			t.Errorf("%d entries %q, %d of them the session's; want %d", got, what, acts, n)
		}
	}
	for _, e := range append(of("step"), of("touched")...) {
		if strings.Contains(e.Payload.Title, "mcp__") || strings.Contains(e.Payload.Title, "duplex") {
			t.Errorf("a call of Duplex itself is a step: %s", e.Payload.Title)
		}
	}
	if points := of("safe point"); len(points) != 2 || points[1].Payload.Why != "the rate is there" || points[1].Session != begun[0].Session {
		t.Errorf("safe points are\n%s", tell(points))
	}
}

// TestMCPWhoCalls: after /clear the server goes on with the environment of its start,
// and yet acts as the session that its agent is at; a fork's server acts as the fork.
func TestMCPWhoCalls(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		tool("decide", map[string]any{"text": "first"}), {Text: "One."},
		tool("decide", map[string]any{"text": "second"}), {Text: "Two."},
		tool("decide", map[string]any{"text": "third"}), {Text: "Three."},
	}})
	w.start("Prices carry a tax")
	w.showOnFailure()

	r := w.converse(w.mcp()...)
	r.say("Begin.")
	r.say("/clear")
	last := r.say("Go on.").SessionID
	if code := r.leave(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	w.claude("Try it another way.", append(w.mcp(), "--resume", last, "--fork-session")...).done()

	all := w.entries()
	begun, decided := kind(all, "session started"), kind(all, "decided")
	if len(begun) != 3 || len(decided) != 3 {
		t.Fatalf("sessions and decisions are\n%s%s", tell(begun), tell(decided))
	}
	for i := range begun {
		if decided[i].Session != begun[i].Session {
			t.Errorf("%s was decided in another session than %d", decided[i].Payload.Text, i+1)
		}
	}
}
