package job

import (
	"fmt"
	"time"
)

// Lease says who may act as the job: one session, under one fencing token.
type Lease struct {
	Session ID      `json:"session"`
	Token   int64   `json:"token"`
	Taken   Time    `json:"taken"`
	Until   Time    `json:"until"`
	Driven  bool    `json:"driven,omitempty"`
	Process Process `json:"process,omitzero"`
}

// Lease lengths. A driven session beats every Heartbeat; an observed one holds
// the lease while its process lives, for an asker on another machine until
// RemoteSilence without a hook.
const (
	Heartbeat     = 10 * time.Second
	LeaseLength   = 45 * time.Second
	RemoteSilence = 30 * time.Minute
)

// Liveness is what an asker can tell about a process.
type Liveness string

// Unknown: on another machine, or not to be told.
const (
	Live            Liveness = "live"
	Gone            Liveness = "gone"
	LivenessUnknown Liveness = "unknown"
)

// Held reports whether the lease still keeps others out. A lease whose process
// is gone on the asker's own machine and boot is free at once; renewed is when
// it was last renewed, by a heartbeat or a hook.
func (l *Lease) Held(now, renewed Time, alive Liveness) bool {
	if l == nil {
		return false
	}
	if alive == Gone {
		return false
	}
	if l.Driven {
		return now < max(l.Until, renewed.Add(LeaseLength))
	}
	if alive == Live {
		return true
	}
	return now < max(l.Until, renewed.Add(RemoteSilence))
}

// Asking is a request for the lease.
type Asking struct {
	Session ID
	Driven  bool
	Process Process
	Length  time.Duration // zero: LeaseLength, or RemoteSilence when observed
	// Take: a person wants it from a live session. The holder's process tree
	// was ended or frozen first.
	Take bool
}

// Claim decides whether a session gets the lease, and under which token. It
// gives ErrHeld when a live session has it, ErrFinished when the job has ended.
// A holder that asks again keeps its token.
func Claim(s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
	if s.Done() {
		return nil, ErrFinished
	}
	length := a.Length
	if length == 0 {
		length = RemoteSilence
		if a.Driven {
			length = LeaseLength
		}
	}
	next := Lease{Session: a.Session, Token: s.Token + 1, Taken: now, Until: now.Add(length), Driven: a.Driven, Process: a.Process}
	old := s.Lease
	switch {
	case old == nil:
		return &LeaseTaken{Lease: next, How: "free"}, nil
	case old.Session == a.Session:
		next.Token, next.Taken = old.Token, old.Taken
		return &LeaseTaken{Lease: next, From: old.Session, How: "renewed"}, nil
	case old.Held(now, renewed, alive):
		if a.Take {
			return &LeaseTaken{Lease: next, From: old.Session, How: "taken"}, nil
		}
		return nil, fmt.Errorf("%w by session %s under token %d", ErrHeld, old.Session, old.Token)
	case alive == Gone:
		return &LeaseTaken{Lease: next, From: old.Session, How: "gone"}, nil
	}
	return &LeaseTaken{Lease: next, From: old.Session, How: "expired"}, nil
}

// Fence decides whether an entry may be appended and how it is marked. Acts by
// an agent need the current token and the lease; observations are always taken,
// late when the token is old. A person acts with the current token by nature, a
// guest only observes. When the job has ended, a person may still go back in its
// folder, and say where that is; nothing is decided, raised or paused any more.
func Fence(s *Standing, kind Kind, by Author, session ID, token int64) (late bool, err error) {
	stale := token > 0 && token < s.Token
	if kind.Observation() {
		return stale, nil
	}
	if by.Kind == Person && s.Done() && kind.onward() {
		return false, ErrFinished
	}
	if by.Kind == Person || kind == KindOpened || kind == KindLeaseTaken {
		return false, nil
	}
	book := by.Kind == Duplex && session == "" // Duplex's own book-keeping between sessions
	if s.Done() {
		// A finish gives the lease back. What it teaches is written after it, by
		// its last holder or by Duplex.
		switch {
		case kind != KindLesson && kind != KindLeaseReleased:
			return false, ErrFinished
		case !book && (token == 0 || token != s.Token):
			return false, ErrFenced
		}
		return false, nil
	}
	if !book && (token != s.Token || s.Lease == nil || s.Lease.Session != session) {
		return false, ErrFenced
	}
	return false, nil
}

// onward reports whether an act is about work still to be done.
func (k Kind) onward() bool {
	switch k {
	case KindDecided, KindRaised, KindSettled, KindDeadEnd, KindPaused, KindResumed, KindHandedOver, KindChecked, KindFinished:
		return true
	}
	return false
}

// Stale reports whether a session was replaced: it held the lease
// once, and another has been given it since. Only such a session is denied.
func Stale(s *Standing, session ID, token int64) bool {
	if token == 0 {
		return false
	}
	return token < s.Token && (s.Lease == nil || s.Lease.Session != session)
}
