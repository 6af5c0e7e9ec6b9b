package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// detachVariable marks what shall outlive us, wherever it is adopted.
const detachVariable = "DUPLEX_DETACHED"

// detached is the environment of what is of no tree, whoever started it.
func detached(env []string) []string { return Changed(env, markVariable, detachVariable+"=1") }

// Detach starts a process that outlives us: in its own session, with no input,
// its output appended to the file log (none when empty). It is no part of the
// tree we run in, so that the end of a run does not end it.
func Detach(argv []string, dir string, env []string, log string) (pid int, err error) {
	if len(argv) == 0 {
		return 0, errors.New("no command to start")
	}
	if env == nil {
		env = os.Environ()
	}
	path, err := Look(argv[0], env)
	if err != nil {
		return 0, err
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: dir, Env: detached(env)}
	detach(cmd)
	if log != "" {
		file, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return 0, fmt.Errorf("open the log of %s: %w", argv[0], err)
		}
		defer file.Close()
		cmd.Stdout, cmd.Stderr = file, file
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	pid = cmd.Process.Pid
	go func() { _ = cmd.Wait() }() // should it end before us, it must not stay in the table
	return pid, nil
}
