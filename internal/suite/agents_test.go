package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// installed makes a folder in which npm has installed one agent.
func installed(t *testing.T, root, version, program string) {
	t.Helper()
	at := filepath.Join(root, agentsFolder, "node_modules", "@x", "agent")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, at, "package.json", `{"version":"`+version+`","bin":{"agent":"agent.exe"}}`)
	write(t, at, "agent.exe", program)
}

func wanting(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, pinned), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, pinned), "package.json", `{"dependencies":{"@x/agent":"2.0.1"}}`)
	write(t, filepath.Join(root, pinned), "package-lock.json", `{}`)
	return root
}

// TestAgents stands beside no other test: it sets PATH.
func TestAgents(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, c := range map[string]struct {
		version, program string
		left             bool
	}{
		"as pinned":           {"2.0.1", "x", false},
		"another version":     {"2.0.0", "x", true},
		"without its program": {"2.0.1", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			root := wanting(t)
			installed(t, root, c.version, c.program)
			err := agents(t.Context(), &suite{root: root})
			var left *skip
			if errors.As(err, &left) != c.left || !c.left && err != nil {
				t.Fatalf("got %v, want it left out: %v", err, c.left)
			}
			if c.left && (!strings.Contains(left.reason, "npm is missing") || !strings.Contains(left.reason, "@x/agent 2.0.1") || allowed(left.reason)) {
				t.Errorf("left out with %q", left.reason)
			}
		})
	}
}

// TestAgentsByNPM stands in for npm by a program of the same name.
func TestAgentsByNPM(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("not on windows: npm is a shell script here")
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+"/usr/bin"+string(os.PathListSeparator)+"/bin")
	npm := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	works := `test "$1 $3" = "--prefix ci" && test -f "$2/package-lock.json" && cd "$2" && mkdir -p node_modules/@x/agent && cd node_modules/@x/agent &&
		echo '{"version":"2.0.1","bin":{"agent":"agent.exe"}}' >package.json && echo x >agent.exe`
	for _, c := range []struct{ name, script, says string }{
		{"installs", works, ""},
		{"no network", "echo npm error network unreachable >&2; exit 1", "npm error network unreachable"},
		{"installs nothing", "exit 0", "no working @x/agent 2.0.1"},
	} {
		npm(c.script)
		err := agents(t.Context(), &suite{root: wanting(t)})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.says)
		}
	}
}

// TestPinnedAgents: what is pinned is pinned to one version, in the lock file too, and names no server.
func TestPinnedAgents(t *testing.T) {
	t.Parallel()
	want, err := pinnedAgents("agents/package.json")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile("agents/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lock), "://") {
		t.Error("the lock file names a server: lock with npm install --package-lock-only --omit-lockfile-registry-resolved")
	}
	for name, version := range want {
		if strings.Trim(version, "0123456789.") != "" || !strings.Contains(string(lock), `"`+name+`": "`+version+`"`) {
			t.Errorf("%s %s is not one version, or not the locked one", name, version)
		}
	}
	if want["@anthropic-ai/claude-code"] == "" {
		t.Error("Claude Code is not among the agents")
	}
}
