package process

import (
	"errors"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const stillActive = 259 // GetExitCodeProcess of a process that runs

func readRow(pid int) (row, error) {
	if pid <= 0 {
		return row{}, os.ErrNotExist
	}
	for _, r := range table() {
		if r.pid == pid {
			return r.started()
		}
	}
	return row{}, os.ErrNotExist
}

// started adds when the process was created, which the table does not hold.
func (r row) started() (row, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(r.pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return row{}, os.ErrNotExist
	}
	if err != nil {
		return row{}, errHidden
	}
	defer windows.CloseHandle(h)
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &ended, &kernel, &user); err != nil {
		return row{}, errHidden
	}
	var code uint32
	if err := windows.GetExitCodeProcess(h, &code); err == nil {
		r.dead = code != stillActive
	}
	r.start = strconv.FormatInt(created.Nanoseconds(), 10)
	return r, nil
}

// table lists every process. A parent may have ended and its number been given
// away; a child that is older than its parent is therefore nobody's.
func table() []row {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	var rows []row
	for err := windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		r := row{
			pid:    int(entry.ProcessID),
			parent: int(entry.ParentProcessID),
			name:   windows.UTF16ToString(entry.ExeFile[:]),
		}
		if full, err := r.started(); err == nil {
			r = full
		}
		rows = append(rows, r)
	}
	return adopted(rows)
}

func adopted(rows []row) []row {
	start := make(map[int]string, len(rows))
	for _, r := range rows {
		start[r.pid] = r.start
	}
	for i, r := range rows {
		if parent := start[r.parent]; parent != "" && r.start != "" && earlier(r.start, parent) {
			rows[i].parent = 0
		}
	}
	return rows
}

// args stay unread: another process's command line needs rights to its memory.
func args(int) []string { return nil }

func carries(int, string, string) bool { return false }

// bootID is empty: Windows names no boot, but a creation time is absolute
// there, so a number reused after a boot shows by its Start.
func bootID() string { return "" }

func hostID() string {
	name, _ := os.Hostname()
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return name
	}
	defer key.Close()
	machine, _, _ := key.GetStringValue("MachineGuid")
	return name + "/" + machine
}

// Subreaper makes orphans among our descendants our children instead of
// init's, so that they stay in the tree. Linux only; elsewhere it does nothing.
func Subreaper() error { return nil }
