package job

import "testing"

// usage is one row of a message's usage as a session reports it.
type usage struct {
	session  ID
	message  string
	tokens   Tokens
	price    int64
	estimate bool
}

func (l *ledger) spend(u usage) {
	l.t.Helper()
	e := l.entry(u.session, &Spent{Message: u.message, Model: "m", Tokens: u.tokens, Pico: &u.price, Estimate: u.estimate})
	e.Key = SpentKey("claude", u.message, u.tokens)
	l.apply(e)
}

// TestUsageRowsInAnyOrder delivers the growing rows of one message, and an
// estimate of it, in every order.
func TestUsageRowsInAnyOrder(t *testing.T) {
	rows := []usage{
		{message: "msg_1", tokens: Tokens{Input: 900, Output: 900}, price: 99, estimate: true},
		{message: "msg_1", tokens: Tokens{Input: 100, Output: 1}, price: 10},
		{message: "msg_1", tokens: Tokens{Input: 100, Output: 20}, price: 200},
		{message: "msg_1", tokens: Tokens{Input: 100, Output: 50, Reasoning: 30}, price: 500},
	}
	orders := 0
	permute(len(rows), func(order []int) {
		orders++
		l := newLedger(t)
		for _, i := range order {
			l.spend(rows[i])
		}
		if got := l.mem.Now.Spend; got.Pico != 500 || got.Tokens != rows[3].tokens || got.Messages != 1 || got.Estimate != 0 {
			t.Errorf("in order %v the bill is %+v, want the last row only", order, got)
		}
	})
	if orders != 24 {
		t.Fatalf("tried %d orders of 4 rows", orders)
	}
}

// permute calls f with every order of 0 to n-1.
func permute(n int, f func([]int)) {
	order := make([]int, 0, n)
	used := make([]bool, n)
	var next func()
	next = func() {
		if len(order) == n {
			f(order)
			return
		}
		for i := range n {
			if used[i] {
				continue
			}
			used[i], order = true, append(order, i)
			next()
			used[i], order = false, order[:len(order)-1]
		}
	}
	next()
}

// TestMessageIsBilledToOneSession grows a message in the session that resumed the
// one it began in.
func TestMessageIsBilledToOneSession(t *testing.T) {
	l := newLedger(t)
	a, b := testID(7), testID(8)
	l.add(a, &SessionStarted{Agent: "claude", AgentSession: "a", Number: 1})
	l.add(b, &SessionStarted{Agent: "claude", AgentSession: "b", Number: 2, From: a})
	l.spend(usage{session: a, message: "msg_1", tokens: Tokens{Output: 1}, price: 10})
	l.spend(usage{session: a, message: "msg_2", tokens: Tokens{Output: 3}, price: 30})
	l.spend(usage{session: b, message: "msg_1", tokens: Tokens{Output: 50}, price: 500})
	if got := l.mem.Sittings[a]; got.Pico != 30 || got.Spent.Output != 3 {
		t.Errorf("the first session is billed %d pico, %d out, want its other message only", got.Pico, got.Spent.Output)
	}
	if got := l.mem.Sittings[b]; got.Pico != 500 || got.Spent.Output != 50 {
		t.Errorf("the second session is billed %d pico, %d out, want the grown message", got.Pico, got.Spent.Output)
	}
	if got := l.mem.Now.Spend.Pico; got != 530 {
		t.Errorf("the job is billed %d pico, want 530", got)
	}
}
