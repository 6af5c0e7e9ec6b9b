// Package job says what is true of a job: its words, the entries of its
// ledger, and the rules by which entries become a standing.
//
// It is pure. It opens nothing, asks no clock, draws no random number and logs
// nothing: time, ids and liveness come in as values, and what should be written
// goes out as values. Everything that touches the world is a floor above.
//
// Start with Entry (what a ledger is made of), then Apply (how a standing is
// folded from entries), then Claim (who may act) and Bind (which session belongs
// to which job).
package job

import (
	"encoding/base32"
	"errors"
	"strings"
	"time"
)

// Errors callers decide on. Messages for people are made by the surfaces.
var (
	// ErrNotFound: no such job, entry, session or item.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous: a prefix that names more than one job or entry.
	ErrAmbiguous = errors.New("names more than one")
	// ErrFenced: an act with a fencing token that is no longer current.
	ErrFenced = errors.New("the lease has gone to another session")
	// ErrHeld: the lease is held by a live session.
	ErrHeld = errors.New("the lease is held")
	// ErrFinished: the job has ended; nothing more can be done as the job.
	ErrFinished = errors.New("the job is finished")
	// ErrPersonOnly: an act that only a person may do.
	ErrPersonOnly = errors.New("only a person may do this")
	// ErrInvalid: a value that cannot stand in a ledger.
	ErrInvalid = errors.New("invalid")
)

// ID is 128 random bits in 26 characters of lower-case base32. Jobs, entries,
// sessions, workspaces and machines have one.
type ID string

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID encodes 16 random bytes as an ID.
func NewID(random [16]byte) ID { return ID(idEncoding.EncodeToString(random[:])) }

// NewEntryID is NewID with the time in front: entries written after each other stand
// beside each other in the index of their ids, so that a step writes as few pages in
// a long ledger as in a short one.
func NewEntryID(at Time, random [16]byte) ID {
	for i := range 6 {
		random[i] = byte(int64(at) >> (16 + 8*(5-i))) // 65 ms a step, for 580 years
	}
	return NewID(random)
}

// Valid reports whether the ID has the shape NewID makes.
func (id ID) Valid() bool {
	if len(id) != 26 {
		return false
	}
	for i := 0; i < len(id); i++ {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// clipped bounds what stands in an id's place in a payload from elsewhere.
func (id ID) clipped() ID { return ID(Clip(string(id), 26)) }

// ShortNames lists the short names a new job may take, best first: prefixes of
// its id of at least four characters that hold a letter and a digit first, since
// a word is easily taken for a command. The store takes the first one free.
func (id ID) ShortNames() []string {
	var mixed, plain []string
	for n := 4; n <= 12 && n <= len(id); n++ {
		s := string(id[:n])
		if strings.ContainsAny(s, "234567") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") {
			mixed = append(mixed, s)
		} else {
			plain = append(plain, s)
		}
	}
	return append(mixed, plain...)
}

// ReadsAsName reports whether the first four characters of an id hold a letter and
// a digit, so that they make a short name that is no word.
func ReadsAsName(id ID) bool { return len(id.ShortNames()) > 0 && len(id.ShortNames()[0]) == 4 }

// Time is microseconds since the Unix epoch, UTC. Zero means unknown.
type Time int64

// At converts a clock reading.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMicro())
}

// Time converts back; the zero Time gives the zero time.Time.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(t)).UTC()
}

// Add moves a Time by a duration.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// Sub is the duration since u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Microsecond }

// MarshalText writes RFC 3339 with microseconds, UTC; zero is empty.
func (t Time) MarshalText() ([]byte, error) {
	if t == 0 {
		return nil, nil
	}
	return []byte(t.Time().Format("2006-01-02T15:04:05.000000Z")), nil
}

// UnmarshalText reads RFC 3339.
func (t *Time) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*t = 0
		return nil
	}
	v, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return err
	}
	*t = At(v)
	return nil
}
