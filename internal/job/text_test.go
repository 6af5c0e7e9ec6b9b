package job

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	t.Parallel()
	goal := "a goal"
	for _, c := range []struct {
		p    Payload
		want string // a bar for an empty line
	}{
		{&Opened{Goal: goal, Checks: []Check{{Command: "make test"}}, Protect: []string{"x"}}, "a goal|make test"},
		{&Amended{Goal: &goal, Why: "w"}, "a goal|w"},
		{&Decided{Text: "t", Why: "w", Rejected: []string{"r1", "r2"}}, "t|w|r1|r2"},
		{&DeadEnd{Text: "t", Command: "c"}, "t|c"},
		{&Asked{Text: "t", Options: []string{"a", "b"}}, "t|a|b"},
		{&HandedOver{Next: "n", Claim: "all done"}, "n|claim of the agent: all done"},
		{&Step{Title: "go test", Command: "go test", Receipt: Receipt{Text: "ok"}, Tests: &TestCounts{Failures: []string{"TestA"}}}, "go test|TestA|ok"},
		{&Step{Title: "edited a.go", Paths: []Touch{{Name: "a.go", Role: RoleEdit}, {Name: "b.go", Role: RoleRead}, {Name: "c.go", Role: RoleEdit}}}, "edited a.go|c.go"},
		{&Checked{Results: []CheckResult{{Command: "passed", State: CheckPassed}, {Command: "failed", State: CheckFailed, Output: Receipt{Text: "out"}}}, Losses: []TestLoss{{Name: "TestB"}}}, "failed|out|TestB"},
		{&Spent{Message: "m", Model: "m"}, ""},
		{&Touched{Title: "read a.go"}, ""},
		{&Seen{Branch: "b"}, ""},
		{&Settled{}, ""},
		{Unknown{As: "later kind"}, ""},
		{Erased{As: KindDecided}, ""},
	} {
		if got := strings.ReplaceAll(Text(c.p), "\n\n", "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.p.Kind(), got, c.want)
		}
	}
	// Every kind that has text is bounded, whatever stands in it.
	long := strings.Repeat("é é\n", 1<<20)
	for _, p := range []Payload{&Instructed{Text: long}, &Decided{Text: long, Why: long}, &Step{Title: "t", Command: long, Receipt: Receipt{Text: long}}} {
		if got := Text(p); len(got) > 3*maxSaid || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid %v", p.Kind(), len(got), utf8.ValidString(got))
		}
	}
	cut := Text(&Step{Title: "t", Receipt: Receipt{Text: "first line\n" + strings.Repeat("middle\n", 1000) + "last line\n"}})
	if !strings.Contains(cut, "first line") || !strings.Contains(cut, "last line") || len(cut) > 2*maxShown+100 {
		t.Errorf("of a long output %d bytes are kept, %q … %q", len(cut), cut[:20], cut[len(cut)-20:])
	}
}
