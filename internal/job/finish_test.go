package job

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	red := map[string]CheckState{"c1": CheckFailed, "c2": CheckPassed}
	ok := []CheckResult{{ID: "c1", State: CheckPassed}, {ID: "c2", State: CheckPassed}}
	for _, c := range []struct {
		name string
		e    Evidence
		want Outcome
		why  string
	}{
		{"red then green passes", Evidence{Results: ok, Baseline: red, Worked: true}, OutcomePassed, ""},
		{"one red", Evidence{Results: []CheckResult{{ID: "c1", State: CheckFailed}}, Baseline: red, Worked: true}, OutcomeFailed, "check c1 failed"},
		{"passes only with changed files", Evidence{Results: []CheckResult{{ID: "c1", State: CheckFailed, Agent: CheckPassed}}, Changed: []string{"a_test.go"}, Baseline: red, Worked: true}, OutcomeFailed, "checks changed"},
		{"changed, but as agreed it passes", Evidence{Results: ok, Changed: []string{"a_test.go"}, Baseline: red, Worked: true}, OutcomePassed, "checks changed"},
		{"a test is missing", Evidence{Results: ok, Baseline: red, Keep: true, Listed: true, Losses: []TestLoss{{Name: "adds", Loss: "missing"}}, Worked: true}, OutcomeFailed, "adds (missing)"},
		{"and was accepted by name", Evidence{Results: ok, Baseline: red, Keep: true, Listed: true, Losses: []TestLoss{{Name: "adds", Loss: "missing", Accepted: true}}, Worked: true}, OutcomePassed, ""},
		{"no list is no pass", Evidence{Results: ok, Baseline: red, Keep: true, ListError: "no go", Worked: true}, OutcomeUnverified, "could not be listed"},
		{"a check that cannot run is no pass", Evidence{Results: []CheckResult{{ID: "c1", State: CheckCannotRun}}, Baseline: red, Worked: true}, OutcomeUnverified, "did not run"},
		{"green on day one proves nothing", Evidence{Results: ok[1:], Baseline: red, Worked: true}, OutcomeUnverified, "green on day one"},
		{"a claim without work", Evidence{Results: ok[1:], Baseline: red}, OutcomeUnverified, "nothing differs"},
		{"no checks", Evidence{Worked: true}, OutcomeUnverified, "no checks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(c.e)
			if got.Outcome != c.want || !strings.Contains(got.Reason, c.why) {
				t.Errorf("got %s (%s), want %s (%s)", got.Outcome, got.Reason, c.want, c.why)
			}
		})
	}
}
