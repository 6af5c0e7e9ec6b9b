package workspace

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// What a safe point takes without asking. Beyond it the disk of a person who
// did not ask for it would fill.
const (
	largeFile = 20 << 20  // bytes of one file that is in no safe point yet
	mostBytes = 500 << 20 // new bytes of one safe point
	mostFiles = 20_000    // new files of one safe point
)

// ErrTooMuch says that a safe point would take more than anybody would
// expect. Nothing was kept.
var ErrTooMuch = errors.New("too much to keep without being asked")

// ErrDiskFull says that the disk has less than twice the room a safe point
// needs. Nothing was kept.
var ErrDiskFull = errors.New("not enough room on the disk for a safe point")

// limit looks at every file about to be read: it drops what vanished, notes
// what cannot be read or is too large, and stops when it is too much.
func (t *turn) limit(ctx context.Context, o KeepOptions, base *baseIndex, user *userIndex, f *findings, include []string) error {
	same, err := t.sameAsUsers(ctx, base, user, f)
	if err != nil {
		return err
	}
	files, bytes := 0, int64(0)
	check := func(path string, inIndex, asked bool) (keep bool) {
		info, err := os.Lstat(t.at(path))
		switch {
		case err != nil:
			return inIndex // git notes that it is gone
		case info.IsDir():
			return false
		case info.Mode().IsRegular() && !readable(t.at(path)):
			f.leave(t.describe(path, Unreadable), inIndex)
			return false
		case !inIndex && o.Skip != nil && o.Skip(path):
			f.leave(t.describe(path, Skipped), inIndex)
			return false
		}
		if same[path] == info.Size() || inIndex && base.recorded(path, t.at(path)) {
			return true // git has it, or we have: it costs nothing
		}
		captured := inIndex && !base.seeded || asked
		if info.Size() > largeFile && !captured && !o.Large {
			f.leave(t.describe(path, Large), inIndex)
			return false
		}
		if !inIndex {
			files++
		}
		bytes += info.Size()
		return true
	}
	f.changed = filter(f.changed, func(p string) bool { return check(p, true, false) })
	f.added = filter(f.added, func(p string) bool { return check(p, false, false) })
	for _, p := range include {
		if _, known := base.index.find(p); !known && !holds(f.added, p) && t.isFile(p) && check(p, false, true) {
			f.added = append(f.added, p)
			f.cover.NotCovered = dropPath(f.cover.NotCovered, p)
		}
	}
	if !o.Large && !o.undo && (files > mostFiles || bytes > mostBytes) {
		return fmt.Errorf("%w: %d new files, %d MiB new or changed in %s; let git ignore what can be made again (.gitignore), or allow it with --large",
			ErrTooMuch, files, bytes>>20, t.w.Top)
	}
	if free, known := freeBytes(t.w.CommonDir); known && bytes > 0 && free < 2*bytes {
		return fmt.Errorf("%w: %d MiB to keep, %d MiB free; make room and try again", ErrDiskFull, bytes>>20, free>>20)
	}
	return nil
}

// recorded says that a file is as the index has it, though it has to be read
// again to be sure: what was just written, or brought back, is doubted.
func (b *baseIndex) recorded(path, at string) bool {
	i, ok := b.index.find(path)
	s, _, err := statAt(at)
	return ok && err == nil && b.index.entries[i].stat.same(s)
}

// leave notes a path as not covered, and takes it out of the index: old
// content under its name would be a lie.
func (f *findings) leave(n NotCovered, inIndex bool) {
	f.cover.NotCovered = append(f.cover.NotCovered, n)
	if inIndex {
		f.removed = append(f.removed, n.Path)
	}
}

// sameAsUsers gives the lengths of the blobs that the user's index has for
// the files about to be read. A file of the same length most likely is that
// blob, which costs nothing to keep.
func (t *turn) sameAsUsers(ctx context.Context, base *baseIndex, user *userIndex, f *findings) (map[string]int64, error) {
	var paths, ids []string
	ask := func(list []string) {
		for _, p := range list {
			if i, ok := user.index.find(p); ok {
				paths = append(paths, p)
				ids = append(ids, hex.EncodeToString([]byte(user.index.entries[i].oid)))
			}
		}
	}
	ask(f.added)
	if base.seeded {
		ask(f.changed)
	}
	found, err := t.private.Objects(ctx, false, ids...)
	if err != nil {
		return nil, fmt.Errorf("compare sizes with the repository: %w", err)
	}
	same := make(map[string]int64, len(found))
	for i, o := range found {
		if o.ID != "" {
			same[paths[i]] = o.Size
		}
	}
	return same, nil
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // gone is no matter of permission
	}
	f.Close()
	return true
}

// filter keeps what want says, in place.
func filter(list []string, want func(string) bool) []string {
	kept := list[:0]
	for _, s := range list {
		if want(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func dropPath(list []NotCovered, path string) []NotCovered {
	kept := list[:0]
	for _, n := range list {
		if n.Path != path {
			kept = append(kept, n)
		}
	}
	return kept
}
