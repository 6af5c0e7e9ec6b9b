package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const opus = "{\n  \"model\": \"opus\"\n}\n"

// TestLinkedDotfiles: settings that are links into a folder of dotfiles stay links, and
// the file that is really there is the one that changes.
func TestLinkedDotfiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, real, settings string)
	}{
		{"the file is a link", func(t *testing.T, real, settings string) { link(t, real, settings) }},
		{"a relative link", func(t *testing.T, real, settings string) {
			rel, err := filepath.Rel(filepath.Dir(settings), real)
			if err != nil {
				t.Fatal(err)
			}
			link(t, rel, settings)
		}},
		{"a link to a link", func(t *testing.T, real, settings string) {
			link(t, real, real+".also")
			link(t, real+".also", settings)
		}},
		{"the folder is a link", func(t *testing.T, real, settings string) {
			if err := os.Remove(filepath.Dir(settings)); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Dir(real), filepath.Dir(settings))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			real := filepath.Join(t.TempDir(), "dotfiles", "settings.json")
			put(t, real, opus)
			if err := os.Mkdir(h.Claude, 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, real, h.SettingsFile(User))
			links := linksOf(t, h.Claude, filepath.Dir(real))

			setUp(t, h)
			checkHooks(t, opus, get(t, real))
			undo(t, h)
			if got := get(t, real); got != opus {
				t.Errorf("left is %q", got)
			}
			if now := linksOf(t, h.Claude, filepath.Dir(real)); now != links {
				t.Errorf("the links are %s, were %s", now, links)
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// linksOf tells every name in folders, and where the links among them lead.
func linksOf(t *testing.T, folders ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range folders {
		to, _ := os.Readlink(dir)
		b.WriteString(dir + ">" + to + "\n")
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			to, _ := os.Readlink(filepath.Join(dir, e.Name()))
			b.WriteString(e.Name() + ">" + to + "\n")
		}
	}
	return b.String()
}

// TestRefused: files that are not to be replaced are refused with the reason, and stay.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"read-only", func(t *testing.T, path string) { chmod(t, path, 0o444) }, "it is read-only"},
		{"read-only behind a link", func(t *testing.T, path string) {
			real := filepath.Join(filepath.Dir(path), "store.json")
			put(t, real, opus)
			chmod(t, real, 0o444)
			remove(t, path)
			link(t, real, path)
		}, "it is read-only"},
		{"a link to nothing", func(t *testing.T, path string) {
			remove(t, path)
			link(t, "/nowhere/settings.json", path)
		}, "is a link to /nowhere/settings.json, which is not there"},
		{"a second name", func(t *testing.T, path string) {
			if runtime.GOOS == "windows" {
				t.Skip("hard links are not looked for there")
			}
			if err := os.Link(path, path+".other"); err != nil {
				t.Fatal(err)
			}
		}, "has 2 names (hard links)"},
		{"a folder", func(t *testing.T, path string) {
			remove(t, path)
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is no file"},
		{"far too long", func(t *testing.T, path string) {
			if err := os.Truncate(path, most+1); err != nil {
				t.Fatal(err)
			}
		}, "has 16 MB, and no settings are that long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			path := h.SettingsFile(User)
			put(t, path, opus)
			c.make(t, path)
			before := linksOf(t, h.Claude)
			_, err := h.PlanEntries(User)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("refused with %v, want %s and %q", err, path, c.want)
			}
			if after := linksOf(t, h.Claude); after != before {
				t.Errorf("the folder is %s, was %s", after, before)
			}
			if text, err := os.ReadFile(path); err == nil && len(text) < 100 && string(text) != opus {
				t.Errorf("the file is %q", text)
			}
			if all, err := h.Setups(); err != nil || len(all) > 0 {
				t.Errorf("remembered are %v, %v", all, err)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlySince: made read-only after setup, the undoing is refused and remembered.
func TestReadOnlySince(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := h.SettingsFile(User)
	put(t, path, opus)
	setUp(t, h)
	chmod(t, path, 0o444)
	all, err := h.Setups()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.PlanUndo(all[0]); !errors.Is(err, ErrReadOnly) {
		t.Errorf("refused with %v, want %v", err, ErrReadOnly)
	}
	chmod(t, path, 0o644)
	undo(t, h)
	if got := get(t, path); got != opus {
		t.Errorf("left is %q", got)
	}
}

// TestModeStays: a file keeps its permissions.
func TestModeStays(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is one bit of them")
	}
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o664} {
		h := newHome(t)
		path := h.SettingsFile(User)
		put(t, path, opus)
		chmod(t, path, mode)
		setUp(t, h)
		checkMode(t, path, mode)
		undo(t, h)
		checkMode(t, path, mode)
	}
}

func checkMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("its mode is %v, want %v", got, want)
	}
}

// TestChangedBetween: what others wrote between the showing and the doing is not lost.
func TestChangedBetween(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := h.SettingsFile(User)
	put(t, path, opus)
	p, err := h.PlanEntries(User)
	if err != nil {
		t.Fatal(err)
	}
	const newer = "{\n  \"model\": \"haiku\"\n}\n"
	put(t, path, newer)
	if err := p.Apply(); !errors.Is(err, ErrChanged) {
		t.Errorf("applied with %v, want %v", err, ErrChanged)
	}
	if got := get(t, path); got != newer {
		t.Errorf("the file is %q, want what others wrote", got)
	}
	if all, err := h.Setups(); err != nil || len(all) > 0 {
		t.Errorf("remembered are %v, %v", all, err)
	}
}

// TestProjectFiles: a project's file is for everybody and names no place of ours; a
// local one is at the top of the work tree, where every session in it looks.
func TestProjectFiles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := os.Mkdir(filepath.Join(h.Top, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.Dir = filepath.Join(h.Top, "part")
	if got := Top(h.Dir); got != h.Top {
		t.Errorf("the top of %s is %s, want %s", h.Dir, got, h.Top)
	}
	for _, c := range []struct {
		scope Scope
		want  string
		line  string
		mode  fs.FileMode
	}{
		{Project, filepath.Join(h.Top, "part", ".claude", "settings.json"), Line("", claude), 0o644},
		{Local, filepath.Join(h.Top, ".claude", "settings.local.json"), Line(duplexPath, claude), 0o600},
	} {
		p, err := h.PlanEntries(c.scope)
		if err == nil {
			err = p.Apply()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := get(t, c.want); strings.Count(got, quote(c.line)) != Events() {
			t.Errorf("%s: called is\n%s\nwant %s", c.scope, got, c.line)
		}
		if runtime.GOOS != "windows" {
			checkMode(t, c.want, c.mode)
		}
	}
}

// TestDamagedMemory: a memory that cannot be read is an error with the way out.
func TestDamagedMemory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	put(t, filepath.Join(h.State, recordFile), `{"setups": [`)
	for _, err := range []error{second(h.PlanEntries(User)), second(h.PlanPlugin(h.PluginFolder())), second(h.Find())} {
		if err == nil || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("got %v, want the way out", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestKilledBetween: a setup is remembered before it is made. Killed there, undoing it
// finds the file as it was, and leaves it so.
func TestKilledBetween(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := h.SettingsFile(User)
	put(t, path, opus)
	planned := func() Plan {
		p, err := h.PlanEntries(User)
		if err == nil {
			err = h.remember(p.Setup)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	planned()
	if p := undo(t, h); !p.Nothing() || len(p.Notes) > 0 {
		t.Errorf("the undoing changes %v and says %q", p.Changes, p.Notes)
	}
	setUp(t, h)
	h.Program = "/opt/duplex/duplex"
	planned() // a second setup, killed
	if p := undo(t, h); len(p.Notes) > 0 {
		t.Errorf("the undoing says %q", p.Notes)
	}
	if got := get(t, path); got != opus {
		t.Errorf("left is %q", got)
	}
}

// TestFailedSetup: what cannot be made is not remembered, and no folder of it stays.
func TestFailedSetup(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p, err := h.PlanEntries(User)
	if err != nil {
		t.Fatal(err)
	}
	put(t, h.Claude, "a file where the folder should be")
	if err := p.Apply(); err == nil {
		t.Fatal("applied")
	}
	if all, err := h.Setups(); err != nil || len(all) > 0 {
		t.Errorf("remembered are %v, %v", all, err)
	}
	if got := get(t, h.Claude); !strings.HasPrefix(got, "a file") {
		t.Errorf("the file is %q", got)
	}
}
