package store

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Report says what a reading of whole ledgers found.
type Report struct {
	// Database is what SQLite says about its own file; empty: nothing wrong. It
	// is asked when all jobs are.
	Database []string    `json:"database,omitempty"`
	Jobs     []JobReport `json:"jobs"`
}

// Holds reports whether nothing is wrong.
func (r *Report) Holds() bool {
	for i := range r.Jobs {
		if !r.Jobs[i].Holds() {
			return false
		}
	}
	return len(r.Database) == 0
}

// JobReport says what the reading of one ledger found.
type JobReport struct {
	Job      job.ID `json:"job"`
	Short    string `json:"short"`
	Entries  int64  `json:"entries"`
	Unsigned int64  `json:"unsigned,omitempty"` // signed by a key that is not here
	Scrubbed int64  `json:"scrubbed,omitempty"` // without their content, which the chain allows
	Missing  int64  `json:"missing,omitempty"`
	// Faults, in order of position; at most maxFaults.
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is one thing wrong with a ledger. Position 0: with what was folded from it.
type Fault struct {
	Position int64  `json:"position,omitempty"`
	What     string `json:"what"`
}

const maxFaults = 20

// Holds reports whether the chain and everything folded from it hold.
func (r *JobReport) Holds() bool { return len(r.Faults) == 0 }

func (r *JobReport) String() string {
	switch {
	case !r.Holds():
		return r.Faults[0].What
	case r.Entries > 0 && r.Unsigned == r.Entries:
		return "hashes hold, unsigned"
	case r.Unsigned > 0:
		return fmt.Sprintf("hashes hold, %d of %d entries unsigned", r.Unsigned, r.Entries)
	}
	return "hashes and signatures hold"
}

func (r *JobReport) fault(position int64, format string, args ...any) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, Fault{position, fmt.Sprintf(format, args...)})
	}
}

// Verify reads a job's whole ledger and holds it against its chain, its
// signatures, its standing and its rows. An empty id: every job, and the database.
func (s *Store) Verify(ctx context.Context, id job.ID) (Report, error) {
	var report Report
	var jobs []Named
	if id == "" {
		err := s.Read(ctx, func(t *Tx) error {
			stray, err := t.strayWords()
			if stray > 0 {
				report.Database = append(report.Database, fmt.Sprintf("the search index has words of %d entries whose content is gone", stray))
			}
			return errors.Join(err, t.c.query(func(r row) error {
				if says := r.str(0); says != "ok" {
					report.Database = append(report.Database, says)
				}
				return nil
			}, "PRAGMA quick_check(10)"))
		})
		if err != nil {
			report.Database = append(report.Database, err.Error())
		}
	}
	err := s.Read(ctx, func(t *Tx) (err error) {
		jobs, err = t.named("SELECT id, short FROM job WHERE ?1 = '' OR id = ?1 ORDER BY opened", id)
		return err
	})
	if err != nil {
		return report, err
	}
	if id != "" && len(jobs) == 0 {
		return report, fmt.Errorf("job %s: %w", id, job.ErrNotFound)
	}
	for _, j := range jobs {
		var r JobReport
		err := s.Read(ctx, func(t *Tx) error {
			r = JobReport{Job: j.ID, Short: j.Short}
			return t.verify(&r)
		})
		var damaged *DamagedError
		switch {
		case errors.As(err, &damaged):
			r.fault(r.Entries+1, "cannot be read: %v", damaged.Err)
		case errors.Is(err, ErrRefold): // a reader does not fold; any command that writes to the job does
			r.fault(0, "the standing is damaged or of an older version: duplex log %s folds it again", j.Short)
		case err != nil:
			return report, err
		}
		report.Jobs = append(report.Jobs, r)
		if err := ctx.Err(); err != nil {
			return report, err
		}
	}
	return report, nil
}

