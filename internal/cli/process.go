package cli

import (
	"os"
	"time"

	"golang.org/x/term"
)

// FromProcess is the world of a real process.
func FromProcess(now func() time.Time) *App {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	a := &App{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Environ: os.Environ(), Dir: dir,
		Program: program, Now: now}
	if len(a.Args) > 0 && a.Args[0] == "hook" {
		return a // no terminal is asked about: an agent waits
	}
	a.InTerminal = term.IsTerminal(int(os.Stdin.Fd()))
	a.OutTerminal = term.IsTerminal(int(os.Stdout.Fd()))
	a.ErrTerminal = term.IsTerminal(int(os.Stderr.Fd()))
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && a.OutTerminal {
		a.Width = w
	}
	return a
}
