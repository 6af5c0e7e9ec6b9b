package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/git"
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

// holdings is everything of a job in a workspace.
type holdings struct {
	points  []SafePoint
	loose   map[string]int64 // objects only these safe points reach, with their size on disk
	packed  int              // added by them and packed since
	reflogs []string
	folders map[string]string // layer name to folder
	nested  []*Workspace
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
	for _, size := range h.loose {
		loose.Bytes += size
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
	var commands strings.Builder
	for _, s := range h.points {
		fmt.Fprintf(&commands, "delete %s %s\n", s.Ref, s.Commit)
	}
	if len(h.points) > 0 {
		if _, err := t.user.Feed(ctx, strings.NewReader(commands.String()), "update-ref", "--stdin"); err != nil {
			return fmt.Errorf("remove refs: %w", err)
		}
	}
	for id := range h.loose {
		path := loosePath(t.objects(), id)
		info, err := os.Stat(path)
		if err == nil && info.ModTime().After(t.began.Add(-time.Second)) {
			continue // git has just used it for something else
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove object %s: %w", id, err)
		}
	}
	for _, dir := range []string{
		filepath.Join(w.CommonDir, "logs", "refs", "duplex", job), filepath.Join(w.CommonDir, "refs", "duplex", job),
		h.folders["moved aside"], h.folders["ignored files"],
	} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %s: %w", dir, err)
		}
	}
	return nil
}

// holdings finds everything of a job.
func (w *Workspace) holdings(ctx context.Context, job string) (*holdings, error) {
	points, err := w.List(ctx, job)
	if err != nil {
		return nil, err
	}
	h := &holdings{points: points, loose: map[string]int64{}, folders: map[string]string{
		"moved aside":   w.private("aside", job),
		"ignored files": w.ignoredStore(job),
	}}
	logs := filepath.Join(w.CommonDir, "logs", "refs", "duplex", job)
	if list, err := os.ReadDir(logs); err == nil {
		for _, d := range list {
			h.reflogs = append(h.reflogs, d.Name())
		}
	}
	mine := map[string]bool{}
	inside := map[string]bool{}
	for _, s := range points {
		_, m, err := w.read(ctx, s.Commit)
		if err != nil {
			return nil, err
		}
		for _, id := range append(m.Objects, s.Commit, s.Index, s.Record) {
			if id != "" {
				mine[id] = true
			}
		}
		records, err := git.User(w.GitDir, w.Top).Objects(ctx, false, s.Record+"^{tree}", s.Record+":manifest", s.Record+":index")
		if err != nil {
			return nil, fmt.Errorf("list objects of %s: %w", s.ID, err)
		}
		for _, o := range records {
			if o.ID != "" {
				mine[o.ID] = true
			}
		}
		for _, n := range m.Nested {
			if inner, err := w.inner(n.Path); err == nil && !inside[n.Path] {
				inside[n.Path] = true
				h.nested = append(h.nested, inner)
			}
		}
	}
	if len(mine) == 0 {
		return h, nil
	}
	return h, w.onlyMine(ctx, job, mine, h)
}

// onlyMine sorts a job's objects: reached by something else (dropped here),
// loose, or packed.
func (w *Workspace) onlyMine(ctx context.Context, job string, mine map[string]bool, h *holdings) error {
	user := git.User(w.GitDir, w.Top)
	others, err := w.loose()
	if err != nil {
		return err
	}
	// What refs, reflogs, indexes and HEADs of all work trees reach, but for
	// this job's refs. The whole history is walked: nothing less is certain.
	drop := func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			id, _, _ := strings.Cut(lines.Text(), " ")
			delete(mine, id)
			delete(others, id)
		}
		return lines.Err()
	}
	if err := user.Stream(ctx, nil, drop, "rev-list", "--objects", "--exclude=refs/duplex/"+job+"/*", "--all", "--reflog", "--indexed-objects"); err != nil {
		return fmt.Errorf("find what else reaches these objects: %w", err)
	}
	// What the user left dangling counts too: a commit nobody names may need
	// one of our blobs.
	var roots []string
	for id := range others {
		if !mine[id] {
			roots = append(roots, id)
		}
	}
	found, err := user.Objects(ctx, false, roots...)
	if err != nil {
		return fmt.Errorf("find what else reaches these objects: %w", err)
	}
	roots = roots[:0]
	for _, o := range found {
		if o.Type == "commit" || o.Type == "tree" || o.Type == "tag" {
			roots = append(roots, o.ID)
		}
	}
	if len(roots) > 0 {
		err := user.Stream(ctx, strings.NewReader(strings.Join(roots, "\n")+"\n"), drop, "rev-list", "--objects", "--missing=allow-any", "--stdin")
		if err != nil {
			return fmt.Errorf("find what else reaches these objects: %w", err)
		}
	}
	for id := range mine {
		if info, err := os.Stat(loosePath(filepath.Join(w.CommonDir, "objects"), id)); err == nil {
			h.loose[id] = info.Size()
		} else {
			h.packed++
		}
	}
	return nil
}

// loose lists every loose object of the repository.
func (w *Workspace) loose() (map[string]bool, error) {
	found := map[string]bool{}
	objects := filepath.Join(w.CommonDir, "objects")
	dirs, err := os.ReadDir(objects)
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	for _, d := range dirs {
		if len(d.Name()) != 2 || !d.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(objects, d.Name()))
		if err != nil {
			return nil, fmt.Errorf("list objects: %w", err)
		}
		for _, f := range files {
			if id := d.Name() + f.Name(); len(id) == 40 || len(id) == 64 {
				found[id] = true
			}
		}
	}
	return found, nil
}

// ignoredStore is where captured ignored files of a job are: outside every
// repository, since they hold credentials.
func (w *Workspace) ignoredStore(job string) string {
	id, err := readID(w.private("id"))
	if err != nil {
		id = "none"
	}
	return filepath.Join(w.StateDir, "ignored", id, job)
}
