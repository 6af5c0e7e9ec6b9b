package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// agentsFolder is where the agents that tests drive are installed, below the module's root. git ignores it.
// The tests look for it there, or in the folder that the variable DUPLEX_AGENTS names.
const agentsFolder = ".tools/agents"

// pinned says which agents, and in which version: a package.json with its lock file.
const pinned = "internal/suite/agents"

// agents installs the real agents with npm, from the lock file. Without npm they are left out, and so are
// the tests that drive them; under --install that is a failure.
func agents(ctx context.Context, s *suite) error {
	want, err := pinnedAgents(filepath.Join(s.root, pinned, "package.json"))
	if err != nil {
		return err
	}
	folder := filepath.Join(s.root, agentsFolder)
	missing := missingAgents(folder, want)
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, ", ")
	if _, err := exec.LookPath("npm"); err != nil {
		return &skip{"npm is missing, so no test drives " + names + ": install Node.js, or run with --install on Debian as root"}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(s.root, pinned, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			return err
		}
	}
	if printed, err := s.output(ctx, nil, "npm", "--prefix", folder, "ci", "--no-audit", "--no-fund"); err != nil {
		return &skip{"npm cannot install " + names + ": " + lastLine(printed)}
	}
	if missing := missingAgents(folder, want); len(missing) > 0 {
		return fmt.Errorf("npm installed no working %s: remove %s and run this again", strings.Join(missing, ", "), agentsFolder)
	}
	return nil
}

// pinnedAgents reads the versions that are wanted, by package.
func pinnedAgents(file string) (map[string]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p.Dependencies, nil
}

// missingAgents lists the packages that are not there in the wanted version, or whose program is not there.
func missingAgents(folder string, want map[string]string) []string {
	var missing []string
	for name, version := range want {
		at := filepath.Join(folder, "node_modules", filepath.FromSlash(name))
		var p struct {
			Version string
			Bin     map[string]string
		}
		b, err := os.ReadFile(filepath.Join(at, "package.json"))
		if err != nil || json.Unmarshal(b, &p) != nil || p.Version != version || !programsIn(at, p.Bin) {
			missing = append(missing, name+" "+version)
		}
	}
	sort.Strings(missing)
	return missing
}

func programsIn(folder string, bin map[string]string) bool {
	for _, file := range bin {
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(file))); err != nil || info.Size() == 0 {
			return false
		}
	}
	return true
}
