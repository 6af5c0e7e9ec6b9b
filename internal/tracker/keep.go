package tracker

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// KeepRequest asks for a safe point.
type KeepRequest struct {
	Why   string
	Quiet bool // nothing changed since the last: that one is enough
	Green bool
	Large bool // a person agreed to more than the limits of size and count
}

// Kept is a safe point as taken.
type Kept struct {
	Job        job.ID         `json:"job"`
	Short      string         `json:"short"`
	Number     int            `json:"number"`
	Why        string         `json:"why"`
	Reused     bool           `json:"reused,omitempty"` // nothing had changed
	Commits    []job.Snapshot `json:"commits"`
	NotCovered []Uncovered    `json:"not_covered,omitempty"`
	Position   int64          `json:"position,omitempty"`
	At         job.Time       `json:"at"`
}

// Uncovered is a path that a safe point does not hold, and why.
type Uncovered struct {
	Path string `json:"path"` // a folder and all in it ends in "/"
	Size int64  `json:"size,omitempty"`
	Why  string `json:"why"`
}

// ID is how the safe point is named on the command line.
func (k Kept) ID() string { return fmt.Sprintf("%s/%d", k.Short, k.Number) }

// Keep takes a safe point of every workspace of the job. The git refs come first,
// the ledger second: a crash between them leaves only a spare ref.
func (t *Tracker) Keep(ctx context.Context, by Actor, id job.ID, r KeepRequest) (Kept, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return Kept{}, err
	}
	if err := t.mayAct(&s, by, job.KindSafePoint); err != nil {
		return Kept{}, err
	}
	out := Kept{Job: id, Short: s.Short, Number: 1, Why: r.Why}
	if s.SafePoint != nil {
		out.Number = s.SafePoint.Number + 1
	}
	same, ref := s.SafePoint != nil, 0
	for _, w := range s.Workspaces {
		p, err := t.placeOf(w)
		if err != nil {
			if len(s.Workspaces) > 1 && errors.Is(err, job.ErrNotFound) {
				continue // a work tree that was removed; the others still count
			}
			return out, err
		}
		head, err := t.headHash(ctx, id)
		if err != nil {
			return out, err
		}
		sp, err := p.Keep(ctx, workspace.KeepOptions{Job: string(id), N: out.Number, Why: r.Why, Position: s.Position,
			Message: fmt.Sprintf("duplex: %s, safe point %d: %s\n\nledger head: %s", s.Short, out.Number, r.Why, head), CaptureIgnored: t.set.CaptureIgnored, Large: r.Large})
		if err != nil {
			return out, fmt.Errorf("safe point of %s: %w", w.Path, err)
		}
		out.Commits = append(out.Commits, job.Snapshot{Workspace: w.ID, Commit: sp.Commit, Tree: sp.Tree, Head: sp.Head, Branch: sp.Branch})
		for _, n := range sp.NotCovered {
			out.NotCovered = append(out.NotCovered, Uncovered{n.Path, n.Size, n.Reason})
		}
		same = same && sp.Reused
		ref = max(ref, sp.N)
	}
	if len(out.Commits) == 0 {
		return out, fmt.Errorf("%w: job %s has no folder here to keep; go to its folder and run duplex take %s", job.ErrNotFound, s.Short, s.Short)
	}
	if same && (r.Quiet || sameCommits(s.SafePoint.Commits, out.Commits)) {
		out.Number, out.Reused, out.Position, out.At = s.SafePoint.Number, true, s.SafePoint.Position, s.SafePoint.At
		return out, nil
	}
	err = t.write(ctx, by, true, func(c *change) error {
		e, err := c.keep(id, &job.SafePoint{Number: ref, Why: r.Why, Commits: out.Commits, NotCovered: len(out.NotCovered), Green: r.Green})
		out.Number, out.Reused, out.Position, out.At = e.Number, e.reused, e.Position, e.At
		return err
	})
	if err != nil {
		return out, err
	}
	return out, t.retain(ctx, &s, out.Number)
}

