package tracker

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// What is done and what is left, inside folders that are being worked through.
// Two kinds of evidence count: a red check that names files, and a sweep, that is
// files of one make edited in the order of their names. Neither asks the agent.

// Bounds of what is listed.
const (
	maxFolders = 8
	maxNames   = 60
	sweepSize  = 3 // files edited in order before it is taken for a sweep
)

// edit is when a file was first and last edited, in actions and positions.
type edit struct {
	first, last int64 // actions
	position    int64
}

// left finds the half-done folders of a workspace. What was edited in another work
// tree of the same repository is done here too: it comes by a merge.
func (t *Tracker) left(ctx context.Context, s *job.Standing, p Place) ([]job.Folder, error) {
	id, edits := s.Job, map[string]edit{}
	same := map[job.ID]bool{p.ID: true}
	for _, w := range s.Workspaces {
		if q, err := t.placeOf(w); err == nil && q.CommonDir == p.CommonDir {
			same[w.ID] = true
		}
	}
	named := map[string]bool{}
	namedAt := int64(0)
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		works, err := tx.Works(id, job.WorkFile)
		if err != nil {
			return err
		}
		undone, err := undoneBy(tx, id)
		if err != nil {
			return err
		}
		for _, w := range works {
			if w.Edits > 0 && same[w.Workspace] && !undone(w.Position) && w.Position > edits[w.Name].position {
				edits[w.Name] = edit{first: w.First, last: w.Edit, position: w.Position}
			}
		}
		runs, err := tx.EntriesOf(id, []job.Kind{job.KindChecked}, true, 1)
		if err != nil || len(runs) == 0 {
			return err
		}
		run, ok := runs[0].Payload.(*job.Checked)
		if !ok {
			return nil
		}
		namedAt = runs[0].Position
		for _, r := range run.Results {
			if r.State != job.CheckFailed {
				continue
			}
			text := r.Output.Text
			if r.Output.Blob != "" {
				b, err := tx.Blob(r.Output.Blob)
				if err != nil {
					return err
				}
				text = string(b)
			}
			for _, f := range filesNamed(p.Top, text) {
				named[f] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(named) > 0 {
		return foldersOf(named, func(f string) bool { e, ok := edits[f]; return ok && e.position > namedAt }), nil
	}
	return sweeps(p.Top, edits), nil
}

// undoneBy tells which positions the newest going back took back.
func undoneBy(tx *store.Tx, id job.ID) (func(int64) bool, error) {
	none := func(int64) bool { return false }
	backs, err := tx.EntriesOf(id, []job.Kind{job.KindWentBack}, true, 1)
	if err != nil || len(backs) == 0 {
		return none, err
	}
	back, ok := backs[0].Payload.(*job.WentBack)
	if !ok {
		return none, nil
	}
	points, err := tx.EntriesOf(id, []job.Kind{job.KindSafePoint}, true, 0)
	for _, e := range points {
		if p, ok := e.Payload.(*job.SafePoint); ok && p.Number == back.To {
			return func(position int64) bool { return position > e.Position && position < backs[0].Position }, err
		}
	}
	return none, err
}

// filesNamed picks the words of an output that are files of the workspace.
func filesNamed(top, output string) []string {
	seen := map[string]bool{}
	var out []string
	for _, word := range strings.FieldsFunc(output, func(r rune) bool { return strings.ContainsRune(" \t\n\r\"'`()[],;:=|<>", r) }) {
		word = strings.TrimPrefix(path.Clean(filepath.ToSlash(word)), "./")
		if seen[word] || !strings.Contains(word, ".") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "..") || len(out) == 2000 {
			continue
		}
		seen[word] = true
		if info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(word))); err == nil && info.Mode().IsRegular() {
			out = append(out, word)
		}
	}
	return out
}

// foldersOf groups files by folder, each file done or left. Folders half done
// come first, then those not begun; those that are done need no line.
func foldersOf(files map[string]bool, done func(string) bool) []job.Folder {
	byDir := map[string]*job.Folder{}
	for f := range files {
		dir, name := path.Dir(f), path.Base(f)
		if byDir[dir] == nil {
			byDir[dir] = &job.Folder{Path: dir}
		}
		if done(f) {
			byDir[dir].Done = append(byDir[dir].Done, name)
		} else {
			byDir[dir].Left = append(byDir[dir].Left, name)
		}
	}
	var out []job.Folder
	for _, f := range byDir {
		sort.Strings(f.Done)
		sort.Strings(f.Left)
		if len(f.Left) > maxNames {
			f.MoreLeft, f.Left = len(f.Left)-maxNames, f.Left[:maxNames]
		}
		if len(f.Done) > maxNames {
			f.MoreDone, f.Done = len(f.Done)-maxNames, f.Done[:maxNames]
		}
		if len(f.Left) > 0 {
			out = append(out, *f)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if a, b := len(out[i].Done) > 0, len(out[j].Done) > 0; a != b {
			return a
		}
		return out[i].Path < out[j].Path
	})
	return out[:min(len(out), maxFolders)]
}

// sweeps finds folders whose files of one make are edited in the order of their
// names, and lists the others of that make as left.
func sweeps(top string, edits map[string]edit) []job.Folder {
	type group struct{ dir, make string }
	groups := map[group][]string{}
	for f := range edits {
		if m := makeOf(path.Base(f)); m != "" {
			g := group{path.Dir(f), m}
			groups[g] = append(groups[g], f)
		}
	}
	files := map[string]bool{}
	for g, edited := range groups {
		if len(edited) < sweepSize || !inOrder(edited, edits) {
			continue
		}
		names, err := os.ReadDir(filepath.Join(top, filepath.FromSlash(g.dir)))
		if err != nil {
			continue // the folder is gone: nothing is left in it
		}
		for _, n := range names {
			if !n.IsDir() && makeOf(n.Name()) == g.make {
				files[path.Join(g.dir, n.Name())] = true
			}
		}
	}
	return foldersOf(files, func(f string) bool { _, ok := edits[f]; return ok })
}

// inOrder reports whether files were edited by name, but for one in five.
func inOrder(files []string, edits map[string]edit) bool {
	sort.Strings(files)
	back := 0
	for i := 1; i < len(files); i++ {
		if edits[files[i]].last < edits[files[i-1]].last {
			back++
		}
	}
	return back*5 <= len(files)
}

// makeOf is the part of a file's name that says what make it is: from the last
// but one separator on, as in _test.go or .spec.ts, or else the extension.
func makeOf(name string) string {
	ext := filepath.Ext(name)
	if ext == "" || ext == name {
		return ""
	}
	stem := strings.TrimSuffix(name, ext)
	if i := strings.LastIndexAny(stem, "._-"); i > 0 {
		switch stem[i+1:] {
		case "test", "spec", "stories", "module", "service", "controller", "d", "config":
			return stem[i:] + ext
		}
	}
	return ext
}
