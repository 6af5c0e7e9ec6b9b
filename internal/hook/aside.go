package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/spool"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// A hook comes after every tool, and nearly all of them only have something to
// report. So it leaves the store alone: it spools the call, reads on in the
// transcript how full the context is, and is gone. What was spooled is taken in by
// the next hook that has to ask the store (a prompt, the end of a turn, a
// compaction, a level reached, five minutes gone by), by any command, and, when
// much has come together, by a process of its own.

// tail is how much of a transcript one hook reads for its level, in bytes.
const tail = 1 << 20

// much is how many bytes wait before a process of its own takes them in.
const much = 256 << 10

// aside records a call without the store, and reports whether that was enough.
// Whatever is in the way, the store is asked instead; unspooled says that it was the
// spool.
func (c Call) aside(ev agent.Event, raw []byte) (done bool, unspooled error) {
	if ev.Kind != agent.AfterTool || ev.Session == "" || c.Getenv("DUPLEX_OFF") == "1" {
		return false, nil
	}
	file := c.watchFile(ev)
	w, err := readWatch(file)
	if err != nil {
		return false, nil
	}
	rows, _, next, err := tracker.ReadRows(c.Adapter, ev.Transcript, w.Offset, tail)
	if err != nil || next-w.Offset >= tail || w.Read(rows, next, job.At(c.Now())) {
		return false, nil
	}
	if w.Bound {
		r, err := c.Redact()
		if err != nil {
			return false, nil
		}
		if err := c.spool(raw, r); err != nil {
			return false, err
		}
	}
	if w.Full() || spool.Waiting(spoolDir(c.Dir)) >= much {
		w.Taken = w.Offset
		_ = c.TakeIn() // it waits in the spool for the next one otherwise
	}
	writeWatch(file, w)
	return true, nil
}

// watched writes down what the next hooks of a session may go by; nil: nothing. What
// cannot be written is no failure of the call, which is recorded: without a watch, or
// with an older one, the next hook asks the store.
func (c Call) watched(ev agent.Event, w *tracker.Watch) {
	file := c.watchFile(ev)
	if w == nil || ev.Kind == agent.SessionEnd {
		_ = os.Remove(file)
		return
	}
	if ev.Kind == agent.SessionStart {
		sweep(filepath.Dir(file), c.Now())
		_ = spool.Reserve(spoolDir(c.Dir))
	}
	writeWatch(file, *w)
}

// Forget makes the next hook of every session ask the store: something may have
// been decided that a session's watch does not know of. Hooks write meanwhile, so the
// folder stays.
func Forget(state string) error {
	entries, err := os.ReadDir(watchDir(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what sessions go by: %w", err)
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(watchDir(state), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what sessions go by: %w", err)
		}
	}
	return nil
}

func watchDir(state string) string { return filepath.Join(state, "watch") }

// watchFile is named by all that a session's hooks go by, so that a session under
// another job's name, or with another transcript, is another.
func (c Call) watchFile(ev agent.Event) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{c.Adapter.Name(), ev.Session, ev.Transcript, c.Getenv("DUPLEX_JOB")}, "\x00")))
	return filepath.Join(watchDir(c.Dir), hex.EncodeToString(sum[:12]))
}

func readWatch(file string) (tracker.Watch, error) {
	var w tracker.Watch
	b, err := os.ReadFile(file)
	if err != nil {
		return w, err
	}
	return w, json.Unmarshal(b, &w)
}

// writeWatch lets a watch be lost: then the store is asked, or the same is read again.
func writeWatch(file string, w tracker.Watch) {
	line, err := json.Marshal(w) // numbers, and a model's name
	if err != nil {
		return
	}
	if err := os.WriteFile(file, line, 0o600); errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		_ = os.WriteFile(file, line, 0o600)
	}
}

// sweep removes what sessions left that never said goodbye.
func sweep(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 7*24*time.Hour {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
