package store

import (
	"encoding/json"

	"github.com/seed-5777983b/duplex/internal/job"
)

// cachedRows bounds how many rows a transaction keeps in memory before it writes
// them: a transcript of thousands of entries touches the same few again and again.
const cachedRows = 8192

// slot is a row in memory; nil row: there is none.
type slot[T any] struct {
	row   *T
	dirty bool
}

// rows is what job.Apply reads: what this transaction changed, else the table.
type rows struct {
	t *Tx
	l *ledger
}

// Rows gives the job's rows by key.
func (t *Tx) Rows(id job.ID) job.Rows { return &lateRows{t, id} }

// lateRows looks its ledger up when it is first asked, so that Rows cannot fail.
type lateRows struct {
	t  *Tx
	id job.ID
}

func (r *lateRows) rows() (*rows, error) {
	l, err := r.t.ledger(r.id)
	return &rows{r.t, l}, err
}

// Item implements job.Rows.
func (r *lateRows) Item(id job.ID) (*job.Item, error) {
	rows, err := r.rows()
	if err != nil {
		return nil, err
	}
	return rows.Item(id)
}

// Work implements job.Rows.
func (r *lateRows) Work(key job.WorkKey) (*job.Work, error) {
	rows, err := r.rows()
	if err != nil {
		return nil, err
	}
	return rows.Work(key)
}

// Spend implements job.Rows.
func (r *lateRows) Spend(key string) (*job.Spend, error) { return (&rows{t: r.t}).Spend(key) }

// Sitting implements job.Rows.
func (r *lateRows) Sitting(id job.ID) (*job.Sitting, error) {
	rows, err := r.rows()
	if err != nil {
		return nil, err
	}
	return rows.Sitting(id)
}

// Item implements job.Rows.
func (r *rows) Item(id job.ID) (*job.Item, error) {
	return cachedRow(r.t, r.l.items, id, func() (*job.Item, error) {
		return readRow(r.t.c, r.l.id, "an item", new(job.Item), "SELECT row FROM item WHERE job = ? AND id = ?", r.l.id, id)
	})
}

// Work implements job.Rows.
func (r *rows) Work(key job.WorkKey) (*job.Work, error) {
	return cachedRow(r.t, r.l.works, key, func() (*job.Work, error) {
		w, err := readRow(r.t.c, r.l.id, "a row of the working set", new(job.Work),
			"SELECT row FROM work WHERE job = ? AND kind = ? AND workspace = ? AND name = ?", r.l.id, key.Kind, key.Workspace, key.Name)
		if w != nil {
			w.WorkKey = key
		}
		return w, err
	})
}

// Sitting implements job.Rows.
func (r *rows) Sitting(id job.ID) (*job.Sitting, error) {
	return cachedRow(r.t, r.l.sittings, id, func() (*job.Sitting, error) {
		return readRow(r.t.c, r.l.id, "a session", new(job.Sitting), "SELECT row FROM sitting WHERE job = ? AND id = ?", r.l.id, id)
	})
}

// Spend implements job.Rows. It looks through the whole store.
func (r *rows) Spend(key string) (*job.Spend, error) {
	return cachedRow(r.t, r.t.spends, key, func() (s *job.Spend, err error) {
		_, err = r.t.c.one(func(r row) error {
			s = scanSpend(r)
			return nil
		}, "SELECT "+spendColumns+" FROM spend WHERE key = ?", key)
		return s, err
	})
}

func cachedRow[K comparable, T any](t *Tx, slots map[K]*slot[T], key K, read func() (*T, error)) (*T, error) {
	if s := slots[key]; s != nil {
		return s.row, nil
	}
	v, err := read()
	if err != nil {
		return nil, err
	}
	slots[key] = &slot[T]{row: v}
	t.cached++
	return v, nil
}

func readRow[T any](c *conn, id job.ID, what string, into *T, sql string, args ...any) (*T, error) {
	found, err := c.one(func(r row) error {
		if err := json.Unmarshal(r.bytes(0), into); err != nil {
			return torn(id, what, err)
		}
		return nil
	}, sql, args...)
	if err != nil || !found {
		return nil, err
	}
	return into, nil
}

// keep takes a row that Apply changed.
func (t *Tx) keep(l *ledger, c job.Change) {
	switch {
	case c.Item != nil:
		setRow(t, l.items, c.Item.ID, c.Item)
	case c.Work != nil:
		setRow(t, l.works, c.Work.WorkKey, c.Work)
	case c.Spend != nil:
		setRow(t, t.spends, c.Spend.Key, c.Spend)
	case c.Sitting != nil:
		setRow(t, l.sittings, c.Sitting.ID, c.Sitting)
	}
}

func setRow[K comparable, T any](t *Tx, slots map[K]*slot[T], key K, v *T) {
	if slots[key] == nil {
		t.cached++
	}
	slots[key] = &slot[T]{row: v, dirty: true}
}

// flushRows writes the changed rows, so that they can be listed by SQL, and lets
// go of all of them when they are many.
func (t *Tx) flushRows() error {
	for _, l := range t.ledgers {
		err := flushSlots(l.items, func(i *job.Item) error { return t.saveItem(l.id, i) })
		if err == nil {
			err = flushSlots(l.works, func(w *job.Work) error { return t.saveWork(l.id, w) })
		}
		if err == nil {
			err = flushSlots(l.sittings, func(s *job.Sitting) error { return t.saveSitting(l.id, s) })
		}
		if err != nil {
			return err
		}
	}
	if err := flushSlots(t.spends, t.saveSpend); err != nil {
		return err
	}
	if t.cached > cachedRows {
		for _, l := range t.ledgers {
			clear(l.items)
			clear(l.works)
			clear(l.sittings)
		}
		clear(t.spends)
		t.cached = 0
	}
	return nil
}

