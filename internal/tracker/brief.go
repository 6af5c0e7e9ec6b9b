package tracker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/handover"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// briefSteps bounds the steps a brief is built from, so that its cost does not grow
// with the ledger.
const briefSteps = 200

// BriefRequest asks for what the next session would start from.
type BriefRequest struct {
	Tokens     int    // 0: the configured size
	Characters int    // 0: 9,000
	Section    string // one section, whole
}

// Brief is a packet with what went across and what stayed behind.
type Brief struct {
	Job      job.ID             `json:"job"`
	Short    string             `json:"short"`
	Position int64              `json:"position"`
	Text     string             `json:"text"`
	Tokens   int                `json:"tokens"`
	Sections []job.SectionCount `json:"sections"`
	Stale    []string           `json:"stale,omitempty"`
	Probes   int                `json:"probes"`
	Repaired int                `json:"repaired"`
	Handover job.ID             `json:"handover,omitempty"`
}

// Brief builds the brief from the ledger, holds each line against the workspace
// without running anything, and examines it before it counts.
func (t *Tracker) Brief(ctx context.Context, id job.ID, r BriefRequest) (Brief, error) {
	v, entries, err := t.view(ctx, id)
	if err != nil {
		return Brief{}, err
	}
	v.Facts = t.facts(ctx, &v.Standing, v)
	return t.build(v, entries, r)
}

func (t *Tracker) build(v handover.View, entries []job.Entry, r BriefRequest) (Brief, error) {
	o := handover.Options{Tokens: r.Tokens, Characters: r.Characters, Section: r.Section}
	if o.Tokens == 0 {
		o.Tokens = t.set.BriefTokens
	}
	if o.Characters == 0 {
		o.Characters = 9000
	}
	p, probes, repaired := handover.Repaired(v, entries, o)
	b := Brief{Job: v.Standing.Job, Short: v.Standing.Short, Position: v.Standing.Position, Text: p.Text, Tokens: p.Tokens,
		Sections: p.Sections, Stale: p.Stale, Probes: probes, Repaired: repaired}
	if v.Standing.Handover != nil {
		b.Handover = v.Standing.Handover.Entry
	}
	return b, nil
}

// view gathers what a handover is built from in bounded reads, and the raw entries
// that its examination asks.
func (t *Tracker) view(ctx context.Context, id job.ID) (handover.View, []job.Entry, error) {
	v := handover.View{Now: t.Now()}
	var recent []job.Entry
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		recent, err = t.viewIn(tx, id, &v)
		return err
	})
	return v, recent, err
}

