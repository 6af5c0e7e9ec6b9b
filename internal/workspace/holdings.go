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

// holdings is everything of a job in a workspace.
type holdings struct {
	points  []SafePoint
	loose   map[string]looseFile // objects only these safe points reach
	packed  int                  // added by them and packed since
	shared  []string             // added by them, and needed by something else
	reflogs []string
	folders map[string]string // layer name to folder
	nested  []*Workspace
}

// looseFile is a loose object as it was when it was found to be the job's own.
type looseFile struct {
	size int64
	at   time.Time
}

// holdings finds everything of a job.
func (w *Workspace) holdings(ctx context.Context, job string) (*holdings, error) {
	points, err := w.List(ctx, job)
	if err != nil {
		return nil, err
	}
	h := &holdings{points: points, loose: map[string]looseFile{}, folders: map[string]string{
		"moved aside":   w.private("aside", job),
		"ignored files": w.ignoredStore(job),
	}}
	logs := filepath.Join(w.CommonDir, "logs", "refs", "duplex", job)
	if list, err := os.ReadDir(logs); err == nil {
		for _, d := range list {
			h.reflogs = append(h.reflogs, d.Name())
		}
	}
	// Objects other jobs added and left behind, since a safe point of this
	// job needed them then.
	mine := w.inherited()
	inside := map[string]bool{}
	for _, s := range points {
		m, ids, err := w.ownObjects(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			mine[id] = true
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

// ownObjects are the ids a safe point added: those its manifest lists, and the
// few that hold the manifest.
func (w *Workspace) ownObjects(ctx context.Context, s SafePoint) (*manifest, []string, error) {
	_, m, err := w.read(ctx, s.Commit)
	if err != nil {
		return nil, nil, err
	}
	ids := append([]string{s.Commit, s.Record}, m.Objects...)
	if s.Index != "" {
		ids = append(ids, s.Index)
	}
	found, err := git.User(w.GitDir, w.Top).Objects(ctx, false, s.Record+"^{tree}", s.Record+":manifest", s.Record+":index")
	if err != nil {
		return nil, nil, fmt.Errorf("list objects of %s: %w", s.ID, err)
	}
	for _, o := range found {
		if o.ID != "" {
			ids = append(ids, o.ID)
		}
	}
	return m, ids, nil
}

// onlyMine sorts a job's objects: reached by something else (dropped here),
// loose, or packed.
func (w *Workspace) onlyMine(ctx context.Context, job string, mine map[string]bool, h *holdings) error {
	user := git.User(w.GitDir, w.Top)
	others, err := w.loose()
	if err != nil {
		return err
	}
	added := make([]string, 0, len(mine))
	for id := range mine {
		added = append(added, id)
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
	for _, id := range added {
		if !mine[id] {
			h.shared = append(h.shared, id)
		}
	}
	var elsewhere []string
	for id := range mine {
		if info, err := os.Stat(loosePath(filepath.Join(w.CommonDir, "objects"), id)); err == nil {
			h.loose[id] = looseFile{info.Size(), info.ModTime()}
		} else {
			elsewhere = append(elsewhere, id)
		}
	}
	if found, err = user.Objects(ctx, false, elsewhere...); err != nil {
		return fmt.Errorf("count packed objects: %w", err)
	}
	for _, o := range found {
		if o.ID != "" {
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

// heirs is where the ids of objects are that Duplex added and that a removed
// job had to leave, because another job's safe point needs them. Whoever goes
// last takes them along.
func (w *Workspace) heirs() string { return filepath.Join(w.CommonDir, "duplex", "inherited") }

func (w *Workspace) inherited() map[string]bool {
	ids := map[string]bool{}
	text, err := os.ReadFile(w.heirs())
	if err != nil {
		return ids // none
	}
	for _, id := range strings.Fields(string(text)) {
		ids[id] = true
	}
	return ids
}

// bequeath notes what the removed job leaves to others. When no safe point is
// left, what remains is the user's.
func (w *Workspace) bequeath(ctx context.Context, ids []string) error {
	left, err := w.List(ctx, "")
	if err != nil {
		return err
	}
	if len(left) == 0 || len(ids) == 0 {
		if err := os.Remove(w.heirs()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("note shared objects: %w", err)
		}
		return nil
	}
	return w.note(ids)
}

// note writes down objects that Duplex added and whose safe points go.
func (w *Workspace) note(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(w.heirs()), 0o700); err != nil {
		return fmt.Errorf("note shared objects: %w", err)
	}
	return settle(w.heirs(), []byte(strings.Join(sortedUnique(ids), "\n")+"\n"))
}