func flushSlots[K comparable, T any](slots map[K]*slot[T], save func(*T) error) error {
	for _, s := range slots {
		if !s.dirty {
			continue
		}
		if err := save(s.row); err != nil {
			return err
		}
		s.dirty = false
	}
	return nil
}

func (t *Tx) saveItem(id job.ID, i *job.Item) error {
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	_, err = t.c.exec(`INSERT INTO item (job, id, kind, state, position, row) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (job, id) DO UPDATE SET state = excluded.state, row = excluded.row`,
		id, i.ID, i.Kind, i.State, i.Position, string(data))
	return err
}

func (t *Tx) saveWork(id job.ID, w *job.Work) error {
	row := *w
	row.WorkKey = job.WorkKey{} // it stands in columns
	data, err := json.Marshal(row)
	if err != nil {
		return err
	}
	_, err = t.c.exec(`INSERT INTO work VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (job, kind, workspace, name) DO UPDATE SET row = excluded.row`,
		id, w.Kind, w.Workspace, w.Name, string(data))
	return err
}

func (t *Tx) saveSitting(id job.ID, s *job.Sitting) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = t.c.exec(`INSERT INTO sitting VALUES (?, ?, ?, ?)
		ON CONFLICT (job, id) DO UPDATE SET agent = excluded.agent, row = excluded.row`, id, s.ID, s.Agent, string(data))
	return err
}

// Items lists a job's items of a kind (empty: any) in a state (empty: any), at
// most limit of them when limit is above zero.
func (t *Tx) Items(id job.ID, kind job.Kind, state job.ItemState, limit int, newestFirst bool) ([]job.Item, error) {
	if err := t.flushRows(); err != nil {
		return nil, err
	}
	sql, args := "SELECT row FROM item WHERE job = ?", []any{id}
	if kind != "" {
		sql, args = sql+" AND kind = ?", append(args, kind)
	}
	if state != "" {
		sql, args = sql+" AND state = ?", append(args, state)
	}
	sql += " ORDER BY position" + direction(newestFirst) + ", n" + direction(newestFirst) + " LIMIT ?"
	return listRows[job.Item](t.c, id, "an item", sql, append(args, limitOf(limit))...)
}

// Lessons lists the lessons drawn in a repository, newest job first. An empty
// repository: in any.
func (t *Tx) Lessons(repository string, limit int) ([]Lesson, error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	of, args := "", []any{limitOf(limit)}
	if repository != "" {
		of, args = " WHERE job.repository = ? AND job.repository <> ''", []any{repository, limitOf(limit)}
	}
	var out []Lesson
	err := t.c.query(func(r row) error {
		l := Lesson{Job: job.ID(r.str(0)), Repository: r.str(1)}
		if err := json.Unmarshal(r.bytes(2), &l.Item); err != nil {
			return torn(l.Job, "a lesson", err)
		}
		out = append(out, l)
		return nil
	}, `SELECT job.id, job.repository, item.row FROM job JOIN item ON item.job = job.id AND item.kind = 'lesson'`+
		of+" ORDER BY job.updated DESC, item.position DESC LIMIT ?", args...)
	return out, err
}

// Lesson is a lesson with the job that taught it.
type Lesson struct {
	Job        job.ID
	Repository string
	Item       job.Item
}

// Works lists a job's working set of a kind (empty: of any), by name.
func (t *Tx) Works(id job.ID, kind job.WorkKind) ([]job.Work, error) {
	if err := t.flushRows(); err != nil {
		return nil, err
	}
	var out []job.Work
	err := t.c.query(func(r row) error {
		var w job.Work
		if err := json.Unmarshal(r.bytes(2), &w); err != nil {
			return torn(id, "a row of the working set", err)
		}
		w.WorkKey = job.WorkKey{Kind: job.WorkKind(r.str(3)), Workspace: job.ID(r.str(0)), Name: r.str(1)}
		out = append(out, w)
		return nil
	}, "SELECT workspace, name, row, kind FROM work WHERE job = ? AND (kind = ?2 OR ?2 = '') ORDER BY kind, workspace, name", id, kind)
	return out, err
}

// Sittings lists the sessions that sat at a job, in the order they began.
func (t *Tx) Sittings(id job.ID) ([]job.Sitting, error) {
	if err := t.flushRows(); err != nil {
		return nil, err
	}
	return listRows[job.Sitting](t.c, id, "a session",
		"SELECT row FROM sitting WHERE job = ? ORDER BY row ->> 'first', id", id)
}

func listRows[T any](c *conn, id job.ID, what, sql string, args ...any) ([]T, error) {
	var out []T
	err := c.query(func(r row) error {
		var v T
		if err := json.Unmarshal(r.bytes(0), &v); err != nil {
			return torn(id, what, err)
		}
		out = append(out, v)
		return nil
	}, sql, args...)
	return out, err
}

func direction(newestFirst bool) string {
	if newestFirst {
		return " DESC"
	}
	return ""
}

// limitOf: SQLite takes a negative limit as none.
func limitOf(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}
