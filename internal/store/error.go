package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Errors callers decide on, told apart by SQLite's codes.
var (
	// ErrMissing: a store was here and is gone. It is never made anew by itself.
	ErrMissing = errors.New("the store that was here is gone")
	// ErrNewer: the schema is newer than this binary; see NewerError.
	ErrNewer = errors.New("the store was written by a newer version")
	// ErrBusy: another process held the store for longer than Options.Busy.
	ErrBusy = errors.New("the store is held by another process")
	// ErrFull: the disk takes no more. Reading still works.
	ErrFull = errors.New("the disk takes no more")
	// ErrReadOnly: the store cannot be written, by its option or by the disk.
	ErrReadOnly = errors.New("the store is read-only")
	// ErrRefold: the standing was folded with other rules and a hook does not
	// fold again; a command does, and hooks spool until then.
	ErrRefold = errors.New("the standing has to be folded again")
	// ErrDamaged: what is on the disk is not what was written; see DamagedError.
	ErrDamaged = errors.New("the store is damaged")
)

// NewerError says which version of Duplex reads the store.
type NewerError struct {
	Path    string
	Schema  int
	Version string // as the binary that wrote the schema called itself
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s: %v (schema %d, version %s)", e.Path, ErrNewer, e.Schema, e.Version)
}

// Is makes errors.Is(err, ErrNewer) hold.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// DamagedError says which file is damaged and, when it was not a hook that met
// it, which jobs cannot be read whole. No jobs: none is hit, or not even the list
// of jobs can be read (All).
type DamagedError struct {
	Path string
	Jobs []string // short names, or ids where the name cannot be read
	All  bool
	Err  error
}

func (e *DamagedError) Error() string {
	at := e.Path + ": " + ErrDamaged.Error()
	if len(e.Jobs) > 0 {
		at += " (jobs " + strings.Join(e.Jobs, ", ") + ")"
	}
	return fmt.Sprintf("%s: %v", at, e.Err)
}

// Is makes errors.Is(err, ErrDamaged) hold.
func (e *DamagedError) Is(target error) bool { return target == ErrDamaged }

// Unwrap gives what SQLite said.
func (e *DamagedError) Unwrap() error { return e.Err }

// AmbiguousError lists what a name may mean.
type AmbiguousError struct {
	Name       string
	Candidates []Named // at most ten
}

// Named is a job by its id and its short name.
type Named struct {
	ID    job.ID
	Short string
}

func (e *AmbiguousError) Error() string {
	names := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		names[i] = c.Short
	}
	return fmt.Sprintf("%q %v: %s", e.Name, job.ErrAmbiguous, strings.Join(names, ", "))
}

// Is makes errors.Is(err, job.ErrAmbiguous) hold.
func (e *AmbiguousError) Is(target error) bool { return target == job.ErrAmbiguous }

// explain turns what SQLite says into what callers decide on.
func (s *Store) explain(err error) error {
	var damaged *DamagedError
	if err == nil || errors.As(err, &damaged) {
		return err
	}
	var torn *tornError
	if errors.As(err, &torn) {
		return &DamagedError{Path: s.path, Jobs: []string{string(torn.job)}, Err: err}
	}
	switch code := code(err); {
	case code&0xff == sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case code&0xff == sqlite3.SQLITE_FULL, code == sqlite3.SQLITE_IOERR_WRITE, code == sqlite3.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_PERM, code&0xff == sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	case isDamage(code):
		return s.damaged(err)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

// code is SQLite's extended result code, 0 when the error is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func isDamage(code int) bool {
	return code&0xff == sqlite3.SQLITE_CORRUPT || code&0xff == sqlite3.SQLITE_NOTADB ||
		code == sqlite3.SQLITE_IOERR_SHORT_READ || code == sqlite3.SQLITE_IOERR_CORRUPTFS
}

// torn: a row that can be read but holds what was never written.
func torn(id job.ID, what string, err error) error {
	return &tornError{id, what, err}
}

type tornError struct {
	job  job.ID
	what string
	err  error
}

func (e *tornError) Error() string { return fmt.Sprintf("%s of job %s: %v", e.what, e.job, e.err) }
func (e *tornError) Unwrap() error { return e.err }
