package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// Exit codes, a contract: docs/exit-codes.md lists them for people, and a test
// holds the two together.
const (
	ExitOK          = 0
	ExitError       = 1   // what was asked could not be done
	ExitUsage       = 2   // the call cannot be meant
	ExitNotFound    = 3   // no such job, entry or safe point
	ExitRefused     = 4   // the lease is another's, or the job has ended
	ExitNotPassed   = 5   // a check, or the finish, did not pass
	ExitWaits       = 6   // the run ended with the job waiting
	ExitPerson      = 7   // only a person may do this
	ExitStore       = 8   // the store is missing, damaged, newer, full or read-only
	ExitConflict    = 9   // somebody else's change is in the way
	ExitInterrupted = 130 // Ctrl-C; nothing is lost
)

// codes is the one table from errors to exit codes: the first that matches.
var codes = []struct {
	err  error
	code int
}{
	{context.Canceled, ExitInterrupted},
	{errNotPassed, ExitNotPassed},
	{errWaits, ExitWaits},
	{tracker.ErrNotPerson, ExitPerson},
	{job.ErrPersonOnly, ExitPerson},
	{tracker.ErrUnfinished, ExitRefused},
	{job.ErrFenced, ExitRefused},
	{job.ErrHeld, ExitRefused},
	{job.ErrFinished, ExitRefused},
	{workspace.ErrForeignChange, ExitConflict},
	{tracker.ErrNoJobHere, ExitNotFound},
	{job.ErrNotFound, ExitNotFound},
	{job.ErrAmbiguous, ExitNotFound},
	{store.ErrMissing, ExitStore},
	{store.ErrNewer, ExitStore},
	{store.ErrDamaged, ExitStore},
	{store.ErrFull, ExitStore},
	{store.ErrReadOnly, ExitStore},
	{store.ErrBusy, ExitStore},
}

// wayOut says of a store that cannot be used what is still safe and what to do next:
// the first that matches.
var wayOut = []struct {
	err  error
	says string
}{
	{store.ErrMissing, "Safe points are still in git, under refs/duplex, and agents' transcripts where they were. Put a backup of the store back; or, to begin anew, move the file named above away."},
	{store.ErrNewer, "Nothing is lost: hooks keep what they see until then. Install that version or a later one."},
	{store.ErrDamaged, "It stays as it is, and safe points are still in git, under refs/duplex. See what holds: duplex verify. Read what can be read into a new store: duplex verify --salvage FOLDER"},
	{store.ErrFull, "What was recorded is safe, and can be read. Make room where the store is (duplex config names the place), then try again."},
	{store.ErrReadOnly, "What was recorded is safe, and can be read. Make the place of the store writable (duplex config names it), then try again."},
	{store.ErrBusy, "What was recorded is safe, and can be read. Try again when the other command has ended."},
}

// wayOutOf is empty for an error that is not the store's.
func wayOutOf(err error) string {
	for _, w := range wayOut {
		if errors.Is(err, w.err) {
			return w.says
		}
	}
	return ""
}

var (
	errNotPassed = errors.New("did not pass")
	errWaits     = errors.New("the job waits")
)

// silent marks an error whose whole story was printed already.
type silent struct{ err error }

func (s silent) Error() string { return s.err.Error() }
func (s silent) Unwrap() error { return s.err }

// exit prints an error in one line, for a store that cannot be used the way out in
// another, and gives its code.
func (a *App) exit(err error) int {
	if err == nil {
		return ExitOK
	}
	var own exitCode
	if errors.As(err, &own) {
		return int(own)
	}
	var quiet silent
	if !errors.As(err, &quiet) {
		said := a.clean(withoutKind(err))
		if errors.Is(err, context.Canceled) {
			said = "interrupted; what was recorded stays: the same command goes on, or duplex resume"
		}
		fmt.Fprintln(a.Err, "duplex: "+said)
		if way := wayOutOf(err); way != "" {
			fmt.Fprintln(a.Err, way)
		}
	}
	var usage usageError
	if errors.As(err, &usage) {
		return ExitUsage
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return ExitError
}

// withoutKind is an error as a person reads it: that it is of a kind callers decide
// on, "not found: ", is said by the exit code, and what follows says it better.
func withoutKind(err error) string {
	said := err.Error()
	for _, kind := range []error{job.ErrNotFound, job.ErrInvalid} {
		said = strings.TrimPrefix(said, kind.Error()+": ")
	}
	return said
}

// unwritable reports whether looking still works though writing does not.
func unwritable(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrBusy)
}

// exitCode is the scripted agent's own code, passed through.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }
