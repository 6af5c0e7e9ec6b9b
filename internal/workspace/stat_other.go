//go:build !linux && !darwin

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
)

// statIn looks at a file in an open folder without following a link.
func statIn(dir *os.File, name string) (stat, fs.FileMode, error) {
	return statAt(filepath.Join(dir.Name(), name))
}

// statAt has no change time to offer here, so what it returns never equals
// what git wrote down: every file is read again, which is slow and right.
func statAt(path string) (stat, fs.FileMode, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stat{}, 0, err
	}
	at := info.ModTime()
	return stat{mtime: uint32(at.Unix()), mtimeNS: uint32(at.Nanosecond()), size: uint32(info.Size())}, info.Mode(), nil
}