// retain drops the safe points that are more than the configured number behind the
// newest. That of day one stays, which a finish is judged by, and the last green one.
func (t *Tracker) retain(ctx context.Context, s *job.Standing, newest int) error {
	oldest := newest - t.set.KeepSafePoints + 1
	if t.set.KeepSafePoints <= 0 || oldest <= 2 {
		return nil
	}
	green := 0
	if s.SafePoint != nil {
		green = s.SafePoint.LastGreen
	}
	for _, w := range s.Workspaces {
		p, err := t.placeOf(w)
		if err != nil {
			continue // not here now; the next safe point there looks again
		}
		points, err := p.List(ctx, string(s.Job))
		if err != nil {
			return err
		}
		var drop []workspace.SafePoint
		for _, sp := range points {
			if sp.N < oldest && sp.N != 1 && sp.N != green {
				drop = append(drop, sp)
			}
		}
		if len(drop) == 0 {
			continue
		}
		if err := p.Drop(ctx, drop); err != nil {
			return fmt.Errorf("drop old safe points: %w", err)
		}
	}
	return nil
}

// recorded is a safe point as it stands in the ledger.
type recorded struct {
	job.SafePointNow
	reused bool // it stood there before
}

// keep records a safe point under its ref's number. Two commands at once, or one
// that was killed between ref and ledger, leave that number or the one wanted
// taken: a number names one safe point, and the same commits are one safe point.
func (c *change) keep(id job.ID, p *job.SafePoint) (recorded, error) {
	s, err := c.tx.Standing(id)
	if err != nil {
		return recorded{}, err
	}
	if last := s.SafePoint; last != nil {
		if sameCommits(last.Commits, p.Commits) {
			return recorded{*last, true}, nil
		}
		p.Number = max(p.Number, last.Number+1)
	}
	e, err := c.append(id, p)
	return recorded{SafePointNow: job.SafePointNow{Number: p.Number, Position: e.Position, At: e.HappenedAt}}, err
}

func sameCommits(a, b []job.Snapshot) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Commit != b[i].Commit || a[i].Workspace != b[i].Workspace {
			return false
		}
	}
	return true
}

// mayAct asks the fence before slow work begins; the write asks it again.
func (t *Tracker) mayAct(s *job.Standing, by Actor, kind job.Kind) error {
	if by.Guest {
		return fmt.Errorf("%w: this session is a guest at the job; take it first: duplex take %s", job.ErrFenced, s.Short)
	}
	_, err := job.Fence(s, kind, by.Author, by.Session, by.Token)
	if err != nil {
		return fmt.Errorf("%w: read where the job stands: duplex show %s", err, s.Short)
	}
	return nil
}

// Standing is where a job stands: one row read, however long the ledger.
func (t *Tracker) Standing(ctx context.Context, id job.ID) (job.Standing, error) {
	var s job.Standing
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		s, err = tx.Standing(id)
		return err
	})
	return s, err
}

func (t *Tracker) headHash(ctx context.Context, id job.ID) (string, error) {
	var h string
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		h, err = tx.Head(id)
		return err
	})
	return h, err
}

// SafePoints lists a job's safe points, newest first.
func (t *Tracker) SafePoints(ctx context.Context, id job.ID) ([]Kept, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []Kept
	err = t.store.Read(ctx, func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(id, []job.Kind{job.KindSafePoint}, true, 0)
		for _, e := range entries {
			if p, ok := e.Payload.(*job.SafePoint); ok {
				out = append(out, Kept{Job: id, Short: s.Short, Number: p.Number, Why: p.Why, Commits: p.Commits, Position: e.Position, At: e.HappenedAt})
			}
		}
		return err
	})
	return out, err
}

// SafePoint finds one safe point by its number; 0 is the newest.
func (t *Tracker) SafePoint(ctx context.Context, id job.ID, number int) (Kept, error) {
	all, err := t.SafePoints(ctx, id)
	if err != nil {
		return Kept{}, err
	}
	for _, k := range all {
		if number == 0 || k.Number == number {
			return k, nil
		}
	}
	return Kept{}, fmt.Errorf("%w: no safe point %d; duplex safepoint list shows them", job.ErrNotFound, number)
}

// Changes of a workspace since a safe point.
func (t *Tracker) Changes(ctx context.Context, k Kept) ([]string, error) {
	s, err := t.Standing(ctx, k.Job)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range k.Commits {
		changes, err := t.changes(ctx, &s, c)
		if err != nil {
			return out, err
		}
		out = append(out, changes...)
	}
	sort.Strings(out)
	return out, nil
}

