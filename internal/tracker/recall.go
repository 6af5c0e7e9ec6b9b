package tracker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
	"github.com/seed-5777983b/duplex/internal/store"
)

// RecallRequest says what to look for, and where.
type RecallRequest struct {
	Words string // as they were typed: words, "a phrase", begin*, -not
	Job   job.ID // this job only
	Dir   string // without a job: those of this folder, ended ones too
	Own   job.ID // the calling session's job, looked through beside those of the folder
	All   bool   // every job of the store
	// Kinds of entries; none: any. With kinds, transcripts are left alone.
	Kinds  []job.Kind
	Since  job.Time // happened at this time or later
	Limit  int      // of hits in the ledger, and as many in transcripts; 0: 10, at most 100
	Ledger bool     // the ledger only: transcripts are left alone
}

// Recalled is what was found.
type Recalled struct {
	Words []string `json:"words"`         // what was looked for
	Not   []string `json:"not,omitempty"` // what must not be there
	Jobs  int      `json:"jobs"`          // how many were looked through
	Hits  []Hit    `json:"hits"`          // in the ledger, the best first
	// Loose: nothing has every word; these have some.
	Loose bool `json:"loose,omitempty"`
	More  bool `json:"more,omitempty"` // there is more than these
	// Unindexed is about how many entries are not in the search index yet.
	Unindexed int64    `json:"unindexed,omitempty"`
	Spoken    []Spoken `json:"spoken"` // in transcripts, the newest first
	// MoreSpoken: there is more than these.
	MoreSpoken bool     `json:"more_spoken,omitempty"`
	Unread     []Unread `json:"unread,omitempty"` // transcripts that were not read to their end
}

// Hit is an entry that was found.
type Hit struct {
	Job      job.ID     `json:"job"`
	Short    string     `json:"short"`
	Position int64      `json:"position"`
	ID       job.ID     `json:"id"`
	Kind     job.Kind   `json:"kind"`
	At       job.Time   `json:"at"`
	Session  job.ID     `json:"session,omitempty"`
	Number   int        `json:"number,omitempty"` // of the session in its job; 0: a guest, or none
	Author   job.Author `json:"author"`           // who said it
	// State of an item: in force, open, superseded, settled, answered.
	State   job.ItemState `json:"state,omitempty"`
	Title   string        `json:"title,omitempty"` // what it is about, where the snippet does not begin with it
	Snippet query.Snippet `json:"snippet"`
}

// Spoken is a place in an agent's transcript that was found. Nothing of it is kept.
type Spoken struct {
	Job     job.ID        `json:"job"`
	Short   string        `json:"short"`
	Session job.ID        `json:"session"`
	Number  int           `json:"number,omitempty"`
	File    string        `json:"file"`
	Offset  int64         `json:"offset"` // bytes to its line
	At      job.Time      `json:"at,omitempty"`
	Author  job.Author    `json:"author"`
	Snippet query.Snippet `json:"snippet"`
}

// Unread is a transcript that was not searched, or not to its end.
type Unread struct {
	File string `json:"file,omitempty"` // none: several
	Why  string `json:"why"`
}

// Bounds of what Recall gives, and of what it takes.
const (
	hitsUsual = 10
	hitsMost  = 100
	snippet   = 200 // bytes
	titleMost = 100 // bytes
	// indexAtRecall is what a search gives of its time to the index of a store that
	// had none.
	indexAtRecall = 5 * time.Second
)

// Recall searches the ledgers by their index, and the transcripts of the jobs'
// sessions where they are. The answer is bounded however much there is.
func (t *Tracker) Recall(ctx context.Context, r RecallRequest) (Recalled, error) {
	q := query.Parse(r.Words)
	out := Recalled{Words: termsOf(q.Terms), Not: termsOf(q.Not), Hits: []Hit{}, Spoken: []Spoken{}}
	if q.Empty() {
		return out, fmt.Errorf("%w: there is no word to look for in %q", job.ErrInvalid, job.Clip(r.Words, 60))
	}
	switch {
	case r.Limit <= 0:
		r.Limit = hitsUsual
	case r.Limit > hitsMost:
		r.Limit = hitsMost
	}
	jobs, err := t.recallIndexed(ctx, r, q, &out)
	if errors.Is(err, store.ErrIndex) { // the ledger has all that was in it
		if err = t.store.RenewIndex(ctx); err == nil {
			jobs, err = t.recallIndexed(ctx, r, q, &out)
		}
	}
	if err != nil || r.Ledger || len(r.Kinds) > 0 {
		return out, err
	}
	err = t.recallTranscripts(ctx, r, q, jobs, &out)
	return out, err
}

