package job

import "sort"

// Memory holds a standing and its rows in memory: for folding a ledger again,
// for building a handover from a transcript that is in no store, and for tests.
type Memory struct {
	Now      Standing
	Items    map[ID]*Item
	Works    map[WorkKey]*Work
	Spends   map[string]*Spend
	Sittings map[ID]*Sitting
}

// NewMemory is an empty one.
func NewMemory() *Memory {
	return &Memory{Items: map[ID]*Item{}, Works: map[WorkKey]*Work{}, Spends: map[string]*Spend{}, Sittings: map[ID]*Sitting{}}
}

// Item implements Rows.
func (m *Memory) Item(id ID) (*Item, error) { return m.Items[id], nil }

// Work implements Rows.
func (m *Memory) Work(key WorkKey) (*Work, error) { return m.Works[key], nil }

// Spend implements Rows.
func (m *Memory) Spend(key string) (*Spend, error) { return m.Spends[key], nil }

// Sitting implements Rows.
func (m *Memory) Sitting(id ID) (*Sitting, error) { return m.Sittings[id], nil }

// Apply folds an entry and keeps its changes.
func (m *Memory) Apply(e Entry) error {
	s, changes, err := Apply(m.Now, e, m)
	if err != nil {
		return err
	}
	m.Now = s
	m.Keep(changes)
	return nil
}

// Keep writes the rows of one entry.
func (m *Memory) Keep(changes []Change) {
	for _, c := range changes {
		switch {
		case c.Item != nil:
			m.Items[c.Item.ID] = c.Item
		case c.Work != nil:
			m.Works[c.Work.WorkKey] = c.Work
		case c.Spend != nil:
			m.Spends[c.Spend.Key] = c.Spend
		case c.Sitting != nil:
			m.Sittings[c.Sitting.ID] = c.Sitting
		}
	}
}

// ItemsOf lists the items of a kind in a state, oldest first; an empty state
// means any.
func (m *Memory) ItemsOf(kind Kind, state ItemState) []*Item {
	var out []*Item
	for _, i := range m.Items {
		if i.Kind == kind && (state == "" || i.State == state) {
			out = append(out, i)
		}
	}
	sort.Slice(out, func(a, b int) bool {
		if out[a].Position != out[b].Position {
			return out[a].Position < out[b].Position
		}
		return out[a].ID < out[b].ID
	})
	return out
}
