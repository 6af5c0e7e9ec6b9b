package handover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// sound reports every failure of a packet as a test error.
func sound(t *testing.T, s *story, v View, o Options) Packet {
	t.Helper()
	p := Build(v, o)
	for _, f := range Examine(v, s.entries, p, o) {
		t.Errorf("%s: want %q, got %q", f.Probe, f.Want, f.Got)
	}
	if t.Failed() {
		t.Logf("\n%s", p.Text)
	}
	return p
}

func TestExamineFindsNothingInASoundPacket(t *testing.T) {
	t.Parallel()
	for _, tokens := range []int{MinTokens, 600, 1000, 2000, 8000} {
		for name, s := range map[string]*story{"calc": calc(t), "back": back(t), "new": newStory(t, "Say hello"), "many": many(t, 200, 40)} {
			t.Run(fmt.Sprint(name, tokens), func(t *testing.T) {
				v := s.view()
				v.Claim = "Everything is as it should be, I have looked at all of it."
				sound(t, s, v, Options{Tokens: tokens})
				v.Facts = Facts{Looked: true, Branch: "try", Head: "0123456789", Dirty: []string{"x.go"}, Missing: []string{"calc/add_test.go"}}
				sound(t, s, v, Options{Tokens: tokens})
			})
		}
	}
}

// TestExamineALongLedger: of a ledger too long to read whole, the kinds in
// Examined and the newest steps are enough.
func TestExamineALongLedger(t *testing.T) {
	t.Parallel()
	s := calc(t)
	for n := range 300 {
		s.edit(fmt.Sprintf("calc/gen%d_test.go", n), fmt.Sprintf("TestGen%d", n))
		s.read(fmt.Sprintf("calc/gen%d.go", n))
	}
	kinds := map[job.Kind]bool{}
	for _, k := range Examined() {
		kinds[k] = true
	}
	var some []job.Entry
	steps := 0
	for n := len(s.entries) - 1; n >= 0; n-- {
		e := s.entries[n]
		if e.Kind == job.KindStep {
			steps++
		}
		if kinds[e.Kind] || e.Kind == job.KindStep && steps <= NewestSteps {
			some = append(some, e)
		}
	}
	v := s.view()
	p, probes, repaired := Repaired(v, some, Options{})
	if failures := Examine(v, some, p, Options{}); len(failures) > 0 || repaired > 0 || probes < 20 {
		t.Errorf("%d probes, %d repaired, %+v", probes, repaired, failures)
	}
	sound(t, s, v, Options{})
}

func BenchmarkBuild(b *testing.B) {
	s := many(b, 500, 100)
	for n := range 2000 {
		s.edit(fmt.Sprintf("p%d/f%d.go", n%40, n), fmt.Sprintf("symbolNumber%d", n))
	}
	v := s.view()
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			Build(v, Options{})
		}
	})
	b.Run("repaired", func(b *testing.B) {
		for b.Loop() {
			Repaired(v, s.entries, Options{})
		}
	})
}

// many is a job with more decisions than a packet can hold.
func many(t testing.TB, decisions, deadEnds int) *story {
	s := newStory(t, strings.Repeat("Move everything to the new place, folder by folder. ", 8), "go test ./...")
	s.sit("claude")
	for n := range decisions {
		s.agents(&job.Decided{Text: fmt.Sprintf("decision number %d is about the module in folder %d and what it may import", n, n%7), Why: strings.Repeat("it was measured ", 9), Rejected: []string{"leave it"}})
	}
	for n := range deadEnds {
		s.agents(&job.DeadEnd{Text: fmt.Sprintf("attempt %d with the generator of folder %d", n, n%5), Why: "it dropped comments"})
	}
	s.person(&job.Instructed{Text: strings.Repeat("Go on with the next folder and keep the names. ", 4)})
	return s
}
