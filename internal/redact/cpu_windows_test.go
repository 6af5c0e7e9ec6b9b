package redact

import "time"

// cpuTime is the time passed: a stand-in where processor time is not to be had simply.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
