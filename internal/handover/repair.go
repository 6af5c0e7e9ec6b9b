package handover

import (
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Repair says how a failed probe is put right: a line that goes across before
// others, or one that must not.
type Repair struct{ Show, Hide *Line }

// rounds is how often a packet is repaired: forcing one line in may push out
// another that a probe asks for.
const rounds = 3

// Repaired builds a packet, examines it, and builds it again with what the failed
// probes missed, as long as that helps. It gives the packet, how many probes were
// asked, and how many of those that failed at first no longer do.
func Repaired(v View, entries []job.Entry, o Options) (p Packet, probes, repaired int) {
	p = Build(v, o)
	x := examine(v, entries, p, o)
	first, failed := len(x.failures), len(x.failures)
	probes = x.asked
	for range rounds {
		if failed == 0 {
			break
		}
		for _, f := range x.failures {
			if f.Repair != (Repair{}) {
				o.repair = append(o.repair, f.Repair)
			}
		}
		again := Build(v, o)
		x = examine(v, entries, again, o)
		if len(x.failures) >= failed {
			break
		}
		p, failed = again, len(x.failures)
	}
	return p, probes, first - failed
}

// applyRepairs puts right who said a line, takes out what must not go across,
// and puts first what must.
func applyRepairs(sections []*section, repairs []Repair) {
	for _, r := range repairs {
		for _, s := range sections {
			switch {
			case r.Hide != nil && r.Hide.Section != s.name, r.Hide == nil && (r.Show == nil || r.Show.Section != s.name):
			case r.Show == nil:
				s.remove(func(i *item) bool { return i.is(*r.Hide) })
			case r.Hide == nil:
				s.force(*r.Show)
			default:
				s.credit(*r.Hide, *r.Show)
			}
		}
	}
}

func (s *section) remove(gone func(*item) bool) {
	s.items = slices.DeleteFunc(s.items, gone)
	s.order = slices.DeleteFunc(s.order, func(g grant) bool { return gone(g.item) })
}

// credit says of a line who really said it, and where.
func (s *section) credit(wrong, right Line) {
	for _, i := range s.items {
		if i.is(wrong) {
			i.By, i.Position, i.Entry = right.By, right.Position, right.Entry
		}
	}
}

// force puts a line before all that were not forced, in the place of the line it
// corrects, and of the next action when it is one.
func (s *section) force(l Line) {
	next := strings.HasPrefix(l.Text, nextLabel)
	i := &item{Line: l, forms: []string{l.Text}, forced: true}
	if next || s.name == Goal {
		i.must = early
	}
	s.remove(func(old *item) bool {
		gone := old.is(l) || next && strings.HasPrefix(old.forms[0], nextLabel)
		if gone && i.stale == "" {
			i.stale = old.stale
		}
		return gone
	})
	if s.name == Goal && subject(l) == "" || s.name == Instruction {
		i.must, i.forms = always, twoForms(opening(l.Text, s.sure), l.Text)
	}
	at := slices.IndexFunc(s.items, func(old *item) bool { return !old.forced })
	if at < 0 {
		at = len(s.items)
	}
	s.items = slices.Insert(s.items, at, i)
	if s.order != nil {
		s.order = slices.Insert(s.order, 0, grant{i, 1})
	}
}

// is reports whether an item gives a line: it has the same words, or speaks of
// the same thing for the same entry.
func (i *item) is(l Line) bool {
	for n := range i.forms {
		if i.form(n) == l.Text || i.forms[n] == l.Text {
			return true
		}
	}
	return l.Entry != "" && i.Entry == l.Entry && subject(l) == subject(Line{Section: i.Section, Text: i.forms[0]})
}

// subject tells lines of one entry apart, where an entry may give several.
func subject(l Line) string {
	switch l.Section {
	case WorkingSet, Done:
		return l.Text
	case Workspace:
		what, _, _ := strings.Cut(l.Text, " ")
		return what
	case Goal:
		if strings.HasPrefix(l.Text, "check `") {
			return l.Text[:min(60, strings.LastIndexByte(l.Text, '`'))]
		}
	}
	return ""
}
