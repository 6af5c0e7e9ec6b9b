package job

import (
	"encoding/json"
	"fmt"
)

// Kind names what an entry records.
type Kind string

// The kinds of the ledger. A kind that is not listed here is kept, skipped by
// Apply and counted, so that an older binary can read a newer ledger.
const (
	KindOpened         Kind = "opened"
	KindAmended        Kind = "amended"
	KindMoved          Kind = "moved"
	KindSessionStarted Kind = "session started"
	KindSessionEnded   Kind = "session ended"
	KindLinked         Kind = "linked"
	KindLeaseTaken     Kind = "lease taken"
	KindLeaseReleased  Kind = "lease released"
	KindInstructed     Kind = "instructed"
	KindAsked          Kind = "asked"
	KindAnswered       Kind = "answered"
	KindStep           Kind = "step"
	KindTouched        Kind = "touched"
	KindSpent          Kind = "spent"
	KindSeen           Kind = "seen"
	KindMeasured       Kind = "measured"
	KindDecided        Kind = "decided"
	KindRaised         Kind = "raised"
	KindSettled        Kind = "settled"
	KindDeadEnd        Kind = "dead end"
	KindSafePoint      Kind = "safe point"
	KindHandedOver     Kind = "handed over"
	KindTookOver       Kind = "took over"
	KindPaused         Kind = "paused"
	KindResumed        Kind = "resumed"
	KindWentBack       Kind = "went back"
	KindChecked        Kind = "checked"
	KindReconciled     Kind = "reconciled"
	KindFinished       Kind = "finished"
	KindLesson         Kind = "lesson"
	KindRefused        Kind = "refused"
	KindGap            Kind = "gap"
	KindScrubbed       Kind = "scrubbed"
)

// Kinds lists every kind this version knows, in the order of DESIGN.
func Kinds() []Kind {
	return []Kind{
		KindOpened, KindAmended, KindMoved, KindSessionStarted, KindSessionEnded, KindLinked,
		KindLeaseTaken, KindLeaseReleased, KindInstructed, KindAsked, KindAnswered, KindStep,
		KindTouched, KindSpent, KindSeen, KindMeasured, KindDecided, KindRaised, KindSettled,
		KindDeadEnd, KindSafePoint, KindHandedOver, KindTookOver, KindPaused, KindResumed,
		KindWentBack, KindChecked, KindReconciled, KindFinished, KindLesson, KindRefused,
		KindGap, KindScrubbed,
	}
}

// Observation reports whether the kind describes what happened, as against an
// act that needs the current fencing token. Observations are always accepted;
// with an old token they are marked late.
func (k Kind) Observation() bool {
	switch k {
	case KindStep, KindTouched, KindSpent, KindSeen, KindGap, KindSessionStarted, KindSessionEnded,
		KindInstructed, KindAsked, KindAnswered, KindMeasured, KindReconciled, KindRefused, KindLinked, KindScrubbed:
		return true
	}
	return false
}

// AuthorKind says what kind of source stands behind an entry.
type AuthorKind string

// The five sources. Only a person's words bind.
const (
	Person  AuthorKind = "person"
	Agent   AuthorKind = "agent"
	Command AuthorKind = "command"
	File    AuthorKind = "file"
	Duplex  AuthorKind = "duplex"
)

// Author is who said it: the kind and, for an agent, its name.
type Author struct {
	Kind AuthorKind `json:"kind"`
	Name string     `json:"name,omitempty"`
}

func (a Author) String() string {
	if a.Kind == Agent && a.Name != "" {
		return a.Name
	}
	return string(a.Kind)
}

// TimeSource says whose clock HappenedAt was read from.
type TimeSource string

// The clocks: ours at the moment of recording, the agent's hook, the agent's
// transcript, or one stated by a person.
const (
	FromClock      TimeSource = "clock"
	FromHook       TimeSource = "hook"
	FromTranscript TimeSource = "transcript"
	FromPerson     TimeSource = "person"
)

// Envelope is what every entry has, whatever its kind. It holds no free text:
// ids, numbers and words of this package only, so nothing in it needs redaction.
type Envelope struct {
	Job        ID         `json:"job"`
	Position   int64      `json:"position"`
	ID         ID         `json:"id"`
	Kind       Kind       `json:"kind"`
	V          int        `json:"v"`
	RecordedAt Time       `json:"recorded_at"`
	HappenedAt Time       `json:"happened_at"`
	TimeSource TimeSource `json:"time_source"`
	Workspace  ID         `json:"workspace,omitempty"`
	Session    ID         `json:"session,omitempty"`
	Author     Author     `json:"author"`
	Token      int64      `json:"token,omitempty"`
	Machine    ID         `json:"machine,omitempty"`
	MachineSeq int64      `json:"machine_seq,omitempty"`
	Key        string     `json:"key,omitempty"`
	// Late: observed with a fencing token that was no longer current.
	Late bool `json:"late,omitempty"`
	// Guest: observed in a session that sat beside the holder of the lease.
	Guest bool `json:"guest,omitempty"`
}

