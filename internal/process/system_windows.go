package process

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// shell is the argument list that runs a person's command line.
func shell(line string) []string { return []string{"cmd", "/D", "/S", "/C", line} }

func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if len(cmd.Args) == 5 && cmd.Args[0] == "cmd" { // cmd.exe reads its line raw, not as Go quotes it
		cmd.SysProcAttr.CmdLine = `cmd /D /S /C "` + cmd.Args[4] + `"`
	}
}

func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// Windows has neither a request to end nor a way to freeze.
func terminate(pid int) { kill(pid) }
func freeze(int)        {}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func collect(int) {}
