//go:build unix

package live_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// found is what duplex doctor says of one thing.
type found struct{ About, State, Says string }

// examine runs duplex doctor, which must find nothing broken.
func (w *world) examine(about string) found {
	w.Helper()
	for _, f := range asked[struct{ Findings []found }](w, "doctor").Findings {
		if f.About == about {
			return f
		}
	}
	return found{}
}

// attempt runs a command that may fail.
func (w *world) attempt(args ...string) (string, error) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), program, args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestSetUpFires: set up in any of the ways, and started by nobody but a person, the
// agent's sessions are recorded, from the brief at the start to the end that is said.
// Taken back, they are left alone, and the agent's folder is as it was.
func TestSetUpFires(t *testing.T) {
	for _, c := range []struct {
		name  string
		how   []string
		flags []string
		also  string // what only a plugin gives
	}{
		{"plugin", nil, nil, "duplex:duplex"},
		{"plugin for a flag", []string{"--plugin-dir", "plugins/duplex"}, []string{"--plugin-dir", "plugins/duplex"}, "duplex:duplex"},
		{"settings of the person", []string{"--user"}, nil, ""},
		{"settings of the project", []string{"--project"}, nil, ""},
		{"settings of the work tree", []string{"--local"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			turns := []play.Turn{{Tools: []play.Tool{bash("echo set up")}}, {Text: "Done."}}
			if c.also != "" {
				turns = append([]play.Turn{{Tools: []play.Tool{play.Call("mcp__plugin_duplex_duplex__decide", map[string]any{"text": "Tax is rounded half up", "why": "the books do"})}}}, turns...)
			}
			w := newWorld(t, play.Script{Turns: append(turns, turns...)})
			w.start("Prices carry a tax of 19 percent")
			w.showOnFailure()
			settings := filepath.Join(w.home, ".claude", "settings.json")
			const mine = "{\n\t\"cleanupPeriodDays\": 30\n}\n"
			w.write(settings, mine)
			session := append([]string{"-p", "Go on.", "--dangerously-skip-permissions"}, c.flags...)

			w.duplex(append([]string{"setup", "claude"}, c.how...)...)
			w.command(w.repo, claudeProgram(w), session...)

			all := w.entries()
			if steps := kind(all, "step"); len(steps) != 1 || steps[0].Payload.Title != "echo set up" {
				t.Errorf("the command is not one step:\n%s", tell(all))
			}
			if first := w.model.Requests()[0]; strings.Count(first.Text(), "<duplex-brief") != 1 {
				t.Error("the model did not read the brief once")
			}
			if c.also != "" {
				if !w.model.Requests()[0].Says(c.also) {
					t.Errorf("the model did not read of the skill %s", c.also)
				}
				if d := kind(all, "decided"); len(d) != 1 || d[0].Author.Kind != "agent" {
					t.Errorf("what it decided over MCP is not in the ledger:\n%s", tell(all))
				}
			}
			if ended := kind(all, "session ended"); len(ended) != 1 {
				t.Errorf("the session's end was not heard:\n%s", tell(all))
			}
			if f := w.examine("hook"); f.State != "ok" {
				t.Errorf("of the hook doctor says %+v", f)
			}
			if f := w.examine("sessions"); f.State != "ok" {
				t.Errorf("of the sessions doctor says %+v", f)
			}

			w.duplex("setup", "claude", "--undo")
			if got := w.read(settings); got != mine {
				t.Errorf("the settings are left as %q", got)
			}
			for _, left := range []string{filepath.Join(w.home, ".claude", "skills"), filepath.Join(w.repo, ".claude"), filepath.Join(w.repo, "plugins")} {
				if _, err := os.Stat(left); err == nil {
					t.Errorf("%s is left behind", left)
				}
			}
			w.command(w.repo, claudeProgram(w), session[:3]...)
			if now := w.entries(); len(kind(now, "session started")) != 1 {
				t.Errorf("taken back, it still hears:\n%s", tell(now))
			}
			if f := w.examine("setup"); f.State != "note" || !strings.Contains(f.Says, "not set up") {
				t.Errorf("taken back, doctor says %+v", f)
			}
		})
	}
}

// TestSetUpDied: hooks that are set up and do not fire are found by the transcript that
// moved without them.
func TestSetUpDied(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "Done."}, {Text: "Done again."}}})
	w.start("Prices carry a tax")
	w.showOnFailure()
	w.duplex("setup", "claude")

	w.command(w.repo, claudeProgram(w), "-p", "Go on.", "--bare") // which loads no plugin
	out, err := w.attempt("doctor")
	if err == nil || !strings.Contains(out, "1 transcript of 1 moved without our hooks, the newest too") {
		t.Errorf("doctor says\n%s", out)
	}

	w.command(w.repo, claudeProgram(w), "-p", "Go on.")
	if f := w.examine("sessions"); f.State != "note" || !strings.Contains(f.Says, "1 transcript of 2 moved without our hooks, newer ones did not") {
		t.Errorf("after a session that was heard doctor says %+v", f)
	}
}

// TestSetUpAllowed: with the two rules that setup names, and no other permission, an
// agent records what only it knows; without them it is asked about.
func TestSetUpAllowed(t *testing.T) {
	decide := play.Turn{Tools: []play.Tool{bash("duplex decide 'Tax is rounded half up' --why 'the books do'")}}
	raise := play.Turn{Tools: []play.Tool{play.Call("mcp__plugin_duplex_duplex__raise", map[string]any{"text": "Refunds have no tax yet"})}}
	use := play.Turn{Tools: []play.Tool{play.Call("Skill", map[string]any{"skill": "duplex:duplex"})}}
	w := newWorld(t, play.Script{Turns: []play.Turn{raise, decide, {Text: "Not allowed."}, use, raise, decide, {Text: "Recorded."}}})
	w.start("Prices carry a tax")
	w.showOnFailure()
	w.duplex("setup", "claude")

	w.command(w.repo, claudeProgram(w), "-p", "Go on.")
	if all := w.entries(); len(kind(all, "raised"))+len(kind(all, "decided")) > 0 {
		t.Errorf("nobody allowed it, and it was recorded:\n%s", tell(all))
	}

	w.write(filepath.Join(w.home, ".claude", "settings.json"), `{"permissions": {"allow": ["Skill(duplex:duplex)", "mcp__plugin_duplex_duplex"]}}`)
	w.command(w.repo, claudeProgram(w), "-p", "Go on.")
	if all := w.entries(); len(kind(all, "raised")) != 1 || len(kind(all, "decided")) != 1 {
		t.Errorf("it was allowed, and is not recorded once:\n%s", tell(all))
	}
}