func (t *Tracker) viewIn(tx *store.Tx, id job.ID, v *handover.View) ([]job.Entry, error) {
	s, err := tx.Standing(id)
	if err != nil {
		return nil, err
	}
	v.Standing, v.Paused, v.Goal = s, s.Pause, s.Goal
	if e, err := tx.Entry(id, string(s.GoalEntry)); err == nil {
		v.GoalAt = e.Position
		switch p := e.Payload.(type) {
		case *job.Opened:
			v.Goal = p.Goal
		case *job.Amended:
			if p.Goal != nil {
				v.Goal = *p.Goal
			}
		}
	}
	for _, want := range []struct {
		into  *[]job.Item
		kind  job.Kind
		state job.ItemState
		limit int
		newer bool
	}{
		{&v.Instructions, job.KindInstructed, job.InForce, 100, true},
		{&v.Decisions, job.KindDecided, job.InForce, 1000, false},
		{&v.DeadEnds, job.KindDeadEnd, job.InForce, 500, false},
		{&v.Open, job.KindRaised, job.Open, 500, false},
		{&v.Questions, job.KindAsked, "", 40, true}, // answered ones lend their text to the answers
		{&v.Answers, job.KindAnswered, job.InForce, 20, true},
		{&v.Checks, job.KindChecked, job.InForce, job.MaxChecks, false},
	} {
		items, err := tx.Items(id, want.kind, want.state, want.limit, want.newer)
		if err != nil {
			return nil, err
		}
		if want.newer { // the newest that many, oldest first
			for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
				items[i], items[j] = items[j], items[i]
			}
		}
		*want.into = items
	}
	if v.Works, err = tx.Works(id, ""); err != nil {
		return nil, err
	}
	if v.Sittings, err = tx.Sittings(id); err != nil {
		return nil, err
	}
	if v.Steps, err = tx.EntriesOf(id, []job.Kind{job.KindStep}, true, briefSteps); err != nil {
		return nil, err
	}
	slices.Reverse(v.Steps)
	asked, err := tx.EntriesOf(id, handover.Examined(), false, 0)
	if err != nil {
		return nil, err
	}
	newest, points := map[job.Kind]*job.Entry{}, map[int]int64{}
	for i := range asked {
		newest[asked[i].Kind] = &asked[i]
		if p, ok := asked[i].Payload.(*job.SafePoint); ok && points[p.Number] == 0 {
			points[p.Number] = asked[i].Position
		}
	}
	for _, k := range handover.Examined() {
		if e := newest[k]; e != nil {
			v.Newest = append(v.Newest, *e)
		}
	}
	if e := newest[job.KindSeen]; e != nil {
		v.Seen, _ = e.Payload.(*job.Seen)
	}
	if e := newest[job.KindHandedOver]; e != nil {
		if v.Handed, _ = e.Payload.(*job.HandedOver); v.Handed != nil {
			v.Claim = v.Handed.Claim
		}
	}
	if e := newest[job.KindWentBack]; e != nil {
		back := *e
		v.WentBack = &back
		if p, ok := e.Payload.(*job.WentBack); ok {
			v.BackTo = points[p.To]
		}
	}
	c := &change{Tracker: t, tx: tx, now: v.Now}
	if v.Lessons, err = c.lessonsFor(s.Repository, id, 3); err != nil {
		return nil, err
	}
	asked = append(asked, v.Steps...)
	sort.Slice(asked, func(i, j int) bool { return asked[i].Position < asked[j].Position })
	return asked, nil
}

// facts looks at the workspaces without running anything of theirs: which files of
// the working set are gone or changed by nobody the ledger knows, and where each
// workspace stands.
func (t *Tracker) facts(ctx context.Context, s *job.Standing, v handover.View) handover.Facts {
	var f handover.Facts
	places := map[job.ID]Place{}
	for _, w := range s.Workspaces {
		if p, err := t.placeOf(w); err == nil {
			places[w.ID] = p
			if st, err := p.Status(ctx); err == nil && p.Git && f.Head == "" {
				f.Looked = true
				f.Branch, f.Head, f.Dirty, f.More = st.Branch, st.Head, st.Dirty, st.Count-len(st.Dirty)
			}
		}
	}
	if len(places) == 0 { // no folder: nothing is said about now
		return f
	}
	for _, w := range v.Works {
		p, ok := places[w.Workspace]
		if w.Kind != job.WorkFile || !ok {
			continue
		}
		info, err := os.Lstat(filepath.Join(p.Top, filepath.FromSlash(w.Name)))
		if errors.Is(err, os.ErrNotExist) {
			f.Missing = append(f.Missing, w.Name)
		} else if err == nil && job.At(info.ModTime()) > s.Updated {
			f.Changed = append(f.Changed, w.Name)
		}
	}
	sort.Strings(f.Missing)
	sort.Strings(f.Changed)
	return f
}

// HandOverRequest asks for a handover.
type HandOverRequest struct {
	Why   string // level, compaction, end, crash, request
	Fill  float64
	Claim string // what the agent said last
	Next  string
}

