package tracker

import (
	"context"
	"sort"
	"strconv"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Row is one job in a list.
type Row struct {
	Standing job.Standing `json:"standing"`
	Place    job.Place    `json:"place"`
	Alias    string       `json:"alias,omitempty"` // k7m2/2: the child's name by its parent
	Renewed  job.Time     `json:"renewed,omitempty"`
}

// JobsRequest says which jobs to list.
type JobsRequest struct {
	All     bool // finished and unnamed ones too
	Ready   bool // only those ready to resume
	Dir     string
	Unnamed bool
}

// Jobs lists jobs by the place they are in: who needs you, running, ready to
// resume oldest first, waiting, finished.
func (t *Tracker) Jobs(ctx context.Context, r JobsRequest) ([]Row, error) {
	var out []Row
	now := t.Now()
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Jobs(store.JobFilter{})
		if err != nil {
			return err
		}
		children := map[job.ID]int{}
		sort.Slice(rows, func(i, j int) bool { return rows[i].Standing.Opened < rows[j].Standing.Opened })
		names := map[job.ID]string{}
		for _, j := range rows {
			names[j.ID] = j.Short
		}
		for _, j := range rows {
			s := j.Standing
			row := Row{Standing: s, Place: s.Place(now, t.working(&s, j.Renewed, now)), Renewed: j.Renewed}
			if s.Parent != "" {
				children[s.Parent]++
				if names[s.Parent] != "" {
					row.Alias = aliasOf(names[s.Parent], children[s.Parent])
				}
			}
			if r.Ready && row.Place != job.PlaceReady || s.Unnamed && !r.All && !r.Unnamed {
				continue
			}
			out = append(out, row)
		}
		return nil
	})
	order := map[job.Place]int{job.PlaceNeedsYou: 0, job.PlaceRunning: 1, job.PlaceReady: 2, job.PlaceWaiting: 3, job.PlaceFinished: 4}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if order[a.Place] != order[b.Place] {
			return order[a.Place] < order[b.Place]
		}
		if a.Place == job.PlaceFinished {
			return a.Standing.Outcome.At > b.Standing.Outcome.At
		}
		return since(a.Standing) < since(b.Standing)
	})
	return out, err
}

func aliasOf(parent string, n int) string { return parent + "/" + strconv.Itoa(n) }

// since is when a job began to wait; the longest waiting comes first.
func since(s job.Standing) job.Time {
	if s.Pause != nil {
		return s.Pause.Since
	}
	return s.Updated
}

// Shown is everything a person asks about one job.
type Shown struct {
	Row
	Goal      string         `json:"goal"`
	Open      []job.Item     `json:"open"`
	Questions []job.Item     `json:"questions,omitempty"`
	DeadEnds  []job.Item     `json:"dead_ends"`
	Decisions []job.Item     `json:"decisions"`
	Sittings  []job.Sitting  `json:"sessions"`
	Children  []Row          `json:"children,omitempty"`
	Spend     job.Bill       `json:"spend_with_children"`
	Losses    []job.TestLoss `json:"losses,omitempty"`
	Checked   *job.Checked   `json:"checked,omitempty"`
}

