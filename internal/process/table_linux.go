package process

import (
	"bytes"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// readSmall reads up to size bytes of a file of /proc with three system calls;
// os.ReadFile makes eight, and hooks walk their ancestors on every tool call.
func readSmall(path string, size int) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	buf := make([]byte, size)
	n, err := syscall.Read(fd, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

func procPath(pid int, file string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + file
}

func readRow(pid int) (row, error) {
	if pid <= 0 {
		return row{}, os.ErrNotExist
	}
	data, err := readSmall(procPath(pid, "stat"), 1024)
	if err == nil {
		if r, ok := parseStat(data); ok {
			return r, nil
		}
	}
	// With hidepid, or without /proc, a living process looks like a missing one.
	if kill := syscall.Kill(pid, 0); kill == syscall.ESRCH {
		return row{}, os.ErrNotExist
	}
	return row{}, errHidden
}

// parseStat reads a line of /proc/PID/stat. The name stands in parentheses and
// may itself hold parentheses and spaces, so the fields count from the last one.
func parseStat(line []byte) (row, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return row{}, false
	}
	fields := strings.Fields(string(line[end+1:]))
	const state, parent, session, start = 0, 1, 3, 19
	if len(fields) <= start {
		return row{}, false
	}
	r := row{name: string(line[open+1 : end]), start: fields[start]}
	var err1, err2, err3 error
	r.pid, err1 = strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	r.parent, err2 = strconv.Atoi(fields[parent])
	r.session, err3 = strconv.Atoi(fields[session])
	r.dead = fields[state] == "Z" || fields[state] == "X"
	return r, err1 == nil && err2 == nil && err3 == nil
}

// table lists every process that may be seen, in no order.
func table() []row {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	rows := make([]row, 0, len(names))
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		data, err := readSmall("/proc/"+name+"/stat", 1024)
		if err != nil {
			continue // ended since it was listed
		}
		if r, ok := parseStat(data); ok {
			rows = append(rows, r)
		}
	}
	return rows
}

func args(pid int) []string {
	data, err := readSmall(procPath(pid, "cmdline"), 4096)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

// carries tells whether a process was started with text in the named variable.
// Children inherit it into any session they make, so it finds what no parent,
// group or session names any more.
func carries(pid int, name, text string) bool {
	data, err := os.ReadFile(procPath(pid, "environ"))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok && bytes.Contains(value, []byte(text)) {
			return true
		}
	}
	return false
}

func bootID() string {
	data, err := readSmall("/proc/sys/kernel/random/boot_id", 64)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(data))
}

// hostID tells machines with one host name apart, and containers on one kernel,
// which share its boot id while their process numbers mean different processes.
func hostID() string {
	name, _ := os.Hostname()
	digest := fnv.New32a()
	machine, _ := readSmall("/etc/machine-id", 64)
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	digest.Write(machine)
	digest.Write([]byte(namespace))
	return name + "/" + strconv.FormatUint(uint64(digest.Sum32()), 16)
}

const prSetChildSubreaper = 36 // linux/prctl.h

// Subreaper makes orphans among our descendants our children instead of
// init's, so that they stay in the tree. Linux only; elsewhere it does nothing.
func Subreaper() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}
