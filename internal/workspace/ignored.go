package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// What of ignored files is captured, when a person asked for it.
const (
	smallFile    = 256 << 10 // bytes
	mostCaptured = 1000      // files of one safe point
)

// ignoredStore is where captured ignored files of a job are: in the state
// folder, outside every repository and never exported, since .env files and
// the like hold credentials.
func (w *Workspace) ignoredStore(job string) string {
	id, err := readID(w.private("id"))
	if err != nil {
		id = "none" // no id, no safe point, nothing captured
	}
	return filepath.Join(w.StateDir, "ignored", id, job)
}

// capturable are the ignored files that are small and ignored by themselves:
// what lies in an ignored folder (builds, dependencies) can be made again.
func (t *turn) capturable(cover *manifest) []string {
	var paths []string
	for _, n := range cover.NotCovered {
		if n.Reason != Ignored || strings.HasSuffix(n.Path, "/") || n.Size > smallFile || len(paths) == mostCaptured {
			continue
		}
		if info, err := os.Lstat(t.at(n.Path)); err == nil && info.Mode().IsRegular() && readable(t.at(n.Path)) {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// stampIgnored names the state of files about to be captured: another one
// makes a new safe point although the tree is the same.
func (t *turn) stampIgnored(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	h := sha256.New()
	for _, p := range paths {
		stamp, _, err := stampOf(t.at(p))
		if err != nil {
			stamp = "gone"
		}
		fmt.Fprintf(h, "%d %s %s\n", len(p), p, stamp)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// captureIgnored copies files into the store under the safe point's number.
func (t *turn) captureIgnored(job string, n int, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	to := filepath.Join(t.w.ignoredStore(job), strconv.Itoa(n))
	if err := errors.Join(os.RemoveAll(to), os.RemoveAll(to+".new")); err != nil {
		return fmt.Errorf("capture ignored files: %w", err)
	}
	for _, p := range paths {
		target := filepath.Join(to+".new", filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return fmt.Errorf("capture ignored files: %w", err)
		}
		if err := copyFile(t.at(p), target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("capture ignored files: %w", err)
		}
	}
	if err := os.Rename(to+".new", to); err != nil {
		return fmt.Errorf("capture ignored files: %w", err)
	}
	return nil
}

// copyFile makes a file that only its owner can read, and run if the original
// could be run. It never writes over one.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode()&0o100)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// restoreIgnored brings captured files back: those that are gone always, those
// that differ only when the present ones were captured too.
func (t *turn) restoreIgnored(o RestoreOptions, target SafePoint, r *Restored) error {
	from := filepath.Join(t.w.ignoredStore(target.Job), strconv.Itoa(target.N))
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == from {
			return nil // none were captured
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch there := exists(t.at(name)); {
		case !o.wants(name):
			return nil
		case there && sameContent(path, t.at(name)):
			return nil
		case there && (!o.CaptureIgnored || !t.isFile(name)):
			r.Left = append(r.Left, name)
			return nil
		case o.DryRun:
			r.Written = append(r.Written, name)
			return nil
		case there:
			a := &aside{top: t.w.Top, dir: t.asideDir(r)}
			if err := a.move(name); err != nil {
				return err
			}
			r.Aside, r.MovedAside = a.dir, append(r.MovedAside, a.moved...)
		}
		if parent := filepath.ToSlash(filepath.Dir(rel)); parent != "." && !t.makeDir(parent) {
			r.Left = append(r.Left, name)
			return nil
		}
		r.Written = append(r.Written, name)
		return copyFile(path, t.at(name))
	})
	if err != nil {
		return fmt.Errorf("bring ignored files back: %w", err)
	}
	return nil
}

// sameContent compares two small files.
func sameContent(a, b string) bool {
	x, err := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
