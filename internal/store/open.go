package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"modernc.org/sqlite"
)

const databaseFile = "duplex.db"

// Options say how a store is opened. The zero value opens one that is there, for
// reading and writing, as a command does.
type Options struct {
	ReadOnly bool
	// Create makes the store when there is none and never was one.
	Create bool
	// Fresh, with Create, makes one although one was here and is gone.
	Fresh bool
	// Busy is how long to wait for another process; zero is ten seconds.
	Busy time.Duration
	// Hook: an agent waits for this process. What could take long (folding a
	// ledger again, asking which jobs a damage hits) is left to a command.
	Hook bool
	// Markers is a folder, away from the store, in which a file remembers that a
	// store was in its place. Empty: only the files beside the database tell.
	Markers string
	// Version is what this binary calls itself; an older one will name it as the
	// version to install when this one has changed the schema.
	Version string
}

// Store is one database with its keys. It may be used by many goroutines.
type Store struct {
	dir, path string
	o         Options
	keys      keyring
	writing   chan struct{} // holds one token: writers of this process take turns
	gate      sync.RWMutex  // held whole while the files are read as files
	indexed   bool          // it has a search index

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

// keptOpen is how many connections wait for their next use. A hook uses one.
const keptOpen = 4

// Open opens the store in dir. It gives ErrMissing when one was there and is gone,
// fs.ErrNotExist when there was none and Create is not set, a *NewerError when
// its schema is newer, a *DamagedError, ErrBusy, ErrFull or ErrReadOnly.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	if o.Busy == 0 {
		o.Busy = 10 * time.Second
	}
	s := &Store{dir: dir, path: filepath.Join(dir, databaseFile), o: o, writing: make(chan struct{}, 1)}
	if err := s.open(ctx); err != nil {
		err = fmt.Errorf("open store: %w", s.explain(err))
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	// As durable as fsync, without the file's times; where there is none, fsync stays.
	sqlite.Fdatasync(true)
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.create(ctx); err != nil {
			return err
		}
	case err != nil:
		return err
	case info.Size() == 0:
		return fmt.Errorf("%w: %s is empty", ErrMissing, s.path)
	}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	if s.keys, err = loadKeys(s.dir, !s.o.ReadOnly); err != nil {
		return err
	}
	if s.o.ReadOnly {
		return nil
	}
	if !s.o.Hook {
		if err := s.endPurge(ctx); err != nil {
			return err
		}
		_, _ = s.Index(ctx, indexAtOpen) // what stands in its way says so when it is asked for something
	}
	if s.o.Markers == "" {
		return nil
	}
	return s.mark()
}

// indexAtOpen is what a command gives of its time to the search index of a store that
// had none.
const indexAtOpen = 200 * time.Millisecond

// create makes a database where none was. It comes into being whole: nobody ever
// sees one without a schema.
func (s *Store) create(ctx context.Context) error {
	was := s.trace()
	if _, err := os.Stat(s.path); err == nil {
		return nil // another process has made it meanwhile, and left the trace
	}
	if was != "" && !s.o.Fresh {
		return fmt.Errorf("%w: no %s, but %s", ErrMissing, s.path, was)
	}
	if s.o.ReadOnly || !s.o.Create {
		return fmt.Errorf("%s: %w", s.path, fs.ErrNotExist)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if was != "" { // a log left alone would be read into whatever database appears beside it
		if err := os.Rename(s.path+"-wal", s.path+"-wal.lost"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return publish(s.path, func(temp string) error {
		// SQLite gives the files beside it the same mode.
		f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		c, err := dial(temp, "mode=rw", s.o.Busy)
		if err != nil {
			return err
		}
		if err := errors.Join(c.script(ctx, "PRAGMA journal_mode=WAL"), migrate(ctx, c, s.o.Version)); err != nil {
			c.close()
			return err
		}
		return c.close()
	})
}

// trace says what tells that a store was here.
func (s *Store) trace() string {
	for _, p := range []string{filepath.Join(s.dir, keyFile), s.path + "-wal", s.marker()} {
		if p == "" {
			continue
		}
		if _, err := os.Lstat(p); err == nil {
			return p + " is there"
		}
	}
	return ""
}

// marker is the file in the markers' folder for a store in this place.
func (s *Store) marker() string {
	if s.o.Markers == "" {
		return ""
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		dir = s.dir
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.o.Markers, fmt.Sprintf("store-%x", sum[:6]))
}

func (s *Store) mark() error {
	path := s.marker()
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(s.o.Markers, 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(s.dir+"\n"), 0o600)
}

// Close closes every connection. The last process to close also writes the log
// back into the database, so a hook exits without it.
func (s *Store) Close() error {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for _, c := range idle {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// settings of a connection that writes. The log is written back by trim, not by
// SQLite's own rule.
const settings = "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0"

// logLimit is the size of the log, in bytes, from which a writer writes it back.
const logLimit = 512 << 10

// trim writes the log back into the database and empties it once it is large.
//
// The first process to come reads the whole log before anything else, 1.4 ms a
// megabyte, and hooks mostly are the first. SQLite's own checkpoint does not
// shorten it: a log may begin anew only in the process that wrote it back, and a
// hook has ended by then, so under hooks alone it would grow without bound. Where
// readers are in the way the log waits for the next writer.
func (s *Store) trim(c *conn) {
	info, err := os.Stat(s.path + "-wal")
	if err != nil || info.Size() < logLimit {
		return
	}
	_ = c.script(context.Background(), "PRAGMA busy_timeout=5")
	_ = c.script(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	_ = c.script(context.Background(), "PRAGMA busy_timeout="+strconv.FormatInt(s.o.Busy.Milliseconds(), 10))
}

// take gives a connection that nobody else uses.
func (s *Store) take() (*conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("store: %w", os.ErrClosed)
	}
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	if !s.o.ReadOnly {
		c, err := dial(s.path, "mode=rw", s.o.Busy)
		if err != nil {
			return nil, err
		}
		return c, c.script(context.Background(), settings)
	}
	c, err := dial(s.path, "mode=ro", s.o.Busy)
	if err != nil {
		return nil, err
	}
	if _, err = c.one(func(row) error { return nil }, "PRAGMA user_version"); err == nil {
		return c, nil
	}
	c.close()
	// A folder that cannot be written has no place for the index of the log.
	// Without a log that is no loss: nobody can be writing.
	if log, statErr := os.Stat(s.path + "-wal"); statErr == nil && log.Size() > 0 {
		return nil, err
	}
	return dial(s.path, "mode=ro&immutable=1", s.o.Busy)
}

func (s *Store) put(c *conn) {
	s.mu.Lock()
	if !s.closed && len(s.idle) < keptOpen {
		s.idle = append(s.idle, c)
		c = nil
	}
	s.mu.Unlock()
	if c != nil {
		c.close()
	}
}
