package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seed-5777983b/duplex/internal/git"
)

// present is the folder as a turn found it, written as a tree.
type present struct {
	tree      string
	files     int
	cover     manifest // without Objects
	head      string   // "" before the first commit
	branch    string   // "" when HEAD is detached
	op        string   // merge, rebase …; "" when none is in progress
	indexTree string   // tree of the user's index; "" when it has conflicts
	rawIndex  []byte   // the index file, when it has conflicts
	userIndex string   // its stamp
}

// look brings the turn's index up to the folder and writes its tree. include
// are paths to keep although they are ignored. Nothing outside the turn's
// folder changes.
func (t *turn) look(ctx context.Context, o KeepOptions, include []string) (*present, error) {
	last := t.w.readState()
	p := &present{}
	if err := t.readHead(ctx, p, &last); err != nil {
		return nil, err
	}
	user, err := t.readUserIndex(ctx)
	if err != nil {
		return nil, err
	}
	p.userIndex = user.stamp
	base, err := t.lastIndex(last, user)
	if err != nil {
		return nil, err
	}
	if base != nil {
		err := t.lookFrom(ctx, base, user, o, include, p)
		if err == nil || !errors.Is(err, errTree) {
			return p, err
		}
		// The private index names objects that are gone: start from the user's.
	}
	if base, err = t.seed(ctx, user); err != nil {
		return nil, err
	}
	return p, t.lookFrom(ctx, base, user, o, include, p)
}

// errTree says that the index could not be written as a tree.
var errTree = errors.New("write tree")

func (t *turn) lookFrom(ctx context.Context, base *baseIndex, user *userIndex, o KeepOptions, include []string, p *present) error {
	found, err := t.search(ctx, base, user)
	if err != nil {
		return err
	}
	if err := t.limit(ctx, o, base, user, found, include); err != nil {
		return err
	}
	p.cover = found.cover
	if err := t.keepNested(ctx, o, found.nested, p); err != nil {
		return err
	}
	if err := t.update(ctx, base, found); err != nil {
		return err
	}
	if err := t.writeTrees(ctx, base, user, p); err != nil {
		return err
	}
	p.cover.RawIndex = p.rawIndex != nil
	list := p.cover.NotCovered
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return nil
}

// findings is what the folder has that the index does not, and the reverse.
type findings struct {
	changed []string // in the index, content to be read again
	added   []string // not in the index, and not ignored (or the user's index has it)
	removed []string // in the index, and gone
	nested  []string // repositories inside, with "/"
	cover   manifest
}

// search compares folder and index: the walk for what the index knows, git
// for what is untracked and not ignored, both at once.
func (t *turn) search(ctx context.Context, base *baseIndex, user *userIndex) (*findings, error) {
	k := &walk{
		top: t.w.Top, index: base.index, since: base.time,
		fileMode: t.config["core.filemode"] != "false", links: t.config["core.symlinks"] != "false",
	}
	done := make(chan struct{})
	go func() { k.run(); close(done) }()
	others, err := t.private.With("GIT_INDEX_FILE="+base.path).Records(ctx, "ls-files", "-z", "-o", "--exclude-standard")
	<-done
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	f := &findings{}
	for _, name := range others {
		if strings.HasSuffix(name, "/") {
			f.nested = append(f.nested, name)
		} else {
			f.added = append(f.added, name)
		}
	}
	sort.Strings(f.nested)
	f.added = append(f.added, t.tracked(user, base.index, f.nested)...)
	f.added = sortedUnique(f.added)
	for _, name := range k.settle(f.added, f.nested) {
		f.cover.NotCovered = append(f.cover.NotCovered, t.describe(name, Ignored))
	}
	for _, i := range k.doubtful {
		f.changed = append(f.changed, base.index.entries[i].path)
	}
	if base.seeded && hasAttributes(f.added) {
		// Attributes git does not know yet may have converted any file.
		f.changed = base.index.present(k.seen)
	}
	gone, hidden := k.missing()
	var absent []string
	for _, i := range gone {
		if name := base.index.entries[i].path; user.sparse(name) {
			absent = append(absent, name) // no deletion
		} else {
			f.removed = append(f.removed, name)
		}
	}
	for _, name := range t.collapse(absent) {
		f.cover.NotCovered = append(f.cover.NotCovered, NotCovered{Path: name, Reason: Sparse})
	}
	for _, i := range hidden {
		f.removed = append(f.removed, base.index.entries[i].path)
	}
	f.cover.NotCovered = append(f.cover.NotCovered, k.notCovered...)
	f.cover.EmptyDirs = k.empty
	return f, nil
}

// collapse names the highest missing folder instead of the paths in it.
func (t *turn) collapse(absent []string) []string {
	missing := map[string]bool{} // by folder
	for i, name := range absent {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, known := missing[dir]; !known {
				missing[dir] = !exists(t.at(dir))
			}
			if missing[dir] {
				absent[i] = dir + "/"
			}
		}
	}
	return sortedUnique(absent)
}

// describe makes the note on a path that is left out.
func (t *turn) describe(path, reason string) NotCovered {
	n := NotCovered{Path: path, Reason: reason}
	if info, err := os.Lstat(t.at(path)); err == nil && !info.IsDir() {
		n.Size, n.ModTime = info.Size(), info.ModTime().UTC()
	}
	return n
}

