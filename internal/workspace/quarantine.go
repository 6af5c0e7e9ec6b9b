package workspace

import (
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// quarantine is where a turn's new objects are until it is sure of them, as
// git does it for a push. git writes there only what the user's repository
// does not have, so its content is the list of what a safe point added.
func (t *turn) quarantine() string { return filepath.Join(t.tmp, "objects") }

// write puts a loose object into the quarantine and returns its id. Only for
// the few small objects of the safe point itself: writing them here saves a
// process each.
func (t *turn) write(kind string, body []byte) (string, error) {
	h := newHash(t.width)
	head := fmt.Sprintf("%s %d\x00", kind, len(body))
	io.WriteString(h, head)
	h.Write(body)
	id := hex.EncodeToString(h.Sum(nil))
	path := loosePath(t.quarantine(), id)
	if exists(path) || refresh(loosePath(t.objects(), id)) {
		return id, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	z, _ := zlib.NewWriterLevel(f, zlib.BestSpeed)
	_, err = io.WriteString(z, head)
	_, err2 := z.Write(body)
	if err = errors.Join(err, err2, z.Close(), f.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	return id, nil
}

// objects is the object folder of the user's repository.
func (t *turn) objects() string { return filepath.Join(t.w.CommonDir, "objects") }

// added lists the loose objects in the quarantine, sorted, and the bytes of
// everything in it.
func (t *turn) added() (ids []string, size int64, err error) {
	ids = []string{}
	err = filepath.WalkDir(t.quarantine(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		if id := filepath.Base(filepath.Dir(path)) + d.Name(); t.isID(id) {
			ids = append(ids, id)
		}
		return nil
	})
	sort.Strings(ids)
	if err != nil {
		return nil, 0, fmt.Errorf("list new objects: %w", err)
	}
	return ids, size, nil
}

func (t *turn) isID(text string) bool {
	if len(text) != 2*t.width {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil
}

// release moves the quarantine into the user's objects, loose ones first,
// then packs (git makes one for a very large file), their index last: an
// object is not seen before what it needs is there.
func (t *turn) release() error {
	var files []string
	err := filepath.WalkDir(t.quarantine(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "tmp_") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("move new objects into place: %w", err)
	}
	order := func(path string) int {
		switch filepath.Ext(path) {
		case ".idx":
			return 2
		case ".pack", ".rev":
			return 1
		}
		return 0
	}
	sort.SliceStable(files, func(i, j int) bool { return order(files[i]) < order(files[j]) })
	root, err := os.Stat(t.objects())
	if err != nil {
		return fmt.Errorf("move new objects into place: %w", err)
	}
	for _, from := range files {
		rel, err := filepath.Rel(t.quarantine(), from)
		if err != nil {
			return fmt.Errorf("move new objects into place: %w", err)
		}
		if err := settleObject(from, filepath.Join(t.objects(), rel), root.Mode().Perm()); err != nil {
			return fmt.Errorf("move new objects into place: %w", err)
		}
	}
	return nil
}

// settleObject moves one file, making its folder with the mode its neighbours have.
// What is there already has the same name, so the same content.
func settleObject(from, to string, mode fs.FileMode) error {
	if refresh(to) {
		return nil
	}
	dir := filepath.Dir(to)
	if err := os.Mkdir(dir, mode); err == nil {
		if err := os.Chmod(dir, mode); err != nil { // the umask has no say in a shared repository
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	err := os.Rename(from, to)
	if err == nil || !isCrossDevice(err) {
		return err
	}
	return copyInto(from, to)
}

// copyInto is a rename between two file systems: the new name appears whole.
func copyInto(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), "tmp_obj_")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(0o444), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// loosePath is where a loose object lies.
func loosePath(objects, id string) string { return filepath.Join(objects, id[:2], id[2:]) }

// refresh says whether an object is there already, and makes it young, so
// that a gc that runs now does not take it for old rubbish.
func refresh(path string) bool {
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// exists looks at a path without following a link.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
