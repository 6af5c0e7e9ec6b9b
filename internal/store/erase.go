package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Layer counts what one part of the store holds of a job.
type Layer struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes"` // of content, without what SQLite needs around it
	Note  string `json:"note,omitempty"`
}

// erased are the parts of a job, in the order they are shown and removed.
var erased = []struct{ name, bytes, from string }{
	{searchLayer, "0", "search WHERE rowid IN (SELECT n FROM entry WHERE job = ?1)"},
	{"entries", "length(payload)", "entry WHERE job = ?1"},
	{"items", "length(row)", "item WHERE job = ?1"},
	{"working set", "length(name) + length(row)", "work WHERE job = ?1"},
	{"session rows", "length(row)", "sitting WHERE job = ?1"},
	{"costs", "length(message) + length(model)", "spend WHERE job = ?1"},
	{"blobs", "length(data)", "blob WHERE digest IN (SELECT digest FROM blob_ref WHERE job = ?1) AND NOT EXISTS (SELECT 1 FROM blob_ref WHERE digest = blob.digest AND job <> ?1)"},
	{"blob references", "0", "blob_ref WHERE job = ?1"},
	{"agents' sessions", "length(row)", "session WHERE job = ?1"},
	{"workspaces", "length(row)", "workspace WHERE id IN (SELECT workspace FROM job_workspace WHERE job = ?1) AND NOT EXISTS (SELECT 1 FROM job_workspace WHERE workspace = workspace.id AND job <> ?1)"},
	{"workspace references", "0", "job_workspace WHERE job = ?1"},
	{"job", "length(short) + length(standing)", "job WHERE id = ?1"},
}

const searchLayer = "search index"

// parts are those that this store has.
func (t *Tx) parts() []struct{ name, bytes, from string } {
	if !t.s.indexed {
		return erased[1:]
	}
	return erased
}

// Layers counts what the store holds of a job: what Erase would remove.
func (s *Store) Layers(ctx context.Context, id job.ID) (list []Layer, err error) {
	err = s.Read(ctx, func(t *Tx) error {
		list, err = t.layers(id)
		return err
	})
	return list, err
}

func (t *Tx) layers(id job.ID) ([]Layer, error) {
	list := []Layer{}
	for _, part := range t.parts() {
		l := Layer{Name: part.name}
		_, err := t.c.one(func(r row) error {
			l.Count, l.Bytes = r.int(0), r.int(1)
			return nil
		}, "SELECT count(*), coalesce(sum("+part.bytes+"), 0) FROM "+part.from, id)
		if err != nil {
			return nil, err
		}
		if l.Count > 0 {
			list = append(list, l)
		}
	}
	return list, nil
}

// Erase removes a job from the store and from the store's files, and says what it
// removed. Its names stay taken. It is no error when nothing is there any more: an
// erasure that was interrupted is ended by the next.
//
// Where another job holds a copy of a message this one paid for, the digest that
// names the message stays, without job or content, so that the copy does not begin
// to cost.
func (s *Store) Erase(ctx context.Context, id job.ID) ([]Layer, error) {
	var list []Layer
	err := s.Write(ctx, true, func(t *Tx) error {
		if _, err := t.c.exec(`UPDATE spend SET job = '', session = '', at = 0, position = 0, message = '', model = '', input = 0,
			cache_write_5m = 0, cache_write_1h = 0, cache_read = 0, output = 0, reasoning = 0, pico = NULL, price = '', estimate = 0,
			purpose = '', class = '', context = 0 WHERE job = ?1 AND EXISTS
			(SELECT 1 FROM entry WHERE key > spend.key || '/' AND key < spend.key || '0' AND key <> '' AND job <> ?1)`, id); err != nil {
			return err
		}
		var err error
		if list, err = t.layers(id); err != nil {
			return err
		}
		if err := t.eraseWords(id); err != nil {
			return err
		}
		for _, part := range t.parts() {
			if _, err := t.c.exec("DELETE FROM "+part.from, id); t.mended(err) != nil {
				return fmt.Errorf("erase %s: %w", part.name, err)
			}
		}
		if _, err := t.c.exec("UPDATE short SET job = '' WHERE job = ?", id); err != nil {
			return err
		}
		if err := t.c.setMeta(purgeDue, "1"); err != nil {
			return err
		}
		return t.dropOrphans()
	})
	if err != nil {
		return list, err
	}
	return list, s.Purge(ctx)
}

// dropOrphans removes blobs no entry names any more.
func (t *Tx) dropOrphans() error {
	_, err := t.c.exec("DELETE FROM blob WHERE NOT EXISTS (SELECT 1 FROM blob_ref WHERE digest = blob.digest)")
	return err
}

