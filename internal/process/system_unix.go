//go:build !windows

package process

import (
	"os/exec"
	"syscall"
)

// shell is the argument list that runs a person's command line.
func shell(line string) []string { return []string{"/bin/sh", "-c", line} }

// isolate gives a command a session of its own: no terminal, and a group that
// a Ctrl-C meant for us does not reach.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func detach(cmd *exec.Cmd) { isolate(cmd) }

// Errors of these mean that the process ended first, which is what was wanted,
// or that it is another user's, which living() goes on to report.
func terminate(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }
func freeze(pid int)    { _ = syscall.Kill(pid, syscall.SIGSTOP) }
func kill(pid int)      { _ = syscall.Kill(pid, syscall.SIGKILL) }

func collect(pid int) { _, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) }
