//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// replaceable is an error when putting another file in a file's place would lose what
// the file is beside its text.
func replaceable(path string, info fs.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Nlink > 1 {
		return fmt.Errorf("%s has %d names (hard links), and would lose the others: make a symbolic link of them, or a copy", path, s.Nlink)
	}
	return nil
}

// sameOwner gives a file the owner of the one it replaces, if there is one.
func sameOwner(f *os.File, of string) error {
	info, err := os.Stat(of)
	if err != nil {
		return nil // none
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	want, ok := info.Sys().(*syscall.Stat_t)
	have, also := mine.Sys().(*syscall.Stat_t)
	if !ok || !also || want.Uid == have.Uid && want.Gid == have.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