// Scrub drops the content of entries. Their envelopes and digests stay, so the
// chain still verifies; what was folded from the content is folded again without
// it. It reports how many had content. The caller appends the scrubbed entry that
// says so, and calls Purge when the transaction is done.
func (t *Tx) Scrub(id job.ID, entries []job.ID) (int, error) {
	l, err := t.ledger(id)
	if err != nil {
		return 0, err
	}
	if err := t.flush(); err != nil {
		return 0, err
	}
	dropped := 0
	for _, entry := range entries {
		var raw Raw
		found, err := t.c.one(func(r row) error {
			_, raw = scanRaw(r)
			return nil
		}, "SELECT "+entryColumns+" FROM entry WHERE job = ? AND id = ?", id, entry)
		if err != nil {
			return dropped, err
		}
		if !found {
			return dropped, fmt.Errorf("entry %s: %w", entry, job.ErrNotFound)
		}
		if raw.Payload == nil {
			continue
		}
		if err := t.unindex(entry); err != nil {
			return dropped, err
		}
		if _, err := t.c.exec("UPDATE entry SET salt = NULL, payload = NULL, digest = ? WHERE id = ?", raw.Digest[:], entry); err != nil {
			return dropped, err
		}
		dropped++
	}
	if dropped == 0 {
		return 0, nil
	}
	if err := t.refold(l); err != nil {
		return dropped, err
	}
	if err := t.c.setMeta(purgeDue, "1"); err != nil {
		return dropped, err
	}
	return dropped, t.dropOrphans()
}

// purgeDue is set in meta from a deletion until its purge: one that was killed
// between the two is ended by the next command.
const purgeDue = "purge due"

// Purge takes what was deleted out of the files: free pages, slack within pages
// and the log. It writes the database anew, which needs as much free disk. It
// gives ErrBusy while another process reads what is to go; it may be called again.
func (s *Store) Purge(ctx context.Context) error {
	done, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.gate.RLock()
	defer s.gate.RUnlock()
	c, err := s.take()
	if err != nil {
		return s.explain(err)
	}
	defer s.put(c)
	if s.indexed {
		if err := purgeIndex(c); err != nil {
			return fmt.Errorf("purge: %w", s.explain(err))
		}
	}
	if err := c.script(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("purge: %w", s.explain(err))
	}
	busy := false
	_, err = c.one(func(r row) error {
		busy = r.int(0) != 0
		return nil
	}, "PRAGMA wal_checkpoint(TRUNCATE)")
	switch {
	case err != nil:
		return fmt.Errorf("purge: %w", s.explain(err))
	case busy:
		return fmt.Errorf("purge: %w, which still reads the log", ErrBusy)
	}
	if _, err := c.exec("DELETE FROM meta WHERE name = ?", purgeDue); err != nil {
		return fmt.Errorf("purge: %w", s.explain(err))
	}
	return nil
}

// endPurge purges what a killed erasure deleted. While somebody reads it, it is
// left to the next command.
func (s *Store) endPurge(ctx context.Context) error {
	due := ""
	err := s.Read(ctx, func(t *Tx) (err error) {
		due, err = t.c.meta(purgeDue)
		return err
	})
	if err != nil || due == "" {
		return nil // a store that cannot be read says so when it is asked for something
	}
	if err := s.Purge(ctx); !errors.Is(err, ErrBusy) && !errors.Is(err, ErrFull) {
		return err
	}
	return nil
}

// Scan looks for bytes in every file of the store's folder, as files, and names
// those that hold them. The shared index of the log holds page numbers only and is
// left out.
func (s *Store) Scan(ctx context.Context, needle []byte) ([]string, error) {
	if len(needle) == 0 {
		return nil, fmt.Errorf("scan: %w: nothing to look for", job.ErrInvalid)
	}
	// Closing a file gives up every lock this process has on it. So nobody may
	// have the database open meanwhile.
	s.gate.Lock()
	defer s.gate.Unlock()
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, c := range idle {
		if err := c.close(); err != nil {
			return nil, s.explain(err)
		}
	}
	var found []string
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // gone since the folder was listed
			return nil
		}
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, "-shm") {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		has, err := contains(path, needle)
		if has {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

// contains reads a file in pieces that overlap by what could be cut.
func contains(path string, needle []byte) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, max(1<<20, 2*len(needle)))
	kept := 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		have := buf[:kept+n]
		if bytes.Contains(have, needle) {
			return true, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, have[len(have)-len(needle)+1:])
	}
}
