package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// A command that was killed, or overtaken, between ref and ledger leaves a ref
// that the ledger does not know. The next safe point has the number of its ref.
func TestKeepAfterARefTheLedgerDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	s := w.start(StartRequest{Goal: "Add more", NoBaseline: true})
	p, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	w.write("a.txt", "a")
	if _, err := p.Keep(ctx, workspace.KeepOptions{Job: string(s.Job), N: 2, Why: "killed"}); err != nil {
		t.Fatal(err)
	}
	w.write("b.txt", "b")
	k, err := w.Keep(ctx, APerson(), s.Job, KeepRequest{Why: "after"})
	if err != nil {
		t.Fatal(err)
	}
	ref := fmt.Sprintf("refs/duplex/%s/%d", s.Job, k.Number)
	c := exec.Command("git", "rev-parse", ref)
	c.Dir = w.repo
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git rev-parse %s: %v\n%s", ref, err, out)
	}
	if got := strings.TrimSpace(string(out)); k.Number != 3 || got != k.Commits[0].Commit {
		t.Errorf("safe point %d is commit %s, want safe point 3, and %s holds %s", k.Number, k.Commits[0].Commit, ref, got)
	}
	w.write("b.txt", "something else")
	back, err := w.Restore(ctx, APerson(), s.Job, RestoreRequest{Number: 3})
	if err != nil || back.Undo != 4 {
		t.Errorf("restore keeps the present as %d, %v; want 4", back.Undo, err)
	}
}

// What a restore that was killed in the middle replaced can be brought back: it
// stands in the ledger before the first file is touched.
func TestUndoOfARestoreThatWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	s := w.start(StartRequest{Goal: "Add more", NoBaseline: true})
	w.write("shop.go", "package shop // a day's work\n")
	p, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	_, err = p.Restore(ctx, workspace.RestoreOptions{Job: string(s.Job), Target: w.first(s), Kept: func(sp workspace.SafePoint) error {
		return errors.Join(killed, w.Tracker.write(ctx, APerson(), true, func(c *change) error {
			_, err := c.keep(s.Job, &job.SafePoint{Number: sp.N, Why: whyUndo, Commits: []job.Snapshot{{Workspace: p.ID, Commit: sp.Commit}}})
			return err
		}))
	}})
	if !errors.Is(err, killed) || w.read("shop.go") != "package shop // a day's work\n" {
		t.Fatalf("an error of Kept gives %v and shop.go %q, want it untouched", err, w.read("shop.go"))
	}
	w.write("shop.go", "half of the restore\n")
	if _, err := w.Restore(ctx, APerson(), s.Job, RestoreRequest{Undo: true}); err != nil {
		t.Fatal(err)
	}
	if got := w.read("shop.go"); got != "package shop // a day's work\n" {
		t.Errorf("undo gives %q", got)
	}
}

// first is the commit of the safe point at the start.
func (w *world) first(s Started) string {
	w.t.Helper()
	k, err := w.SafePoint(context.Background(), s.Job, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return k.Commits[0].Commit
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.repo, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}
