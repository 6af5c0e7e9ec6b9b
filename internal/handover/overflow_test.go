package handover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// TestTwoHundredDecisions: every one in short form as far as the share and what
// others left unused go, newest first; one line says how many are left out; the
// section alone has all of them whole.
func TestTwoHundredDecisions(t *testing.T) {
	t.Parallel()
	s := many(t, 200, 0)
	v := s.view()
	p := sound(t, s, v, Options{})
	shown := 0
	for n := 199; n >= 0 && strings.Contains(p.Text, fmt.Sprintf("decision number %d is", n)); n-- {
		shown++
	}
	count := counted(p, Decisions)
	if count.Across != shown || count.Across+count.Behind != 200 {
		t.Errorf("%d decisions stand in a row from the newest, the count says %d across and %d behind", shown, count.Across, count.Behind)
	}
	bytes := 0
	for _, l := range p.Lines {
		if l.Section == Decisions {
			bytes += len(l.prefix()) + len(l.Text) + 1
			if n := len([]rune(l.Text)); n > shortForm {
				t.Errorf("%d characters while others are left out: %s", n, l.Text)
			}
		}
	}
	if share := DefaultTokens * 4 / 4; bytes < share {
		t.Errorf("decisions have %d bytes, want their share of %d at least", bytes, share)
	}
	if left := DefaultTokens*4 - len(p.Text); left > 500 {
		t.Errorf("%d bytes are unused while decisions are left out", left)
	}
	if want := fmt.Sprintf("Left out: decisions %d", 200-shown); strings.Count(p.Text, want) != 1 || !strings.Contains(p.Text, "duplex brief --section decisions") {
		t.Errorf("no line says %q:\n%s", want, p.Text)
	}
	whole := Build(v, Options{Section: "decisions"})
	if got := counted(whole, Decisions); got.Across != 200 || strings.Count(whole.Text, "it was measured; rejected: leave it") != 200 {
		t.Errorf("the section alone has %d decisions of 200", got.Across)
	}
	for _, f := range Examine(v, s.entries, whole, Options{Section: "decisions"}) {
		t.Errorf("%s: want %q, got %q", f.Probe, f.Want, f.Got)
	}
}

func counted(p Packet, name string) job.SectionCount {
	for _, c := range p.Sections {
		if c.Section == name {
			return c
		}
	}
	return job.SectionCount{}
}

// TestReasonsUseWhatIsLeft: with few decisions each has its why; nothing is cut.
func TestReasonsUseWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := sound(t, calc(t), calc(t).view(), Options{})
	if !strings.Contains(p.Text, "why: a failing case must name its function; rejected: one table for each package") || strings.Contains(p.Text, "Left out") {
		t.Errorf("the reasons of the only decision are not there:\n%s", p.Text)
	}
}

// TestEightHandoversInARow: decisions and dead ends of the first session are
// whole at the last, since no packet is made from an earlier one.
func TestEightHandoversInARow(t *testing.T) {
	t.Parallel()
	s := newStory(t, "Move the payment service to the new API without downtime.", "go test ./...", "make e2e")
	decided, deadEnds := 0, 0
	asked, failed := 0, 0
	for n := range 8 {
		s.sit([]string{"claude", "codex", "gemini"}[n%3])
		s.duplex(&job.TookOver{How: "startup", Tokens: 900})
		for i := range 5 {
			s.agents(&job.Decided{Text: fmt.Sprintf("endpoint %d.%d keeps its old name behind a redirect", n, i), Why: "clients cache it", Rejected: []string{"a new name"}})
			decided++
		}
		for deadEnds < (n+1)*10/8 {
			s.agents(&job.DeadEnd{Text: fmt.Sprintf("generator run %d loses the headers", deadEnds), Why: "it reads the old schema"})
			deadEnds++
		}
		for i := range 12 {
			s.edit(fmt.Sprintf("api/v%d/handler_%d.go", n, i), fmt.Sprintf("handlePayment%d%d", n, i))
			s.read(fmt.Sprintf("api/v%d/doc_%d.go", n, i))
		}
		s.run(job.ClassTest, fmt.Sprintf("go test ./api/v%d", n), n%2, "FAIL", fmt.Sprintf("TestHandler%d", n))
		open := s.agents(&job.Raised{Text: fmt.Sprintf("session %d: go on with endpoint %d", n, n+1), Next: true})
		v := s.view()
		v.Claim = "All is well with the endpoints so far, as far as I can tell."
		p, probes, repaired := Repaired(v, s.entries, Options{})
		failures := Examine(v, s.entries, p, Options{})
		asked, failed = asked+probes, failed+len(failures)
		if repaired != 0 || len(failures) != 0 {
			t.Errorf("handover %d: %d repaired, %+v\n%s", n+1, repaired, failures, p.Text)
		}
		s.duplex(&job.HandedOver{Why: "level", Next: p.Next, Claim: v.Claim, Tokens: p.Tokens, Sections: p.Sections, Probes: probes})
		if n < 7 {
			s.agents(&job.Settled{Item: open.ID, How: "done"})
		}
		if n == 7 {
			if got := counted(p, Decisions); got.Across != 40 || got.Behind != 0 {
				t.Errorf("decisions at the last handover: %+v of %d", got, decided)
			}
			if got := counted(p, DeadEnds); got.Across != 10 || got.Behind != 0 {
				t.Errorf("dead ends at the last handover: %+v", got)
			}
		}
	}
	t.Logf("%d of %d probes answered right over 8 handovers", asked-failed, asked)
}
