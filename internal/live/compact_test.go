//go:build unix

package live_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// compacts tells the request by which the agent has its own context summarised.
func compacts(r play.Request) bool {
	return strings.Contains(r.Last("user"), "Your task is to create a detailed summary of the conversation so far")
}

// summarises answers such requests.
func summarises(summary string) play.Rule {
	return compacting(play.Turn{Text: "<summary>" + summary + "</summary>", Usage: play.Usage{In: 9000, Out: 50}})
}

// full makes an answer reach the level of a window of 100,000.
var full = play.Usage{CacheRead: 67_000, Out: 30}

// TestCompactionKeepsTheJob: when the agent compacts its context by itself, Duplex
// says what the summary need not hold, and the next request has it: the goal, what
// was decided and is open, and what the person last wanted. The summary, which
// forgets all of it, is not asked.
func TestCompactionKeepsTheJob(t *testing.T) {
	w := newWorld(t, play.Script{
		Rules: []play.Rule{summarises("We talked.")},
		Turns: []play.Turn{
			{Tools: []play.Tool{bash("duplex decide 'Amounts are kept in cents' --why 'floats lose some'")}},
			{Tools: []play.Tool{bash("duplex raise 'Refunds have no tax yet'")}},
			{Tools: []play.Tool{bash("duplex deadend 'A tax table in the code' --why 'rates change each year'")}, Usage: full},
			{Tools: []play.Tool{bash("duplex decide 'The rate comes from a file' --why 'it changes each year'")}, Usage: full},
			{Text: "Done for today."},
		},
	})
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
	short := w.start("Prices carry a tax of 19 percent", "--check", "go test ./...")
	w.showOnFailure()

	w.claude("Begin with the refunds.").done()

	requests := w.model.Requests()
	carried := []string{`<duplex-brief job="` + short, "Prices carry a tax of 19 percent", "go test ./...", "Amounts are kept in cents", "floats lose some",
		"Refunds have no tax yet", "A tax table in the code", "Begin with the refunds."}
	times := 0
	for i, r := range requests {
		if !compacts(r) {
			continue
		}
		times++
		if !r.Says("Additional Instructions") || !strings.Contains(r.Last("user"), "Duplex keeps this job's goal, decisions, dead ends, open items") {
			t.Errorf("the summary is not steered; its request ends in\n%s", end(r.Last("user"), 2000))
		}
		next := requests[i+1]
		for _, want := range carried {
			if !next.Says(want) {
				t.Errorf("after compaction %d the model does not read %q, but the brief%s", times, want, brief(next))
			}
		}
		if n := strings.Count(next.Text(), "<duplex-brief"); n != 1 {
			t.Errorf("after compaction %d there are %d briefs", times, n)
		}
		carried = append(carried, "The rate comes from a file")
	}
	if times != 2 {
		t.Errorf("it compacted %d times, want 2", times)
	}

	all := w.entries()
	if begun := kind(all, "session started"); len(begun) != 1 {
		t.Errorf("a compaction is no new session:\n%s", tell(begun))
	}
	handed := slices.DeleteFunc(kind(all, "handed over"), func(e entry) bool { return e.Payload.Why != "compaction" })
	if len(handed) != 2 {
		t.Errorf("handovers before a compaction are\n%s", tell(handed))
	}
	var how []string
	for _, e := range kind(all, "took over") {
		how = append(how, e.Payload.How)
	}
	if !slices.Equal(how, []string{"startup", "compact", "compact"}) {
		t.Errorf("the brief was given at %q", how)
	}
	if said := kind(all, "instructed"); len(said) != 1 {
		t.Errorf("a summary, or a hook's words, became an instruction:\n%s", tell(said))
	}
}

// TestCompactionAfterARefusal: a small model's context is compacted only when its
// provider refuses the prompt. There is no level to see it coming by, and the job
// is carried all the same.
func TestCompactionAfterARefusal(t *testing.T) {
	refusal := play.Turn{Status: http.StatusBadRequest, Body: json.RawMessage(
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 205000 tokens > 200000 maximum"}}`)}
	w := newWorld(t, play.Script{
		Rules: []play.Rule{summarises("We talked.")},
		Turns: []play.Turn{
			{Tools: []play.Tool{bash("duplex decide 'Amounts are kept in cents' --why 'floats lose some'")}, Usage: play.Usage{CacheRead: 20_000, Out: 30}},
			refusal,
			{Text: "Done for today."},
		},
	})
	w.start("Prices carry a tax of 19 percent")
	w.showOnFailure()

	w.claude("Go on.", "--model", "claude-haiku-4-5").done()

	requests := w.model.Requests()
	i := slices.IndexFunc(requests, compacts)
	if i < 0 || i+1 == len(requests) {
		t.Fatalf("it did not compact and go on: %d requests", len(requests))
	}
	for _, want := range []string{"<duplex-brief", "Prices carry a tax of 19 percent", "Amounts are kept in cents"} {
		if !requests[i+1].Says(want) {
			t.Errorf("after the compaction the model does not read %q, but the brief%s", want, brief(requests[i+1]))
		}
	}
	if paused := kind(w.entries(), "paused"); len(paused) != 1 || paused[0].Payload.Reason == "rate limit" {
		t.Errorf("a full context is no limit that pauses a job:\n%s", tell(paused))
	}
}

// end is the end of a text, of n bytes at most.
func end(text string, n int) string { return text[max(0, len(text)-n):] }
