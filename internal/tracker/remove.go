package tracker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Layer is one place that holds something of a job.
type Layer struct {
	Name  string `json:"name"`
	Where string `json:"where"`
	Count int64  `json:"count"`
	Bytes int64  `json:"bytes,omitempty"`
	Left  int64  `json:"left,omitempty"` // could not be reached, left to git
	Note  string `json:"note,omitempty"`
}

// Removal is what a removal would erase, or did.
type Removal struct {
	Job    job.ID  `json:"job"`
	Short  string  `json:"short"`
	Goal   string  `json:"goal"`
	DryRun bool    `json:"dry_run"`
	Layers []Layer `json:"layers"`
	Found  []Layer `json:"found_after,omitempty"` // the re-scan: nothing, when all is gone
	// Unreached are folders that are not here: what stands there of the job stays.
	Unreached []Layer  `json:"unreached,omitempty"`
	At        job.Time `json:"at,omitempty"`
	Receipt   string   `json:"receipt,omitempty"` // SHA-256 of the receipt without this field
}

// RemoveRequest asks for a removal.
type RemoveRequest struct {
	DryRun  bool
	Abandon bool // of unfinished work too
}

// ErrUnfinished: the job has not ended.
var ErrUnfinished = errors.New("the job is not finished")

// Remove erases a job and what it linked, layer by layer, then looks for it again
// in every layer. A dry run only counts.
func (t *Tracker) Remove(ctx context.Context, by Actor, id job.ID, r RemoveRequest) (Removal, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return Removal{}, err
	}
	out := Removal{Job: id, Short: s.Short, Goal: s.Goal, DryRun: r.DryRun}
	if out.Layers, err = t.layers(ctx, &s); err != nil || r.DryRun {
		return out, err
	}
	if by.Author.Kind != job.Person {
		return out, fmt.Errorf("%w (%w)", ErrNotPerson, job.ErrPersonOnly)
	}
	if !s.Done() && !r.Abandon {
		return out, fmt.Errorf("%w: finish or abandon it first, or remove it with --abandon", ErrUnfinished)
	}
	if s.Lease != nil && liveness(s.Lease.Process) == job.Live {
		return out, fmt.Errorf("%w: a session is at work on it; end it first", job.ErrHeld)
	}
	// Outside the ledger first: when this is killed midway, the ledger still
	// knows where the rest is, and the next run completes it.
	var places []Place
	for _, w := range s.Workspaces {
		p, err := t.placeOf(w)
		if err != nil {
			out.Unreached = append(out.Unreached, Layer{Name: "safe points", Where: w.Path, Note: err.Error()})
			continue
		}
		places = append(places, p)
		removed, err := p.Remove(ctx, string(id))
		if err != nil {
			return out, fmt.Errorf("safe points in %s: %w", w.Path, err)
		}
		for _, l := range removed.Layers {
			for i := range out.Layers {
				if l.Left && out.Layers[i].Name == l.Name && out.Layers[i].Where == l.Where {
					out.Layers[i].Left = int64(l.Count)
				}
			}
		}
	}
	for _, dir := range t.checkouts(s.Short) {
		removeAll(dir)
	}
	for _, l := range t.shared() {
		for _, path := range l.paths {
			removeAll(path)
		}
	}
	needles := t.needles(ctx, &s)
	if _, err := t.store.Erase(ctx, id); err != nil {
		return out, err
	}
	if out.Found, err = t.rescan(ctx, &s, places, needles); err != nil {
		return out, err
	}
	out.At = t.Now()
	b, err := json.Marshal(out)
	if err != nil {
		return out, err
	}
	sum := sha256.Sum256(b)
	out.Receipt = hex.EncodeToString(sum[:])
	return out, nil
}

