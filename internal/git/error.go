package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// ErrNotInstalled says that there is no git program to run.
var ErrNotInstalled = errors.New("git is not installed or not on PATH: install git 2.30 or newer")

// Error is a git command that ran and failed.
type Error struct {
	Args   []string // as given, without -c
	Code   int      // exit code; -1 when a signal ended it
	Stderr string   // what git said, shortened to its last 2,000 bytes
}

// Error names the command and what git said first: its first line is the one
// that names the cause.
func (e *Error) Error() string {
	said := e.Stderr
	if said == "" {
		said = fmt.Sprintf("exit code %d", e.Code)
	}
	name := "git"
	if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	return name + ": " + strings.ReplaceAll(said, "\n", "; ")
}

// Code returns the exit code of a failed git command, and -1 for any other
// error.
func Code(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return -1
}

func wrap(ctx context.Context, args []string, stderr string, err error) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return ErrNotInstalled
	case errors.As(err, &exit):
		stderr = strings.TrimSpace(stderr)
		const most = 2000
		if len(stderr) > most {
			stderr = "… " + stderr[len(stderr)-most:]
		}
		return &Error{Args: args, Code: exit.ExitCode(), Stderr: stderr}
	}
	return fmt.Errorf("git %s: %w", args[0], err)
}
