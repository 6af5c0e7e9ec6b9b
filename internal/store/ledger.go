package store

import (
	"encoding/hex"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
)

// ledger is one job as a transaction knows it.
type ledger struct {
	id       job.ID
	short    string
	position int64
	head     job.Digest // hash of the newest entry
	now      job.Standing
	// moved: position, head and standing are not written yet.
	moved bool
	n     int64  // row number, 0 before the row is there
	saved listed // as it is in the row

	items    map[job.ID]*slot[job.Item]
	works    map[job.WorkKey]*slot[job.Work]
	sittings map[job.ID]*slot[job.Sitting]
}

// listed is what jobs are listed by: indexed, so written only when it changes.
type listed struct {
	opened        job.Time
	done, unnamed bool
	parent        job.ID
	repository    string
}

func listedOf(s *job.Standing) listed {
	return listed{s.Opened, s.Done(), s.Unnamed, s.Parent, s.Repository}
}

func newLedger(id job.ID, short string) *ledger {
	return &ledger{id: id, short: short, items: map[job.ID]*slot[job.Item]{},
		works: map[job.WorkKey]*slot[job.Work]{}, sittings: map[job.ID]*slot[job.Sitting]{}}
}

// ledger gives the job's ledger with a standing folded by today's rules.
func (t *Tx) ledger(id job.ID) (*ledger, error) {
	if l := t.ledgers[id]; l != nil {
		return l, nil
	}
	l := newLedger(id, "")
	folded := true
	found, err := t.c.one(func(r row) error {
		l.short, l.position = r.str(0), r.int(1)
		copy(l.head[:], r.bytes(2))
		l.n = r.int(3)
		l.saved = listed{job.Time(r.int(5)), r.int(6) != 0, r.int(7) != 0, job.ID(r.str(8)), r.str(9)}
		s, ok, err := job.DecodeStanding(r.bytes(4))
		l.now, folded = s, ok && err == nil && s.Position == l.position
		return nil
	}, "SELECT short, position, head, n, standing, opened, done, unnamed, parent, repository FROM job WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("job %s: %w", id, job.ErrNotFound)
	}
	if !folded {
		if t.s.o.Hook || !t.writes {
			return nil, &refoldError{id}
		}
		if err := t.refold(l); err != nil {
			return nil, err
		}
	}
	t.ledgers[id] = l
	return l, nil
}

// Standing is where the job stands, in this transaction. It is shared: read it,
// do not write into it.
func (t *Tx) Standing(id job.ID) (job.Standing, error) {
	l, err := t.ledger(id)
	if err != nil {
		return job.Standing{}, err
	}
	return l.now, nil
}

// Head is the hash of the job's newest entry, in hex: the chain's head.
func (t *Tx) Head(id job.ID) (string, error) {
	l, err := t.ledger(id)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(l.head[:]), nil
}

func (t *Tx) saveLedger(l *ledger) error {
	s := &l.now
	standing, err := s.Encode()
	if err != nil {
		return fmt.Errorf("encode the standing of %s: %w", l.id, err)
	}
	holder := job.ID("")
	if s.Lease != nil {
		holder = s.Lease.Session
	}
	now := listedOf(s)
	if l.n == 0 {
		_, err = t.c.exec(`INSERT INTO job (id, short, position, head, opened, updated, done, unnamed, parent, repository, holder, token, renewed, standing)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`, l.id, l.short, l.position, l.head[:], now.opened, s.Updated, now.done,
			now.unnamed, now.parent, now.repository, holder, s.Token, string(standing))
		if err != nil {
			return err
		}
		l.saved = now
		_, err = t.c.one(func(r row) error {
			l.n = r.int(0)
			return nil
		}, "SELECT last_insert_rowid()")
		return err
	}
	_, err = t.c.exec("UPDATE job SET position = ?, head = ?, updated = ?, holder = ?, token = ?, standing = ? WHERE n = ?",
		l.position, l.head[:], s.Updated, holder, s.Token, string(standing), l.n)
	if err != nil || l.saved == now {
		return err
	}
	l.saved = now
	_, err = t.c.exec("UPDATE job SET opened = ?, done = ?, unnamed = ?, parent = ?, repository = ? WHERE n = ?",
		now.opened, now.done, now.unnamed, now.parent, now.repository, l.n)
	return err
}

// refold folds the ledger from its first entry and writes its rows anew. It takes
// as long as the ledger is, and holds the store meanwhile: hooks spool.
func (t *Tx) refold(l *ledger) error {
	if err := t.flushRows(); err != nil {
		return err
	}
	clear(t.spends)
	for _, table := range []string{"item", "work", "sitting", "spend", "blob_ref", "job_workspace"} {
		if _, err := t.c.exec("DELETE FROM "+table+" WHERE job = ?", l.id); err != nil {
			return err
		}
	}
	fresh := newLedger(l.id, l.short)
	l.now, l.items, l.works, l.sittings = job.Standing{}, fresh.items, fresh.works, fresh.sittings
	t.ledgers[l.id] = l // so that its rows are written when there are many
	defer func() {
		if l.now.Position != l.position {
			delete(t.ledgers, l.id)
		}
	}()
	err := t.Entries(l.id, 1, l.position, func(e job.Entry, _ Raw) error { return t.fold(l, e) })
	if err != nil {
		return err
	}
	if l.now.Position != l.position {
		return torn(l.id, "the ledger", fmt.Errorf("it ends at %d, not at %d", l.now.Position, l.position))
	}
	l.moved = true
	return nil
}

// fold applies one entry and keeps what it changes and what it points at.
func (t *Tx) fold(l *ledger, e job.Entry) error {
	now, changes, err := job.Apply(l.now, e, &rows{t, l})
	if err != nil {
		return err
	}
	l.now = now
	for _, c := range changes {
		t.keep(l, c)
	}
	for _, digest := range blobsOf(e.Payload) {
		if _, err := t.c.exec("INSERT OR IGNORE INTO blob_ref VALUES (?, ?)", digest, l.id); err != nil {
			return err
		}
	}
	if w := workspaceOf(e); w != "" {
		if _, err := t.c.exec("INSERT OR IGNORE INTO job_workspace VALUES (?, ?)", w, l.id); err != nil {
			return err
		}
	}
	if t.cached > cachedRows {
		return t.flushRows()
	}
	return nil
}
