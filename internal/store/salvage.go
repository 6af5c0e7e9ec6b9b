package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Salvage reads what can be read of a damaged database into a new store in toDir,
// with the same keys. Entries that hold keep their place, hash and signature. From
// the first that is lost on, a gap entry stands for what is missing and the rest
// of the ledger is chained anew; entries keep their ids. The damaged database is
// not changed.
func (s *Store) Salvage(ctx context.Context, toDir string) (Report, error) {
	var report Report
	target := filepath.Join(toDir, databaseFile)
	if _, err := os.Lstat(target); err == nil {
		return report, fmt.Errorf("salvage: %s: %w", target, fs.ErrExist)
	}
	keys, err := os.ReadFile(filepath.Join(s.dir, keyFile))
	if err == nil {
		err = errors.Join(os.MkdirAll(toDir, 0o700), os.WriteFile(filepath.Join(toDir, keyFile), keys, 0o600))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, fmt.Errorf("salvage: %w", err)
	}
	to, err := Open(ctx, toDir, Options{Create: true, Fresh: true, Version: s.o.Version})
	if err != nil {
		return report, err
	}
	defer to.Close()
	s.gate.RLock()
	defer s.gate.RUnlock()
	c, err := s.take()
	if err != nil {
		return report, s.explain(err)
	}
	defer c.close()
	w := &wreck{c: c, keys: &s.keys}
	if err := w.survey(); err != nil {
		return report, fmt.Errorf("salvage: %w", s.explain(err))
	}
	if err := to.Write(ctx, true, w.beside); err != nil {
		return report, fmt.Errorf("salvage: %w", err)
	}
	for _, id := range w.jobs {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		r := JobReport{Job: id}
		if err := to.Write(ctx, true, func(t *Tx) error { return w.ledger(t, &r) }); err != nil {
			return report, fmt.Errorf("salvage job %s: %w", id, err)
		}
		report.Jobs = append(report.Jobs, r)
	}
	return report, to.Read(ctx, func(t *Tx) error { return w.missed(t, &report) })
}

// missed reports the jobs of which no entry can be read, and that there is none
// that can.
func (w *wreck) missed(t *Tx, report *Report) error {
	for id, head := range w.heads {
		if len(w.entries[id]) > 0 {
			continue
		}
		r := JobReport{Job: id, Short: string(id), Missing: head}
		_, err := t.c.one(func(found row) error {
			r.Short = found.str(0)
			return nil
		}, "SELECT name FROM short WHERE job = ? AND instr(name, '/') = 0", id)
		if err != nil {
			return err
		}
		r.fault(1, "no entry can be read")
		report.Jobs = append(report.Jobs, r)
	}
	if len(report.Jobs) == 0 {
		report.Database = append(report.Database, "no ledger can be read")
	}
	return nil
}

// wreck is a damaged database, read around its damage.
type wreck struct {
	c    *conn
	keys *keyring
	jobs []job.ID // in the order they are met
	// entries says where each job's entries are: row numbers in order of position.
	entries map[job.ID][]found
	heads   map[job.ID]int64 // how long each ledger was, where its row can be read
}

type found struct{ n, position int64 }