// recallIndexed searches the ledgers, with what can be put into the index in a moment.
func (t *Tracker) recallIndexed(ctx context.Context, r RecallRequest, q query.Query, out *Recalled) (jobs []store.JobRow, err error) {
	out.Unindexed, _ = t.store.Index(ctx, indexAtRecall) // what can be read is searched in any case
	err = t.store.Read(ctx, func(tx *store.Tx) error {
		out.Hits = out.Hits[:0] // it may run twice
		if jobs, err = t.recallJobs(tx, r); err != nil {
			return err
		}
		out.Jobs = len(jobs)
		return recallLedger(tx, r, q, jobs, out)
	})
	return jobs, err
}

func termsOf(terms []query.Term) []string {
	var out []string
	for _, t := range terms {
		out = append(out, t.String())
	}
	return out
}

// recallJobs are the jobs to look through, the last changed first.
func (t *Tracker) recallJobs(tx *store.Tx, r RecallRequest) ([]store.JobRow, error) {
	switch {
	case r.Job != "":
		s, err := tx.Standing(r.Job)
		return []store.JobRow{{ID: r.Job, Short: s.Short, Standing: s}}, err
	case r.All:
		return tx.Jobs(store.JobFilter{})
	}
	var jobs []store.JobRow
	p, err := t.Place(r.Dir)
	if err == nil {
		if jobs, err = tx.Jobs(store.JobFilter{Workspace: p.ID}); err != nil {
			return nil, err
		}
	}
	if r.Own != "" && !slices.ContainsFunc(jobs, func(j store.JobRow) bool { return j.ID == r.Own }) {
		s, err := tx.Standing(r.Own)
		if err != nil {
			return nil, err
		}
		jobs = append([]store.JobRow{{ID: r.Own, Short: s.Short, Standing: s}}, jobs...)
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%w: look through every job with duplex recall --all", ErrNoJobHere)
	}
	return jobs, nil
}

// recallLedger ranks what the index finds and fills in what is shown of the best.
func recallLedger(tx *store.Tx, r RecallRequest, q query.Query, jobs []store.JobRow, out *Recalled) error {
	s := store.SearchRequest{Query: q, Kinds: r.Kinds, Since: r.Since}
	short := map[job.ID]string{}
	for _, j := range jobs {
		short[j.ID] = j.Short
		if !r.All {
			s.Jobs = append(s.Jobs, j.ID)
		}
	}
	m, err := tx.Search(s)
	if err == nil && len(m.List) == 0 {
		s.Query, s.Any = q.Loose(), true
		m, err = tx.Search(s)
		out.Loose = len(m.List) > 0
	}
	if err != nil {
		return err
	}
	rank(&m)
	out.More = m.More || len(m.List) > r.Limit
	for _, found := range m.List[:min(len(m.List), r.Limit)] {
		h := Hit{Job: found.Job, Short: short[found.Job], Position: found.Position, ID: found.ID, Kind: found.Kind, At: found.HappenedAt,
			Session: found.Session, Author: found.Author}
		var whole bool
		if h.Snippet, whole = found.Found.Snippet(found.Text, snippet); !whole {
			h.Title = strings.Join(strings.Fields(job.Clip(firstLine(found.Text), titleMost)), " ")
		}
		rows := tx.Rows(found.Job)
		item, err := rows.Item(found.ID)
		if err != nil {
			return err
		}
		if item != nil {
			h.State = item.State
		}
		if sitting, err := rows.Sitting(found.Session); err != nil {
			return err
		} else if sitting != nil && !sitting.Guest {
			h.Number = sitting.Number
		}
		out.Hits = append(out.Hits, h)
	}
	return nil
}

// weights are how much more an entry of a kind is worth finding than a step.
var weights = map[job.Kind]float64{
	job.KindDecided: 3, job.KindDeadEnd: 3, job.KindInstructed: 3, job.KindAnswered: 2.5, job.KindOpened: 2.5, job.KindAmended: 2.5,
	job.KindAsked: 2, job.KindRaised: 2, job.KindLesson: 2, job.KindFinished: 2, job.KindSettled: 1.5, job.KindHandedOver: 1.2,
}

// rank sorts by BM25 (k1 1.2, b 0.4: entries are short, and a long one is mostly an
// output), times the weight of the kind; of equals the newest comes first.
func rank(m *store.Matches) {
	rarity := make([]float64, len(m.Seen))
	for i, n := range m.Seen {
		rarity[i] = math.Log(1 + (float64(m.Of)-float64(n)+.5)/(float64(n)+.5))
	}
	mean := 0.0
	for _, x := range m.List {
		mean += float64(x.Found.Words) / float64(len(m.List))
	}
	score := make(map[job.ID]float64, len(m.List))
	for _, x := range m.List {
		s := 0.0
		for i, n := range x.Found.Counts {
			f := float64(n)
			s += rarity[i] * f * 2.2 / (f + 1.2*(.6+.4*float64(x.Found.Words)/mean))
		}
		if w := weights[x.Kind]; w > 0 {
			s *= w
		}
		score[x.ID] = s
	}
	slices.SortStableFunc(m.List, func(a, b store.Match) int {
		switch x, y := score[a.ID], score[b.ID]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(b.HappenedAt - a.HappenedAt)
	})
}