// layers counts what every layer holds of a job.
func (t *Tracker) layers(ctx context.Context, s *job.Standing) ([]Layer, error) {
	var out []Layer
	rows, err := t.store.Layers(ctx, s.Job)
	if err != nil {
		return nil, err
	}
	for _, l := range rows {
		out = append(out, Layer{Name: l.Name, Where: t.dir, Count: l.Count, Bytes: l.Bytes})
	}
	for _, w := range s.Workspaces {
		p, err := t.placeOf(w)
		if err != nil {
			out = append(out, Layer{Name: "safe points", Where: w.Path, Note: "the folder is not here: " + err.Error()})
			continue
		}
		list, err := p.Layers(ctx, string(s.Job))
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			out = append(out, Layer{Name: l.Name, Where: l.Where, Count: int64(l.Count), Bytes: l.Bytes, Note: leftNote(l.Left)})
		}
	}
	for _, l := range t.shared() {
		if len(l.paths) > 0 {
			out = append(out, Layer{Name: l.name, Where: t.dir, Count: int64(len(l.paths)), Note: "of every job"})
		}
	}
	if dirs := t.checkouts(s.Short); len(dirs) > 0 {
		out = append(out, Layer{Name: "clean checkouts", Where: filepath.Join(t.dir, "checkouts"), Count: int64(len(dirs))})
	}
	return out, nil
}

func leftNote(left bool) string {
	if left {
		return "git's own: its next gc drops them"
	}
	return ""
}

// shared are files that may hold something of any job without saying of which:
// what the checks built and printed, hook calls that could not be read, and the
// log of hooks. Nothing in them is needed, so they go with any job.
func (t *Tracker) shared() []sharedLayer {
	layers := []sharedLayer{{name: "build cache"}, {name: "torn hook calls"}, {name: "log of hooks"}}
	for i, pattern := range []string{"cache", filepath.Join("spool", "*.torn"), "hook.log*"} {
		layers[i].paths, _ = filepath.Glob(filepath.Join(t.dir, pattern))
	}
	return layers
}

type sharedLayer struct {
	name  string
	paths []string
}

// checkouts are those a killed check left behind.
func (t *Tracker) checkouts(short string) []string {
	dirs, _ := filepath.Glob(filepath.Join(t.dir, "checkouts", short+"-*"))
	return dirs
}

// needles are byte strings that stand nowhere else: the job's and its entries' ids.
func (t *Tracker) needles(ctx context.Context, s *job.Standing) [][]byte {
	out := [][]byte{[]byte(s.Job)}
	_ = t.store.Read(ctx, func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(s.Job, nil, true, 50)
		for _, e := range entries {
			out = append(out, []byte(e.ID))
		}
		return err
	})
	return out
}

// rescan looks for a removed job in every layer again.
func (t *Tracker) rescan(ctx context.Context, s *job.Standing, places []Place, needles [][]byte) ([]Layer, error) {
	var found []Layer
	for _, n := range needles {
		hits, err := t.store.Scan(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			found = append(found, Layer{Name: "store", Where: h, Count: 1})
		}
	}
	for _, p := range places {
		list, err := p.Layers(ctx, string(s.Job))
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			if l.Count > 0 && !l.Left {
				found = append(found, Layer{Name: l.Name, Where: l.Where, Count: int64(l.Count)})
			}
		}
	}
	for _, l := range t.shared() {
		for _, path := range l.paths {
			found = append(found, Layer{Name: l.name, Where: path, Count: 1})
		}
	}
	for _, dir := range t.checkouts(s.Short) {
		found = append(found, Layer{Name: "clean checkouts", Where: dir, Count: 1})
	}
	spool, err := os.ReadDir(filepath.Join(t.dir, "spool"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, f := range spool {
		b, err := os.ReadFile(filepath.Join(t.dir, "spool", f.Name()))
		if err == nil && bytes.Contains(b, []byte(s.Job)) {
			found = append(found, Layer{Name: "spool", Where: f.Name(), Count: 1})
		}
	}
	return found, nil
}
