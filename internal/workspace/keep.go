package workspace

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/seed-5777983b/duplex/internal/git"
)

// KeepOptions say what a safe point is for.
type KeepOptions struct {
	Job      string // names its refs: letters, digits, - and _
	N        int    // wanted number; the next free one is taken, and 0 means after the last
	Why      string // a few words: before a handover
	Position int64  // in the ledger
	Message  string // goes into the commit: the ledger's head

	CaptureIgnored bool                   // small ignored files (≤ 256 KiB, not in an ignored folder) go to a store outside the repository
	Large          bool                   // a person agreed to more than the limits
	Skip           func(path string) bool // files to hold back though git does not ignore them; nil: none

	undo bool // the present before going back: however much it is, it has to be kept
}

// Keep makes a safe point of the workspace as it is. HEAD, the user's index
// and the files are left as they are. When nothing changed since the last
// safe point of this job, that one is returned.
func (w *Workspace) Keep(ctx context.Context, o KeepOptions) (SafePoint, error) {
	if err := checkJob(o.Job); err != nil {
		return SafePoint{}, err
	}
	t, err := w.begin(ctx)
	if err != nil {
		return SafePoint{}, err
	}
	defer t.end()
	return t.keep(ctx, o, nil)
}

// keep looks and commits. include are paths to keep although ignored.
func (t *turn) keep(ctx context.Context, o KeepOptions, include []string) (SafePoint, error) {
	p, err := t.look(ctx, o, include)
	if err != nil {
		return SafePoint{}, fmt.Errorf("keep a safe point: %w", err)
	}
	s, err := t.commit(ctx, o, p)
	if err != nil {
		return SafePoint{}, fmt.Errorf("keep a safe point: %w", err)
	}
	return s, nil
}

// commit makes a safe point of what look found. The ref comes last of all in
// the user's repository: what a crash before it leaves, git collects.
func (t *turn) commit(ctx context.Context, o KeepOptions, p *present) (SafePoint, error) {
	id, err := t.w.ID()
	if err != nil {
		return SafePoint{}, err
	}
	var ignored []string
	if o.CaptureIgnored {
		ignored = t.capturable(&p.cover)
	}
	stamp := t.stampIgnored(ignored)
	if last := t.w.readState(); last != nil && last.same(o.Job, p) && (!o.CaptureIgnored || last.Ignored == stamp) {
		last.UserIndex = p.userIndex
		if err := t.adopt(last); err != nil {
			return SafePoint{}, err
		}
		last.Point.Reused, last.Point.NotCovered = true, p.cover.NotCovered
		return last.Point, nil
	}
	s := SafePoint{
		Job: o.Job, Tree: p.tree, Head: p.head, Branch: p.branch, Op: p.op, Workspace: id,
		Position: o.Position, Why: o.Why, Message: o.Message, Time: t.began.UTC(), Files: p.files,
	}
	if s.N, err = t.w.nextNumber(ctx, t.user, o); err != nil {
		return SafePoint{}, err
	}
	if s.Index, s.Record, err = t.writeRecord(p, &s); err != nil {
		return SafePoint{}, err
	}
	for {
		s.ID, s.Ref = fmt.Sprintf("%s/%d", s.Job, s.N), refOf(s.Job, s.N)
		s.Message = o.Message
		if s.Commit, err = t.writeCommit(s.Tree, s.message(), s.Time.Unix(), s.Head, s.Index, s.Record); err != nil {
			return SafePoint{}, err
		}
		ids, size, err := t.added()
		if err != nil {
			return SafePoint{}, err
		}
		s.NewObjects, s.Bytes = append(s.NewObjects, ids...), s.Bytes+size
		if err := t.release(); err != nil {
			return SafePoint{}, err
		}
		if err := t.captureIgnored(s.Job, s.N, ignored); err != nil {
			return SafePoint{}, err
		}
		// The ref must not exist. Another work tree of the same repository has
		// another lock and may have been faster.
		err = t.updateRefs(ctx, fmt.Sprintf("create %s %s\n", s.Ref, s.Commit))
		if err == nil {
			break
		}
		if taken, look := t.user.Objects(ctx, false, s.Ref); look != nil || taken[0].ID == "" {
			return SafePoint{}, fmt.Errorf("write %s: %w", s.Ref, err)
		}
		s.N++
	}
	next := &state{UserIndex: p.userIndex, IndexTree: p.indexTree, Ignored: stamp, Point: s, cover: &p.cover}
	next.Point.NewObjects, next.Point.Bytes = nil, 0
	if err := t.adopt(next); err != nil {
		return SafePoint{}, err
	}
	s.NotCovered = p.cover.NotCovered
	return s, nil
}

