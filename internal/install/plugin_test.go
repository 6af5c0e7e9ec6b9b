package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func makePlugin(t *testing.T, h Home) Plan {
	t.Helper()
	p, err := h.PlanPlugin(h.PluginFolder())
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func gone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", path, err)
	}
}

func TestPlugin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := makePlugin(t, h)
	if last := p.Changes[len(p.Changes)-1].Path; last != pluginFile(h.PluginFolder(), manifest) {
		t.Errorf("%s is written last: a session could see half a plugin", last)
	}
	var hooks struct{ Hooks map[string][]group }
	if err := json.Unmarshal([]byte(get(t, pluginFile(h.PluginFolder(), "hooks/hooks.json"))), &hooks); err != nil {
		t.Fatal(err)
	}
	for _, e := range claudeEvents() {
		g := hooks.Hooks[e.event]
		if len(g) != 1 || g[0].Matcher != e.matcher || g[0].Hooks[0].Command != Line(duplexPath, claude) || g[0].Hooks[0].Timeout != e.seconds {
			t.Errorf("at %s it has %+v", e.event, g)
		}
	}
	if again := makePlugin(t, h); !again.Nothing() {
		t.Errorf("a second setup changes %v", again.Changes)
	}
	found, err := h.Find()
	if err != nil || len(found) != 1 || !found[0].Whole || !found[0].Remembered || found[0].Hooks != Events() || found[0].Line != Line(duplexPath, claude) {
		t.Errorf("found is %+v, %v", found, err)
	}
	undo(t, h)
	gone(t, h.Claude)
}

// TestPluginForgotten: a plugin that nothing remembers is found, taken over and removed.
func TestPluginForgotten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	makePlugin(t, h)
	if err := os.RemoveAll(h.State); err != nil {
		t.Fatal(err)
	}
	found, err := h.Find()
	if err != nil || len(found) != 1 || found[0].Remembered {
		t.Fatalf("found is %+v, %v", found, err)
	}
	p, err := h.PlanRemoval(found[0].Setup)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	gone(t, h.PluginFolder())
}

// TestPluginOfAnOtherProgram: after an update in another place, what changed is written
// again, and nothing else.
func TestPluginOfAnOtherProgram(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	makePlugin(t, h)
	h.Program = "/opt/duplex/duplex"
	if found, err := h.Find(); err != nil || found[0].Whole {
		t.Errorf("found as this version makes it: %+v, %v", found, err)
	}
	p := makePlugin(t, h)
	var changed []string
	for _, c := range p.Changes {
		changed = append(changed, filepath.Base(c.Path))
	}
	if want := []string{".mcp.json", "hooks.json"}; !slices.Equal(changed, want) {
		t.Errorf("changed are %v, want %v", changed, want)
	}
	undo(t, h)
	gone(t, h.Claude)
}

// TestPluginFolderTaken: a folder that is somebody else's is not written into.
func TestPluginFolderTaken(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	mine := filepath.Join(h.PluginFolder(), "SKILL.md")
	put(t, mine, "my own skill")
	if _, err := h.PlanPlugin(h.PluginFolder()); err == nil || !strings.Contains(err.Error(), "is not Duplex's") {
		t.Errorf("planned with %v", err)
	}
	if get(t, mine) != "my own skill" {
		t.Error("it was changed")
	}
}

// TestPluginWithAStranger: what others put into the folder stays, and is named.
func TestPluginWithAStranger(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	makePlugin(t, h)
	mine := filepath.Join(h.PluginFolder(), "skills", "mine", "SKILL.md")
	put(t, mine, "my own skill")
	hooks := pluginFile(h.PluginFolder(), "hooks/hooks.json")
	put(t, hooks, get(t, hooks)+"\n")
	p := undo(t, h)
	said := strings.Join(p.Notes, "\n")
	if !strings.Contains(said, mine+" is not Duplex's, and stays") || !strings.Contains(said, hooks+" was changed by others since") {
		t.Errorf("said is %q", said)
	}
	get(t, mine)
	gone(t, hooks)
	gone(t, filepath.Join(h.PluginFolder(), ".claude-plugin"))
}

// TestPluginAllOrNothing: when one file cannot be written none is, and what somebody
// else put there meanwhile stays.
func TestPluginAllOrNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p, err := h.PlanPlugin(h.PluginFolder())
	if err != nil {
		t.Fatal(err)
	}
	theirs := p.Changes[len(p.Changes)-1].Path
	put(t, theirs, "theirs")
	if err := p.Apply(); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Fatalf("applied with %v", err)
	}
	if got := get(t, theirs); got != "theirs" {
		t.Errorf("what was there is %q", got)
	}
	for _, c := range p.Changes[:len(p.Changes)-1] {
		gone(t, c.Path)
	}
	gone(t, filepath.Join(h.PluginFolder(), "hooks"))
	if all, err := h.Setups(); err != nil || len(all) > 0 {
		t.Errorf("remembered are %v, %v", all, err)
	}
}

// TestLostPlugin: a plugin that is remembered and gone is found as lost.
func TestLostPlugin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	makePlugin(t, h)
	if err := os.RemoveAll(h.PluginFolder()); err != nil {
		t.Fatal(err)
	}
	found, err := h.Find()
	if err != nil || len(found) != 1 || found[0].Hooks != 0 || found[0].Wrong != "" {
		t.Fatalf("found is %+v, %v", found, err)
	}
	makePlugin(t, h)
	if found, err = h.Find(); err != nil || !found[0].Whole {
		t.Errorf("set up again, found is %+v, %v", found, err)
	}
}

// TestOnlyOnce: a second place for the same sessions is refused, or said.
func TestOnlyOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	makePlugin(t, h)
	p, err := h.PlanEntries(User)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Alone(p.Setup); err == nil || !strings.Contains(err.Error(), "would call both") {
		t.Errorf("allowed with %v", err)
	}
	undo(t, h)

	if p, err = h.PlanEntries(Project); err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	if p, err = h.PlanPlugin(h.PluginFolder()); err != nil {
		t.Fatal(err)
	}
	notes, err := h.Alone(p.Setup)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], h.SettingsFile(Project)) {
		t.Errorf("said is %v, %v", notes, err)
	}
}
