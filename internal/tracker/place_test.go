package tracker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// A workspace is opened where it was last seen: in a folder of any depth, and
// after it was moved, once a person or a session says so.
func TestWorkspaceDeepAndMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	deep := filepath.Join(t.TempDir(), strings.Repeat("a", 100), strings.Repeat("b", 100))
	if err := os.MkdirAll(filepath.Dir(deep), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.repo, deep); err != nil {
		t.Fatal(err)
	}
	w.repo = deep
	s := w.start(StartRequest{Goal: "Go deep", NoBaseline: true})
	if _, err := w.Keep(ctx, APerson(), s.Job, KeepRequest{}); err != nil {
		t.Fatalf("keep in a folder of %d bytes: %v", len(deep), err)
	}

	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(deep, moved); err != nil {
		t.Fatal(err)
	}
	w.repo = moved
	w.write("new.txt", "new")
	if _, err := w.Keep(ctx, APerson(), s.Job, KeepRequest{}); !errors.Is(err, job.ErrNotFound) || !strings.Contains(err.Error(), "duplex take") {
		t.Errorf("keep of a folder that was moved gives %v, want the way out", err)
	}
	if taken, err := w.Take(ctx, APerson(), s.Job, TakeRequest{Dir: moved}); err != nil || taken.Added {
		t.Fatalf("take: %+v, %v; want the same workspace", taken, err)
	}
	if k, err := w.Keep(ctx, APerson(), s.Job, KeepRequest{}); err != nil || k.Number != 2 {
		t.Errorf("keep after take: %+v, %v", k, err)
	}

	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Rename(moved, gone); err != nil {
		t.Fatal(err)
	}
	out, err := w.Remove(ctx, APerson(), s.Job, RemoveRequest{Abandon: true})
	if err != nil || len(out.Unreached) != 1 {
		t.Errorf("remove while the folder is elsewhere: unreached %+v, %v; want it told", out.Unreached, err)
	}
}
