package tracker

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

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
