package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A git that was killed leaves the lock of a ref. An old one of ours is in nobody's
// way; any other is named, with what to do.
func TestLocksLeftByAKilledGit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	acts := map[string]struct {
		ref string
		act func(*place, SafePoint) error
	}{
		"keep": {"2", func(p *place, _ SafePoint) error {
			p.write("new", "new\n")
			s, err := p.workspace().Keep(ctx, KeepOptions{Job: job})
			if err == nil && s.N != 2 {
				return errors.New("kept as " + s.ID)
			}
			return err
		}},
		"drop":   {"1", func(p *place, s SafePoint) error { return p.workspace().Drop(ctx, []SafePoint{s}) }},
		"remove": {"1", func(p *place, _ SafePoint) error { _, err := p.workspace().Remove(ctx, job); return err }},
	}
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := p.keep()
			lock := p.at(".git/refs/duplex/" + job + "/" + a.ref + ".lock")
			leave(t, lock, 0)
			if err := a.act(p, s); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), lock) || !strings.Contains(err.Error(), "in a minute") {
				t.Errorf("over a new lock: %v, want it named and to try again", err)
			}
			leave(t, lock, time.Hour)
			if err := a.act(p, s); err != nil {
				t.Errorf("over an old lock: %v", err)
			}
			if _, err := os.Stat(lock); err == nil {
				t.Error("the lock is still there")
			}
		})
	}
	t.Run("packed refs", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.keep()
		lock := p.at(".git/packed-refs.lock")
		leave(t, lock, time.Hour)
		if _, err := p.workspace().Remove(ctx, job); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "remove that file") {
			t.Errorf("over a lock of anybody's: %v, want to be told what to do", err)
		}
		if _, err := os.Stat(lock); err != nil {
			t.Errorf("a lock that may be the user's is gone: %v", err)
		}
	})
}

// leave makes a lock file of an age.
func leave(t *testing.T, path string, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}
