package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	contains := func(out string, want ...string) {
		t.Helper()
		for _, s := range want {
			if !strings.Contains(out, s) {
				t.Errorf("lacks %q:\n%s", s, out)
			}
		}
	}
	contains(w.must("config"), w.env["DUPLEX_HOME"], "brief.tokens", "2000", "default")
	contains(w.must("config", "brief.tokens", "3000"), "brief.tokens is 3000 in "+filepath.Join(w.env["HOME"], ".config", "duplex", "config.toml"))
	contains(w.must("config", "brief.tokens"), "3000", "config.toml:1")
	contains(w.must("config", "brief.tokens", "1500", "--project"), filepath.Join(w.dir, ".duplex.toml"))
	contains(w.must("config", "brief.tokens"), "1500", ".duplex.toml:1")
	w.env["DUPLEX_BRIEF_TOKENS"] = "4000"
	contains(w.must("config", "brief.tokens", "1600"), "In force is 4000, from DUPLEX_BRIEF_TOKENS, which is stronger.")
	delete(w.env, "DUPLEX_BRIEF_TOKENS")

	sub := filepath.Join(w.dir, "deep", "er")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	top := w.dir
	w.dir = sub
	w.must("config", "on-crash", "keep", "--project")
	w.dir = top
	contains(w.must("config", "on-crash"), "keep", filepath.Join(top, ".duplex.toml"))

	for _, args := range [][]string{{"config", "brief.token"}, {"config", "brief.tokens", "lots"}, {"config", "--user"}, {"config", "nudge", "0.8", "--user", "--project"}} {
		if _, errs, code := w.run("", "", args...); code != ExitUsage || errs == "" {
			t.Errorf("%v: exit %d, %q; want %d with a reason", args, code, errs, ExitUsage)
		}
	}
	w.write(".duplex.toml", "nonsense = true\n")
	out, errs, code := w.run("", "", "config")
	if code != ExitUsage || !strings.Contains(errs, "nonsense") || !strings.Contains(out, "brief.tokens") {
		t.Errorf("a wrong file: exit %d, %q, and what can be read: %q", code, errs, out)
	}
}

// TestOff: a person's word leaves a folder alone, and an agent's does not.
func TestOff(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	w.must("off")
	w.at(9, "09:05")
	s := w.sit("s1", "script-small", "startup")
	s.prompt("move the tests")
	if out := w.must("show"); !strings.Contains(out, "at position 3,") {
		t.Errorf("a session of a folder that is off was recorded:\n%s", out)
	}
	w.must("on")
	w.sit("s2", "script-small", "startup")
	if out := w.must("show"); !strings.Contains(out, "session 1,") {
		t.Errorf("a session after duplex on was not recorded:\n%s", out)
	}
	if _, _, code := w.run("s2", "", "off"); code != ExitPerson {
		t.Errorf("an agent turned a folder off: exit %d, want %d", code, ExitPerson)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	w := &tale{t: t, dir: t.TempDir(), env: map[string]string{}}
	if out := w.must("version"); !strings.HasPrefix(out, "duplex 0.1.0 (4e1c9ab)\n") {
		t.Errorf("version: %s", out)
	}
	if out := w.must("version", "--licenses"); !strings.Contains(out, "modernc.org/sqlite") {
		t.Error("the licences do not name modernc.org/sqlite")
	}
}
