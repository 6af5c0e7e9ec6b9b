package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// checked tells a run of the checks, one line a check below it.
func (v *telling) checked(p *job.Checked) told {
	passed := 0
	for _, r := range p.Results {
		if r.State == job.CheckPassed {
			passed++
		}
	}
	what := "checks in a " + p.Where
	if p.Where != "clean checkout" {
		what = "checks in the " + p.Where
	}
	if p.Baseline {
		what = "checks on day one"
	}
	l := told{text: fmt.Sprintf("%s: %d of %d pass", what, passed, len(p.Results)), loose: true}
	if p.Tests > 0 {
		l.text += fmt.Sprintf("; %s listed", plural(p.Tests, "test"))
	}
	if p.Setup != nil && p.Setup.State != job.CheckPassed {
		l.more = append(l.more, "– setup "+p.Setup.Command+": "+orNone(p.Setup.Reason, string(p.Setup.State)))
	}
	for _, r := range p.Results {
		l.more = append(l.more, checkWords(r))
	}
	if p.ListError != "" {
		l.more = append(l.more, "tests cannot be listed: "+p.ListError)
	}
	l.more = append(l.more, lossWords(p.Losses)...)
	if len(p.Changed) > 0 {
		l.more = append(l.more, "protected files differ: "+strings.Join(p.Changed, ", "))
	}
	return l
}

func checkWords(r job.CheckResult) string {
	sign := "✕"
	switch r.State {
	case job.CheckPassed:
		sign = "✓"
	case job.CheckCannotRun:
		sign = "–"
	}
	out := sign + " " + orNone(r.Command, r.ID)
	if r.State != job.CheckPassed {
		out += ": " + orNone(r.Reason, string(r.State))
	}
	if r.Millis >= 1000 {
		out += ", " + span(time.Duration(r.Millis)*time.Millisecond)
	}
	if r.Agent != "" && r.Agent != r.State {
		out += "; with the protected files as they are now: " + string(r.Agent)
	}
	return out
}

func lossWords(losses []job.TestLoss) []string {
	var out []string
	for i, l := range losses {
		if i == 6 {
			out = append(out, fmt.Sprintf("%d more tests lost", len(losses)-6))
			break
		}
		accepted := ""
		if l.Accepted {
			accepted = ", accepted"
		}
		out = append(out, fmt.Sprintf("✕ test %s: %s%s", l.Name, l.Loss, accepted))
	}
	return out
}

func (v *telling) finished(p *job.Finished) told {
	sign := "✓ "
	if !p.Outcome.Ends() || p.Outcome == job.OutcomeAbandoned {
		sign = "✕ "
	}
	l := told{text: sign + "finished: " + string(p.Outcome), loose: true, speech: true}
	if p.Reason != "" {
		l.text += ", " + p.Reason
	}
	if v.full { // the checks that were told just before named them
		l.more = lossWords(p.Losses)
	}
	if len(p.ChecksChanged) > 0 {
		l.more = append(l.more, "checks changed: "+strings.Join(p.ChecksChanged, ", "))
	}
	return l
}
