// Package tracker is the one door to a job: every use case is a method here, and
// a method is one transaction with one reading of the clock. It loads, asks a
// pure rule of package job, appends the entries that follow and commits. It has
// no rules of its own about jobs, and no words for people: those are the floors
// below and above.
package tracker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Settings are the few values of the configuration that use cases need.
type Settings struct {
	Auto           job.Auto
	Nudge          float64 // fill at which the agent is asked to record what is open
	Handover       float64 // fill at which the handover is written
	BriefTokens    int
	OnCrash        string // back, keep, ask
	KeepSafePoints int    // a job
	CaptureIgnored bool
}

// DefaultSettings are those of DESIGN.
func DefaultSettings() Settings {
	return Settings{Auto: job.AutoOn, Nudge: 0.70, Handover: 0.85, BriefTokens: 2000, OnCrash: "back", KeepSafePoints: 50}
}

// Options open a tracker.
type Options struct {
	Dir      string // state folder
	Settings Settings
	Now      func() time.Time
	Create   bool          // the store may be made when there was none
	Hook     bool          // an agent waits: nothing slow, such as folding a ledger again
	ReadOnly bool          // look only: works on a full disk and a read-only one
	Busy     time.Duration // how long to wait for another writer
	Known    []string      // values known to be credentials
	Getenv   func(string) string
	Agents   []agent.Adapter // those this binary reads
	Markers  string          // folder that remembers that there was a store here; empty: none
	Version  string          // of this binary
}

// Tracker changes and reads jobs.
type Tracker struct {
	store  *store.Store
	dir    string
	set    Settings
	clock  func() time.Time
	redact *redact.Redactor
	getenv func(string) string
	agents []agent.Adapter
	// present is the clock while that of clock stands at a call of the past.
	present func() time.Time
}

// Open opens the store in a state folder.
func Open(ctx context.Context, o Options) (*Tracker, error) {
	s, err := store.Open(ctx, o.Dir, store.Options{ReadOnly: o.ReadOnly, Busy: o.Busy, Create: o.Create, Hook: o.Hook, Markers: o.Markers, Version: o.Version})
	if err != nil {
		return nil, err
	}
	t := &Tracker{store: s, dir: o.Dir, set: o.Settings, clock: o.Now, getenv: o.Getenv, agents: o.Agents}
	if t.clock == nil {
		t.clock = time.Now
	}
	if t.getenv == nil {
		t.getenv = func(string) string { return "" }
	}
	t.redact = redact.New(s.MarkerKey(), o.Known)
	return t, nil
}

// Close closes the store. Hooks leave without it: the last close of a database
// checkpoints, which doubles a hook's time.
func (t *Tracker) Close() error { return t.store.Close() }

// Redact is the funnel that everything shown passes.
func (t *Tracker) Redact() *redact.Redactor { return t.redact }

// Now is the clock's reading in the ledger's unit.
func (t *Tracker) Now() job.Time { return job.At(t.clock()) }

