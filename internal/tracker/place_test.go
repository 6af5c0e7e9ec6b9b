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

// A copy of a repository gets an id of its own, once, whoever asks first; the one it
// was copied from keeps its id, and so does one that was moved to another disk.
func TestCopyPartsFromItsOriginal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(StartRequest{Goal: "Copy me", NoBaseline: true})
	first, err := w.Place(w.repo)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(w.repo)); err != nil {
		t.Fatal(err)
	}
	ids := make(chan job.ID)
	for range 4 {
		go func() {
			p, err := w.Place(copied)
			if err != nil {
				t.Error(err)
			}
			ids <- p.ID
		}()
	}
	own := <-ids
	for range 3 {
		if id := <-ids; id != own {
			t.Errorf("the copy is %s and %s, want one id", own, id)
		}
	}
	if again, err := w.Place(w.repo); err != nil || again.ID != first.ID || own == first.ID || own == "" {
		t.Errorf("the original is %s (%v), the copy %s; want %s and another", again.ID, err, own, first.ID)
	}
	if k, err := w.Keep(context.Background(), APerson(), s.Job, KeepRequest{}); err != nil || k.Commits[0].Workspace != first.ID {
		t.Errorf("a safe point of the original's job: %+v, %v; want it of the original", k, err)
	}

	// Copied and then removed is moved, as mv does it between two disks.
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.CopyFS(disk, os.DirFS(w.repo)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.repo); err != nil {
		t.Fatal(err)
	}
	if moved, err := w.Place(disk); err != nil || moved.ID != first.ID {
		t.Errorf("moved to another disk it is %s (%v), want %s", moved.ID, err, first.ID)
	}
}