// HandOver writes what a leaving session leaves: a look at the workspace, then
// the examined handover. The brief is built from the ledger each time; the entry
// says what went across and what stayed behind.
func (t *Tracker) HandOver(ctx context.Context, by Actor, id job.ID, r HandOverRequest) (Brief, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return Brief{}, err
	}
	if err := t.mayAct(&s, by, job.KindHandedOver); err != nil {
		return Brief{}, err
	}
	seen, err := t.look(ctx, &s)
	if err != nil {
		return Brief{}, err
	}
	var brief Brief
	err = t.write(ctx, by, true, func(c *change) error {
		if _, err := c.append(id, seen, said(job.Author{Kind: job.Command})); err != nil {
			return err
		}
		v := handover.View{Now: c.now}
		recent, err := t.viewIn(c.tx, id, &v)
		if err != nil {
			return err
		}
		if r.Claim != "" {
			v.Claim = r.Claim
		}
		if brief, err = t.build(v, recent, BriefRequest{}); err != nil {
			return err
		}
		h := &job.HandedOver{Why: r.Why, Level: c.set.Handover, Fill: r.Fill, Claim: c.clip(agent.OneLine(r.Claim), saidLimit), Next: r.Next,
			Tokens: brief.Tokens, Sections: brief.Sections, Probes: brief.Probes, Repaired: brief.Repaired}
		if h.Next == "" {
			h.Next = handover.Next(v)
		}
		e, err := c.append(id, h, said(job.Author{Kind: job.Duplex}))
		brief.Handover = e.ID
		return err
	})
	return brief, err
}

// look is a checkpoint of the job's first workspace: branch, head, uncommitted
// paths, and the half-done folders with what is done and what is left in them.
func (t *Tracker) look(ctx context.Context, s *job.Standing) (*job.Seen, error) {
	seen := &job.Seen{}
	if len(s.Workspaces) == 0 {
		return seen, nil
	}
	w := s.Workspaces[len(s.Workspaces)-1]
	if s.Lease != nil {
		if row, err := t.Sitting(ctx, s.Lease.Session); err == nil && row != nil {
			if at, ok := workspaceOf(s, row.Workspace); ok {
				w = at
			}
		}
	}
	p, err := t.placeOf(w)
	if errors.Is(err, job.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return seen, nil // the folder is gone; the ledger still hands over
	}
	if err != nil {
		return nil, err
	}
	if p.Git {
		st, err := p.Status(ctx)
		if err != nil {
			return nil, err
		}
		seen.Branch, seen.Head = st.Branch, st.Head
		seen.Changed = st.Dirty
		if len(seen.Changed) > 50 {
			seen.Changed = seen.Changed[:50]
		}
		seen.More = st.Count - len(seen.Changed)
	}
	if seen.Folders, err = t.left(ctx, s, p); err != nil {
		return nil, err
	}
	return seen, nil
}

// TakeOverRequest asks for the brief of an arriving session.
type TakeOverRequest struct {
	How        string // startup, resume, clear, compact, fork
	Characters int
	Empty      bool // give no brief, to measure what it is worth
}

// TakeOver gives an arriving session its brief and records what went across.
func (t *Tracker) TakeOver(ctx context.Context, by Actor, id job.ID, r TakeOverRequest) (string, error) {
	b, err := t.Brief(ctx, id, BriefRequest{Characters: r.Characters})
	if err != nil {
		return "", err
	}
	if r.How == "" {
		r.How = "startup"
	}
	p := &job.TookOver{Handover: b.Handover, How: r.How, Tokens: b.Tokens, Sections: b.Sections, Stale: b.Stale, Empty: r.Empty}
	if r.Empty {
		b.Text, p.Tokens, p.Sections = "", 0, nil
	}
	err = t.write(ctx, by, true, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil {
			return err
		}
		if s.Handover != nil && s.Handover.Session != by.Session {
			p.From = s.Handover.Session
		}
		_, err = c.append(id, p, said(job.Author{Kind: job.Duplex}))
		return err
	})
	return b.Text, err
}
