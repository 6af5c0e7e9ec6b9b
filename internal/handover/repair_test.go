package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// TestRepairedPutsRightWhatRowsGotWrong: the rows a view is read from may be
// wrong; the raw entries say so, and the packet is right all the same.
func TestRepairedPutsRightWhatRowsGotWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(s *story, v *View)
	}{
		{"nothing", func(*story, *View) {}},
		{"a dead end is missing", func(_ *story, v *View) { v.DeadEnds = nil }},
		{"the decisions are missing", func(_ *story, v *View) { v.Decisions = nil }},
		{"a superseded decision is in force", func(s *story, v *View) {
			old := *s.mem.ItemsOf(job.KindDecided, job.Superseded)[0]
			old.State = job.InForce
			v.Decisions = append(v.Decisions, old)
		}},
		{"a settled item is open and next", func(s *story, v *View) {
			old := *s.mem.ItemsOf(job.KindRaised, job.ItemSettled)[0]
			old.State, old.Next = job.Open, true
			v.Open = append(v.Open, old)
		}},
		{"the newest instruction is missing", func(_ *story, v *View) {
			v.Instructions = slices.DeleteFunc(v.Instructions, func(i job.Item) bool { return strings.Contains(i.Text, "case names") })
		}},
		{"the newest instruction is another", func(_ *story, v *View) {
			for i := range v.Instructions {
				v.Instructions[i].Text = "Do as you like."
			}
		}},
		{"an answer is missing", func(_ *story, v *View) { v.Answers = nil }},
		{"the goal is clipped", func(_ *story, v *View) { v.Goal = "Move the…" }},
		{"an agent's decision is a person's", func(_ *story, v *View) { v.Decisions[0].Author = job.Author{Kind: job.Person} }},
		{"a position is wrong", func(_ *story, v *View) { v.DeadEnds[0].Position = 3 }},
		{"a failing check passed", func(_ *story, v *View) { v.Standing.Checks[1].State = job.CheckPassed }},
		{"the checks are missing", func(_ *story, v *View) { v.Standing.Checks = nil }},
		{"the last checkpoint is missing", func(_ *story, v *View) { v.Seen = nil }},
		{"the safe point is an older one", func(_ *story, v *View) {
			n := *v.Standing.SafePoint
			n.Number = 1
			v.Standing.SafePoint = &n
		}},
		{"the working set is missing", func(_ *story, v *View) { v.Works, v.Standing.Failure = nil, nil }},
		{"who took the safe point is not known", func(s *story, v *View) {
			s.person(&job.SafePoint{Number: 3, Why: "by hand"})
			*v = s.view()
			v.Newest = nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := calc(t)
			v := s.view()
			c.spoil(s, &v)
			before := len(Examine(v, s.entries, Build(v, Options{}), Options{}))
			p, probes, repaired := Repaired(v, s.entries, Options{})
			after := Examine(v, s.entries, p, Options{})
			if (before == 0) != (c.name == "nothing") {
				t.Errorf("%d probes failed before the repair", before)
			}
			if len(after) > 0 || repaired != before || probes < 20 {
				t.Errorf("of %d probes %d failed, %d were repaired, left: %+v\n%s", probes, before, repaired, after, p.Text)
			}
		})
	}
}

func TestRepairedKeepsTheBudget(t *testing.T) {
	t.Parallel()
	s := many(t, 200, 40)
	v := s.view()
	v.Decisions, v.DeadEnds = v.Decisions[:100], nil
	o := Options{Tokens: 700}
	p, _, repaired := Repaired(v, s.entries, o)
	if len(p.Text) > 2800 || repaired == 0 {
		t.Errorf("%d bytes, %d repaired", len(p.Text), repaired)
	}
	if !strings.Contains(p.Text, "decision number 199 ") {
		t.Errorf("the newest decision is not there:\n%s", p.Text)
	}
}

// FuzzBuild holds for any texts: budget, marker, and no probe fails.
func FuzzBuild(f *testing.F) {
	for i, text := range hostile {
		f.Add("Move the tests", text, hostile[(i+7)%len(hostile)], "calc/add.go", uint16(300*i))
	}
	f.Add(strings.Repeat("goal ", 3000), strings.Repeat("do not ", 900), "x", "a", uint16(0))
	f.Fuzz(func(t *testing.T, goal, instruction, text, path string, tokens uint16) {
		if strings.TrimSpace(goal) == "" || len(goal)+len(instruction)+len(text)+len(path) > 1<<16 {
			t.Skip()
		}
		s := newStory(t, goal, "go test ./...")
		s.sit("claude")
		s.person(&job.Instructed{Text: "Never touch the files of the old service.", Standing: true})
		s.agents(&job.Decided{Text: text, Why: instruction, Rejected: []string{text}})
		s.agents(&job.DeadEnd{Text: instruction, Why: text, Command: text})
		s.agents(&job.Raised{Text: text, Next: true})
		s.edit("a.go", "someSymbol")
		s.run(job.ClassCommand, "make "+text, 1, instruction)
		s.person(&job.Instructed{Text: instruction})
		s.duplex(&job.Seen{Branch: "main", Head: "0123456789", Changed: []string{"a.go"}})
		v := s.view()
		v.Claim = text
		o := Options{Tokens: int(tokens)}
		p := Build(v, o)
		if len(p.Text) > o.limit() {
			t.Errorf("%d bytes of %d", len(p.Text), o.limit())
		}
		for _, f := range Examine(v, s.entries, p, o) {
			t.Errorf("%s: want %q, got %q\n%s", f.Probe, f.Want, f.Got, p.Text)
		}
	})
}
