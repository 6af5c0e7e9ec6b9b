package handover

import (
	"slices"
	"sort"

	"github.com/seed-5777983b/duplex/internal/job"
)

// NewestSteps is how many steps a view needs.
const NewestSteps = 200

// Gather makes the view of a job whose ledger was folded in memory. A store reads
// the same from its rows.
func Gather(m *job.Memory, entries []job.Entry, now job.Time) View {
	v := View{Now: now, Standing: m.Now}
	items := func(kind job.Kind, state job.ItemState) []job.Item {
		var out []job.Item
		for _, i := range m.ItemsOf(kind, state) {
			out = append(out, *i)
		}
		return out
	}
	v.Checks = items(job.KindChecked, job.InForce)
	v.Instructions = items(job.KindInstructed, job.InForce)
	v.Answers = items(job.KindAnswered, job.InForce)
	v.Decisions = items(job.KindDecided, job.InForce)
	v.DeadEnds = items(job.KindDeadEnd, job.InForce)
	v.Open = items(job.KindRaised, job.Open)
	v.Questions = items(job.KindAsked, "")
	for _, w := range m.Works {
		v.Works = append(v.Works, *w)
	}
	sort.Slice(v.Works, func(a, b int) bool {
		x, y := v.Works[a].WorkKey, v.Works[b].WorkKey
		if x.Kind != y.Kind {
			return x.Kind < y.Kind
		}
		if x.Name != y.Name {
			return x.Name < y.Name
		}
		return x.Workspace < y.Workspace
	})
	for _, s := range m.Sittings {
		v.Sittings = append(v.Sittings, *s)
	}
	sort.Slice(v.Sittings, func(a, b int) bool { return v.Sittings[a].First < v.Sittings[b].First })
	v.Paused = m.Now.Pause
	points := map[int]int64{}
	for _, e := range entries {
		switch p := e.Payload.(type) {
		case *job.Opened:
			if e.ID == m.Now.GoalEntry {
				v.Goal, v.GoalAt = p.Goal, e.Position
			}
		case *job.Amended:
			if e.ID == m.Now.GoalEntry && p.Goal != nil {
				v.Goal, v.GoalAt = *p.Goal, e.Position
			}
		case *job.Step:
			v.Steps = append(v.Steps, e)
		case *job.SafePoint:
			points[p.Number] = e.Position
			v.newest(e)
		case *job.Seen:
			v.Seen = p
			v.newest(e)
		case *job.HandedOver:
			v.Handed = p
			v.newest(e)
		case *job.Paused:
			v.newest(e)
		case *job.WentBack:
			v.WentBack, v.BackTo = &e, points[p.To]
		}
	}
	v.Steps = v.Steps[max(0, len(v.Steps)-NewestSteps):]
	return v
}

// newest keeps one entry a kind.
func (v *View) newest(e job.Entry) {
	v.Newest = slices.DeleteFunc(v.Newest, func(old job.Entry) bool { return old.Kind == e.Kind })
	v.Newest = append(v.Newest, e)
}