// changes of one workspace; of one that the job has left, none.
func (t *Tracker) changes(ctx context.Context, s *job.Standing, c job.Snapshot) ([]string, error) {
	w, ok := workspaceOf(s, c.Workspace)
	if !ok {
		return nil, nil
	}
	p, err := t.placeOf(w)
	if err != nil {
		return nil, err
	}
	r, err := p.Restore(ctx, workspace.RestoreOptions{Job: string(s.Job), Target: c.Commit, Force: true, DryRun: true})
	return append(r.Written, r.Removed...), err
}

func workspaceOf(s *job.Standing, id job.ID) (job.Workspace, bool) {
	for _, w := range s.Workspaces {
		if w.ID == id {
			return w, true
		}
	}
	return job.Workspace{}, false
}

// RestoreRequest asks to go back.
type RestoreRequest struct {
	Number int // of the safe point; 0: the newest
	DryRun bool
	Force  bool // overwrite what neither the last safe point nor a step explains
	Paths  []string
	Why    string
	Undo   bool // go back to what was there before the last restore
}

// WentBack says what a restore did.
type WentBack struct {
	Job      job.ID          `json:"job"`
	Short    string          `json:"short"`
	To       int             `json:"to"`
	Undo     int             `json:"undo"`
	DryRun   bool            `json:"dry_run,omitempty"`
	Restored []RestoredPlace `json:"workspaces"`
}

// RestoredPlace is what going back did in one workspace.
type RestoredPlace struct {
	Workspace  string   `json:"workspace"`
	Written    []string `json:"written"`
	Removed    []string `json:"removed"`
	MovedAside []string `json:"moved_aside,omitempty"`
	Aside      string   `json:"aside,omitempty"`   // the folder it was moved to
	Left       []string `json:"left,omitempty"`    // differs, and was left alone
	Refused    []string `json:"refused,omitempty"` // somebody else's changes
}

// whyUndo is what the safe point is for that is taken before going back.
const whyUndo = "before going back"

// Restore brings the workspaces of a job back to a safe point. The present is
// kept and recorded first, so that going back can be undone, also when it was
// killed in the middle.
func (t *Tracker) Restore(ctx context.Context, by Actor, id job.ID, r RestoreRequest) (WentBack, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return WentBack{}, err
	}
	if err := t.mayAct(&s, by, job.KindWentBack); err != nil {
		return WentBack{}, err
	}
	if r.Undo {
		if r.Number, err = t.lastUndo(ctx, id); err != nil {
			return WentBack{}, err
		}
	}
	target, err := t.SafePoint(ctx, id, r.Number)
	if err != nil {
		return WentBack{}, err
	}
	out := WentBack{Job: id, Short: s.Short, To: target.Number, DryRun: r.DryRun}
	n, ref := 1, 0
	if s.SafePoint != nil {
		n = s.SafePoint.Number + 1
	}
	ours, err := t.explained(ctx, &s)
	if err != nil {
		return out, err
	}
	var undo []job.Snapshot
	for _, c := range target.Commits {
		w, ok := workspaceOf(&s, c.Workspace)
		if !ok {
			continue
		}
		p, err := t.placeOf(w)
		if err != nil {
			return out, err
		}
		res, err := p.Restore(ctx, workspace.RestoreOptions{Job: string(id), N: n, Target: c.Commit, Last: lastCommit(&s, c.Workspace), CaptureIgnored: t.set.CaptureIgnored,
			Explained: func(path string) bool { return ours(touchedPath{c.Workspace, path}) }, Force: r.Force, DryRun: r.DryRun, Paths: r.Paths,
			Kept: func(sp workspace.SafePoint) error {
				undo = append(undo, job.Snapshot{Workspace: c.Workspace, Commit: sp.Commit, Tree: sp.Tree, Head: sp.Head, Branch: sp.Branch})
				ref = max(ref, sp.N)
				return t.write(ctx, by, true, func(c *change) error {
					kept, err := c.keep(id, &job.SafePoint{Number: ref, Why: whyUndo, Commits: undo})
					out.Undo = kept.Number
					return err
				})
			}})
		out.Restored = append(out.Restored, RestoredPlace{p.Top, res.Written, res.Removed, res.MovedAside, res.Aside, res.Left, res.Refused})
		if err != nil {
			return out, err
		}
	}
	if r.DryRun {
		return out, nil
	}
	err = t.write(ctx, by, true, func(c *change) error {
		w := &job.WentBack{To: target.Number, Undo: out.Undo, Why: c.clip(r.Why, 300), Undone: r.Undo}
		for _, res := range out.Restored {
			w.Written += len(res.Written)
			w.Removed += len(res.Removed)
			w.Aside += len(res.MovedAside)
		}
		_, err := c.append(id, w)
		return err
	})
	if err != nil {
		return out, err
	}
	return out, t.lookAgain(ctx, by, id)
}

