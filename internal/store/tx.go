package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Tx is one transaction. It sees its own appends. It is used by one goroutine and
// not after the function it was handed to returns.
type Tx struct {
	s       *Store
	c       *conn
	writes  bool
	ledgers map[job.ID]*ledger
	spends  map[string]*slot[job.Spend] // store-wide, so not of a ledger
	cached  int                         // rows in memory, over all ledgers
	// broken: an append went wrong midway; nothing of this transaction may stay.
	broken error
}

// Write runs fn in one transaction, which begins by taking the write lock, and
// commits when fn returns nil. Durable: it outlives a power cut once Write has
// returned; otherwise the newest transactions may then be lost, never torn.
func (s *Store) Write(ctx context.Context, durable bool, fn func(*Tx) error) error {
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.transaction(ctx, "BEGIN IMMEDIATE", durable, fn)
}

// turn waits until no other goroutine of this process writes.
func (s *Store) turn(ctx context.Context) (done func(), err error) {
	if s.o.ReadOnly {
		return nil, fmt.Errorf("%w by its option", ErrReadOnly)
	}
	select {
	case s.writing <- struct{}{}:
		return func() { <-s.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Read runs fn in one transaction that sees the store as it was at its beginning.
// fn runs a second time when it asks for a standing that has to be folded again.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	for {
		err := s.transaction(ctx, "BEGIN", false, fn)
		var stale *refoldError
		if !errors.As(err, &stale) || s.o.Hook || s.o.ReadOnly {
			return err
		}
		err = s.Write(ctx, false, func(t *Tx) error {
			_, err := t.Standing(stale.job)
			return err
		})
		if err != nil {
			return err
		}
	}
}

func (s *Store) transaction(ctx context.Context, begin string, durable bool, fn func(*Tx) error) (err error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	c, err := s.take()
	if err != nil {
		return s.explain(err)
	}
	whole := false // the connection is as it was
	defer func() {
		if whole {
			s.put(c)
		} else {
			c.close()
		}
	}()
	if durable {
		if err := c.script(ctx, "PRAGMA synchronous=FULL"); err != nil {
			return s.explain(err)
		}
	}
	if err := c.script(ctx, begin); err != nil {
		return s.explain(err)
	}
	t := &Tx{s: s, c: c, writes: begin != "BEGIN", ledgers: map[job.ID]*ledger{}, spends: map[string]*slot[job.Spend]{}}
	if err = fn(t); err == nil {
		if err = t.flush(); err == nil {
			err = c.script(context.Background(), "COMMIT")
		}
	}
	if err != nil {
		c.script(context.Background(), "ROLLBACK") // what went wrong before is what matters
		return s.explain(err)
	}
	if durable {
		if err := c.script(context.Background(), "PRAGMA synchronous=NORMAL"); err != nil {
			return nil // committed; this connection is not used again
		}
	}
	if t.writes {
		s.trim(c)
	}
	whole = true
	return nil
}

// refoldError names the job whose standing was folded with other rules.
type refoldError struct{ job job.ID }

func (e *refoldError) Error() string        { return fmt.Sprintf("job %s: %v", e.job, ErrRefold) }
func (e *refoldError) Is(target error) bool { return target == ErrRefold }

// flush writes what the transaction holds back: each standing and head once,
// however many entries were appended.
func (t *Tx) flush() error {
	if t.broken != nil {
		return t.broken
	}
	if err := t.flushRows(); err != nil {
		return err
	}
	for _, l := range t.ledgers {
		if !l.moved {
			continue
		}
		if err := t.saveLedger(l); err != nil {
			return err
		}
		l.moved = false
	}
	return nil
}
