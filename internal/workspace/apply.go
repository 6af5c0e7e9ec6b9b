package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seed-5777983b/duplex/internal/git"
)

// apply moves aside what is replaced and merges two trees into the folder.
// git writes only what differs and never through a symlink, and refuses as a
// whole when a file changed after the present was kept.
func (t *turn) apply(ctx context.Context, g *going, r *Restored) error {
	if len(g.changes) == 0 {
		return nil
	}
	data, err := os.ReadFile(t.w.private("index"))
	if err != nil {
		return fmt.Errorf("go back: %w", err)
	}
	b := &baseIndex{path: t.indexFile(), time: t.began}
	if err := os.WriteFile(b.path, data, 0o600); err != nil {
		return fmt.Errorf("go back: %w", err)
	}
	if err := os.Chtimes(b.path, b.time, b.time); err != nil {
		return fmt.Errorf("go back: %w", err)
	}
	goal, err := t.goal(ctx, g)
	if err != nil {
		return err
	}
	in := t.private.With("GIT_INDEX_FILE=" + b.path)
	aside := &aside{top: t.w.Top, dir: t.asideDir(r)}
	if err := aside.take(g.changes); err != nil {
		return errors.Join(fmt.Errorf("move aside what is replaced: %w", err), aside.back())
	}
	if err := in.Run(ctx, "read-tree", "-m", "-u", g.present.tree, goal); err != nil {
		return errors.Join(fmt.Errorf("go back: %w", err), aside.back())
	}
	if r.MovedAside = aside.moved; len(aside.moved) > 0 {
		r.Aside = aside.dir
	}
	return t.verify(ctx, in, goal)
}

// asideDir is where this turn moves what is replaced: named by the undo point
// and the time, since going back twice may have one undo point.
func (t *turn) asideDir(r *Restored) string {
	return t.w.private("aside", r.Undo.Job, fmt.Sprintf("%d-%d", r.Undo.N, t.began.UnixNano()))
}

// goal is the tree to reach: the target's, or the present's with the wanted
// changes.
func (t *turn) goal(ctx context.Context, g *going) (string, error) {
	if !g.partial {
		return g.target.Tree, nil
	}
	var lines []string
	for _, c := range g.changes { // removals first: a folder may become a file
		if c.Status == "D" {
			lines = append(lines, fmt.Sprintf("0 %s\t%s", strings.Repeat("0", 2*t.width), c.Path))
		}
	}
	for _, c := range g.changes {
		if c.Status != "D" {
			lines = append(lines, fmt.Sprintf("%s %s\t%s", c.mode, c.New, c.Path))
		}
	}
	in := t.private.With("GIT_INDEX_FILE=" + filepath.Join(t.tmp, "goal"))
	if err := in.Run(ctx, "read-tree", g.present.tree); err != nil {
		return "", fmt.Errorf("go back: %w", err)
	}
	if _, err := in.Feed(ctx, git.Join(lines), "update-index", "-z", "--index-info"); err != nil {
		return "", fmt.Errorf("go back: %w", err)
	}
	goal, err := in.Line(ctx, t.writeTree()...)
	if err != nil {
		return "", fmt.Errorf("go back: %w", err)
	}
	return goal, t.release()
}

// verify compares what was reached with the goal, index and files, and makes
// the index the private one.
func (t *turn) verify(ctx context.Context, in git.Runner, goal string) error {
	tree, err := in.Line(ctx, t.writeTree()...)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if tree != goal {
		return fmt.Errorf("verify: the files are tree %s, not %s", tree, goal)
	}
	differ, err := in.Records(ctx, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	// What the index stands for is no longer the last safe point: the stamp in
	// the state does not fit it, and the next turn writes its tree.
	if err := os.Chtimes(t.indexFile(), t.began, t.began); err != nil {
		return fmt.Errorf("keep private index: %w", err)
	}
	if err := os.Rename(t.indexFile(), t.w.private("index")); err != nil {
		return fmt.Errorf("keep private index: %w", err)
	}
	if len(differ) > 0 {
		return fmt.Errorf("%w: %s; stop what writes to them and go back again", ErrUnsettled, few(differ))
	}
	return nil
}

// aside is the folder where what is replaced goes, by renaming.
type aside struct {
	top, dir string
	moved    []string
}

// take moves every file in the place of a change. A folder in the place of a
// file moves whole, with the ignored files in it.
func (a *aside) take(changes []Change) error {
	for _, c := range changes {
		if c.Status == "D" || !reachable(a.top, c.Path) {
			continue
		}
		if info, err := os.Lstat(a.at(c.Path)); err == nil && info.IsDir() {
			if err := a.move(c.Path); err != nil {
				return err
			}
		}
	}
	for _, c := range changes {
		if c.Status == "A" || !reachable(a.top, c.Path) {
			continue
		}
		if info, err := os.Lstat(a.at(c.Path)); err == nil && !info.IsDir() {
			if err := a.move(c.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *aside) move(name string) error {
	to := filepath.Join(a.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	err := os.Rename(a.at(name), to)
	if isCrossDevice(err) {
		return nil // git replaces it; its content is in the undo point
	}
	if err != nil {
		return err
	}
	a.moved = append(a.moved, name)
	return nil
}

// back undoes the moves, last first, where the place is still free.
func (a *aside) back() error {
	var errs []error
	for i := len(a.moved) - 1; i >= 0; i-- {
		if exists(a.at(a.moved[i])) {
			continue
		}
		errs = append(errs, os.Rename(filepath.Join(a.dir, filepath.FromSlash(a.moved[i])), a.at(a.moved[i])))
	}
	return errors.Join(errs...)
}

func (a *aside) at(name string) string { return filepath.Join(a.top, filepath.FromSlash(name)) }

// settleDirs makes the empty folders of the target, and removes the empty ones
// it did not have. Nothing is lost by either, so nothing can fail here.
func (t *turn) settleDirs(o RestoreOptions, g *going, m *manifest) {
	for _, d := range m.EmptyDirs {
		if o.wants(d) {
			t.makeDir(d)
		}
	}
	keep := map[string]bool{}
	for _, d := range m.EmptyDirs {
		for ; d != "."; d = path.Dir(d) {
			keep[d] = true
		}
	}
	var outside []string
	for _, n := range m.NotCovered {
		outside = append(outside, n.Path)
	}
	sort.Strings(outside)
	for _, d := range g.present.cover.EmptyDirs {
		for ; d != "." && !keep[d] && o.wants(d) && !coveredBy(outside, d+"/"); d = path.Dir(d) {
			if info, err := os.Lstat(t.at(d)); err != nil || !info.IsDir() || os.Remove(t.at(d)) != nil {
				break // not empty
			}
		}
	}
}

// makeDir makes a folder of the workspace, never through a symlink, and says
// whether it is there.
func (t *turn) makeDir(name string) bool {
	if parent := path.Dir(name); parent != "." && !t.makeDir(parent) {
		return false
	}
	if info, err := os.Lstat(t.at(name)); err == nil {
		return info.IsDir()
	}
	return os.Mkdir(t.at(name), 0o777) == nil
}
