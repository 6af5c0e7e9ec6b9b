package process

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const zombie = 5 // sys/proc.h SZOMB

func readRow(pid int) (row, error) {
	if pid <= 0 {
		return row{}, os.ErrNotExist
	}
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == nil && int(p.Proc.P_pid) == pid {
		return kinfoRow(p), nil
	}
	if kill := syscall.Kill(pid, 0); kill == syscall.ESRCH {
		return row{}, os.ErrNotExist
	}
	return row{}, errHidden
}

func kinfoRow(p *unix.KinfoProc) row {
	started := p.Proc.P_starttime
	session, _ := unix.Getsid(int(p.Proc.P_pid))
	return row{
		pid:     int(p.Proc.P_pid),
		parent:  int(p.Eproc.Ppid),
		session: session,
		start:   strconv.FormatInt(int64(started.Sec)*1e6+int64(started.Usec), 10),
		name:    unix.ByteSliceToString(p.Proc.P_comm[:]),
		dead:    p.Proc.P_stat == zombie,
	}
}

func table() []row {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	rows := make([]row, 0, len(procs))
	for i := range procs {
		rows = append(rows, kinfoRow(&procs[i]))
	}
	return rows
}

// args reads kern.procargs2: a count, the program's path, padding, then the
// arguments, each ended by a zero byte.
func args(pid int) []string {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(data) < 4 {
		return nil
	}
	count := int(binary.NativeEndian.Uint32(data))
	_, rest, ok := bytes.Cut(data[4:], []byte{0})
	if !ok {
		return nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	rest = rest[:min(len(rest), 4096)]
	found := strings.Split(string(rest), "\x00")
	return found[:min(max(count, 0), len(found))]
}

// carries is not answered here: the parent and session links are all there is.
func carries(int, string, string) bool { return false }

func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

func hostID() string {
	name, _ := os.Hostname()
	machine, _ := unix.Sysctl("kern.uuid")
	return name + "/" + machine
}

// Subreaper makes orphans among our descendants our children instead of
// init's, so that they stay in the tree. Linux only; elsewhere it does nothing.
func Subreaper() error { return nil }