// verify reads the ledger once: chain, signatures and fold together.
func (t *Tx) verify(r *JobReport) error {
	l, err := t.ledger(r.Job)
	if err != nil {
		return err
	}
	mem := &refolded{job.NewMemory(), &rows{t, l}}
	folds := true
	link := chainReader{keys: &t.s.keys}
	err = t.c.query(func(row row) error {
		env, raw := scanRaw(row)
		r.Entries++
		if lost := env.Position - link.position - 1; lost > 0 {
			r.Missing += lost
			r.fault(link.position+1, "entries %d to %d are missing", link.position+1, env.Position-1)
			folds = false
		}
		what, signed := link.next(&env, raw)
		if what != "" {
			r.fault(env.Position, "%s", what)
		}
		if !signed {
			r.Unsigned++
		}
		if raw.Payload == nil {
			r.Scrubbed++
		}
		p, err := job.Decode(env.Kind, env.V, raw.Payload)
		if err != nil {
			r.fault(env.Position, "%v", err)
			folds = false
		}
		if folds {
			return mem.apply(job.Entry{Envelope: env, Payload: p})
		}
		return nil
	}, "SELECT "+entryColumns+" FROM entry WHERE job = ? ORDER BY position", r.Job)
	if err != nil {
		return err
	}
	if link.position != l.position || link.hash != l.head {
		r.Missing += max(0, l.position-link.position)
		r.fault(link.position+1, "the ledger ends at %d, its head is of %d", link.position, l.position)
		return nil
	}
	if folds {
		return t.compare(r, mem.Memory)
	}
	return nil
}

// chainReader follows a chain. It goes on from each entry's own hash, so that one
// altered entry is one fault.
type chainReader struct {
	keys     *keyring
	position int64
	hash     job.Digest
}

func (c *chainReader) next(env *job.Envelope, raw Raw) (fault string, signed bool) {
	if job.ChainHash(env, c.hash, raw.Digest) != raw.Hash {
		fault = fmt.Sprintf("entry %d is not what was written", env.Position)
	}
	c.position, c.hash = env.Position, raw.Hash
	if c.keys.macID == "" || raw.KeyID != c.keys.macID {
		return fault, false
	}
	if mac := job.ChainMAC(c.keys.mac, raw.Hash); fault == "" && !hmac.Equal(mac[:], raw.MAC) {
		fault = fmt.Sprintf("entry %d is not signed by this store", env.Position)
	}
	return fault, true
}

// refolded folds a ledger again in memory. What another job paid for is asked of
// the table, as it was when the entry was appended.
type refolded struct {
	*job.Memory
	rows *rows
}

// Spend implements job.Rows.
func (f *refolded) Spend(key string) (*job.Spend, error) {
	if s := f.Spends[key]; s != nil {
		return s, nil
	}
	s, err := f.rows.Spend(key)
	if err != nil || s == nil || s.Job == f.rows.l.id {
		return nil, err
	}
	return s, nil
}

func (f *refolded) apply(e job.Entry) error {
	now, changes, err := job.Apply(f.Now, e, f)
	if err != nil {
		return err
	}
	f.Now = now
	f.Keep(changes)
	return nil
}

// compare holds the snapshot and every row against the fold.
func (t *Tx) compare(r *JobReport, mem *job.Memory) error {
	now, err := t.Standing(r.Job)
	if err != nil {
		return err
	}
	if !same(now, mem.Now) {
		r.fault(0, "the standing is not what the ledger folds to")
	}
	items, err := t.Items(r.Job, "", "", 0, false)
	if err != nil {
		return err
	}
	wrong, held := 0, len(items)
	for i := range items {
		wrong += differs(&items[i], mem.Items[items[i].ID])
	}
	r.count("items", wrong, held, len(mem.Items))
	works, err := t.Works(r.Job, "")
	if err != nil {
		return err
	}
	wrong, held = 0, len(works)
	for i := range works {
		wrong += differs(&works[i], mem.Works[works[i].WorkKey])
	}
	r.count("rows of the working set", wrong, held, len(mem.Works))
	sittings, err := t.Sittings(r.Job)
	if err != nil {
		return err
	}
	wrong, held = 0, len(sittings)
	for i := range sittings {
		wrong += differs(&sittings[i], mem.Sittings[sittings[i].ID])
	}
	r.count("sessions", wrong, held, len(mem.Sittings))
	wrong, held = 0, 0
	err = t.Spends(r.Job, func(s job.Spend) error {
		held++
		wrong += differs(&s, mem.Spends[s.Key])
		return nil
	})
	r.count("costs", wrong, held, len(mem.Spends))
	return err
}

func (r *JobReport) count(what string, wrong, held, folded int) {
	if wrong > 0 || held != folded {
		r.fault(0, "%s: %d kept, %d of them altered; the ledger folds to %d", what, held, wrong, folded)
	}
}

func differs[T any](kept, folded *T) int {
	if folded != nil && same(kept, folded) {
		return 0
	}
	return 1
}

// same compares as stored: two values are the same when their JSON is.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
