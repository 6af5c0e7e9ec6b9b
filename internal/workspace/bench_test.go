package workspace

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkKeep measures a safe point against git status in the same folder,
// taking turns, and reports the ratio of the two. The larger size is 20,000
// files times DUPLEX_SCALE (5 is the size of the budget).
func BenchmarkKeep(b *testing.B) {
	for _, files := range []int{60, scaled(20_000)} {
		p := newCrowd(b, files)
		for _, c := range []struct {
			name    string
			changed int
		}{{"unchanged", 0}, {"10 changed", 10}} {
			b.Run(fmt.Sprintf("%d files/%s", files, c.name), func(b *testing.B) {
				p.t = b
				p.keep()
				var status, keep time.Duration
				for i := 0; b.Loop(); i++ {
					for n := range c.changed {
						p.write(fmt.Sprintf("d0/file%d.txt", n), fmt.Sprintf("change %d of %d\n", i, time.Now().UnixNano()))
					}
					start := time.Now()
					cmd := exec.Command("git", "status", "--porcelain")
					cmd.Dir, cmd.Env = p.top, append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
					status += time.Since(start)
					start = time.Now()
					s := p.keep()
					keep += time.Since(start)
					if s.Reused != (c.changed == 0) {
						b.Fatalf("safe point %s: reused %v with %d files changed", s.ID, s.Reused, c.changed)
					}
				}
				b.ReportMetric(float64(keep)/float64(status), "×status")
				b.ReportMetric(float64(keep.Milliseconds())/float64(b.N), "ms/keep")
				b.ReportMetric(float64(status.Milliseconds())/float64(b.N), "ms/status")
			})
		}
	}
}

// newCrowd makes a repository of many files, committed, packed and old enough
// not to be racy.
func newCrowd(t testing.TB, files int) *place {
	t.Helper()
	p := newPlace(t)
	old := time.Now().Add(-time.Hour)
	for i := range files {
		name := p.at(fmt.Sprintf("d%d/file%d.txt", i/100, i))
		if i%100 == 0 {
			p.mkdir(filepath.Base(filepath.Dir(name)))
		}
		if err := os.WriteFile(name, []byte(fmt.Sprintf("file %d\n", i)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	p.git("config", "gc.auto", "0")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "many")
	p.git("repack", "-a", "-d", "-q")
	time.Sleep(racy + 100*time.Millisecond) // the change time cannot be set back
	if _, err := p.workspace().Keep(context.Background(), KeepOptions{Job: job}); err != nil {
		t.Fatal(err)
	}
	return p
}
