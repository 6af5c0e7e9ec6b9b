package job

import (
	"fmt"
	"strings"
)

// Evidence is what a finish is judged by: what ran in a clean checkout, against
// what was agreed on day one.
type Evidence struct {
	Results  []CheckResult         // with the protected files as agreed
	Baseline map[string]CheckState // of each check on day one; empty when it was never run
	Setup    *CheckResult
	// Keep: tests must survive. Listed: both listings are there to be compared.
	Keep      bool
	Listed    bool
	ListError string
	Losses    []TestLoss
	Changed   []string // protected files that differ from day one
	Worked    bool     // something differs from the first safe point
}

// Judge gives the outcome of a finish: passed, failed or unverified, and why. A
// check that did not run is not a pass; a list that is missing is not a pass; a
// lost test fails unless a person accepted it by name; checks that were all green
// on day one prove nothing.
func Judge(e Evidence) *Finished {
	f := &Finished{Outcome: OutcomePassed, Results: e.Results, Losses: e.Losses, ChecksChanged: e.Changed}
	var failed, cannot, unproven, lost, weakened []string
	for _, r := range e.Results {
		switch {
		case r.State == CheckFailed:
			failed = append(failed, r.ID)
			if r.Agent == CheckPassed {
				weakened = append(weakened, r.ID)
			}
		case r.State != CheckPassed:
			cannot = append(cannot, r.ID)
		case e.Baseline[r.ID] == CheckPassed:
			unproven = append(unproven, r.ID)
		}
	}
	for _, l := range e.Losses {
		if !l.Accepted {
			lost = append(lost, fmt.Sprintf("%s (%s)", l.Name, l.Loss))
		}
	}
	var why []string
	if len(failed) > 0 {
		why = append(why, names("check", failed)+" failed")
	}
	if len(weakened) > 0 {
		why = append(why, names("check", weakened)+" passed only with changed protected files: checks changed")
	}
	if len(lost) > 0 {
		why = append(why, fmt.Sprintf("%d of the tests of day one did not survive: %s", len(lost), some(lost)))
	}
	if len(why) > 0 {
		f.Outcome, f.Reason = OutcomeFailed, strings.Join(why, "; ")
		return f
	}
	if e.Setup != nil && e.Setup.State != CheckPassed {
		why = append(why, "setup did not pass")
	}
	if len(cannot) > 0 {
		why = append(why, names("check", cannot)+" did not run")
	}
	if e.Keep && !e.Listed {
		why = append(why, "the tests could not be listed: "+e.ListError)
	}
	if len(e.Results) == 0 {
		why = append(why, "the job has no checks")
	}
	if len(e.Results) > 0 && len(unproven) == len(e.Results) {
		if e.Worked {
			why = append(why, "every check was green on day one, so none proves the goal")
		} else {
			why = append(why, "nothing differs from day one, and every check was green then")
		}
	}
	if len(why) > 0 {
		f.Outcome, f.Reason = OutcomeUnverified, strings.Join(why, "; ")
		return f
	}
	if len(e.Changed) > 0 {
		f.Reason = fmt.Sprintf("checks changed: %d protected files differ from day one; as agreed, every check passes", len(e.Changed))
	}
	return f
}

func names(noun string, ids []string) string {
	if len(ids) == 1 {
		return noun + " " + ids[0]
	}
	return noun + "s " + strings.Join(ids[:len(ids)-1], ", ") + " and " + ids[len(ids)-1]
}

func some(list []string) string {
	if len(list) > 8 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:8], ", "), len(list)-8)
	}
	return strings.Join(list, ", ")
}
