//go:build !windows

package process

import (
	"fmt"
	"os"
	"os/exec"
)

// vigil is what a guard does. It waits for two lines on a pipe whose other end only
// we hold: whose session it guards, and that all is over. When the pipe ends without
// the second, we were killed: it ends the session, asking first, and where /proc
// shows it whatever carries the mark, in any session.
const vigil = `read -r leader <&3 || exit
read -r over <&3 && exit
end() {
	kill "-$1" "-$leader"
	for file in $(grep -ls "$mark" /proc/[0-9]*/environ); do
		file=${file#/proc/}
		kill "-$1" "${file%/environ}"
	done
}
mark=$1
end TERM; sleep 1; end KILL`

// guard is a process that outlives us by so long as it takes to end a tree.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// newGuard starts a guard, before the tree it is for. Without a shell there is none,
// and the tree is as it would be without Bound. It carries no mark and has a session
// of its own, so that it does not end with us or with what it guards.
func newGuard(mark string) *guard {
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer read.Close()
	argv := append(shell(vigil), "guard", mark)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: "/", Env: detached(os.Environ()), ExtraFiles: []*os.File{read}}
	isolate(cmd)
	if cmd.Start() != nil {
		write.Close()
		return nil
	}
	return &guard{cmd, write}
}

// watch names the leader of the session to guard.
func (g *guard) watch(leader int) {
	if g != nil {
		fmt.Fprintln(g.pipe, leader) // should the guard be gone, there is nobody to tell
	}
}

// is tells whether a process is the guard.
func (g *guard) is(pid int) bool { return g != nil && g.cmd.Process.Pid == pid }

// release ends the guard: what it guarded has ended.
func (g *guard) release() {
	if g == nil {
		return
	}
	fmt.Fprintln(g.pipe, "over")
	g.pipe.Close()
	_ = g.cmd.Wait() // how it ended says nothing
}
