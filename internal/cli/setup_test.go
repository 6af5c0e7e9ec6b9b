package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/install"
)

// room is a person's home in which commands run that change it.
type room struct {
	*testing.T
	app App
	top string
	err bytes.Buffer
}

func newRoom(t *testing.T) *room {
	t.Helper()
	top := t.TempDir()
	r := &room{T: t, top: top}
	env := map[string]string{"HOME": filepath.Join(top, "home"), "DUPLEX_HOME": filepath.Join(top, "state"), "PATH": "/usr/bin:/bin"}
	r.app = App{Dir: filepath.Join(top, "work"), Program: filepath.Join(top, "bin", "duplex"), Now: time.Now, Getenv: func(k string) string { return env[k] },
		Environ: []string{"PATH=/usr/bin:/bin"}, Version: Version{Number: "0.1.0"}}
	for _, dir := range []string{r.app.Dir, env["HOME"], filepath.Dir(r.app.Program)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *room) run(in string, args ...string) (out string, code int) {
	r.Helper()
	var stdout bytes.Buffer
	a := r.app
	r.err.Reset()
	a.Args, a.In, a.Out, a.Err = args, strings.NewReader(in), &stdout, &r.err
	code = Main(context.Background(), &a)
	return stdout.String(), code
}

// TestSetupJSON holds what setup, doctor and uninstall print against docs/json.md.
func TestSetupJSON(t *testing.T) {
	t.Parallel()
	docs := readDocs(t)
	r := newRoom(t)
	for _, c := range []struct {
		schema string
		code   int
		args   []string
	}{
		{"setup/1", ExitOK, []string{"setup", "claude", "--dry-run"}},
		{"doctor/1", ExitOK, []string{"doctor"}},
		{"setup/1", ExitOK, []string{"setup", "claude", "--undo"}},
		{"setup/1", ExitOK, []string{"setup", "claude", "--user"}},
		{"setup/1", ExitOK, []string{"setup", "claude", "--user"}},
		{"doctor/1", ExitNotPassed, []string{"doctor"}}, // there is no program in its place
		{"uninstalled/1", ExitOK, []string{"uninstall", "--dry-run", "--data"}},
		{"uninstalled/1", ExitOK, []string{"uninstall"}},
	} {
		out, code := r.run("", append(c.args, "--json")...)
		if code != c.code {
			t.Fatalf("duplex %s: exit %d, want %d\n%s%s", strings.Join(c.args, " "), code, c.code, out, r.err.String())
		}
		docs.check(t, strings.Join(c.args, " "), c.schema, out)
	}
}

// TestSetupAsks: at a terminal it shows first and does what the person then says.
func TestSetupAsks(t *testing.T) {
	t.Parallel()
	for answer, does := range map[string]bool{"\n": true, "y\n": true, "Yes\n": true, "n\n": false, "what\n": false, "": false} {
		r := newRoom(t)
		r.app.InTerminal, r.app.OutTerminal = true, true
		out, code := r.run(answer, "setup", "claude")
		_, err := os.Stat(filepath.Join(r.app.home(), ".claude"))
		if done := code == ExitOK && err == nil; done != does || !strings.Contains(r.err.String(), "Go on? [Y/n]") || !strings.Contains(out, "hooks.json") {
			t.Errorf("answered %q: done %v (exit %d), want %v\n%s%s", answer, done, code, does, out, r.err.String())
		}
	}
	r := newRoom(t)
	r.app.InTerminal, r.app.OutTerminal = true, true
	if _, code := r.run("", "setup", "claude", "--yes"); code != ExitOK || strings.Contains(r.err.String(), "Go on?") {
		t.Errorf("with --yes it asks, exit %d\n%s", code, r.err.String())
	}
}

func TestSetupRefuses(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for call, says := range map[string]string{
		"setup claude --user --project": "each name a place: give one of them",
		"setup codex":                   `no agent "codex" can be set up; the agents are: claude`,
		"setup":                         "got 0 arguments",
	} {
		if _, code := r.run("", strings.Fields(call)...); code != ExitUsage || !strings.Contains(r.err.String(), says) {
			t.Errorf("duplex %s: exit %d, %q; want %q", call, code, r.err.String(), says)
		}
	}
	r.app.Program = "/tmp/go-build1234/b001/exe/duplex" // of go run
	if _, code := r.run("", "setup", "claude"); code != ExitError || !strings.Contains(r.err.String(), "hooks would find no duplex") {
		t.Errorf("exit %d, %q", code, r.err.String())
	}
}

// TestHookProgram: the path that hooks call is the one that lasts.
func TestHookProgram(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if err := os.WriteFile(r.app.Program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.top, "path")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(path, "duplex")
	if err := os.Symlink(r.app.Program, linked); err != nil {
		t.Fatal(err)
	}
	if got := r.app.hookProgram(); got != r.app.Program {
		t.Errorf("not on the PATH it is %s, want %s", got, r.app.Program)
	}
	r.app.Environ = []string{"PATH=" + path}
	if got := r.app.hookProgram(); got != linked {
		t.Errorf("linked on the PATH it is %s, want the link %s", got, linked)
	}
	other := filepath.Join(r.top, "bin", "other")
	if err := os.WriteFile(other, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	r.app.Program = other
	if got := r.app.hookProgram(); got != other {
		t.Errorf("when another is on the PATH it is %s, want %s", got, other)
	}
	r.app.Environ, r.app.Program = nil, "/tmp/go-build1/exe/duplex"
	if got := r.app.hookProgram(); got != "" {
		t.Errorf("of go run it is %s, want none", got)
	}
}

// TestSkill: what the plugin teaches an agent to run is there, with its flags, and none
// of it is a person's to do.
func TestSkill(t *testing.T) {
	t.Parallel()
	files, err := install.PluginFiles("/usr/bin/duplex")
	if err != nil {
		t.Fatal(err)
	}
	text := files["skills/duplex/SKILL.md"]
	root := (&App{Getenv: func(string) string { return "" }}).root()
	calls := regexp.MustCompile("[`(]duplex ([^`:]+)[`:]").FindAllStringSubmatch(text, -1)
	for _, c := range calls {
		words := strings.Fields(c[1])
		cmd, _, err := root.Find(words)
		if err != nil || cmd == root {
			t.Errorf("duplex %s: %v", c[1], err)
			continue
		}
		for _, w := range words {
			if name, flag := strings.CutPrefix(w, "--"); flag && cmd.Flags().Lookup(name) == nil {
				t.Errorf("duplex %s has no flag %s", cmd.Name(), w)
			}
		}
	}
	if len(calls) < 15 {
		t.Errorf("found only %d calls in\n%s", len(calls), text)
	}
	allowed, _, _ := strings.Cut(text[strings.Index(text, "allowed-tools:"):], "\n")
	for _, persons := range []string{"accept", "amend", "abandon", "remove", "restore", "off", "setup", "uninstall"} {
		if strings.Contains(allowed, persons) {
			t.Errorf("%s may be run unasked: %s", persons, allowed)
		}
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]release{"2.1.332 (Claude Code)\n": {2, 1, 332}, "10.0.1": {10, 0, 1}, "2.1.0-beta.1": {2, 1, 0}} {
		if got, err := parseRelease(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "claude", "2.1", "v2.1.3"} {
		if got, err := parseRelease(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
	if a := (release{2, 1, 99}); !a.before(pluginSince) || a.before(release{2, 0, 300}) || a.before(a) {
		t.Errorf("%v stands wrong among versions", a)
	}
	if install.Events() < 11 {
		t.Errorf("%d events are heard, want 11", install.Events())
	}
}
