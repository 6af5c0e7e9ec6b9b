package store

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"strconv"

	"github.com/seed-5777983b/duplex/internal/job"
)

// migrations go forward only, one transaction each, in the order of their numbers.
//
//go:embed migration/*.sql
var migrations embed.FS

// schema is the number of the newest migration.
const schema = 2

// readable is the oldest schema that can be read as it is, where it cannot be brought
// up: only the search index is not there yet.
const readable = 1

// checkSchema brings an older database up and refuses a newer one.
func (s *Store) checkSchema(ctx context.Context) error {
	c, err := s.take()
	if err != nil {
		return err
	}
	defer s.put(c)
	have, err := c.version()
	if err != nil {
		return err
	}
	s.indexed = have >= 2
	switch {
	case have == 0:
		return fmt.Errorf("%w: %s holds no jobs of Duplex", ErrMissing, s.path)
	case have > schema:
		newer := &NewerError{Path: s.path, Schema: have}
		newer.Version, _ = c.meta("version") // what cannot be read is not named
		return newer
	case have < readable && s.o.ReadOnly:
		return fmt.Errorf("%w and has schema %d, not %d", ErrReadOnly, have, schema)
	case have < schema && !s.o.ReadOnly:
		err := migrate(ctx, c, s.o.Version)
		if isDamage(code(err)) && have >= readable {
			return nil // verify and salvage read it as it is
		}
		s.indexed = err == nil
		return err
	}
	return nil
}

func (c *conn) version() (int, error) {
	n := 0
	_, err := c.one(func(r row) error {
		n = int(r.int(0))
		return nil
	}, "PRAGMA user_version")
	return n, err
}

func (c *conn) meta(name string) (value string, err error) {
	_, err = c.one(func(r row) error {
		value = r.str(0)
		return nil
	}, "SELECT value FROM meta WHERE name = ?", name)
	return value, err
}

func (c *conn) setMeta(name, value string) error {
	_, err := c.exec("INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
	return err
}

// migrate runs what is missing. Another process may have run it meanwhile, so the
// number is read again under the lock.
func migrate(ctx context.Context, c *conn, version string) error {
	for {
		if err := c.script(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		more, err := step(ctx, c, version)
		if err != nil {
			c.script(context.Background(), "ROLLBACK")
			return fmt.Errorf("migrate: %w", err)
		}
		if err := c.script(ctx, "COMMIT"); err != nil {
			c.script(context.Background(), "ROLLBACK")
			return fmt.Errorf("migrate: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// step runs the next migration inside the transaction under way.
func step(ctx context.Context, c *conn, version string) (more bool, err error) {
	have, err := c.version()
	if err != nil || have >= schema {
		return false, err
	}
	sql, err := migrations.ReadFile(fmt.Sprintf("migration/%04d.sql", have+1))
	if err != nil {
		return false, err
	}
	if err := c.script(ctx, string(sql)); err != nil {
		return false, err
	}
	if err := c.script(ctx, "PRAGMA user_version = "+strconv.Itoa(have+1)); err != nil {
		return false, err
	}
	if have == 0 {
		var random [16]byte
		rand.Read(random[:]) // never fails
		if err := c.setMeta("store", string(job.NewID(random))); err != nil {
			return false, err
		}
	}
	return true, c.setMeta("version", version)
}