// same says whether a safe point of p would say nothing that the last one
// does not.
func (s *state) same(job string, p *present) bool {
	return s.Point.Job == job && s.Point.Tree == p.tree && s.Point.Head == p.head && s.Point.Branch == p.branch &&
		s.Point.Op == p.op && s.IndexTree == p.indexTree && p.rawIndex == nil && s.cover.sameCover(&p.cover)
}

// adopt makes the turn's index the private one, for the next turn to start
// from, and notes what it stands for. Its time is set to when the turn began:
// a file that changed later is read again.
func (t *turn) adopt(next *state) error {
	file := t.w.private("index")
	if exists(t.indexFile()) {
		if err := os.Chtimes(t.indexFile(), t.began, t.began); err != nil {
			return fmt.Errorf("keep private index: %w", err)
		}
		if err := os.Rename(t.indexFile(), file); err != nil {
			return fmt.Errorf("keep private index: %w", err)
		}
	}
	var err error
	if next.Index, _, err = stampOf(file); err != nil {
		return fmt.Errorf("keep private index: %w", err)
	}
	return t.w.writeState(next)
}

// nextNumber finds a free number for a safe point.
func (w *Workspace) nextNumber(ctx context.Context, user git.Runner, o KeepOptions) (int, error) {
	refs, err := user.Output(ctx, "for-each-ref", "--format=%(refname)", "refs/duplex/"+o.Job+"/")
	if err != nil {
		return 0, fmt.Errorf("list safe points: %w", err)
	}
	taken, last := map[int]bool{}, 0
	for _, ref := range strings.Fields(string(refs)) {
		var n int
		if _, err := fmt.Sscanf(ref[strings.LastIndexByte(ref, '/')+1:], "%d", &n); err == nil {
			taken[n], last = true, max(last, n)
		}
	}
	if o.N <= 0 {
		return last + 1, nil
	}
	n := o.N
	for taken[n] {
		n++
	}
	return n, nil
}

// writeRecord writes the two commits beside the safe point's own: one of the
// user's index, and one that holds the manifest (and the index itself when it
// had conflicts, since those cannot be a tree).
func (t *turn) writeRecord(p *present, s *SafePoint) (index, record string, err error) {
	if p.indexTree != "" {
		// A fixed date: the same index gives the same commit.
		if index, err = t.writeCommit(p.indexTree, "duplex: the index of a work tree\n", 0, p.head); err != nil {
			return "", "", err
		}
	}
	tree := ""
	if p.rawIndex != nil {
		blob, err := t.write("blob", p.rawIndex)
		if err != nil {
			return "", "", err
		}
		tree = treeLine("index", blob)
	}
	m := p.cover
	if m.Objects, _, err = t.added(); err != nil {
		return "", "", err
	}
	text, err := m.encode()
	if err != nil {
		return "", "", err
	}
	blob, err := t.write("blob", text)
	if err != nil {
		return "", "", err
	}
	if tree, err = t.write("tree", []byte(tree+treeLine("manifest", blob))); err != nil {
		return "", "", err
	}
	record, err = t.writeCommit(tree, "duplex: what a safe point left out and added\n", s.Time.Unix())
	return index, record, err
}

// treeLine is one file of a tree object.
func treeLine(name, blob string) string {
	raw, err := hex.DecodeString(blob)
	if err != nil {
		panic("workspace: not an object id: " + blob)
	}
	return "100644 " + name + "\x00" + string(raw)
}

// writeCommit writes a commit by a fixed author. Empty parents are left out.
func (t *turn) writeCommit(tree, message string, seconds int64, parents ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		if p != "" {
			fmt.Fprintf(&b, "parent %s\n", p)
		}
	}
	const who = "duplex <duplex@localhost>"
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n%s", who, seconds, who, seconds, message)
	return t.write("commit", []byte(b.String()))
}
