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

// ErrForeignChange says that somebody changed a file which going back would
// replace: its content is neither in the last safe point nor the work of this
// job. Nothing was touched; Restored.Refused lists the paths.
var ErrForeignChange = errors.New("files were changed by somebody else")

// ErrUnsettled says that the files were brought back, and that some differ
// again: a process writes to them.
var ErrUnsettled = errors.New("files changed again while they were brought back")

// RestoreOptions say where to go back to.
type RestoreOptions struct {
	Job      string // for the undo point
	N        int    // number for the undo point; 0 means after the last
	Position int64  // in the ledger, and
	Message  string // the text for the undo point
	Target   string // commit of a safe point

	// Last is the newest safe point (commit) of this job. A present content
	// that is neither in it nor explained is somebody else's. When Last is "",
	// nobody's changes are told apart.
	Last      string
	Explained func(path string) bool // touched by a step of this job; nil: none
	Force     bool                   // replace somebody else's changes too

	// Kept is told of the undo point before anything is touched, and an error of
	// its stops there: what is killed later has said where the present is.
	Kept func(SafePoint) error

	DryRun         bool     // say what would happen
	Paths          []string // only these files and folders; all when empty
	CaptureIgnored bool     // as for Keep
}

// Restored is what going back did, or would do.
type Restored struct {
	Undo       SafePoint // the present before it: the way back
	Written    []string  // brought back
	Removed    []string  // not in the safe point, and gone now
	MovedAside []string  // what was in the place of something written or removed
	Aside      string    // the folder it was moved to
	Left       []string  // differs and was left: ignored or not covered then, or cannot be replaced
	Refused    []string  // somebody else's changes
	DryRun     bool
}

// Restore makes the workspace what it was at a safe point. The present is kept
// first; what is replaced is moved aside, so that a process that still writes
// to it loses nothing. HEAD, branches, the user's index, ignored files and
// what the safe point did not cover stay as they are.
func (w *Workspace) Restore(ctx context.Context, o RestoreOptions) (Restored, error) {
	r := Restored{DryRun: o.DryRun}
	if err := checkJob(o.Job); err != nil {
		return r, err
	}
	t, err := w.begin(ctx)
	if err != nil {
		return r, err
	}
	defer t.end()
	t.dry = o.DryRun
	return r, t.restore(ctx, o, &r)
}

func (t *turn) restore(ctx context.Context, o RestoreOptions, r *Restored) error {
	target, m, err := t.w.read(ctx, o.Target)
	if err != nil {
		return err
	}
	var lastManifest *manifest
	if o.Last != "" {
		last, lm, err := t.w.read(ctx, o.Last)
		if err != nil {
			return fmt.Errorf("the last safe point: %w", err)
		}
		o.Last, lastManifest = last.Commit, lm
	}
	keep := KeepOptions{Job: o.Job, N: o.N, Why: "before going back to " + target.ID, Position: o.Position,
		Message: o.Message, CaptureIgnored: o.CaptureIgnored, undo: true}
	g, err := t.plan(ctx, o, keep, target, m)
	if err != nil {
		return err
	}
	g.report(r)
	if r.Refused, err = t.foreign(ctx, o, g); err != nil {
		return err
	}
	if o.DryRun {
		if err := t.restoreIgnored(o, target, r); err != nil {
			return err
		}
		return t.restoreNested(ctx, o, m, lastManifest, r)
	}
	if err := t.askNested(ctx, o, m, lastManifest, r); err != nil {
		return err
	}
	if len(r.Refused) > 0 && !o.Force {
		return fmt.Errorf("%w: %s; look at them, then use --force to replace them (they are kept first)", ErrForeignChange, few(r.Refused))
	}
	if r.Undo, err = t.commit(ctx, keep, g.present); err != nil {
		return fmt.Errorf("keep the present before going back: %w", err)
	}
	if o.Kept != nil {
		if err := o.Kept(r.Undo); err != nil {
			return fmt.Errorf("record what was kept before going back: %w", err)
		}
		o.Kept = nil // a repository inside belongs to the same point
	}
	if err := t.apply(ctx, g, r); err != nil {
		return fmt.Errorf("%w (the present was kept as %s)", err, r.Undo.ID)
	}
	t.settleDirs(o, g, m)
	if err := t.restoreIgnored(o, target, r); err != nil {
		return fmt.Errorf("%w (the present was kept as %s)", err, r.Undo.ID)
	}
	o.Force = true // asked already
	return t.restoreNested(ctx, o, m, lastManifest, r)
}

