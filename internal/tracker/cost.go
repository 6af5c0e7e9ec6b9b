package tracker

import (
	"sort"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// noStep is the group of what was spent without a step following it.
const noStep = "no step"

// stepCosts sums what each kind of step cost: a message counts to the next step of
// its session, so what was read before an edit counts to the edit. One pass over
// the ledger; what is held is a word a message.
func stepCosts(tx *store.Tx, id job.ID) (rows []store.CostRow, steps map[string]int64, err error) {
	class, pending := map[string]job.Class{}, map[job.ID][]string{}
	steps = map[string]int64{}
	err = tx.Entries(id, 0, 0, func(e job.Entry, _ store.Raw) error {
		switch p := e.Payload.(type) {
		case *job.Spent:
			pending[e.Session] = append(pending[e.Session], job.SpendKey(e.Key))
		case *job.Step:
			if p.Of != "" {
				return nil
			}
			steps[string(p.Class)]++
			for _, key := range pending[e.Session] {
				class[key] = p.Class
			}
			delete(pending, e.Session)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	sums := map[string]*store.CostRow{}
	err = tx.Spends(id, func(s job.Spend) error {
		name := string(class[s.Key])
		if name == "" {
			name = noStep
		}
		row := sums[name]
		if row == nil {
			row = &store.CostRow{Name: name}
			sums[name] = row
		}
		if s.Purpose != job.PurposeReconciled {
			row.Messages++
		}
		row.Tokens = row.Tokens.Plus(s.Tokens)
		if s.Pico == nil {
			row.Unpriced += s.Tokens.Total()
			return nil
		}
		row.Pico += *s.Pico
		if s.Estimate {
			row.Estimate += *s.Pico
		}
		return nil
	})
	for _, r := range sums {
		rows = append(rows, *r)
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Name < rows[j].Name })
	return rows, steps, err
}
