package handover

import "slices"

// item is one line that may go across, in one of several forms.
type item struct {
	Line
	forms []string // shortest first; each says at least what the one before says
	stale string   // what the workspace says against it
	group int      // lines are shown by group, then as they were given
	must  must     // whether its shortest form goes before everything else
	// forced: a repair put it here. patient: a fuller form waits until every
	// section has had its share.
	forced, patient bool
	got             int // how many forms fitted: 0 left out, else forms[got-1] is shown
}

// must says how an item stands in the queue for room.
type must int

const (
	early  must = 1 // before the shares are given out, where it fits
	always must = 2 // before that: it is sized to fit
)

func (i *item) text() string { return i.form(i.got - 1) }

func (i *item) form(n int) string {
	if i.stale != "" {
		return i.forms[n] + " " + staleMark + i.stale + "]"
	}
	return i.forms[n]
}

// section is one part of a packet. Its items come with the ones to keep first.
type section struct {
	name    string
	heading string
	share   int // of the packet, per cent
	sure    int // bytes of its first line that are never cut
	items   []*item
	// order is how room is given out; without it every item first gets its
	// shortest form, then each a fuller one.
	order []grant
	spent int // bytes
}

// grant is room for one form of an item.
type grant struct {
	item *item
	form int // the form's number, from 1
}

// say adds what an entry said, unless it said nothing that can be seen.
func (s *section) say(i *item, text string) {
	if text != "" {
		s.add(i)
	}
}

func (s *section) add(i *item) *item {
	i.Section = s.name
	s.items = append(s.items, i)
	return i
}

func (s *section) shown() []*item {
	var out []*item
	for _, i := range s.items {
		if i.got > 0 {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b *item) int { return a.group - b.group })
	return out
}

func (s *section) grants() []grant {
	if s.order != nil {
		return s.order
	}
	var out []grant
	for _, i := range s.items {
		out = append(out, grant{i, 1})
	}
	for _, i := range s.items {
		for n := 2; n <= len(i.forms); n++ {
			out = append(out, grant{i, n})
		}
	}
	return out
}

// cost is what showing a form takes beyond what is shown already.
func (s *section) cost(g grant) int {
	i := g.item
	if i.got > 0 {
		return len(i.forms[g.form-1]) - len(i.forms[i.got-1])
	}
	n := len(i.prefix()) + len(i.form(g.form-1)) + 1
	if s.spent == 0 {
		n += len(s.heading)
	}
	return n
}

func (s *section) give(g grant) int {
	n := s.cost(g)
	g.item.got = g.form
	s.spent += n
	return n
}

// fill gives out room in order and returns what is left of it. A line that does
// not fit ends it, so that what is cut are whole lines from the end; a fuller
// form that does not fit leaves the line as it is.
func (s *section) fill(room int, last bool) int {
	for _, g := range s.grants() {
		if g.item.got >= g.form || g.form > 1 && g.item.patient && !last {
			continue
		}
		switch fits := s.cost(g) <= room; {
		case fits:
			room -= s.give(g)
		case g.item.got == 0:
			return room
		}
	}
	return room
}

// fit shares room out: first what must go across, then each section its share
// and what those before it left unused, then once more what is left in the end.
func fit(sections []*section, room int) {
	for _, s := range sections {
		for _, i := range s.items {
			i.got = 0
		}
		s.spent = 0
	}
	free := room
	for _, level := range []must{always, early} {
		for _, s := range sections {
			for _, i := range s.items {
				if g := (grant{i, 1}); i.must == level && (level == always || s.cost(g) <= free) {
					free -= s.give(g)
				}
			}
		}
	}
	flow := 0
	for _, s := range sections {
		flow = s.fill(room*s.share/100+flow-s.spent, false)
	}
	for _, s := range sections {
		flow = s.fill(flow, true)
	}
}
