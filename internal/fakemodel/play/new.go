package play

import (
	"strings"
	"testing"
	"time"
)

// New starts a server that ends with the test.
func New(t testing.TB, s Script) *Server {
	t.Helper()
	m, err := Serve(0, s, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// patience is how long a test waits for a request before it says what came instead.
const patience = 2 * time.Minute

// Wait returns the first request for which a condition holds: one that came
// already, or one to come. what names it, for a test that waits in vain.
func (m *Server) Wait(t testing.TB, what string, is func(Request) bool) Request {
	t.Helper()
	late := time.After(patience)
	for seen := 0; ; {
		m.mu.Lock()
		requests, more := m.requests, m.more
		m.mu.Unlock()
		for ; seen < len(requests); seen++ {
			if is(requests[seen]) {
				return requests[seen]
			}
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("no request with %s came in %s, but\n%s", what, patience, tell(requests))
		case <-t.Context().Done():
			t.Fatalf("the test ended before a request with %s, after\n%s", what, tell(requests))
		}
	}
}

// tell says of each request what it was, and how its newest words begin.
func tell(requests []Request) string {
	var b strings.Builder
	for _, r := range requests {
		words := []rune(strings.Join(strings.Fields(r.Last("user")), " "))
		if len(words) > 120 {
			words = append(words[:120], '…')
		}
		b.WriteString("  " + r.Method + " " + r.Path + " " + r.Ask.Model + ": " + r.Played + ": " + string(words) + "\n")
	}
	return b.String()
}
