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