// lookAgain records a new look at the workspace: what the last one saw as done may
// just have been taken back.
func (t *Tracker) lookAgain(ctx context.Context, by Actor, id job.ID) error {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return err
	}
	seen, err := t.look(ctx, &s)
	if err != nil {
		return err
	}
	return t.write(ctx, by, false, func(c *change) error {
		_, err := c.append(id, seen, said(job.Author{Kind: job.Command}))
		return err
	})
}

// lastUndo is the safe point that holds what was there before the last restore.
func (t *Tracker) lastUndo(ctx context.Context, id job.ID) (int, error) {
	n := 0
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(id, []job.Kind{job.KindWentBack, job.KindSafePoint}, true, 0)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch p := e.Payload.(type) {
			case *job.WentBack:
				n = p.Undo
				return nil
			case *job.SafePoint: // of one that was killed before its end
				if p.Why == whyUndo {
					n = p.Number
					return nil
				}
			}
		}
		return nil
	})
	if err == nil && n == 0 {
		return 0, fmt.Errorf("%w: nothing was restored yet, so there is nothing to undo", job.ErrNotFound)
	}
	return n, err
}

type touchedPath struct {
	workspace job.ID
	path      string
}

// explained tells which differences from the newest safe point are the job's own:
// what its steps edited since, and what going back put there since. Any other is
// somebody else's.
func (t *Tracker) explained(ctx context.Context, s *job.Standing) (func(touchedPath) bool, error) {
	since := int64(0)
	if s.SafePoint != nil {
		since = s.SafePoint.Position
	}
	edited, backTo := map[touchedPath]bool{}, 0
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		works, err := tx.Works(s.Job, job.WorkFile)
		if err != nil {
			return err
		}
		for _, w := range works {
			if w.Edits > 0 && w.Position > since {
				edited[touchedPath{w.Workspace, w.Name}] = true
			}
		}
		back := s.Newest[job.KindWentBack]
		if back.Position < since || back.ID == "" {
			return nil
		}
		e, err := tx.Entry(s.Job, string(back.ID))
		if p, ok := e.Payload.(*job.WentBack); ok {
			backTo = p.To
		}
		return err
	})
	if err != nil || backTo == 0 {
		return func(at touchedPath) bool { return edited[at] }, err
	}
	k, err := t.SafePoint(ctx, s.Job, backTo)
	if err != nil {
		return nil, err
	}
	there, moved := map[job.ID]bool{}, map[touchedPath]bool{}
	for _, c := range k.Commits {
		changes, err := t.changes(ctx, s, c)
		if err != nil {
			return nil, err
		}
		there[c.Workspace] = true
		for _, path := range changes {
			moved[touchedPath{c.Workspace, path}] = true
		}
	}
	return func(at touchedPath) bool { return edited[at] || there[at.workspace] && !moved[at] }, nil
}

// lastCommit is the newest safe point's commit of a workspace, which the rule about
// somebody else's changes asks. A job without a step has nobody but the person at
// the keyboard: there the rule is off, and the present is kept first as always.
func lastCommit(s *job.Standing, ws job.ID) string {
	if s.SafePoint == nil || s.Steps == 0 {
		return ""
	}
	for _, c := range s.SafePoint.Commits {
		if c.Workspace == ws {
			return c.Commit
		}
	}
	return ""
}

// folderGoal is the goal of the unnamed job that holds safe points taken in a
// folder where no job is open.
const folderGoal = "Safe points of this folder"

// FolderJob finds or opens that job.
func (t *Tracker) FolderJob(ctx context.Context, by Actor, dir string) (job.ID, error) {
	p, err := t.Place(dir)
	if err != nil {
		return "", err
	}
	var id job.ID
	err = t.write(ctx, by, true, func(c *change) error {
		rows, err := c.tx.Jobs(store.JobFilter{Open: true, Unnamed: true, Workspace: p.ID})
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Standing.Goal == folderGoal {
				id = r.ID
				return nil
			}
		}
		id, err = c.open(&job.Opened{Goal: folderGoal, Unnamed: true, Workspace: p.workspace(), Repository: repositoryOf(p)}, said(job.Author{Kind: job.Duplex}))
		return err
	})
	return id, err
}
