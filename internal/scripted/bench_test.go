package scripted

import (
	"io"
	"testing"
)

// BenchmarkStep is one Read or Edit with the hooks before and after it, which
// are a shell that does nothing.
func BenchmarkStep(b *testing.B) {
	for _, hook := range []string{"-", "true"} {
		b.Run("hook "+hook, func(b *testing.B) {
			s := newStage(b)
			s.items(20) // 40 calls and two commands
			o := s.options(`{` + moves + `}`)
			o.Hook, o.Stdout = hook, io.Discard
			steps := 0
			for b.Loop() {
				b.StopTimer()
				s.items(20)
				o.Session = newID()
				b.StartTimer()
				if code := Run(b.Context(), o); code != 0 {
					b.Fatalf("exit %d", code)
				}
				steps += 42
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(steps), "µs/step")
		})
	}
}
