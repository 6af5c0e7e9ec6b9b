//go:build unix

package redact

import (
	"syscall"
	"time"
)

// cpuTime is the processor time this process has used: what a benchmark costs when others share the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
