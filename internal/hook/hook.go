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
	Stdin   io.Reader
	Getenv  func(string) string
	Dir     string // state folder
	Open    func(context.Context) (*tracker.Tracker, error)
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := c.observe(ctx, ev)
	if err != nil {
		err = c.keep(raw, ev, err)
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
	t, err := c.Open(ctx)
	if err != nil {
		return agent.Answer{}, err
	}
	if err := Deliver(ctx, t, c.Dir); err != nil {
		return agent.Answer{}, err
	}
	return t.Observe(ctx, c.Adapter, ev)
}

// spooled is one hook call that could not be recorded.
type spooled struct {
	Agent string          `json:"agent"`
	Job   string          `json:"job,omitempty"` // DUPLEX_JOB of the call
	At    time.Time       `json:"at"`
	Call  json.RawMessage `json:"call"`
}

// keep spools what only the hook knew. What stands in the transcript too is read
// from there later.
func (c Call) keep(raw []byte, ev agent.Event, cause error) error {
	switch ev.Kind {
	case agent.AfterTool, agent.TurnFailed, agent.SessionEnd:
	default:
		return cause
	}
	if !json.Valid(raw) {
		return cause
	}
	// The store's own redaction key may be out of reach; the marker's digest is
	// then of no install, and redaction is the same.
	line, err := redact.New(nil, nil).JSON(spooled{Agent: c.Adapter.Name(), Job: c.Getenv("DUPLEX_JOB"), At: c.Now(), Call: raw})
	if err != nil {
		return fmt.Errorf("%w; and it could not be spooled: %w", cause, err)
	}
	if err := spool.Append(spoolDir(c.Dir), line); err != nil {
		return fmt.Errorf("%w; and it could not be spooled: %w", cause, err)
	}
	return cause
}

func spoolDir(state string) string { return filepath.Join(state, "spool") }

// Deliver records what earlier hooks had to spool. A torn line, and one that cannot
// be recorded, costs that line, and is recorded as a gap.
func Deliver(ctx context.Context, t *tracker.Tracker, state string) error {
	size, err := spool.Size(spoolDir(state))
	if err != nil || size == 0 {
		return err
	}
	lost := int64(0)
	report, err := spool.Drain(spoolDir(state), func(line []byte) error {
		var s spooled
		if err := json.Unmarshal(line, &s); err != nil {
			lost++ // whole by its checksum, and not ours: an alien version
			return nil
		}
		ad := t.Agent(s.Agent)
		if ad == nil {
			lost++
			return nil
		}
		ev, err := ad.DecodeHook(s.Call, func(string) string { return "" })
		if err != nil {
			lost++
			return nil
		}
		if err := t.Redeliver(ctx, ad, ev, s.Job, s.At); err != nil {
			if waits(err) {
				return err
			}
			lost++ // the next one would fare no better, and all behind it would wait
		}
		return nil
	})
	if n := int64(report.Torn) + lost; err == nil && n > 0 {
		err = t.TornSpool(ctx, n)
	}
	return err
}

// waits reports whether a call that could not be recorded may be tried again: what
// is in the way is not the call but the store, or that we are told to end.
func waits(err error) bool {
	for _, way := range []error{store.ErrMissing, store.ErrNewer, store.ErrDamaged, store.ErrFull, store.ErrReadOnly, store.ErrBusy, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, way) {
			return true
		}
	}
	return false
}
