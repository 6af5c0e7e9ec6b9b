package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// Become gives our terminal to a program and waits for it, since Windows cannot put
// it in our place. It returns the program's exit code.
func Become(argv []string, dir string, env []string) (exit int, err error) {
	path, err := Look(argv[0], env)
	if err != nil {
		return 0, err
	}
	signal.Ignore(os.Interrupt) // it is meant for the program
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: dir, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return 0, nil
}
