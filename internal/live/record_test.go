//go:build unix

package live_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// bash is a call of Claude Code's shell.
func bash(command string) play.Tool {
	return play.Call("Bash", map[string]any{"command": command, "description": "as the script says"})
}

// TestStepsWithReceipts: what the agent does becomes steps, each with its result and
// its evidence, without the agent being asked for anything.
func TestStepsWithReceipts(t *testing.T) {
	w := newWorld(t, play.Script{})
	price := filepath.Join(w.repo, "price.go")
	if err := w.model.Load(play.Script{Turns: []play.Turn{
		{Text: "I read first.", Tools: []play.Tool{play.Call("Read", map[string]any{"file_path": price})}},
		{Tools: []play.Tool{play.Call("Edit", map[string]any{"file_path": price, "old_string": "n * 10", "new_string": "n * 11"})}},
		{Tools: []play.Tool{bash("go test ./...")}},
		{Tools: []play.Tool{play.Call("Write", map[string]any{"file_path": filepath.Join(w.repo, "tax.go"), "content": "package shop\n\nconst tax = 19\n"})}},
		{Tools: []play.Tool{bash("git add tax.go && git commit -m 'tax: a rate'")}},
		{Tools: []play.Tool{bash("echo gone wrong >&2; exit 3")}},
		{Text: "The rate is in, the price is not right yet."},
	}}); err != nil {
		t.Fatal(err)
	}
	w.start("Prices carry a tax")
	w.showOnFailure()

	w.claude("Go on.").done()

	all := w.entries()
	steps := kind(all, "step")
	if len(steps) != 5 {
		t.Fatalf("%d steps, want the edit, the test run, the new file, the commit and what failed:\n%s", len(steps), tell(all))
	}
	for i, want := range []struct{ class, title, result, receipt string }{
		{"edit", "edited price.go", "ok", ""},
		{"test", "go test ./...", "failed", "two cost 20"},
		{"edit", "wrote tax.go", "ok", ""},
		{"commit", "tax: a rate", "ok", "tax: a rate"},
		{"command", "exit 3", "failed", "gone wrong"},
	} {
		p := steps[i].Payload
		if p.Class != want.class || p.Result != want.result || !strings.Contains(p.Title, want.title) || !strings.Contains(p.Receipt.Text, want.receipt) {
			t.Errorf("step %d is %s %q %s with %q, want %+v", i+1, p.Class, p.Title, p.Result, p.Receipt.Text, want)
		}
	}
	if p := steps[4].Payload; p.Exit == nil || *p.Exit != 3 {
		t.Errorf("the exit code of what failed is %v, want 3", p.Exit)
	}
	if p := steps[1].Payload; p.Exit == nil || *p.Exit != 1 || p.Tests == nil || p.Tests.Failed != 1 {
		t.Errorf("the test run has exit %v and counts %+v, want 1 and one failure", p.Exit, p.Tests)
	}
	head := strings.TrimSpace(w.git(w.repo, "rev-parse", "HEAD"))
	if p := steps[3].Payload; p.Commit == "" || !strings.HasPrefix(head, p.Commit) {
		t.Errorf("the commit of the step is %q, want the beginning of %s", p.Commit, head)
	}
	if touched := kind(all, "touched"); len(touched) != 1 || !strings.Contains(touched[0].Payload.Title, "price.go") {
		t.Errorf("what was read is not what was touched:\n%s", tell(touched))
	}
	if said := kind(all, "instructed"); len(said) != 1 || said[0].Payload.Text != "Go on." || said[0].Author.Kind != "person" {
		t.Errorf("the person's words are not the one instruction:\n%s", tell(said))
	}
}

// bill is what duplex cost says.
type bill struct {
	Pico     int64 `json:"pico_usd"`
	Tokens   tokens
	Estimate int64 `json:"estimate_pico_usd"`
}

// sameBill holds a job's bill against the agent's own totals: tokens exactly, and
// money to the micro-dollar, after rounding the sum.
func (w *world) sameBill(got bill, result streamed) {
	w.Helper()
	var want tokens
	var usd float64
	for _, u := range result.ModelUsage {
		want.Input += u.InputTokens
		want.CacheRead += u.CacheReadInputTokens
		want.CacheWrite1h += u.CacheCreation1h
		want.CacheWrite5m += u.CacheCreationInputTokens - u.CacheCreation1h
		want.Output += u.OutputTokens
		usd += u.CostUSD
	}
	if got.Tokens != want {
		w.Errorf("tokens are %+v, and Claude Code says %+v", got.Tokens, want)
	}
	if micro := math.Round(float64(got.Pico) / 1e6); micro != math.Round(usd*1e6) || math.Abs(usd-result.TotalCostUSD) > 1e-9 {
		w.Errorf("it cost %v micro-dollars, and Claude Code says $%v", micro, result.TotalCostUSD)
	}
}

// TestBillIsTheAgents: after a clean exit the bill is what the agent itself says.
func TestBillIsTheAgents(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{
		{Text: "One.", Tools: []play.Tool{bash("true")}, Usage: play.Usage{In: 901, CacheWrite: 5003, Out: 71}},
		{Thinking: "Hm.", Text: "Two.", Tools: []play.Tool{bash("true"), bash("false")}, Usage: play.Usage{In: 33, CacheRead: 5003, CacheWrite: 1201, CacheHour: 77, Out: 213}},
		{Text: "Three.", Usage: play.Usage{In: 7, CacheRead: 6281, Out: 19}},
	}})
	w.start("Count what it costs")
	w.showOnFailure()

	result := w.claude("Go on.").done()

	w.sameBill(asked[struct{ Total bill }](w, "cost").Total, result)
}

