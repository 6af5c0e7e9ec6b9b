package store

import (
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Renew keeps a lease: it writes when its holder last beat, in the job's row and
// without an entry. It reports false, and writes nothing, when the session no
// longer holds the lease under this token.
func (t *Tx) Renew(id, session job.ID, token int64, now job.Time) (bool, error) {
	if err := t.flush(); err != nil {
		return false, err
	}
	n, err := t.c.exec("UPDATE job SET renewed = max(renewed, ?) WHERE id = ? AND holder = ? AND token = ?", now, id, session, token)
	return n > 0, err
}

// Renewed is when the job's lease was last renewed; zero: not since it was opened.
func (t *Tx) Renewed(id job.ID) (job.Time, error) {
	var at job.Time
	found, err := t.c.one(func(r row) error {
		at = job.Time(r.int(0))
		return nil
	}, "SELECT renewed FROM job WHERE id = ?", id)
	if err == nil && !found && t.ledgers[id] == nil {
		err = fmt.Errorf("job %s: %w", id, job.ErrNotFound)
	}
	return at, err
}
