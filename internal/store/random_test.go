package store

import (
	"math/rand"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// randomPayload makes a payload that may come next in a ledger: texts hard to
// encode, references to what is there, paths and messages that return.
func randomPayload(rng *rand.Rand, m *job.Memory, first bool) job.Payload {
	text := func() string {
		return strings.Repeat([]string{"word ", "ä", "\x01", "<&>", "𝄞", "\xff"}[rng.Intn(6)], rng.Intn(120))
	}
	if first {
		return &job.Opened{Goal: text(), Checks: []job.Check{{ID: "c1", Command: "make test"}}, Workspace: job.Workspace{ID: testID('w', 1), Path: "/src"}}
	}
	item := func() job.ID {
		for id := range m.Items {
			return id
		}
		return ""
	}
	touches := func(role job.Role) (out []job.Touch) {
		for range rng.Intn(6) {
			out = append(out, job.Touch{Name: "dir/file" + string(rune('a'+rng.Intn(20))), Role: role, Workspace: testID('w', 1)})
		}
		return out
	}
	action := m.Now.Actions + 1
	switch rng.Intn(20) {
	case 0:
		return &job.Raised{Text: text(), Next: rng.Intn(2) == 0}
	case 1:
		return &job.Settled{Item: item(), How: text()}
	case 2:
		return &job.Decided{Text: text(), Why: text(), Rejected: []string{text()}, Supersedes: item()}
	case 3:
		return &job.DeadEnd{Text: text(), Why: text()}
	case 4:
		return &job.Asked{Text: text(), Options: []string{"a", "b"}}
	case 5:
		return &job.Answered{Question: item(), Text: text()}
	case 6:
		return &job.SessionStarted{Agent: "claude", AgentSession: text(), Number: rng.Intn(9), Model: "m"}
	case 7:
		return &job.SafePoint{Number: rng.Intn(99), Why: text(), Commits: []job.Snapshot{{Workspace: testID('w', 1), Commit: "c"}}}
	case 8:
		return &job.Checked{Results: []job.CheckResult{{ID: "c1", State: job.CheckFailed, Reason: text()}}}
	case 9, 10, 11, 12:
		n := rng.Int63n(1e9)
		return &job.Spent{Message: text()[:0] + string(rune('a'+rng.Intn(26))), Model: []string{"m1", "m2"}[rng.Intn(2)], Pico: &n,
			Tokens: job.Tokens{Input: rng.Int63n(3), Output: rng.Int63n(3)}, Context: n, Class: job.ClassEdit}
	case 13:
		return &job.Touched{Title: text(), Action: action, Paths: touches(job.RoleRead)}
	case 14:
		return &job.TookOver{How: "startup"}
	case 15:
		return &job.Instructed{Text: text(), Standing: true}
	case 16:
		return &job.Paused{Reason: job.PauseStalled, Evidence: text()}
	}
	exit := rng.Intn(3)
	return &job.Step{Class: job.ClassCommand, Title: text(), Command: "make " + string(rune('a'+rng.Intn(5))), Exit: &exit, Action: action,
		Result: []job.Result{job.OK, job.Failed}[rng.Intn(2)], Paths: touches(job.RoleEdit), Symbols: touches(job.RoleSearch), Receipt: job.Receipt{Text: text()}}
}
