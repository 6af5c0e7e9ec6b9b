package workspace

import (
	"io/fs"
	"syscall"
)

// statOf reads the stat of a file that was looked at without following links.
func statOf(info fs.FileInfo) stat {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stat{}
	}
	return stat{
		ctime: uint32(s.Ctimespec.Sec), ctimeNS: uint32(s.Ctimespec.Nsec),
		mtime: uint32(s.Mtimespec.Sec), mtimeNS: uint32(s.Mtimespec.Nsec),
		dev: uint32(s.Dev), ino: uint32(s.Ino), uid: s.Uid, gid: s.Gid, size: uint32(s.Size),
	}
}
