// Package process knows the operating system's processes: who one is, whose
// child it is, whether it still lives, and how to start one so that it and
// everything it started can be ended again.
//
// It exists because agents start tools in sessions of their own, which neither
// a process group nor the death of the agent ends, and because a lease must
// tell a living holder from a process id that was given to someone else.
//
// It is not a supervisor: nothing here restarts, schedules or remembers, and
// importing it does no work.
package process

import (
	"errors"
	"fmt"
	"os"
)

// Ident says who a process is, proof against its number being reused: the same
// PID with another Start, or after another Boot, is somebody else.
type Ident struct {
	Host  string // host name, "/", and a digest of machine and pid namespace: two containers never share it
	Boot  string // changes with every boot of the host; empty where it cannot be read
	PID   int
	Start string // when it started, in the system's own unit; compared, never computed with
}

// Liveness is what can be said about a process from here.
type Liveness string

const (
	Live    Liveness = "live"
	Gone    Liveness = "gone"
	Unknown Liveness = "unknown" // on another host, or hidden from us
)

// Info describes a process at the moment it was looked at. Args are what was
// typed, up to 4 KB, and may hold credentials: redact them before they are kept.
type Info struct {
	PID, Parent int
	Start, Name string
	Args        []string
}

// row is one line of the system's process table.
type row struct {
	pid, parent, session int
	start, name          string
	dead                 bool // ended, and only waiting for its parent to notice
}

// errHidden says that a process exists but may not be looked at.
var errHidden = errors.New("not visible")

// Self identifies the calling process.
func Self() Ident {
	self, err := Of(os.Getpid())
	if err != nil { // no process table to read: a name which Liveness answers with Unknown
		return Ident{Host: hostID(), Boot: bootID(), PID: os.Getpid()}
	}
	return self
}

// Of identifies a living process of this host. The error is fs.ErrNotExist when
// there is none with that number.
func Of(pid int) (Ident, error) {
	r, err := readRow(pid)
	if err == nil && r.dead {
		err = os.ErrNotExist
	}
	if err != nil {
		return Ident{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	return Ident{Host: hostID(), Boot: bootID(), PID: pid, Start: r.start}, nil
}

// Liveness tells whether the process still runs. A process that ended and was
// not yet waited for is gone: it cannot act any more.
func (i Ident) Liveness() Liveness {
	switch {
	case i.PID <= 0 || i.Start == "" || i.Host != hostID():
		return Unknown
	case i.Boot != bootID():
		return Gone
	}
	r, err := readRow(i.PID)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Gone
	case err != nil:
		return Unknown
	case r.dead || r.start != i.Start:
		return Gone
	}
	return Live
}

func (r row) info() Info {
	return Info{PID: r.pid, Parent: r.parent, Start: r.start, Name: r.name, Args: args(r.pid)}
}