// Entry is one record of a ledger.
type Entry struct {
	Envelope
	Payload Payload `json:"payload"`
}

// Validate refuses an envelope that could not be told apart, ordered or
// attributed later.
func (e Envelope) Validate() error {
	switch {
	case !e.Job.Valid():
		return fmt.Errorf("%w: job id %q", ErrInvalid, e.Job)
	case !e.ID.Valid():
		return fmt.Errorf("%w: entry id %q", ErrInvalid, e.ID)
	case e.Kind == "" || len(e.Kind) > 40:
		return fmt.Errorf("%w: kind %q", ErrInvalid, e.Kind)
	case e.Position < 1:
		return fmt.Errorf("%w: position %d", ErrInvalid, e.Position)
	case e.RecordedAt <= 0 || e.HappenedAt <= 0:
		return fmt.Errorf("%w: entry %s has no time", ErrInvalid, e.ID)
	case e.Session != "" && !e.Session.Valid(), e.Workspace != "" && !e.Workspace.Valid(), e.Machine != "" && !e.Machine.Valid():
		return fmt.Errorf("%w: an id in the envelope of %s", ErrInvalid, e.ID)
	case !plainName(e.Author.Name) || !plainName(e.Key):
		return fmt.Errorf("%w: author or key of %s", ErrInvalid, e.ID)
	}
	switch e.Author.Kind {
	case Person, Agent, Command, File, Duplex:
		return nil
	}
	return fmt.Errorf("%w: author %q", ErrInvalid, e.Author.Kind)
}

// plainName keeps free text out of the envelope.
func plainName(s string) bool {
	if len(s) > 64 {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '/' {
			return false
		}
	}
	return true
}

// Payload is the part of an entry that depends on its kind: always a pointer to
// one of the structs in payload.go, or an Unknown or Erased.
type Payload interface{ Kind() Kind }

// Unknown is the payload of a kind this version does not know, kept as it came.
type Unknown struct {
	As  Kind
	Raw json.RawMessage
}

// Kind is the unknown kind's own name.
func (u Unknown) Kind() Kind { return u.As }

// MarshalJSON gives back what came in.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return []byte("{}"), nil
	}
	return u.Raw, nil
}

// Erased is the payload of an entry whose content was scrubbed or erased; the
// chain over it still verifies.
type Erased struct{ As Kind }

// Kind is the kind the entry had.
func (e Erased) Kind() Kind { return e.As }

// PayloadVersion is the version written for kinds of this package.
const PayloadVersion = 1

// Decode reads the payload of an entry. A kind or version this binary does not
// know gives an Unknown; a payload that is not JSON is an error.
func Decode(kind Kind, v int, data []byte) (Payload, error) {
	if data == nil {
		return Erased{As: kind}, nil
	}
	p := newPayload(kind)
	if p == nil || v > PayloadVersion {
		if !json.Valid(data) {
			return nil, fmt.Errorf("%w: payload of a %q entry is not JSON", ErrInvalid, kind)
		}
		return Unknown{As: kind, Raw: append([]byte(nil), data...)}, nil
	}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%w: payload of a %q entry: %v", ErrInvalid, kind, err)
	}
	return p, nil
}

// newPayload gives an empty payload to decode into, nil for an unknown kind.
func newPayload(kind Kind) Payload {
	switch kind {
	case KindOpened:
		return new(Opened)
	case KindAmended:
		return new(Amended)
	case KindMoved:
		return new(Moved)
	case KindSessionStarted:
		return new(SessionStarted)
	case KindSessionEnded:
		return new(SessionEnded)
	case KindLinked:
		return new(Linked)
	case KindLeaseTaken:
		return new(LeaseTaken)
	case KindLeaseReleased:
		return new(LeaseReleased)
	case KindInstructed:
		return new(Instructed)
	case KindAsked:
		return new(Asked)
	case KindAnswered:
		return new(Answered)
	case KindStep:
		return new(Step)
	case KindTouched:
		return new(Touched)
	case KindSpent:
		return new(Spent)
	case KindSeen:
		return new(Seen)
	case KindMeasured:
		return new(Measured)
	case KindDecided:
		return new(Decided)
	case KindRaised:
		return new(Raised)
	case KindSettled:
		return new(Settled)
	case KindDeadEnd:
		return new(DeadEnd)
	case KindSafePoint:
		return new(SafePoint)
	case KindHandedOver:
		return new(HandedOver)
	case KindTookOver:
		return new(TookOver)
	case KindPaused:
		return new(Paused)
	case KindResumed:
		return new(Resumed)
	case KindWentBack:
		return new(WentBack)
	case KindChecked:
		return new(Checked)
	case KindReconciled:
		return new(Reconciled)
	case KindFinished:
		return new(Finished)
	case KindLesson:
		return new(Lesson)
	case KindRefused:
		return new(Refused)
	case KindGap:
		return new(Gap)
	case KindScrubbed:
		return new(Scrubbed)
	}
	return nil
}
