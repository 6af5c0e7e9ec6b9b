package job

import (
	"math/rand"
	"strings"
)

// RandomPayload makes a payload of a random kind, with texts long and costly to
// encode, referring now and then to what is there.
func RandomPayload(rng *rand.Rand, m *Memory) Payload {
	text := func() string {
		n := rng.Intn(2000)
		return strings.Repeat([]string{"a", "ä", "\x01", "<&>", "𝄞", "\xff", "word "}[rng.Intn(7)], n)
	}
	item := func() ID {
		for id := range m.Items {
			return id
		}
		return ""
	}
	many := func(role Role) []Touch {
		var out []Touch
		for range rng.Intn(40) {
			out = append(out, Touch{Name: text(), Role: role, In: text()})
		}
		return out
	}
	price := rng.Int63n(1e9)
	kinds := Kinds()
	switch kinds[1+rng.Intn(len(kinds)-1)] {
	case KindAmended:
		goal := text()
		list := []string{text(), text(), text(), text(), text(), text(), text(), text(), text(), text(), text()}
		return &Amended{Goal: &goal, AddChecks: []Check{{ID: text(), Command: text()}}, Protect: &list, Setup: &goal, Workspace: &Workspace{ID: testID(rng.Intn(9)), Path: text(), Branch: text()}}
	case KindSessionStarted:
		return &SessionStarted{Agent: text(), Model: text(), AgentSession: text(), Workspace: Workspace{ID: testID(rng.Intn(9)), Path: text()}}
	case KindSessionEnded:
		return &SessionEnded{Reason: text(), Evidence: text()}
	case KindLeaseTaken:
		return &LeaseTaken{Lease: Lease{Session: testID(3), Token: rng.Int63n(100), Process: Process{Host: text(), Boot: text(), Start: text()}}}
	case KindInstructed:
		return &Instructed{Text: text(), Standing: rng.Intn(2) == 0}
	case KindAsked:
		return &Asked{Text: text(), Options: []string{text()}}
	case KindAnswered:
		return &Answered{Question: item(), Text: text()}
	case KindStep:
		return &Step{Class: ClassCommand, Title: text(), Command: text(), Result: []Result{OK, Failed, ResultUnknown}[rng.Intn(3)], Action: m.Now.Actions + 1, Paths: many(RoleEdit), Symbols: many(RoleSearch), Receipt: Receipt{Text: text()}}
	case KindTouched:
		return &Touched{Title: text(), Action: m.Now.Actions + 1, Paths: many(RoleRead)}
	case KindSpent:
		return &Spent{Message: text(), Model: text(), Tokens: Tokens{Input: rng.Int63n(1e6), Output: 5}, Pico: &price}
	case KindDecided:
		return &Decided{Text: text(), Why: text(), Supersedes: item()}
	case KindRaised:
		return &Raised{Text: text(), Next: rng.Intn(2) == 0}
	case KindSettled:
		return &Settled{Item: item(), How: text()}
	case KindDeadEnd:
		return &DeadEnd{Text: text(), Why: text()}
	case KindSafePoint:
		var c []Snapshot
		for range rng.Intn(9) {
			c = append(c, Snapshot{testID(rng.Intn(9)), text(), text(), text(), text()})
		}
		return &SafePoint{Number: rng.Intn(99), Why: text(), Commits: c}
	case KindHandedOver:
		return &HandedOver{Why: text(), Next: text(), Claim: text()}
	case KindPaused:
		return &Paused{Reason: PauseStalled, Evidence: text()}
	case KindChecked:
		return &Checked{Results: []CheckResult{{ID: "c1", State: CheckFailed, Reason: text()}}}
	case KindFinished:
		return &Finished{Outcome: OutcomeFailed, Reason: text()}
	case KindReconciled:
		return &Reconciled{Source: text(), Models: []ModelDifference{{Model: text()}}}
	case KindGap:
		return &Gap{What: text(), Count: 3}
	}
	return &Lesson{Text: text()}
}