// askNested asks the repositories inside whether they would refuse, before
// anything is touched.
func (t *turn) askNested(ctx context.Context, o RestoreOptions, m, last *manifest, r *Restored) error {
	if o.Force || len(m.Nested) == 0 {
		return nil
	}
	o.DryRun = true
	var ask Restored
	err := t.restoreNested(ctx, o, m, last, &ask)
	r.Refused = append(r.Refused, ask.Refused...)
	return err
}

// going is a plan: the changes that lead from the present to the target.
type going struct {
	present *present
	target  SafePoint
	changes []Change
	left    []string
	partial bool // not every difference is a change: the goal is a tree of its own
}

// plan looks at the folder and decides about every path that differs.
func (t *turn) plan(ctx context.Context, o RestoreOptions, keep KeepOptions, target SafePoint, m *manifest) (*going, error) {
	p, err := t.look(ctx, keep, nil)
	if err != nil {
		return nil, fmt.Errorf("look at the present: %w", err)
	}
	changes, err := diff(ctx, t.private, p.tree, target.Tree)
	if err != nil {
		return nil, err
	}
	// Ignored files in the place of something to be written: keep them too.
	if hidden := t.hidden(changes); len(hidden) > 0 {
		if p, err = t.look(ctx, keep, hidden); err != nil {
			return nil, fmt.Errorf("look at the present: %w", err)
		}
		if changes, err = diff(ctx, t.private, p.tree, target.Tree); err != nil {
			return nil, err
		}
	}
	stays, err := t.staying(ctx, changes, target.Tree, m)
	if err != nil {
		return nil, err
	}
	var sparse []string
	for _, n := range m.NotCovered {
		if n.Reason == Sparse {
			sparse = append(sparse, n.Path)
		}
	}
	g := &going{present: p, target: target}
	var repositories []string
	for _, n := range p.cover.Nested {
		repositories = append(repositories, n.Path+"/")
	}
	for _, c := range changes {
		switch {
		case !o.wants(c.Path):
			g.partial = true
		case c.Status == "D" && stays[c.Path],
			c.Status != "D" && t.cannotReplace(c, repositories),
			c.Status != "D" && coveredBy(sparse, c.Path) && !exists(t.at(c.Path)):
			g.left = append(g.left, c.Path)
			g.partial = true
		default:
			g.changes = append(g.changes, c)
		}
	}
	return g, nil
}

