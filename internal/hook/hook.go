// Package hook is the surface an agent's hooks call: it decodes one call, hands
// it to the tracker and encodes the answer. It never breaks its agent: whatever
// goes wrong on our side is spooled and the agent goes on; only a lost lease
// denies.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/spool"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Call is one hook call.
type Call struct {
	Adapter agent.Adapter
	Driven  bool // the hook came with the session that Duplex started
	Stdin   io.Reader
	Getenv  func(string) string
	Dir     string                                                           // state folder
	Open    func(ctx context.Context, refold bool) (*tracker.Tracker, error) // refold: standings of other rules are folded again
	Redact  func() (*redact.Redactor, error)                                 // the store's funnel, without opening the store
	TakeIn  func() error                                                     // starts a process of its own that calls Deliver
	Now     func() time.Time
}

// limits of one call. An agent waits for its hook, so the store is not waited for
// longer than a person would notice; what does not get in is spooled.
const (
	maxInput = 16 << 20
	patience = 20 * time.Second
)

// Run answers one hook call. The error says what went wrong on our side, for the
// log; the output is always one the agent can go on with.
func Run(ctx context.Context, c Call) (agent.Output, error) {
	raw, err := io.ReadAll(io.LimitReader(c.Stdin, maxInput))
	if err != nil {
		return agent.Output{}, fmt.Errorf("read hook input: %w", err)
	}
	ev, err := c.Adapter.DecodeHook(raw, c.Getenv)
	if err != nil {
		return agent.Output{}, fmt.Errorf("decode %s hook: %w", c.Adapter.Name(), err)
	}
	if !c.Driven && ev.Session != "" && c.Getenv(agent.DrivenEnv) == ev.Session {
		return c.Adapter.EncodeAnswer(ev, agent.Answer{}), nil // the session has hooks of ours beside this one
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done, unspooled := c.aside(ev, raw)
	if done {
		return c.Adapter.EncodeAnswer(ev, agent.Answer{}), nil
	}
	answer, err := c.observe(ctx, ev)
	if err != nil {
		err = c.keep(raw, ev, err, unspooled)
	}
	return c.Adapter.EncodeAnswer(ev, answer), err
}

// observe is the call itself; a panic of ours is an error like another.
func (c Call) observe(ctx context.Context, ev agent.Event) (a agent.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hook: %v", p)
		}
	}()
	a, err = c.ask(ctx, ev, false)
	if !errors.Is(err, store.ErrRefold) {
		return a, err
	}
	// The newer binary folds by other rules. That is nothing to wait for after each
	// tool; a session that starts, or leaves, does not go without.
	switch ev.Kind {
	case agent.SessionStart, agent.BeforeCompact, agent.SessionEnd:
		return c.ask(ctx, ev, true)
	}
	return a, errors.Join(err, c.TakeIn())
}

func (c Call) ask(ctx context.Context, ev agent.Event, refold bool) (agent.Answer, error) {
	t, err := c.Open(ctx, refold)
	if err != nil {
		return agent.Answer{}, err
	}
	if a, done, err := t.Glance(ctx, c.Adapter, ev); err != nil || done {
		return a, err
	}
	if err := Deliver(ctx, t, c.Dir); err != nil {
		return agent.Answer{}, err
	}
	o, err := t.Observe(ctx, c.Adapter, ev)
	if err != nil {
		return o.Answer, err
	}
	c.watched(ev, o.Watch)
	return o.Answer, nil
}

// spooled is one hook call that could not be recorded.
type spooled struct {
	Agent string          `json:"agent"`
	Job   string          `json:"job,omitempty"` // DUPLEX_JOB of the call
	At    time.Time       `json:"at"`
	Call  json.RawMessage `json:"call"`
}

// keep spools what only the hook knew. What stands in the transcript too is read
// from there later. unspooled: that was tried already, and why it failed.
func (c Call) keep(raw []byte, ev agent.Event, cause, unspooled error) error {
	switch ev.Kind {
	case agent.AfterTool, agent.TurnFailed, agent.SessionEnd:
	default:
		return cause
	}
	if !json.Valid(raw) {
		return cause
	}
	if unspooled == nil {
		r, err := c.Redact()
		if err != nil {
			// The store's own key is out of reach; the marker's digest is then of no
			// install, and redaction is the same.
			r = redact.New(nil, nil)
		}
		unspooled = c.spool(raw, r)
	}
	if unspooled == nil {
		return cause
	}
	cause = fmt.Errorf("%w; and it could not be spooled: %w", cause, unspooled)
	if !errors.Is(unspooled, spool.ErrTorn) { // that is told by what is there of it
		cause = errors.Join(cause, spool.Lose(spoolDir(c.Dir)))
	}
	return cause
}

