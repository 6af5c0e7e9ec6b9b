//go:build unix

package live_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestAdoptFindsWhatClaudeCodeKept: sessions that nobody told Duplex of are found
// where Claude Code keeps them, whatever their folder is called; a fork goes to the
// job of the session it came from, and what was said is found in the transcript.
func TestAdoptFindsWhatClaudeCodeKept(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "I would leave the marbles in the drawer."}, {Text: "The pebbles are counted."}}})
	dir := filepath.Join(filepath.Dir(w.repo), "café (old) 😀 shop_2.0 "+strings.Repeat("so that it is long ", 8))
	w.repository(dir)
	w.showOnFailure()

	w.set("DUPLEX_OFF", "1")
	first := w.claudeIn(dir, "Count the marbles.").done().SessionID
	fork := w.claudeIn(dir, "Count the pebbles instead.", "--resume", first, "--fork-session").done().SessionID
	w.env = slices.DeleteFunc(w.env, func(v string) bool { return v == "DUPLEX_OFF=1" })

	in := func(v any, args ...string) {
		t.Helper()
		if err := json.Unmarshal([]byte(w.command(dir, program, append(args, "--json")...)), v); err != nil {
			t.Fatal(err)
		}
	}
	var kept struct {
		Candidates []struct {
			Session string `json:"agent_session"`
			First   string
			Short   string
		}
	}
	if in(&kept, "adopt"); len(kept.Candidates) != 2 || kept.Candidates[0].Session != fork || kept.Candidates[1].Session != first || kept.Candidates[1].First != "Count the marbles." {
		t.Fatalf("of this folder are listed %+v, want %s and %s", kept.Candidates, fork, first)
	}
	type adopted struct {
		Job, Short, Origin string
		Session            string `json:"agent_session"`
		Instructions       int
	}
	var one, two adopted
	if in(&one, "adopt", first[:8]); one.Session != first || one.Instructions != 1 {
		t.Errorf("adopted %+v, want %s", one, first)
	}
	if in(&two, "adopt", "--last"); two.Session != fork || two.Job != one.Job || two.Origin != one.Job || two.Instructions != 2 {
		t.Errorf("the fork was adopted as %+v, into %s", two, one.Job)
	}
	var found struct {
		Hits   []struct{ Kind string }
		Spoken []struct {
			Author  struct{ Kind string }
			Snippet struct{ Text string }
		}
	}
	in(&found, "recall", "marbles", "drawer")
	if len(found.Spoken) == 0 || found.Spoken[0].Author.Kind != "agent" || found.Spoken[0].Snippet.Text != "I would leave the marbles in the drawer." {
		t.Errorf("found %+v", found)
	}
	if in(&found, "recall", "pebbles", "instead", "--kind", "instructed"); len(found.Hits) != 1 {
		t.Errorf("found %+v", found)
	}
}