// Show answers where a job stands: one bounded answer.
func (t *Tracker) Show(ctx context.Context, id job.ID) (Shown, error) {
	var out Shown
	now := t.Now()
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Standing(id)
		if err != nil {
			return err
		}
		renewed, err := tx.Renewed(id)
		if err != nil {
			return err
		}
		out.Row = Row{Standing: s, Place: s.Place(now, t.working(&s, renewed, now)), Renewed: renewed}
		out.Goal, out.Spend = s.Goal, s.Spend
		if e, err := tx.Entry(id, string(s.GoalEntry)); err == nil {
			if p, ok := e.Payload.(*job.Opened); ok {
				out.Goal = p.Goal
			}
		}
		for _, want := range []struct {
			into  *[]job.Item
			kind  job.Kind
			state job.ItemState
		}{
			{&out.Open, job.KindRaised, job.Open}, {&out.Questions, job.KindAsked, job.Open},
			{&out.DeadEnds, job.KindDeadEnd, job.InForce}, {&out.Decisions, job.KindDecided, job.InForce},
		} {
			if *want.into, err = tx.Items(id, want.kind, want.state, 50, true); err != nil {
				return err
			}
		}
		if out.Sittings, err = tx.Sittings(id); err != nil {
			return err
		}
		if len(out.Sittings) > 50 {
			out.Sittings = out.Sittings[len(out.Sittings)-50:]
		}
		if e, err := tx.EntriesOf(id, []job.Kind{job.KindChecked}, true, 1); err != nil {
			return err
		} else if len(e) == 1 {
			if p, ok := e[0].Payload.(*job.Checked); ok {
				out.Checked, out.Losses = p, p.Losses
			}
		}
		children, err := tx.Jobs(store.JobFilter{Parent: id})
		if err != nil {
			return err
		}
		for _, c := range children { // a parent sums live, once
			cs := c.Standing
			out.Children = append(out.Children, Row{Standing: cs, Place: cs.Place(now, t.working(&cs, c.Renewed, now)), Renewed: c.Renewed})
			out.Spend.Pico += cs.Spend.Pico
			out.Spend.Tokens = out.Spend.Tokens.Plus(cs.Spend.Tokens)
			out.Spend.Messages += cs.Spend.Messages
			out.Spend.Unpriced += cs.Spend.Unpriced
		}
		return nil
	})
	return out, err
}

// LogRequest says which entries to read.
type LogRequest struct {
	From, To int64      // positions; 0: all
	Kinds    []job.Kind // empty: all
}

// Log reads a job's ledger in order.
func (t *Tracker) Log(ctx context.Context, id job.ID, r LogRequest, each func(job.Entry) error) error {
	want := map[job.Kind]bool{}
	for _, k := range r.Kinds {
		want[k] = true
	}
	return t.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Entries(id, r.From, r.To, func(e job.Entry, _ store.Raw) error {
			if len(want) > 0 && !want[e.Kind] {
				return nil
			}
			return each(e)
		})
	})
}

// Items lists rows of one kind, for log --decided and the like.
func (t *Tracker) Items(ctx context.Context, id job.ID, kind job.Kind, state job.ItemState) ([]job.Item, error) {
	var out []job.Item
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		out, err = tx.Items(id, kind, state, 0, false)
		return err
	})
	return out, err
}

// Receipt reads a step's whole output.
func (t *Tracker) Receipt(ctx context.Context, r job.Receipt) ([]byte, error) {
	if r.Blob == "" {
		return []byte(r.Text), nil
	}
	var out []byte
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		out, err = tx.Blob(r.Blob)
		return err
	})
	return out, err
}

// CostOf is a job's bill, cut by one side.
type CostOf struct {
	By   store.CostBy    `json:"by"`
	Rows []store.CostRow `json:"rows"`
}

// Costs sums a job's spend by session, agent, model, day and step kind.
func (t *Tracker) Costs(ctx context.Context, id job.ID) (job.Bill, []CostOf, error) {
	var out []CostOf
	var bill job.Bill
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Standing(id)
		if err != nil {
			return err
		}
		bill = s.Spend
		for _, by := range []store.CostBy{store.BySession, store.ByAgent, store.ByModel, store.ByDay} {
			rows, err := tx.SpendBy(id, by, t.clock().Location())
			if err != nil {
				return err
			}
			out = append(out, CostOf{by, rows})
		}
		rows, _, err := stepCosts(tx, id)
		out = append(out, CostOf{store.ByClass, rows})
		return err
	})
	return bill, out, err
}

// Verify reads a job's whole ledger and holds it against its chain; an empty id
// means every job.
func (t *Tracker) Verify(ctx context.Context, id job.ID) (store.Report, error) {
	return t.store.Verify(ctx, id)
}

// Salvage reads what can be read of a damaged database into a new store.
func (t *Tracker) Salvage(ctx context.Context, to string) (store.Report, error) {
	return t.store.Salvage(ctx, to)
}
