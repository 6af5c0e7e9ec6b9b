package claude_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
)

// inPieces reads lines with a new reader every few lines, each restored from
// the state of the one before.
func inPieces(t testing.TB, lines [][]byte, seed int64) []agent.Row {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	r := claude.Adapter{}.NewReader()
	var rows []agent.Row
	var offset int64
	for _, line := range lines {
		if rng.IntN(7) == 0 {
			state, err := r.State()
			if err != nil {
				t.Fatalf("state at byte %d: %v", offset, err)
			}
			r = claude.Adapter{}.NewReader()
			if err := r.Restore(state); err != nil {
				t.Fatalf("restore at byte %d: %v", offset, err)
			}
		}
		got, err := r.Line(line, offset)
		if err != nil {
			t.Fatalf("line at byte %d: %v", offset, err)
		}
		rows = append(rows, got...)
		offset += int64(len(line)) + 1
	}
	return append(rows, r.End()...)
}
