package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// inherited is nothing on Windows: extra files cannot be handed to a child.
func inherited(*os.File) []*os.File { return nil }

func tryLock(f *os.File) error {
	// The locked byte lies far behind the text, so that others can read it.
	at := &windows.Overlapped{Offset: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

// freeBytes is what an ordinary user may still write to the disk of dir.
func freeBytes(dir string) (int64, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(free), true
}

// isCrossDevice says that a rename failed because the two places are on
// different volumes.
func isCrossDevice(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }
