//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// written is how many bytes a process had written to disk.
func written(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(u.Oublock) * 512
}

// maxRSS is the most resident memory a process had, in bytes.
func maxRSS(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
