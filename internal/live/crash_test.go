//go:build unix

package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// killedMidTool plays a session that edits, tests, and is killed in the middle of a
// command that would go on for long.
func killedMidTool(w *world) *run {
	w.Helper()
	price := filepath.Join(w.repo, "price.go")
	began := filepath.Join(w.home, "began")
	if err := w.model.Load(play.Script{Turns: []play.Turn{
		{Tools: []play.Tool{play.Call("Read", map[string]any{"file_path": price})}},
		{Tools: []play.Tool{play.Call("Edit", map[string]any{"file_path": price, "old_string": "n * 10", "new_string": "n * 11"})}, Usage: play.Usage{In: 500, CacheRead: 9000, Out: 44}},
		{Tools: []play.Tool{bash("go vet ./...")}, Usage: play.Usage{In: 20, CacheRead: 9500, Out: 31}},
		{Text: "Now the long part.", Tools: []play.Tool{bash("echo migrating; touch " + began + "; exec sleep 600")}, Usage: play.Usage{In: 20, CacheRead: 9700, Out: 35}},
	}}); err != nil {
		w.Fatal(err)
	}
	r := w.claude("Migrate the prices.")
	w.until("the long command begins", func() bool { _, err := os.Stat(began); return err == nil })
	r.kill9()
	return r
}

// TestKilledInTheMiddleOfATool: the agent is killed while a tool runs. Nothing that
// was recorded is lost, the job shows as crashed although no hook said so, and the
// next session is told of which call the outcome is unknown.
func TestKilledInTheMiddleOfATool(t *testing.T) {
	w := newWorld(t, play.Script{})
	w.start("Prices are migrated")
	w.showOnFailure()
	killedMidTool(w)

	if shown := w.duplex("jobs"); !strings.Contains(shown, "crashed") {
		t.Errorf("the list of jobs does not say that it crashed:\n%s", shown)
	}
	all := w.entries()
	steps := kind(all, "step")
	if len(steps) != 3 || steps[0].Payload.Title != "edited price.go" || steps[1].Payload.Result != "ok" || steps[2].Payload.Result != "unknown" {
		t.Errorf("of the steps up to the kill these are recorded:\n%s", tell(all))
	}
	if paused := kind(all, "paused"); len(paused) != 1 || paused[0].Payload.Reason != "crashed" {
		t.Errorf("the pauses are\n%s", tell(paused))
	}

	from := len(w.model.Requests())
	if err := w.model.Load(play.Script{Turns: []play.Turn{{Text: "I see."}}}); err != nil {
		t.Fatal(err)
	}
	w.claude("What is open?").done()
	got := brief(w.model.Requests()[from])
	for _, want := range []string{"echo migrating", "outcome unknown", "price.go", "go vet"} {
		if !strings.Contains(got, want) {
			t.Errorf("the next session does not read %q in%s", want, got)
		}
	}
}
