package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Layer is one place where something of a job's safe points lies.
type Layer struct {
	Name  string // refs, reflogs, loose objects, packed objects, moved aside, ignored files
	Where string // folder or ref prefix
	Count int
	Bytes int64
	Left  bool // Remove leaves it: packed objects are git's, and its next gc drops them
}

// Removed is what Remove erased, and what it left.
type Removed struct {
	Layers []Layer
}

// Layers says what removing a job's safe points would erase, and counts it.
// Every layer is listed, also an empty one.
func (w *Workspace) Layers(ctx context.Context, job string) ([]Layer, error) {
	if err := checkJob(job); err != nil {
		return nil, err
	}
	h, err := w.holdings(ctx, job)
	if err != nil {
		return nil, err
	}
	layers, err := w.layers(h, job)
	if err != nil {
		return nil, err
	}
	for _, inner := range h.nested {
		more, err := inner.Layers(ctx, job)
		if err != nil {
			return nil, err
		}
		layers = append(layers, more...)
	}
	return layers, nil
}

func (w *Workspace) layers(h *holdings, job string) ([]Layer, error) {
	loose := Layer{Name: "loose objects", Where: filepath.Join(w.CommonDir, "objects"), Count: len(h.loose)}
	for _, f := range h.loose {
		loose.Bytes += f.size
	}
	layers := []Layer{
		{Name: "refs", Where: "refs/duplex/" + job, Count: len(h.points)},
		{Name: "reflogs", Where: filepath.Join(w.CommonDir, "logs", "refs", "duplex", job), Count: len(h.reflogs)},
		loose,
		{Name: "packed objects", Where: filepath.Join(w.CommonDir, "objects", "pack"), Count: h.packed, Left: true},
	}
	for _, name := range []string{"moved aside", "ignored files"} {
		l := Layer{Name: name, Where: h.folders[name]}
		err := filepath.WalkDir(l.Where, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			l.Count++
			l.Bytes += info.Size()
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", name, err)
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// Remove erases the safe points of a job: refs, reflogs, what was moved aside,
// and exactly the loose objects that only they reach. Everything else in the
// repository stays, reachable or not; git prune and gc are not run.
func (w *Workspace) Remove(ctx context.Context, job string) (Removed, error) {
	if err := checkJob(job); err != nil {
		return Removed{}, err
	}
	if !exists(w.private()) {
		return Removed{}, nil
	}
	t, err := w.begin(ctx)
	if err != nil {
		return Removed{}, err
	}
	defer t.end()
	h, err := w.holdings(ctx, job)
	if err != nil {
		return Removed{}, err
	}
	layers, err := w.layers(h, job)
	if err != nil {
		return Removed{}, err
	}
	r := Removed{Layers: layers}
	if err := t.erase(ctx, job, h); err != nil {
		return r, err
	}
	for _, inner := range h.nested {
		more, err := inner.Remove(ctx, job)
		r.Layers = append(r.Layers, more.Layers...)
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

func (t *turn) erase(ctx context.Context, job string, h *holdings) error {
	w := t.w
	// The private index may name objects that go; the next safe point starts
	// from the user's.
	for _, name := range []string{"state.json", "index"} {
		if err := os.Remove(w.private(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove private index: %w", err)
		}
	}
	// Whoever goes on after a kill finds the objects by this note: the safe points
	// that list them are gone by then.
	ids := slices.AppendSeq(slices.Clone(h.shared), maps.Keys(h.loose))
	if err := w.note(ids); err != nil {
		return err
	}
	var commands strings.Builder
	for _, s := range h.points {
		fmt.Fprintf(&commands, "delete %s %s\n", s.Ref, s.Commit)
	}
	if len(h.points) > 0 {
		if err := t.updateRefs(ctx, commands.String()); err != nil {
			return fmt.Errorf("remove refs: %w", err)
		}
	}
	for id, found := range h.loose {
		path := loosePath(t.objects(), id)
		if info, err := os.Stat(path); err == nil && !info.ModTime().Equal(found.at) {
			continue // git has just used it for something of the user's
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove object %s: %w", id, err)
		}
	}
	if err := w.bequeath(ctx, h.shared); err != nil {
		return err
	}
	for _, dir := range []string{
		filepath.Join(w.CommonDir, "logs", "refs", "duplex", job), filepath.Join(w.CommonDir, "refs", "duplex", job),
		h.folders["moved aside"], h.folders["ignored files"],
	} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %s: %w", dir, err)
		}
	}
	if w.Git {
		return nil
	}
	// A shadow repository without safe points has nothing of anybody's.
	left, err := w.List(ctx, "")
	if err == nil && len(left) == 0 {
		err = errors.Join(os.RemoveAll(t.objects()), os.Mkdir(t.objects(), 0o700))
	}
	return err
}

// Drop drops single safe points, as retention does: their refs, and what was
// moved aside when they were made. Their objects stay until git's next gc, or
// until the last safe points of the repository that need them are removed.
func (w *Workspace) Drop(ctx context.Context, points []SafePoint) error {
	if len(points) == 0 {
		return nil
	}
	t, err := w.begin(ctx)
	if err != nil {
		return err
	}
	defer t.end()
	noted := w.inherited()
	for _, s := range points {
		if err := checkJob(s.Job); err != nil {
			return err
		}
		_, ids, err := w.ownObjects(ctx, s)
		if errors.Is(err, ErrNoSafePoint) {
			continue // dropped already
		}
		if err != nil {
			return err
		}
		for _, id := range ids {
			noted[id] = true
		}
		if err := t.updateRefs(ctx, fmt.Sprintf("delete %s %s\n", s.Ref, s.Commit)); err != nil {
			return fmt.Errorf("drop %s: %w", s.ID, err)
		}
		aside, err := filepath.Glob(w.private("aside", s.Job, fmt.Sprintf("%d-*", s.N)))
		for _, dir := range append(aside, filepath.Join(w.ignoredStore(s.Job), fmt.Sprint(s.N))) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if err != nil {
			return fmt.Errorf("drop %s: %w", s.ID, err)
		}
	}
	ids := make([]string, 0, len(noted))
	for id := range noted {
		ids = append(ids, id)
	}
	return w.bequeath(ctx, ids)
}