// survey finds every entry that can be read.
func (w *wreck) survey() error {
	w.entries, w.heads = map[job.ID][]found{}, map[job.ID]int64{}
	highest := int64(0)
	for _, sql := range []string{"SELECT n FROM entry ORDER BY n DESC LIMIT 1", "SELECT max(n) FROM entry INDEXED BY entry_id WHERE id > ''"} {
		_, err := w.c.one(func(r row) error {
			highest = max(highest, r.int(0))
			return nil
		}, sql)
		if err != nil && !isDamage(code(err)) {
			return err
		}
	}
	err := w.around(1, highest, "SELECT n, job, position FROM entry", func(r row) error {
		id := job.ID(r.str(1))
		if id.Valid() {
			w.entries[id] = append(w.entries[id], found{r.int(0), r.int(2)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = w.ends("SELECT id, position FROM job", "id", func(r row) error {
		w.heads[job.ID(r.str(0))] = r.int(1)
		return nil
	})
	for id, list := range w.entries {
		slices.SortFunc(list, func(a, b found) int { return cmp.Compare(a.position, b.position) })
		w.jobs = append(w.jobs, id)
	}
	slices.SortFunc(w.jobs, func(a, b job.ID) int { return cmp.Compare(w.entries[a][0].n, w.entries[b][0].n) })
	return err
}

// around reads the rows from lo to hi of a table by row number: from both ends
// towards the damage, then on either side of its middle.
func (w *wreck) around(lo, hi int64, selects string, fn func(row) error) error {
	for lo <= hi {
		for _, order := range []string{"", " DESC"} {
			err := w.c.query(func(r row) error {
				n := r.int(0)
				if n < lo || n > hi {
					return nil // a damaged tree gives rows where they do not belong
				}
				if order == "" {
					lo = n + 1
				} else {
					hi = n - 1
				}
				return fn(r)
			}, selects+" WHERE n BETWEEN ? AND ? ORDER BY n"+order, lo, hi)
			if err == nil {
				return nil
			}
			if !isDamage(code(err)) {
				return err
			}
		}
		if lo >= hi {
			return nil
		}
		mid := lo + (hi-lo)/2
		if err := w.around(lo, mid, selects, fn); err != nil {
			return err
		}
		lo = mid + 1
	}
	return nil
}

// ends reads a small table from both ends, as far as each goes.
func (w *wreck) ends(selects, by string, fn func(row) error) error {
	seen := map[string]bool{}
	for _, order := range []string{"", " DESC"} {
		err := w.c.query(func(r row) error {
			name := fmt.Sprint([]any{r[0], r[len(r)-1]})
			if seen[name] {
				return nil
			}
			seen[name] = true
			return fn(r)
		}, selects+" ORDER BY "+by+order)
		if err == nil {
			return nil
		}
		if !isDamage(code(err)) {
			return err
		}
	}
	return nil
}

// beside copies what stands beside the ledgers: names, sessions, workspaces, blobs.
func (w *wreck) beside(t *Tx) error {
	for _, table := range []struct{ columns, name, by, values string }{
		{"name, job", "short", "name", "?, ?"},
		{"id, key, job, process, row", "session", "id", "?, ?, ?, ?, ?"},
		{"id, key, row", "workspace", "id", "?, ?, ?"},
	} {
		err := w.ends("SELECT "+table.columns+" FROM "+table.name, table.by, func(r row) error {
			args := make([]any, len(r))
			for i := range r {
				args[i] = r[i]
			}
			_, err := t.c.exec("INSERT OR IGNORE INTO "+table.name+" VALUES ("+table.values+")", args...)
			return err
		})
		if err != nil {
			return err
		}
	}
	err := w.ends("SELECT name, value FROM meta", "name", func(r row) error {
		if name := r.str(0); len(name) > 4 && name[:4] == "off/" {
			return t.c.setMeta(name, r.str(1))
		}
		return nil
	})
	if err != nil {
		return err
	}
	highest := int64(0)
	_, err = w.c.one(func(r row) error {
		highest = r.int(0)
		return nil
	}, "SELECT max(n) FROM blob")
	if err != nil && !isDamage(code(err)) {
		return err
	}
	return w.around(1, highest, "SELECT n, digest, size, data FROM blob", func(r row) error {
		if _, err := unpack(r.str(1), r.bytes(3)); err != nil {
			return nil // its receipt will say that it is gone
		}
		_, err := t.c.exec("INSERT OR IGNORE INTO blob (digest, size, data) VALUES (?, ?, ?)", r.str(1), r.int(2), r.bytes(3))
		return err
	})
}

// ledger writes one job's ledger into the new store.
func (w *wreck) ledger(t *Tx, r *JobReport) error {
	short, err := t.shortOf(r.Job)
	if err != nil {
		return err
	}
	l := newLedger(r.Job, short)
	t.ledgers[r.Job], r.Short = l, short
	link := chainReader{keys: w.keys}
	lost := lostRange{}
	for _, at := range w.entries[r.Job] {
		env, raw, p, err := w.entry(at.n)
		if err != nil {
			return err
		}
		known := env.Position == link.position+1 // the hash before it is known
		if p == nil || env.Job != r.Job || env.Position <= link.position {
			continue
		}
		fault, _ := link.next(&env, raw)
		if fault != "" && known {
			continue // altered; it counts as lost when the next one comes
		}
		if next := r.Entries + r.Missing + 1; env.Position > next {
			lost = lostRange{next, env.Position - 1}
			if err := t.gap(l, r, lost); err != nil {
				return err
			}
		}
		r.Entries++
		if raw.Payload == nil {
			r.Scrubbed++
		}
		if env.Position != l.position+1 || job.ChainHash(&env, l.head, raw.Digest) != raw.Hash {
			env.Position = l.position + 1
			raw.seal(&env, l.head, &t.s.keys)
		}
		if err := t.add(l, job.Entry{Envelope: env, Payload: p}, raw); err != nil {
			return err
		}
	}
	if next := r.Entries + r.Missing + 1; w.heads[r.Job] >= next {
		return t.gap(l, r, lostRange{next, w.heads[r.Job]})
	}
	return nil
}

// entry reads one entry by row number; p is nil when it cannot be read.
func (w *wreck) entry(n int64) (env job.Envelope, raw Raw, p job.Payload, err error) {
	_, err = w.c.one(func(r row) error {
		env, raw = scanRaw(r)
		p, _ = job.Decode(env.Kind, env.V, raw.Payload)
		return nil
	}, "SELECT "+entryColumns+" FROM entry WHERE n = ?", n)
	if err != nil && isDamage(code(err)) {
		return env, raw, nil, nil
	}
	return env, raw, p, err
}

// lostRange is the positions of entries that are lost.
type lostRange struct{ from, to int64 }

// gap writes the entry that stands for lost ones. It holds numbers and words of
// this package only.
func (t *Tx) gap(l *ledger, r *JobReport, lost lostRange) error {
	p := &job.Gap{What: "entries lost with a damaged database", Count: lost.to - lost.from + 1, Source: "salvage", From: lost.from, To: lost.to}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	var random [16]byte
	salt := make([]byte, saltSize)
	rand.Read(random[:]) // never fails
	rand.Read(salt)
	now := job.At(time.Now())
	env := job.Envelope{Job: l.id, Position: l.position + 1, ID: job.NewID(random), Kind: job.KindGap, V: job.PayloadVersion,
		RecordedAt: now, HappenedAt: now, TimeSource: job.FromClock, Author: job.Author{Kind: job.Duplex}, Machine: t.s.keys.machine}
	raw := Raw{Salt: salt, Payload: data}
	raw.seal(&env, l.head, &t.s.keys)
	r.Missing += p.Count
	r.fault(lost.from, "entries %d to %d are lost", lost.from, lost.to)
	return t.add(l, job.Entry{Envelope: env, Payload: p}, raw)
}

// shortOf is the short name a job has, or now gets.
func (t *Tx) shortOf(id job.ID) (short string, err error) {
	found, err := t.c.one(func(r row) error {
		short = r.str(0)
		return nil
	}, "SELECT name FROM short WHERE job = ? AND instr(name, '/') = 0", id)
	if err != nil || found {
		return short, err
	}
	return t.TakeShort(id)
}
