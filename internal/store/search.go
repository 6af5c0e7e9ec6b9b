package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
)

// The index is an FTS5 table that keeps which words an entry has and nothing else:
// no text, no places, no counts. What is found is read from the entry itself, and
// how well it fits is counted there.

// Tags are words of the index that no text has, since they begin with a sign.
const (
	tagSaid = "@said" // of every kind but step: few in a long ledger, and what is looked for first
	tagStep = "@step"
)

func kindTag(k job.Kind) string { return "@" + strings.ReplaceAll(string(k), " ", "") }

// jobTag is as much of a job's id as makes it rare; who reads asks for the whole.
func jobTag(id job.ID) string { return "#" + string(id[:min(8, len(id))]) }

// index makes the entry that was just inserted findable.
func (t *Tx) index(e job.Entry) error { return t.mended(t.insertWords(nil, e)) }

// insertWords puts an entry's words into the index. n is its row number; nil: the row
// just inserted.
func (t *Tx) insertWords(n any, e job.Entry) error {
	words := indexed(e)
	if words == "" || !t.s.indexed {
		return nil
	}
	_, err := t.c.exec("INSERT INTO search (rowid, words) VALUES (coalesce(?, last_insert_rowid()), ?)", n, words)
	return err
}

// indexed are an entry's words for the index, each once, empty when it has none.
func indexed(e job.Entry) string {
	text := job.Text(e.Payload)
	if text == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(kindTag(e.Kind))
	b.WriteByte(' ')
	b.WriteString(jobTag(e.Job))
	if e.Kind != job.KindStep {
		b.WriteString(" " + tagSaid)
	}
	seen := make(map[string]bool, 64)
	for w := range query.Words(text) {
		if !seen[w.Text] {
			seen[w.Text] = true
			b.WriteByte(' ')
			b.WriteString(w.Text)
		}
	}
	if len(seen) == 0 {
		return ""
	}
	return b.String()
}

// unindex takes an entry out of the index. What is left of its words there goes
// with the next Purge.
func (t *Tx) unindex(entry job.ID) error {
	if !t.s.indexed {
		return nil
	}
	_, err := t.c.exec("DELETE FROM search WHERE rowid IN (SELECT n FROM entry WHERE id = ?)", entry)
	return t.mended(err)
}

// eraseWords empties the index when a job is most of it: putting the rest in again is
// sooner done than taking each of its entries out, as Erase does otherwise.
func (t *Tx) eraseWords(id job.ID) error {
	if !t.s.indexed {
		return nil
	}
	most := false
	_, err := t.c.one(func(r row) error {
		most = r.int(0) != 0
		return nil
	}, "SELECT 2 * (SELECT count(*) FROM entry WHERE job = ?) > (SELECT count(*) FROM entry)", id)
	if err != nil || !most {
		return err
	}
	return renewIndex(t.c)
}

// purgeIndex drops the words of entries that were taken out: until then they stand
// in the index, marked as deleted.
func purgeIndex(c *conn) error {
	_, err := c.exec("INSERT INTO search (search) VALUES ('optimize')")
	if !indexDamaged(err) {
		return err
	}
	if err := c.script(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := renewIndex(c); err != nil {
		return errors.Join(err, c.script(context.Background(), "ROLLBACK"))
	}
	return c.script(context.Background(), "COMMIT")
}

// ErrIndex: the search index is damaged, and nothing else; Store.RenewIndex helps.
var ErrIndex = errors.New("the search index is damaged")

func indexDamaged(err error) bool { return code(err) == sqlite3.SQLITE_CORRUPT_VTAB }

// mended passes an error on, unless only the index is damaged: that is begun anew,
// since the ledger is what counts, and all that is in the index can be read from it.
func (t *Tx) mended(err error) error {
	if !indexDamaged(err) {
		return err
	}
	return renewIndex(t.c)
}

// RenewIndex begins the search index anew; Index fills it.
func (s *Store) RenewIndex(ctx context.Context) error {
	return s.Write(ctx, false, func(t *Tx) error { return renewIndex(t.c) })
}

// renewIndex empties the index, in a transaction, and makes all entries due.
func renewIndex(c *conn) error {
	if _, err := c.exec("INSERT INTO search (search) VALUES ('delete-all')"); err != nil {
		return err
	}
	_, err := c.exec("INSERT OR REPLACE INTO meta SELECT ?, max(n) FROM entry HAVING max(n) > 0", indexDue)
	return err
}

// strayWords counts entries that the index has, though they or their content are gone.
func (t *Tx) strayWords() (n int64, err error) {
	if !t.s.indexed {
		return 0, nil
	}
	_, err = t.c.one(func(r row) error {
		n = r.int(0)
		return nil
	}, "SELECT count(*) FROM search_docsize WHERE NOT EXISTS (SELECT 1 FROM entry WHERE n = search_docsize.id AND payload IS NOT NULL)")
	return n, err
}

// indexDue is in meta while entries that were written before there was an index are
// not in it: the row number up to which they are not.
const indexDue = "index due"

// indexBatch is how many row numbers one transaction takes: a tenth of a second, for
// which a hook may have to wait.
const indexBatch = 1000

// Index puts entries into the index that were written before there was one, newest
// first, for about as long as it is given, and says how many may be left.
func (s *Store) Index(ctx context.Context, most time.Duration) (left int64, err error) {
	if !s.indexed {
		return 0, nil
	}
	begun := time.Now()
	for {
		if err := s.Read(ctx, func(t *Tx) error {
			left, err = t.indexLeft()
			return err
		}); err != nil || left == 0 || s.o.ReadOnly || time.Since(begun) > most {
			return left, err
		}
		if err := s.Write(ctx, false, (*Tx).indexMore); err != nil {
			return left, err
		}
	}
}

func (t *Tx) indexLeft() (int64, error) {
	due, err := t.c.meta(indexDue)
	if err != nil || due == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(due, 10, 64)
	if err != nil {
		return 0, torn("", "the mark of the search index", err)
	}
	return n, nil
}

// indexMore indexes one batch. Another process may have done the same meanwhile, so
// what is left is read again under the lock.
func (t *Tx) indexMore() error {
	last, err := t.indexLeft()
	if err != nil || last == 0 {
		return err
	}
	first := max(last-indexBatch, 0)
	err = t.c.query(func(r row) error {
		p, err := job.Decode(job.Kind(r.str(2)), int(r.int(3)), r.bytes(4))
		if err != nil {
			return nil // verify tells of it
		}
		return t.insertWords(r.int(0), job.Entry{Envelope: job.Envelope{Job: job.ID(r.str(1)), Kind: job.Kind(r.str(2))}, Payload: p})
	}, "SELECT n, job, kind, v, payload FROM entry WHERE n > ? AND n <= ? ORDER BY n", first, last)
	if indexDamaged(err) {
		return renewIndex(t.c)
	}
	if err != nil {
		return err
	}
	if first == 0 {
		_, err = t.c.exec("DELETE FROM meta WHERE name = ?", indexDue)
		return err
	}
	return t.c.setMeta(indexDue, strconv.FormatInt(first, 10))
}
