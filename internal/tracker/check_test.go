package tracker

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// An agent may put anything in the place of protected files. The checks run with
// the first version, and nothing outside the checkout is touched.
func TestProtectedFilesReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(w *world, dir string) error{
		"by a link to a folder": func(w *world, dir string) error {
			outside := w.t.TempDir()
			w.t.Cleanup(func() {
				if _, err := os.Stat(filepath.Join(outside, "check.sh")); err != nil {
					w.t.Errorf("a file outside the checkout: %v", err)
				}
			})
			return os.Symlink(outside, dir)
		},
		"by a file":   func(w *world, dir string) error { return os.WriteFile(dir, []byte("x"), 0o600) },
		"by a folder": func(w *world, dir string) error { return os.MkdirAll(filepath.Join(dir, "check.sh", "deep"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("tests/check.sh", "grep -q done work.txt\n")
			s := w.start(StartRequest{Goal: "Do it", Protect: []string{"tests/**"}, Checks: []job.Check{{Command: "sh tests/check.sh"}}})
			dir := filepath.Join(w.repo, "tests")
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := replace(w, dir); err != nil {
				t.Fatal(err)
			}
			if target, err := os.Readlink(dir); err == nil {
				if err := os.WriteFile(filepath.Join(target, "check.sh"), []byte("true\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w.write("work.txt", "done\n")
			run, err := w.Check(context.Background(), APerson(), s.Job, CheckRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if r := run.Results[0]; r.State != job.CheckPassed || len(run.Changed) == 0 {
				t.Errorf("the check is %+v, changed %v; want passed with the first version, and told", r, run.Changed)
			}
		})
	}
}

// A check without a command would pass whatever the agent does, and a job without
// a goal tells the next session nothing.
func TestNothingIsNoCheckAndNoGoal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	for _, r := range []StartRequest{{Dir: w.repo, Goal: " "}, {Dir: w.repo, Goal: "Do it", Checks: []job.Check{{Command: " "}}}} {
		if s, err := w.Start(ctx, APerson(), r); err == nil {
			t.Errorf("start %+v gives job %s, want an error", r, s.Short)
		}
	}
	s := w.start(StartRequest{Goal: "Do it", NoBaseline: true})
	empty := ""
	for _, a := range []*job.Amended{{Goal: &empty}, {AddChecks: []job.Check{{}}}} {
		if _, err := w.Amend(ctx, APerson(), s.Job, a); err == nil {
			t.Errorf("amend %+v gives no error", a)
		}
	}
}
