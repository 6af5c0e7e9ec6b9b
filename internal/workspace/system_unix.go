//go:build unix

package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// inherited is what git children keep open, so that the lock outlives a
// killed parent for as long as its git still writes.
func inherited(lock *os.File) []*os.File { return []*os.File{lock} }

func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}

// freeBytes is what an ordinary user may still write to the disk of dir.
func freeBytes(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// isCrossDevice says that a rename failed because the two places are on
// different file systems.
func isCrossDevice(err error) bool { return errors.Is(err, unix.EXDEV) }
