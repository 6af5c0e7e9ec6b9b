package store

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// JobRow is a job as it is listed.
type JobRow struct {
	ID       job.ID
	Short    string
	Standing job.Standing
	Renewed  job.Time // when its lease was last renewed; zero: not since it was taken
}

// JobFilter picks jobs; zero fields pick all.
type JobFilter struct {
	Open       bool // not finished
	Finished   bool
	Held       bool // a session has the lease, whether or not it has run out
	Named      bool
	Unnamed    bool
	Workspace  job.ID
	Repository string
	Parent     job.ID
	Limit      int
}

// Jobs lists jobs, the last changed first.
func (t *Tx) Jobs(f JobFilter) ([]JobRow, error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	where, args := []string{"TRUE"}, []any{}
	add := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	for _, flag := range []struct {
		set       bool
		condition string
	}{{f.Open, "job.done = 0"}, {f.Finished, "job.done = 1"}, {f.Held, "job.holder <> ''"}, {f.Named, "job.unnamed = 0"}, {f.Unnamed, "job.unnamed = 1"}} {
		if flag.set {
			where = append(where, flag.condition)
		}
	}
	if f.Workspace != "" {
		add("job.id IN (SELECT job FROM job_workspace WHERE workspace = ?)", f.Workspace)
	}
	if f.Repository != "" {
		add("job.repository = ? AND job.repository <> ''", f.Repository)
	}
	if f.Parent != "" {
		add("job.parent = ? AND job.parent <> ''", f.Parent)
	}
	var out []JobRow
	var stale []int
	err := t.c.query(func(r row) error {
		j := JobRow{ID: job.ID(r.str(0)), Short: r.str(1), Renewed: job.Time(r.int(2))}
		s, ok, err := job.DecodeStanding(r.bytes(3))
		if err != nil || !ok {
			stale = append(stale, len(out))
		}
		j.Standing = s
		out = append(out, j)
		return nil
	}, "SELECT id, short, renewed, standing FROM job WHERE "+strings.Join(where, " AND ")+" ORDER BY job.updated DESC, job.id LIMIT ?", append(args, limitOf(f.Limit))...)
	if err != nil {
		return nil, err
	}
	for _, i := range stale {
		if out[i].Standing, err = t.Standing(out[i].ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// OpenJobsOf lists the open, named jobs of a workspace: what a session that
// arrives there may belong to.
func (t *Tx) OpenJobsOf(workspace job.ID) ([]Named, error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	return t.named(`SELECT job.id, job.short FROM job_workspace JOIN job ON job.id = job_workspace.job
		WHERE job_workspace.workspace = ? AND job.done = 0 AND job.unnamed = 0 ORDER BY job.updated DESC`, workspace)
}

func (t *Tx) named(sql string, args ...any) (out []Named, err error) {
	err = t.c.query(func(r row) error {
		out = append(out, Named{ID: job.ID(r.str(0)), Short: r.str(1)})
		return nil
	}, sql, args...)
	return out, err
}

// TakeShort takes the first free short name for a job that is about to be opened.
// A name once taken is never given again, also after its job is removed.
func (t *Tx) TakeShort(id job.ID) (string, error) {
	for _, name := range id.ShortNames() {
		free, err := t.takeName(name, id)
		if err != nil {
			return "", err
		}
		if free {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: every short name of %s is taken", job.ErrInvalid, id)
}

// takeName takes a name, or finds that it is the job's already.
func (t *Tx) takeName(name string, id job.ID) (bool, error) {
	n, err := t.c.exec("INSERT OR IGNORE INTO short VALUES (?, ?)", name, id)
	if err != nil || n > 0 {
		return n > 0, err
	}
	owner := ""
	_, err = t.c.one(func(r row) error {
		owner = r.str(0)
		return nil
	}, "SELECT job FROM short WHERE name = ?", name)
	return owner == string(id), err
}

// nameJob makes sure of the name its opened entry says. A job that comes from
// another store takes another one when that is taken here.
func (t *Tx) nameJob(id job.ID, wanted string) (string, error) {
	if len(wanted) >= 4 && !strings.ContainsAny(wanted, "/~") {
		free, err := t.takeName(wanted, id)
		if err != nil || free {
			return wanted, err
		}
	}
	return t.TakeShort(id)
}

// nameChild gives a child its alias: the parent's name and a number that is not
// given again either.
func (t *Tx) nameChild(id, parent job.ID) error {
	l, err := t.ledger(parent)
	if errors.Is(err, job.ErrNotFound) {
		return nil // the parent is in another store
	}
	if err != nil {
		return err
	}
	n := int64(0)
	_, err = t.c.one(func(r row) error {
		n = r.int(0)
		return nil
	}, "SELECT count(*) FROM short WHERE name > ? AND name < ?", l.short+"/", l.short+"0") // '0' follows '/'
	if err != nil {
		return err
	}
	_, err = t.takeName(l.short+"/"+strconv.FormatInt(n+1, 10), id)
	return err
}

// Resolve finds the job a person names: by short name, id, alias of a child
// (k7m2/2), or a prefix of one of them that fits no other. It gives
// job.ErrNotFound or an *AmbiguousError.
func (t *Tx) Resolve(name string) (job.ID, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return "", fmt.Errorf("job %q: %w", name, job.ErrNotFound)
	}
	if err := t.flush(); err != nil {
		return "", err
	}
	found, err := t.named(`SELECT job.id, job.short FROM short JOIN job ON job.id = short.job WHERE short.name = ?1
		UNION SELECT id, short FROM job WHERE id = ?1`, name)
	if err == nil && len(found) == 0 {
		found, err = t.named(`SELECT job.id, job.short, job.updated FROM short JOIN job ON job.id = short.job
			WHERE short.name >= ?1 AND short.name < ?2 AND instr(short.name, '/') = 0
			UNION SELECT id, short, updated FROM job WHERE id >= ?1 AND id < ?2 ORDER BY 3 DESC LIMIT 10`, name, name+"~")
	}
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fmt.Errorf("job %q: %w", name, job.ErrNotFound)
	case len(found) > 1:
		return "", &AmbiguousError{Name: name, Candidates: found}
	}
	return found[0].ID, nil
}