// compacting is the rule for Claude Code's own call for a summary, and what it answers.
func compacting(t play.Turn) play.Rule {
	return play.Rule{When: compacts, Turn: t}
}

// fullContext is a script in which a context of 67,000 tokens is full after two calls.
func fullContext() play.Script {
	return play.Script{
		Rules: []play.Rule{compacting(play.Turn{Text: "<summary>Prices were looked at.</summary>", Usage: play.Usage{In: 71_003, Out: 417}})},
		Turns: []play.Turn{
			{Text: "One.", Tools: []play.Tool{bash("true")}, Usage: play.Usage{In: 901, CacheWrite: 30_000, Out: 71}},
			{Text: "Two.", Tools: []play.Tool{bash("go vet ./...")}, Usage: play.Usage{In: 33, CacheRead: 50_000, CacheWrite: 18_000, Out: 213}},
			{Text: "Three.", Tools: []play.Tool{bash("echo on")}, Usage: play.Usage{In: 7, CacheRead: 6281, Out: 19}},
			{Text: "Four.", Usage: play.Usage{In: 5, CacheRead: 6400, Out: 11}},
		},
	}
}

// TestBillOfACompaction: the call that writes a summary stands in no transcript. What
// it cost is an estimate until the agent gives its own total, and exact from then on.
func TestBillOfACompaction(t *testing.T) {
	w := newWorld(t, fullContext())
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
	w.start("Count what it costs")
	w.showOnFailure()

	result := w.claude("Go on.").done()

	all := w.entries()
	estimates := 0
	for _, e := range kind(all, "spent") {
		if e.Payload.Estimate {
			estimates++
		}
	}
	if estimates == 0 || len(kind(all, "reconciled")) != 1 {
		t.Errorf("there is no estimate, or it was not reconciled once:\n%s", tell(all))
	}
	cost := asked[costs](w, "cost")
	w.sameBill(cost.Total, result)
	if cost.Total.Estimate != 0 {
		t.Errorf("of the bill %d pico-USD are an estimate still", cost.Total.Estimate)
	}
	for _, side := range cost.By {
		var sum bill
		for _, row := range side.Rows {
			sum.Pico, sum.Estimate = sum.Pico+row.Pico, sum.Estimate+row.Estimate
		}
		if sum.Pico != cost.Total.Pico || sum.Estimate != 0 {
			t.Errorf("by %s it is %d pico-USD, of which %d an estimate; in all %d", side.By, sum.Pico, sum.Estimate, cost.Total.Pico)
		}
	}
}

// costs is what duplex cost prints.
type costs struct {
	Total bill
	By    []struct {
		By   string
		Rows []bill
	}
}

// TestEstimateAfterAKill: an agent that is killed gives no total, so the compaction
// stays an estimate, and is called one. When the session is resumed and ends well, the
// agent has forgotten what it spent before the kill, and Duplex has not.
func TestEstimateAfterAKill(t *testing.T) {
	w := newWorld(t, fullContext())
	w.set("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000")
	w.start("Count what it costs")
	w.showOnFailure()
	began := filepath.Join(w.home, "began")
	script := fullContext()
	script.Turns[2].Tools = []play.Tool{bash("touch " + began + "; exec sleep 600")}
	if err := w.model.Load(script); err != nil {
		t.Fatal(err)
	}
	r := w.claude("Go on.")
	id := r.session()
	w.until("the last call begins", func() bool { _, err := os.Stat(began); return err == nil })
	r.kill9()

	killed := asked[costs](w, "cost").Total
	if killed.Estimate <= 0 || killed.Estimate >= killed.Pico {
		t.Errorf("of %d pico-USD %d are an estimate, want the compaction", killed.Pico, killed.Estimate)
	}
	if shown := w.duplex("cost"); !strings.Contains(shown, "estimate") {
		t.Errorf("duplex cost does not say that a part is an estimate:\n%s", shown)
	}

	if err := w.model.Load(play.Script{Turns: []play.Turn{{Text: "Five.", Usage: play.Usage{In: 1009, CacheRead: 13, Out: 3}}}}); err != nil {
		t.Fatal(err)
	}
	result := w.claude("Go on.", "--resume", id).done()
	after := asked[costs](w, "cost").Total
	last := tokens{Input: 1009, CacheRead: 13, Output: 3}
	if got := after.Tokens.less(killed.Tokens); got != last {
		t.Errorf("the resumed session added %+v, want its own %+v; Claude Code says %+v", got, last, result.ModelUsage)
	}
	if after.Estimate != killed.Estimate {
		t.Errorf("the estimate went from %d to %d without a total that holds it", killed.Estimate, after.Estimate)
	}
}

func (t tokens) less(u tokens) tokens {
	return tokens{t.Input - u.Input, t.CacheWrite5m - u.CacheWrite5m, t.CacheWrite1h - u.CacheWrite1h, t.CacheRead - u.CacheRead, t.Output - u.Output}
}
