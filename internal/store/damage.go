package store

import (
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
)

// damaged says what SQLite's complaint means for the jobs. A command reads every
// job to find out; a hook, which an agent waits for, does not.
func (s *Store) damaged(err error) error {
	e := &DamagedError{Path: s.path, Err: err}
	if s.o.Hook {
		return e
	}
	c, openErr := s.take()
	if openErr != nil {
		e.All = true
		return e
	}
	defer c.close()
	var all []Named
	listErr := c.query(func(r row) error {
		all = append(all, Named{job.ID(r.str(0)), r.str(1)})
		return nil
	}, "SELECT id, short FROM job ORDER BY updated DESC")
	e.All = listErr != nil && len(all) == 0
	for _, j := range all {
		if c.readable(j.ID) != nil {
			e.Jobs = append(e.Jobs, j.Short)
		}
	}
	return e
}

// readable reads everything a job has.
func (c *conn) readable(id job.ID) error {
	for _, sql := range []string{
		"SELECT standing FROM job WHERE id = ?",
		"SELECT payload, hash FROM entry WHERE job = ? ORDER BY position",
		"SELECT row FROM item WHERE job = ?",
		"SELECT row FROM work WHERE job = ?",
		"SELECT row FROM sitting WHERE job = ?",
		"SELECT message FROM spend WHERE job = ?",
		"SELECT data FROM blob WHERE digest IN (SELECT digest FROM blob_ref WHERE job = ?)",
	} {
		if err := c.query(func(row) error { return nil }, sql, id); err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
	}
	return nil
}
