package job

import "testing"

// TestAside folds what a replaced session and a guest did: only the cost and the
// warning of a changed workspace move.
func TestAside(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       Payload
		pico    int64
		changed int64
	}{
		{"an edit", &Step{Class: ClassEdit, Result: OK, Action: 9}, 0, 1},
		{"an edit whose result nobody saw", &Step{Class: ClassEdit, Result: ResultUnknown, Action: 9}, 0, 1},
		{"an edit that was denied", &Step{Class: ClassEdit, Result: Denied, Action: 9}, 0, 0},
		{"an edit that failed", &Step{Class: ClassEdit, Result: Failed, Action: 9}, 0, 0},
		{"a later fact about an edit", &Step{Class: ClassEdit, Result: OK, Of: testID(3)}, 0, 0},
		{"a commit", &Step{Class: ClassCommit, Result: OK, Action: 9}, 0, 1},
		{"a command", &Step{Class: ClassCommand, Command: "go test", Result: OK, Action: 9}, 0, 0},
		{"a read", &Touched{Action: 9, Paths: []Touch{{Name: "a.go", Role: RoleRead}}}, 0, 0},
		{"a session that starts", &SessionStarted{Agent: "claude", Workspace: Workspace{ID: testID(50), Path: "/w"}}, 0, 0},
		{"the agent's own total", &Reconciled{Models: []ModelDifference{{Model: "m", Tokens: Tokens{Output: 4}, Pico: new(int64(40))}}}, 40, 0},
	} {
		for _, aside := range []string{"late", "guest"} {
			t.Run(aside+"/"+c.name, func(t *testing.T) {
				l := newLedger(t)
				e := l.entry(testID(7), c.p)
				e.Late, e.Guest = aside == "late", aside == "guest"
				l.apply(e)
				got := l.mem.Now
				if got.Spend.Pico != c.pico || got.LateEdits != c.changed {
					t.Errorf("cost %d, changes from aside %d; want %d, %d", got.Spend.Pico, got.LateEdits, c.pico, c.changed)
				}
				if got.Steps != 0 || got.Actions != 0 || got.Changed != 0 || len(l.mem.Works) != 0 || got.Spend.Messages != 0 || got.Sessions != 0 || len(got.Workspaces) != 0 {
					t.Errorf("the standing moved: %+v", got)
				}
			})
		}
	}
}
