package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The versions that work with the Go of go.mod. A newer one is a commit of its own.
const (
	staticcheckAt = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
	govulncheckAt = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"
)

const noDatabase = "the vulnerability database cannot be reached"

// needs lists the programs beside Go that the tests run, with the Debian package that brings each. Without
// those for some tests, these are left out, and the rest is run.
var needs = []struct {
	program, debian string
	some            bool
}{
	{"git", "git", false},
	{"npm", "npm", true},   // the agents that tests drive
	{"tmux", "tmux", true}, // agents as a person sees them
}

func systemPackages(ctx context.Context, s *suite) error {
	var missing []string
	some := true
	for _, n := range needs {
		if _, err := exec.LookPath(n.program); err != nil {
			missing = append(missing, n.debian)
			some = some && n.some
		}
	}
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	switch {
	case !s.install && some:
		return &skip{names + " is missing: apt-get install " + names + ", or what brings it here; tests that need it are left out"}
	case !s.install:
		return fmt.Errorf("%s is missing: install it, or run with --install on Debian as root", names)
	}
	quiet := []string{"DEBIAN_FRONTEND=noninteractive"}
	if _, err := s.output(ctx, quiet, "apt-get", "update", "-q"); err != nil {
		return fmt.Errorf("read the lists of packages for %s: %w", names, err)
	}
	_, err := s.output(ctx, quiet, "apt-get", append([]string{"install", "-qy", "--no-install-recommends"}, missing...)...)
	return err
}

func gofmt(ctx context.Context, s *suite) error {
	unformatted, err := s.output(ctx, nil, "gofmt", "-l", ".")
	if err != nil {
		return err
	}
	if unformatted != "" {
		return errors.New("not formatted, run gofmt -w on:\n" + unformatted)
	}
	return nil
}

// vet also looks at the files of the other systems, tests included, which no build compiles.
func vet(ctx context.Context, s *suite) error {
	var wrong []error
	for _, system := range []string{"linux", "darwin", "windows"} {
		if _, err := s.output(ctx, []string{"GOOS=" + system, "CGO_ENABLED=0"}, "go", "vet", "./..."); err != nil {
			wrong = append(wrong, fmt.Errorf("on %s: %w", system, err))
		}
	}
	return errors.Join(wrong...)
}

func staticcheck(ctx context.Context, s *suite) error {
	program, err := s.tool(ctx, staticcheckAt)
	if err != nil {
		return err
	}
	_, err = s.output(ctx, nil, program, "./...")
	return err
}

func vulnerabilities(ctx context.Context, s *suite) error {
	program, err := s.tool(ctx, govulncheckAt)
	if err != nil {
		return err
	}
	printed, err := s.output(ctx, nil, program, "./...")
	if err != nil && strings.Contains(printed, "fetching vulnerabilities") {
		return &skip{noDatabase + ": " + lastLine(printed)}
	}
	return err
}

// tool brings a pinned Go program into .tools, which git ignores, and returns its path.
func (s *suite) tool(ctx context.Context, at string) (string, error) {
	name, version, _ := strings.Cut(filepath.Base(at), "@")
	folder := filepath.Join(s.root, ".tools", name+"-"+version+"-"+runtime.Version())
	program := filepath.Join(folder, name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	printed, err := s.output(ctx, []string{"GOBIN=" + folder, "GOFLAGS="}, "go", "install", at)
	if err != nil {
		return "", &skip{name + " " + version + " cannot be fetched: " + lastLine(printed)}
	}
	return program, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && !strings.HasPrefix(line, "exit status") {
			return line
		}
	}
	return ""
}
