package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMain gives every test a home of its own, so that neither the machine's
// git configuration nor the person's has a say, and turns the program into a
// child when a test asks for one.
func TestMain(m *testing.M) {
	if run := os.Getenv("WORKSPACE_CHILD"); run != "" {
		if err := child(run); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	home, err := os.MkdirTemp("", "workspace-home-")
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT"} {
		os.Unsetenv(name)
	}
	if childProgram, err = copyOf(home); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// childProgram is a copy of this program that any user can run. It is made
// before the tests start others: a program that is still open for writing in
// a child just forked cannot be run.
var childProgram string

func copyOf(home string) (string, error) {
	if err := os.Chmod(home, 0o755); err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	path := filepath.Join(home, "workspace.test")
	return path, os.WriteFile(path, program, 0o755)
}