// Agent gives the adapter of that name, nil when this binary has none.
func (t *Tracker) Agent(name string) agent.Adapter {
	for _, a := range t.agents {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

func (t *Tracker) sniff(head []byte) agent.Adapter {
	for _, a := range t.agents {
		if a.Sniff(head) {
			return a
		}
	}
	return nil
}

func (t *Tracker) agentNames() []string {
	var out []string
	for _, a := range t.agents {
		out = append(out, a.Name())
	}
	return out
}

func newID() job.ID { return job.NewID(random()) }

func random() [16]byte {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand never fails; it ends the program
	return b
}

// change is one use case under way.
type change struct {
	*Tracker
	tx  *store.Tx
	now job.Time
	by  Actor
}

// write runs a use case in one transaction. Durable ones survive a power cut.
func (t *Tracker) write(ctx context.Context, by Actor, durable bool, use func(*change) error) error {
	err := t.store.Write(ctx, durable, func(tx *store.Tx) error {
		return use(&change{Tracker: t, tx: tx, now: t.Now(), by: by})
	})
	var r *refusal
	if errors.As(err, &r) { // the act is refused; that it was tried is recorded
		err2 := t.store.Write(ctx, false, func(tx *store.Tx) error {
			c := &change{Tracker: t, tx: tx, now: t.Now(), by: by}
			_, err := c.append(r.job, &job.Refused{Act: r.act, Token: by.Token, Current: r.current, What: r.what})
			return err
		})
		return errors.Join(err, err2)
	}
	return err
}

// refusal is an act that came with an old token.
type refusal struct {
	job     job.ID
	act     job.Kind
	current int64
	what    string
	err     error
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%v: token %d is current; what you did is recorded as late. Read where the job stands: duplex show", r.err, r.current)
}
func (r *refusal) Unwrap() error { return r.err }

// detail sets parts of an envelope that most entries leave as they are.
type detail func(*job.Envelope)

func keyed(key string) detail { return func(e *job.Envelope) { e.Key = key } }

func happened(at job.Time, from job.TimeSource) detail {
	return func(e *job.Envelope) {
		if at > 0 {
			e.HappenedAt, e.TimeSource = at, from
		}
	}
}

func said(by job.Author) detail { return func(e *job.Envelope) { e.Author = by } }

func in(session job.ID) detail { return func(e *job.Envelope) { e.Session = session } }

// append adds one entry to a job's ledger: the fence is asked, the text redacted,
// the position given, the standing folded.
func (c *change) append(id job.ID, p job.Payload, details ...detail) (job.Entry, error) {
	a, err := c.appendKnown(id, p, details...)
	return a.Entry, err
}

// appendKnown is append for entries with a key: Known says it was there already.
func (c *change) appendKnown(id job.ID, p job.Payload, details ...detail) (store.Appended, error) {
	env := job.Envelope{Job: id, ID: job.NewEntryID(c.recordedAt(), random()), Kind: p.Kind(), V: job.PayloadVersion, RecordedAt: c.recordedAt(), HappenedAt: c.now,
		TimeSource: job.FromClock, Session: c.by.Session, Workspace: c.by.Workspace, Author: c.by.Author, Token: c.by.Token,
		Guest: c.by.Guest}
	for _, d := range details {
		d(&env)
	}
	if env.Kind != job.KindOpened {
		s, err := c.tx.Standing(id)
		if err != nil {
			return store.Appended{}, err
		}
		if env.Guest && !env.Kind.Observation() { // it never had the lease, so nothing was taken from it
			return store.Appended{}, fmt.Errorf("%w by another session, and this one is a guest at the job: wait for its end, then duplex take %s", job.ErrHeld, s.Short)
		}
		late, err := job.Fence(&s, env.Kind, c.by.Author, env.Session, env.Token)
		if err != nil {
			return store.Appended{}, &refusal{job: id, act: env.Kind, current: s.Token, what: titleOf(p), err: err}
		}
		env.Late = late
	}
	sealed, err := c.redact.JSON(p)
	if err != nil {
		return store.Appended{}, fmt.Errorf("redact a %q entry: %w", env.Kind, err)
	}
	out, err := c.tx.Append(env, sealed)
	if err != nil {
		return out, err
	}
	return out, c.saw(workspaceIn(p))
}

// recordedAt is now, also for what is taken in of the past.
func (c *change) recordedAt() job.Time {
	if c.present == nil {
		return c.now
	}
	return job.At(c.present())
}

// titleOf is a line about a payload for the record of its refusal.
func titleOf(p job.Payload) string {
	switch p := p.(type) {
	case *job.Decided:
		return p.Text
	case *job.DeadEnd:
		return p.Text
	case *job.Raised:
		return p.Text
	case *job.SafePoint:
		return p.Why
	}
	return ""
}

// processOf is the ledger's form of a process.
func processOf(i process.Ident) job.Process {
	return job.Process{Host: i.Host, Boot: i.Boot, PID: i.PID, Start: i.Start}
}

func identOf(p job.Process) process.Ident {
	return process.Ident{Host: p.Host, Boot: p.Boot, PID: p.PID, Start: p.Start}
}

// liveness of the process that holds a lease; unknown when it names none.
func liveness(p job.Process) job.Liveness {
	if p.PID == 0 {
		return job.LivenessUnknown
	}
	switch identOf(p).Liveness() {
	case process.Live:
		return job.Live
	case process.Gone:
		return job.Gone
	}
	return job.LivenessUnknown
}

// OnCrash is the configured crash policy: back, keep or ask.
func (t *Tracker) OnCrash() string { return t.set.OnCrash }
