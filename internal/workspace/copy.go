package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// CopyOf says whether this workspace is a copy of the one at other, made with its
// git dir: a folder is there that is not this one, and it carries the same id. A
// folder that was moved has left nothing behind that could. Two work trees over
// one git dir cannot be told apart by it, and are refused.
func (w *Workspace) CopyOf(other, id string) (bool, error) {
	o, err := Find(other, w.StateDir)
	if err != nil || o.Top != other || sameFolder(o.Top, w.Top) {
		return false, nil // nothing of the kind is there any more
	}
	if carried, err := readID(o.private("id")); err != nil || carried != id {
		return false, nil
	}
	if sameFolder(o.GitDir, w.GitDir) {
		return false, fmt.Errorf("%w: it and %s share %s, as a work tree does that was copied; make one of its own (git worktree add) and bring the files over", ErrRefused, o.Top, w.GitDir)
	}
	return true, nil
}

// Part gives a copy an id of its own in place of the one it was copied with. What
// the copied private index says is of the other's files, so it goes too. Of two
// processes that part at once, the second gets what the first made.
func (w *Workspace) Part(from string) (string, error) {
	lock, err := w.lock(context.Background(), lockWait)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if id, err := readID(w.private("id")); err == nil && id != from {
		return id, nil
	}
	for _, name := range []string{"state.json", "index", "id"} {
		if err := os.Remove(w.private(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("part from the workspace it was copied from: %w", err)
		}
	}
	return w.ID()
}

// sameFolder compares two paths by what is there, not by their names.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}
