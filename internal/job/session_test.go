package job

import "testing"

// TestGuestThatTakesTheJobKeepsItsBill starts a session as a guest, which spends,
// and again as the holder.
func TestGuestThatTakesTheJobKeepsItsBill(t *testing.T) {
	l := newLedger(t)
	s := testID(7)
	guest := func(p Payload) {
		e := l.entry(s, p)
		e.Guest = true
		l.apply(e)
	}
	guest(&SessionStarted{Agent: "claude", AgentSession: "a", Number: 1})
	price := int64(10)
	guest(&Spent{Message: "msg_1", Model: "m", Tokens: Tokens{Output: 1}, Pico: &price})
	l.add(s, &SessionStarted{Agent: "claude", AgentSession: "a", Number: 1, Source: "take"})
	l.add(s, &LeaseTaken{Lease: Lease{Session: s, Token: 1}, How: "taken"})
	l.spend(usage{session: s, message: "msg_2", tokens: Tokens{Output: 5}, price: 50})
	got := l.mem.Sittings[s]
	if got.Pico != 60 || got.Spent.Output != 6 {
		t.Errorf("the session is billed %d pico, %d out, want 60, 6", got.Pico, got.Spent.Output)
	}
	if got.Guest || got.Token != 1 || got.Source != "take" {
		t.Errorf("the session's row is %+v, want a holder's", got)
	}
}

// TestCallInFlight leaves a call whose outcome nobody saw, and what settles it.
func TestCallInFlight(t *testing.T) {
	l := newLedger(t)
	crash := func() ID {
		return l.add(testID(7), &Step{Class: ClassOther, Title: "migrate", Result: ResultUnknown, Action: 1}).ID
	}
	for _, c := range []struct {
		name string
		p    func(call ID) Payload
		over bool
	}{
		{"another step", func(ID) Payload { return &Step{Class: ClassCommand, Result: OK, Action: 2} }, false},
		{"a fact about another call", func(ID) Payload { return &Step{Result: OK, Of: testID(3)} }, false},
		{"still unknown", func(call ID) Payload { return &Step{Result: ResultUnknown, Of: call} }, false},
		{"its exit code", func(call ID) Payload { return &Step{Result: Failed, Of: call} }, true},
		{"the next session was told", func(ID) Payload { return &TookOver{How: "startup"} }, true},
		{"going back", func(ID) Payload { return &WentBack{To: 1} }, true},
	} {
		call := crash()
		l.add("", c.p(call))
		if over := l.mem.Now.InFlight == nil; over != c.over {
			t.Errorf("%s: in flight is over: %v, want %v", c.name, over, c.over)
		}
	}
}
