package check

import (
	"strings"
	"testing"
)

// A log of a build is mostly lines that are nobody's summary.
func BenchmarkParseCounts(b *testing.B) {
	log := strings.Repeat("   Compiling sums v0.1.0 (src/lib.rs): 12 of 40, 3 warnings\n    a_test.go:9: got 1, want 2\nok  \tx/a\t0.01s\n", 10000)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if ParseCounts(log) == nil {
			b.Fatal("no counts")
		}
	}
}

func BenchmarkFailingOutput(b *testing.B) {
	log := strings.Repeat("   Compiling sums v0.1.0 (src/lib.rs): 12 of 40, 3 warnings\n    a_test.go:9: got 1, want 2\n", 2000)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if FailingOutput(log, 20, 4096) == "" {
			b.Fatal("nothing failed")
		}
	}
}
