//go:build !linux && !darwin

package workspace

import "io/fs"

// statOf has no change time to offer here, so it never equals what git wrote
// down: every file is read again, which is slow and right.
func statOf(info fs.FileInfo) stat {
	return stat{mtime: uint32(info.ModTime().Unix()), mtimeNS: uint32(info.ModTime().Nanosecond()), size: uint32(info.Size())}
}
