package redact

import "strings"

// fake makes text of the form of a credential. It is made here and not written down, so that no scanner of
// repositories takes these tests for a leak.
func fake(prefix string, n int) string {
	return prefix + fakeOf("a7Kq3ZmX9vT2bR8wYc4NhJ6pLs5dGf1EuQ", n)
}

func fakeHex(prefix string, n int) string { return prefix + fakeOf("4f9a0c73be518d26", n) }

// fakeOf walks through an alphabet in steps, so that neighbours differ and nothing repeats soon.
func fakeOf(alphabet string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(alphabet[(i*7+i*i/3+i/len(alphabet))%len(alphabet)])
	}
	return b.String()
}
