package job

import "testing"

func TestFillDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		fill            Fill
		nudge, handover bool
	}{
		{"nothing known", Fill{}, false, false},
		{"no level", Fill{Context: 90}, false, false},
		{"room", Fill{Context: 69, Level: 100}, false, false},
		{"at the nudge", Fill{Context: 70, Level: 100}, true, false},
		{"nudged already", Fill{Context: 70, Level: 100, Nudged: true}, false, false},
		{"at the handover", Fill{Context: 85, Level: 100, Nudged: true}, false, true},
		{"both at once", Fill{Context: 85, Level: 100}, true, true},
		{"handed over already", Fill{Context: 99, Level: 100, Nudged: true, HandedOver: true}, false, false},
		{"less than two of the largest steps left", Fill{Context: 61, Level: 100, Largest: 20}, false, true},
		{"two of the largest steps left", Fill{Context: 60, Level: 100, Largest: 20}, false, false},
	} {
		if nudge, handover := c.fill.Due(.70, .85); nudge != c.nudge || handover != c.handover {
			t.Errorf("%s: due %v, %v, want %v, %v", c.name, nudge, handover, c.nudge, c.handover)
		}
	}
}

func TestFillGrow(t *testing.T) {
	t.Parallel()
	var f Fill
	for _, n := range []int64{50, 0, 80, 75, 90} {
		f.Grow(n)
	}
	if f.Context != 90 || f.Largest != 30 {
		t.Errorf("context %d, largest step %d, want 90 and 30: the first message is no step, and one without a context says nothing", f.Context, f.Largest)
	}
}