// at is the place of a path of the workspace on disk.
func (t *turn) at(path string) string { return filepath.Join(t.w.Top, filepath.FromSlash(path)) }

// update makes the index agree with the folder. A path that cannot be read is
// taken out and noted; any other failure is an error: a tree that silently
// holds old content is worse than none.
func (t *turn) update(ctx context.Context, base *baseIndex, f *findings) error {
	if len(f.changed)+len(f.added)+len(f.removed) == 0 {
		return nil
	}
	if err := base.doubt(t, f.changed); err != nil {
		return err
	}
	in := t.private.With("GIT_INDEX_FILE=" + base.path)
	if len(f.removed) > 0 {
		if _, err := in.Feed(ctx, git.Join(f.removed), "update-index", "-z", "--force-remove", "--stdin"); err != nil {
			return fmt.Errorf("note removed files: %w", err)
		}
	}
	paths := append(append([]string(nil), f.changed...), f.added...)
	if len(paths) == 0 {
		return nil
	}
	// A file may go, or become a folder, while git reads: look again then.
	var err error
	for range 3 {
		if _, err = in.Feed(ctx, git.Join(paths), "update-index", "-z", "--add", "--replace", "--remove", "--stdin"); err == nil || ctx.Err() != nil {
			break
		}
		var still []string
		for _, p := range paths {
			if info, lstat := os.Lstat(t.at(p)); lstat != nil || info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 {
				still = append(still, p)
			}
		}
		paths = still
	}
	if err != nil {
		return fmt.Errorf("read files into the safe point: %w", err)
	}
	return nil
}

// readHead says where the user is, without moving them. last becomes nil
// when its safe point is gone: what it pinned may be gone too.
func (t *turn) readHead(ctx context.Context, p *present, last **state) (err error) {
	if p.head, err = t.w.resolve(ctx, t.user, "HEAD"); err != nil {
		return err
	}
	if *last != nil {
		pinned, err := t.w.resolve(ctx, t.user, (*last).Point.Ref)
		if err != nil {
			return err
		}
		if pinned != (*last).Point.Commit {
			*last = nil
		}
	}
	p.branch, err = t.w.branch(ctx, t.user)
	p.op = t.w.operation()
	return err
}

// branch is the branch HEAD names, "" when it is detached.
func (w *Workspace) branch(ctx context.Context, user git.Runner) (string, error) {
	text, err := os.ReadFile(filepath.Join(w.GitDir, "HEAD"))
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
	if !symbolic {
		return "", nil
	}
	if ref == "refs/heads/.invalid" { // refs are not files in this repository (reftable)
		if ref, err = user.Line(ctx, "symbolic-ref", "-q", "HEAD"); err != nil {
			return "", nil // detached
		}
	}
	return strings.TrimPrefix(ref, "refs/heads/"), nil
}

// operation names what is in progress in the work tree.
func (w *Workspace) operation() string {
	for _, o := range [...]struct{ file, name string }{
		{"rebase-merge", "rebase"}, {"rebase-apply/applying", "am"}, {"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"},
	} {
		if exists(filepath.Join(w.GitDir, o.file)) {
			return o.name
		}
	}
	return ""
}

// writeTrees writes the tree of the folder and that of the user's index, or
// takes over the ones of the last safe point where nothing changed.
func (t *turn) writeTrees(ctx context.Context, base *baseIndex, user *userIndex, p *present) (err error) {
	if base.untouched {
		p.tree, p.files = base.last.Point.Tree, base.last.Point.Files
	} else {
		if err := base.own(t); err != nil {
			return err
		}
		if p.tree, err = t.private.With("GIT_INDEX_FILE="+base.path).Line(ctx, t.writeTree()...); err != nil {
			return fmt.Errorf("%w: %w", errTree, err)
		}
		if p.files, err = countIndex(base.path); err != nil {
			return err
		}
	}
	switch {
	case user.unmerged:
		p.rawIndex = user.data
	case base.last != nil && base.last.UserIndex == user.stamp && base.last.IndexTree != "":
		p.indexTree = base.last.IndexTree
	default:
		p.indexTree, err = t.writeUserTree(ctx, user)
	}
	return err
}

// writeTree is the command. git checks that every object is there, except in
// a partial clone, which has never had some.
func (t *turn) writeTree() []string {
	for name, value := range t.config {
		if name == "extensions.partialclone" || strings.HasPrefix(name, "remote.") && strings.HasSuffix(name, ".promisor") && value == "true" {
			return []string{"write-tree", "--missing-ok"}
		}
	}
	return []string{"write-tree"}
}

// countIndex reads the number of entries from the head of an index file.
func countIndex(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("read index: %w", err)
	}
	defer f.Close()
	var head [12]byte
	if _, err := f.Read(head[:]); err != nil {
		return 0, fmt.Errorf("read index: %w", err)
	}
	return int(be32(head[8:])), nil
}

func sortedUnique(list []string) []string {
	sort.Strings(list)
	out := list[:0]
	for i, s := range list {
		if i == 0 || s != list[i-1] {
			out = append(out, s)
		}
	}
	return out
}