// wants says whether path is among the wanted ones.
func (o *RestoreOptions) wants(path string) bool {
	if len(o.Paths) == 0 {
		return true
	}
	for _, p := range o.Paths {
		p = strings.TrimSuffix(p, "/")
		if p == "" || p == "." || path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// wantsBelow says whether something below dir is wanted.
func (o *RestoreOptions) wantsBelow(dir string) bool {
	for _, p := range o.Paths {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

func (g *going) report(r *Restored) {
	for _, c := range g.changes {
		if c.Status == "D" {
			r.Removed = append(r.Removed, c.Path)
		} else {
			r.Written = append(r.Written, c.Path)
		}
	}
	r.Left = append(r.Left, g.left...)
}

// hidden are the files on disk that stand in the way of an addition: the
// present tree does not have them, so they are ignored or were left out.
func (t *turn) hidden(changes []Change) []string {
	var found []string
	for _, c := range changes {
		if c.Status != "A" {
			continue
		}
		for at := c.Path; at != "."; at = path.Dir(at) {
			if t.isFile(at) {
				found = append(found, at)
			}
		}
	}
	return sortedUnique(found)
}

// cannotReplace says that what is on disk in the place of a change could not
// be kept: a device, an unreadable file or a repository.
func (t *turn) cannotReplace(c Change, repositories []string) bool {
	for _, r := range repositories {
		if strings.HasPrefix(c.Path, r) || strings.HasPrefix(r, c.Path+"/") {
			return true
		}
	}
	for at := path.Dir(c.Path); at != "."; at = path.Dir(at) {
		if info, err := os.Lstat(t.at(at)); err == nil && info.Mode().Type()&^(os.ModeDir|os.ModeSymlink) != 0 {
			return true
		}
	}
	info, err := os.Lstat(t.at(c.Path))
	if errors.Is(err, os.ErrPermission) {
		return true // in a folder that cannot be read
	}
	if err != nil || !reachable(t.w.Top, c.Path) {
		return false
	}
	if info.Mode().IsRegular() && !readable(t.at(c.Path)) {
		return true
	}
	return info.Mode().Type()&^(os.ModeDir|os.ModeSymlink) != 0
}

// staying are the paths of deletions that going back must not delete: they
// were ignored or left out when the safe point was made, or its own ignore
// rules say so.
func (t *turn) staying(ctx context.Context, changes []Change, tree string, m *manifest) (map[string]bool, error) {
	var outside, ask []string
	for _, n := range m.NotCovered {
		outside = append(outside, n.Path)
	}
	sort.Strings(outside)
	stays := map[string]bool{}
	for _, c := range changes {
		switch {
		case c.Status != "D":
		case coveredBy(outside, c.Path):
			stays[c.Path] = true
		default:
			ask = append(ask, c.Path)
		}
	}
	if len(ask) == 0 {
		return stays, nil
	}
	ignored, err := t.ignoredBy(ctx, tree, ask)
	for _, p := range ignored {
		stays[p] = true
	}
	return stays, err
}

// coveredBy says whether sorted contains path or a folder above it ("…/").
func coveredBy(sorted []string, name string) bool {
	if holds(sorted, name) {
		return true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if holds(sorted, dir+"/") {
			return true
		}
	}
	return false
}

// ignoredBy asks which paths the ignore rules of a tree would ignore. The
// rules are laid out in a folder of their own, since those on disk may differ.
func (t *turn) ignoredBy(ctx context.Context, tree string, paths []string) ([]string, error) {
	list, err := t.private.Records(ctx, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return nil, fmt.Errorf("read ignore rules of the safe point: %w", err)
	}
	var names, ids []string
	for _, record := range list {
		head, name, _ := strings.Cut(record, "\t") // "100644 blob <id>\tname"
		if f := strings.Split(head, " "); path.Base(name) == ".gitignore" && len(f) == 3 && strings.HasPrefix(f[0], "100") {
			names, ids = append(names, name), append(ids, f[2])
		}
	}
	found, err := t.private.Objects(ctx, true, ids...)
	if err != nil {
		return nil, fmt.Errorf("read ignore rules of the safe point: %w", err)
	}
	rules := filepath.Join(t.tmp, "rules")
	if err := os.MkdirAll(rules, 0o700); err != nil {
		return nil, fmt.Errorf("lay out ignore rules: %w", err)
	}
	for i, o := range found {
		file := filepath.Join(rules, filepath.FromSlash(names[i]))
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err = errors.Join(err, os.WriteFile(file, o.Body, 0o600)); err != nil {
			return nil, fmt.Errorf("lay out ignore rules: %w", err)
		}
	}
	// This command alone does not take paths literally: "./" keeps a name that
	// begins with ":" from being read as magic.
	in := t.private.With("GIT_LITERAL_PATHSPECS=0", "GIT_WORK_TREE="+rules, "GIT_INDEX_FILE="+filepath.Join(t.tmp, "no-index"))
	in.Dir = rules
	asked := make([]string, len(paths))
	for i, p := range paths {
		asked[i] = "./" + p
	}
	out, err := in.Feed(ctx, git.Join(asked), "check-ignore", "-z", "--stdin", "--no-index")
	if err != nil && git.Code(err) != 1 { // 1: none is ignored
		return nil, fmt.Errorf("ask which files the safe point ignores: %w", err)
	}
	ignored := git.Split(out)
	for i := range ignored {
		ignored[i] = strings.TrimPrefix(ignored[i], "./")
	}
	return ignored, nil
}

// foreign are the paths whose present content would be replaced and is
// neither in the last safe point nor explained.
func (t *turn) foreign(ctx context.Context, o RestoreOptions, g *going) ([]string, error) {
	if o.Last == "" {
		return nil, nil
	}
	since, err := diff(ctx, t.private, o.Last, g.present.tree)
	if err != nil {
		return nil, err
	}
	changed := make(map[string]bool, len(since))
	for _, c := range since {
		if c.Status != "D" { // what is gone cannot be lost
			changed[c.Path] = true
		}
	}
	var refused []string
	for _, c := range g.changes {
		if c.Status != "A" && changed[c.Path] && (o.Explained == nil || !o.Explained(c.Path)) {
			refused = append(refused, c.Path)
		}
	}
	return refused, nil
}

// few shows the first of many paths.
func few(paths []string) string {
	const most = 5
	if len(paths) <= most {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], ", "), len(paths)-most)
}
