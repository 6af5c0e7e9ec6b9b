package tracker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// world is a state folder, a repository and a clock.
type world struct {
	t    *testing.T
	home string
	repo string
	now  time.Time
	*Tracker
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), repo: t.TempDir(), now: time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC)}
	shareCache(t, w.home)
	w.git("init", "-q", "-b", "main")
	w.write("go.mod", "module example.test/shop\n\ngo 1.26\n")
	w.write("shop.go", "package shop\n\nfunc Add(a, b int) int { return a + b }\n")
	w.write("shop_test.go", "package shop\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n")
	w.git("add", "-A")
	w.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
	tr, err := Open(context.Background(), Options{Dir: w.home, Settings: DefaultSettings(), Create: true, Now: func() time.Time { w.now = w.now.Add(time.Second); return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	w.Tracker = tr
	t.Cleanup(func() { tr.Close() })
	return w
}

// shareCache lets the clean checkouts of all tests share one build cache.
func shareCache(t *testing.T, home string) {
	shared := filepath.Join(os.TempDir(), "duplex-test-cache")
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(home, "cache")); err != nil {
		t.Fatal(err)
	}
}

func (w *world) git(args ...string) {
	w.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = w.repo
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.repo, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) start(r StartRequest) Started {
	w.t.Helper()
	r.Dir = w.repo
	s, err := w.Start(context.Background(), APerson(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func TestStartToPassedFinish(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	s := w.start(StartRequest{Goal: "Add multiplication", KeepTests: "go", Checks: []job.Check{{Command: "go vet ./..."}, {Command: "grep -q Mul shop.go"}}})
	if got := s.Baseline.Results; got[0].State != job.CheckPassed || got[1].State != job.CheckFailed {
		t.Fatalf("day one: %s and %s, want passed and failed", got[0].State, got[1].State)
	}
	v, err := w.Finish(ctx, APerson(), s.Job, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict.Outcome != job.OutcomeFailed {
		t.Errorf("finish without work: %s", v.Verdict.Outcome)
	}
	w.write("shop.go", "package shop\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Mul(a, b int) int { return a * b }\n")
	if v, err = w.Finish(ctx, APerson(), s.Job, nil); err != nil {
		t.Fatal(err)
	}
	if v.Verdict.Outcome != job.OutcomePassed {
		t.Errorf("finish: %s (%s)", v.Verdict.Outcome, v.Verdict.Reason)
	}
	next := w.start(StartRequest{Goal: "Add division"})
	if len(next.Lessons) == 0 {
		t.Error("the next start in this repository shows no lesson")
	}
}

func TestRestoreAndUndo(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	s := w.start(StartRequest{Goal: "Break it"})
	w.write("shop.go", "package shop // broken")
	out, err := w.Restore(ctx, APerson(), s.Job, RestoreRequest{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(w.repo, "shop.go")); len(b) < 40 {
		t.Errorf("not restored: %s", b)
	}
	if _, err = w.Restore(ctx, APerson(), s.Job, RestoreRequest{Undo: true}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(w.repo, "shop.go")); string(b) != "package shop // broken" {
		t.Errorf("not undone: %s (%+v)", b, out)
	}
}

func TestBriefOfAPersonsJob(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	s := w.start(StartRequest{Goal: "Move to table tests", Checks: []job.Check{{Command: "go test ./..."}}})
	by := APerson()
	for _, err := range []error{
		second(w.Decide(ctx, by, s.Job, "keep the helper", "others use it", nil, "")),
		second(w.Raise(ctx, by, s.Job, "shop_test.go is next", true)),
		second(w.DeadEnd(ctx, by, s.Job, "a codemod", "it breaks imports", "")),
		second(w.Instruct(ctx, by, s.Job, "Never touch the legacy folder.")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := w.HandOver(ctx, by, s.Job, HandOverRequest{Why: "request"})
	if err != nil {
		t.Fatal(err)
	}
	if b.Repaired != 0 || b.Probes == 0 {
		t.Errorf("%d probes, %d repaired", b.Probes, b.Repaired)
	}
	t.Log("\n" + b.Text)
}

func second(_ Added, err error) error { return err }

// TestOldSafePointsAreDropped: the newest few stay, and that of day one.
func TestOldSafePointsAreDropped(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.set.KeepSafePoints = 3
	s := w.start(StartRequest{Goal: "Keep a few"})
	for n := range 6 {
		w.write("n.txt", fmt.Sprint(n))
		if _, err := w.Keep(ctx, APerson(), s.Job, KeepRequest{Why: fmt.Sprint("number ", n)}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	points, err := p.List(ctx, string(s.Job))
	if err != nil {
		t.Fatal(err)
	}
	var kept []int
	for _, sp := range points {
		kept = append(kept, sp.N)
	}
	slices.Sort(kept)
	if want := []int{1, 5, 6, 7}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
}
