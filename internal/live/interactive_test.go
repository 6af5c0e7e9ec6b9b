//go:build unix

package live_test

import (
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestInteractive: a person at a terminal. The session begins with the brief, is nudged
// when its context fills, goes on from the handover when Claude Code compacts, and after
// /clear is the same job still.
func TestInteractive(t *testing.T) {
	w := newWorld(t, play.Script{
		Rules: []play.Rule{compacting(play.Turn{Text: "<summary>Prices were looked at.</summary>", Usage: play.Usage{In: 71_003, Out: 417}})},
		Turns: []play.Turn{
			{Text: "I looked.", Usage: play.Usage{In: 901, CacheWrite: 30_000, Out: 71}},
			{Tools: []play.Tool{bash("go vet ./...")}, Usage: play.Usage{In: 33, CacheRead: 31_000, CacheWrite: 18_000, Out: 213}},
			{Text: "I vetted.", Usage: play.Usage{In: 40, CacheRead: 52_000, CacheWrite: 1000, Out: 19}},
			{Tools: []play.Tool{bash("echo full")}, Usage: play.Usage{In: 40, CacheRead: 67_000, Out: 19}},
			{Text: "I am on the other side.", Usage: play.Usage{In: 700, CacheRead: 5000, Out: 11}},
			{Text: "I begin anew.", Usage: play.Usage{In: 700, CacheRead: 5000, Out: 11}},
		},
	})
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
	short := w.start("Prices carry a tax")
	w.duplex("decide", "Tax is rounded half up", "--why", "the books do")
	w.showOnFailure()

	p := w.terminal()
	p.types("Look at the prices.")
	p.sees("I looked.")
	p.types("Vet them.")
	p.sees("I vetted.")
	p.types("Fill it up.")
	p.sees("I am on the other side.")
	p.types("/clear")
	p.loses("I am on the other side.")
	p.types("Where are we?")
	p.sees("I begin anew.")
	p.leaves()

	requests := w.model.Requests()
	if len(requests) != 7 {
		t.Fatalf("%d requests came, want 7", len(requests))
	}
	for n, want := range map[int]string{1: "#1 person: Prices carry a tax", 6: "Fill it up.", 7: "Fill it up."} {
		got := brief(requests[n-1])
		if !strings.Contains(got, want) || !strings.Contains(got, "Tax is rounded half up") || !strings.Contains(got, short) {
			t.Errorf("request %d does not carry %q and the decision, but the brief%s", n, want, got)
		}
	}
	const nudge = "Duplex: 7" // 70 to 79 % of this context is used
	if requests[1].Says(nudge) || !requests[2].Says(nudge) {
		t.Error("the nudge does not come with the result of the tool that passes its level")
	}
	all := w.entries()
	begun := kind(all, "session started")
	if len(begun) != 2 || begun[1].Payload.Source != "clear" || begun[1].Payload.From != begun[0].Session {
		t.Errorf("sessions are\n%s", tell(begun))
	}
	var handed []string
	for _, e := range kind(all, "handed over") {
		handed = append(handed, e.Payload.Why)
	}
	if want := "level compaction end end"; strings.Join(handed, " ") != want {
		t.Errorf("it was handed over at %q, want %q", handed, want)
	}
	if rest := asked[costs](w, "cost").Total.Estimate; rest != 0 {
		t.Errorf("of the bill %d pico-USD are an estimate still, though Claude Code told its total at /clear", rest)
	}
}
