//go:build unix

package live_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestFillPassesTheLevels: as its context fills, the agent is nudged, the handover is
// written, and the agent compacts: each for the very answer that reaches its level,
// none for the one before, under every setting that moves the levels.
func TestFillPassesTheLevels(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		env      map[string]string
		settings string // the person's own
		level    int    // where the agent compacts, in tokens
	}{
		"opus by default":          {level: 967_000},
		"a window of 100,000":      {env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}, level: 67_000},
		"half of that":             {env: map[string]string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, level: 40_000},
		"haiku with --autocompact": {args: []string{"--model", "claude-haiku-4-5", "--autocompact", "200000"}, level: 167_000},
		"a window in the settings": {settings: `{"autoCompactWindow": 150000}`, level: 117_000},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, play.Script{})
			for name, value := range c.env {
				w.set(name, value)
			}
			if c.settings != "" {
				w.write(filepath.Join(w.home, ".claude", "settings.json"), c.settings)
			}
			f := fillTo(c.level)
			if err := w.model.Load(f.script(w)); err != nil {
				t.Fatal(err)
			}
			w.start("Prices carry a tax")
			w.showOnFailure()

			w.claude("Go on.", c.args...).done()

			f.passed(w)
		})
	}
}

// fill is a conversation whose context grows to the level at which the agent
// compacts, by steps that tell its levels apart and are too small to be due for
// anything by themselves.
type fill struct {
	level, nudge, handover int   // in tokens
	sizes                  []int // of the context after each answer
}

// uncounted is more than what the agent adds to its provider's count for the result
// of a tool, by its own guess.
const uncounted = 500

func fillTo(level int) fill {
	f := fill{level: level, nudge: (level*70 + 99) / 100, handover: (level*85 + 99) / 100}
	f.sizes = slices.Concat([]int{f.nudge - 1, f.nudge}, climb(f.nudge, f.handover-1), []int{f.handover}, climb(f.handover, level-uncounted), []int{level})
	return f
}

// climb goes up in three steps.
func climb(from, to int) []int {
	third := (to - from) / 3
	return []int{from + third, from + 2*third, to}
}

// script plays the conversation. Before the handover is due somebody looks at the job,
// and takes in what hooks have spooled: what the next hook goes by is made anew.
func (f fill) script(w *world) play.Script {
	s := play.Script{Rules: []play.Rule{summarises("The story so far.")}, Default: &play.Turn{Text: "That is all."}}
	for i, size := range f.sizes {
		turn := play.Turn{Tools: []play.Tool{written(i)}, Usage: play.Usage{CacheRead: size - 30, Out: 30}}
		if size == f.handover {
			answer := turn
			turn = play.Turn{Do: func(play.Request) play.Turn { w.look(); return answer }}
		}
		s.Turns = append(s.Turns, turn)
	}
	return s
}

// written is a call that takes until its own answer is in the transcript. Claude Code
// writes that a little later than it acts, so that after a quick call a hook may not see
// it yet, and is one answer late.
func written(n int) play.Tool {
	return bash(fmt.Sprintf("until grep -q 'answer %d;' ~/.claude/projects/*/*.jsonl; do sleep 0.05; done", n))
}

// look is a person's look at the job while the agent waits for its model.
func (w *world) look() {
	cmd := exec.Command(program, "show")
	cmd.Dir, cmd.Env = w.repo, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Errorf("duplex show: %v\n%s", err, out)
	}
}

// passed holds what the model read, and what the ledger says, against the levels.
func (f fill) passed(w *world) {
	w.Helper()
	requests := w.model.Requests()
	after := func(size int) int { return slices.Index(f.sizes, size) + 1 } // the request that follows the answer

	const words = "Duplex: 70 % of this context is used"
	if first := slices.IndexFunc(requests, func(r play.Request) bool { return r.Says(words) }); first != after(f.nudge) {
		w.Errorf("the model reads of the nudge in request %d, want %d, after the answer that makes it %d tokens", first+1, after(f.nudge)+1, f.nudge)
	}
	compact := slices.IndexFunc(requests, compacts)
	if compact != after(f.level) {
		w.Errorf("request %d compacts, want %d, after the answer that makes it %d tokens", compact+1, after(f.level)+1, f.level)
	}
	if compact > 0 && strings.Count(requests[compact].Text(), "of this context is used") != 1 {
		w.Error("the nudge is not there once")
	}

	all := w.entries()
	var handed []int // calls before each handover
	calls := 0
	for _, e := range all {
		switch {
		case e.Kind == "step", e.Kind == "touched":
			calls++
		case e.Kind == "handed over" && e.Payload.Why != "end":
			handed = append(handed, calls)
		}
	}
	if want := []int{after(f.handover), after(f.level)}; !slices.Equal(handed, want) {
		w.Errorf("handovers come after %v calls, want %v, of which the first makes it %d tokens:\n%s", handed, want, f.handover, tell(all))
	}
}