func (c Call) spool(raw []byte, r *redact.Redactor) error {
	line, err := r.JSON(spooled{Agent: c.Adapter.Name(), Job: c.Getenv("DUPLEX_JOB"), At: c.Now(), Call: raw})
	if err != nil {
		return err
	}
	return spool.Append(spoolDir(c.Dir), line)
}

func spoolDir(state string) string { return filepath.Join(state, "spool") }

// Deliver records what earlier hooks had to spool. A torn line, and one that cannot
// be recorded, costs that line, and is recorded as a gap.
func Deliver(ctx context.Context, t *tracker.Tracker, state string) error {
	if n := spool.Lost(spoolDir(state)); n > 0 {
		if err := t.Unheard(ctx, "hook calls for which the disk had no room", n); err != nil {
			return err
		}
		if err := spool.Found(spoolDir(state), n); err != nil {
			return err
		}
	}
	size, err := spool.Size(spoolDir(state))
	if err != nil || size == 0 {
		return err
	}
	d := delivery{t: t, state: state, watches: map[string]*tracker.Watch{}}
	report, err := spool.Drain(spoolDir(state), together, func(lines [][]byte) error { return d.take(ctx, lines) })
	for file, w := range d.watches {
		if w != nil {
			writeWatch(file, *w)
		}
	}
	if n := int64(report.Torn) + d.lost; err == nil && n > 0 {
		err = t.Unheard(ctx, "spooled hook calls that could not be read", n)
	}
	return err
}

// together is how many spooled calls are taken in at once.
const together = 64

// delivery is the taking in of what was spooled.
type delivery struct {
	t       *tracker.Tracker
	state   string
	lost    int64                     // whole by their checksum, and not to be recorded
	watches map[string]*tracker.Watch // by file
}

// take records lines in their order, those of one session together.
func (d *delivery) take(ctx context.Context, lines [][]byte) error {
	var ad agent.Adapter
	var calls []tracker.Late
	for _, line := range lines {
		next, late, ok := d.decode(line)
		if !ok {
			d.lost++
			continue
		}
		if len(calls) > 0 && (next != ad || !late.With(calls[len(calls)-1])) {
			if err := d.redeliver(ctx, ad, calls); err != nil {
				return err
			}
			calls = nil
		}
		ad, calls = next, append(calls, late)
	}
	return d.redeliver(ctx, ad, calls)
}

func (d *delivery) decode(line []byte) (agent.Adapter, tracker.Late, bool) {
	var s spooled
	if err := json.Unmarshal(line, &s); err != nil {
		return nil, tracker.Late{}, false // an alien version
	}
	ad := d.t.Agent(s.Agent)
	if ad == nil {
		return nil, tracker.Late{}, false
	}
	ev, err := ad.DecodeHook(s.Call, func(string) string { return "" })
	return ad, tracker.Late{Event: ev, Named: s.Job, At: s.At}, err == nil
}

// redeliver records calls that go together. When one of them cannot be recorded it
// is lost alone: it would fare no better later, and all behind it would wait.
func (d *delivery) redeliver(ctx context.Context, ad agent.Adapter, calls []tracker.Late) error {
	if len(calls) == 0 {
		return nil
	}
	o, err := d.t.Redeliver(ctx, ad, calls)
	switch {
	case err == nil:
		last := calls[len(calls)-1]
		c := Call{Adapter: ad, Dir: d.state, Getenv: func(string) string { return last.Named }}
		d.watches[c.watchFile(last.Event)] = o.Watch
		return nil
	case waits(err):
		return err
	case len(calls) == 1:
		d.lost++
		return nil
	}
	for i := range calls {
		if err := d.redeliver(ctx, ad, calls[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether a call that could not be recorded may be tried again: what
// is in the way is not the call but the store, or that we are told to end.
func waits(err error) bool {
	for _, way := range []error{store.ErrMissing, store.ErrNewer, store.ErrDamaged, store.ErrFull, store.ErrReadOnly, store.ErrBusy, store.ErrRefold, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, way) {
			return true
		}
	}
	return false
}
