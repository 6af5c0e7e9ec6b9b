package workspace

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// userIndex is the index of the user's repository. It is only ever read.
type userIndex struct {
	stamp    string // says whether the file is the same one; "" when there is none
	time     time.Time
	data     []byte
	index    *gitIndex
	unmerged bool
}

// stampOf names one state of a file: another one after every write.
func stampOf(path string) (stamp string, at time.Time, err error) {
	s, _, err := statAt(path)
	if err != nil {
		return "", at, err
	}
	return fmt.Sprintf("%d.%09d-%d.%09d-%d-%d", s.mtime, s.mtimeNS, s.ctime, s.ctimeNS, s.ino, s.size), time.Unix(int64(s.mtime), int64(s.mtimeNS)), nil
}

func (t *turn) readUserIndex(ctx context.Context) (*userIndex, error) {
	u := &userIndex{index: &gitIndex{}}
	if !t.w.Git {
		return u, nil
	}
	// The stamp is taken first: when the file is replaced in between, the
	// stamp is old, and the next turn looks again.
	file := filepath.Join(t.w.GitDir, "index")
	stamp, at, err := stampOf(file)
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err == nil {
		u.data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the repository's index: %w", err)
	}
	u.stamp, u.time = stamp, at
	if u.index, err = parseIndex(u.data, t.width); err != nil {
		return nil, fmt.Errorf("read the repository's index: %w", err)
	}
	if u.index.foreign != "" {
		if u.index.entries, err = t.listUserIndex(ctx); err != nil {
			return nil, err
		}
	}
	for _, e := range u.index.entries {
		u.unmerged = u.unmerged || e.flags&flagStage != 0
	}
	return u, nil
}

// listUserIndex asks git for the entries of a split or sparse index. They
// come without stats.
func (t *turn) listUserIndex(ctx context.Context) ([]entry, error) {
	list, err := t.user.Records(ctx, "ls-files", "-z", "-s", "-v")
	if err != nil {
		return nil, fmt.Errorf("read the repository's index: %w", err)
	}
	entries := make([]entry, 0, len(list))
	for _, record := range list {
		head, name, ok := strings.Cut(record, "\t") // "H 100644 <oid> 0\tname"
		parts := strings.Split(head, " ")
		if !ok || len(parts) != 4 {
			return nil, fmt.Errorf("read the repository's index: unexpected record %.200q", record)
		}
		mode, err := strconv.ParseUint(parts[1], 8, 32)
		oid, err2 := hex.DecodeString(parts[2])
		stage, err3 := strconv.ParseUint(parts[3], 10, 2)
		if err := errors.Join(err, err2, err3); err != nil {
			return nil, fmt.Errorf("read the repository's index: unexpected record %.200q", record)
		}
		e := entry{path: name, oid: string(oid), mode: uint32(mode), flags: uint16(stage) << 12}
		if strings.EqualFold(parts[0], "S") {
			e.extra = extraSkip
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// sparse says whether path is one the user's checkout leaves out.
func (u *userIndex) sparse(path string) bool {
	i, ok := u.index.find(path)
	return ok && u.index.entries[i].extra&extraSkip != 0
}

// tracked are the files the user's index has and ours has not: ignored ones
// that were added by force, and what was left out as too large.
func (t *turn) tracked(u *userIndex, ours *gitIndex, nested []string) (paths []string) {
	i := 0
	for _, e := range u.index.entries {
		for i < len(ours.entries) && ours.entries[i].path < e.path {
			i++
		}
		if i < len(ours.entries) && ours.entries[i].path == e.path || e.mode == modeGit || below(nested, e.path) {
			continue
		}
		if t.isFile(e.path) {
			paths = append(paths, e.path)
		}
	}
	return paths
}

// isFile says whether path is a file or a link of this workspace.
func (t *turn) isFile(name string) bool {
	info, err := os.Lstat(t.at(name))
	return err == nil && info.Mode()&fs.ModeType&^fs.ModeSymlink == 0 && reachable(t.w.Top, name)
}

// reachable says that path is reached through real folders: what lies behind
// a symlink belongs to another place, perhaps not even in the workspace.
func reachable(top, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(dir))); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// baseIndex is the index a turn starts from, and then its own copy.
type baseIndex struct {
	path      string
	index     *gitIndex
	time      time.Time // when its stats were taken, or earlier
	last      *state    // nil when there is no safe point to compare with
	seeded    bool      // made from the user's index just now
	untouched bool      // still the one whose tree is last's
}

// lastIndex is the private index as the last turn left it, nil when there is
// none that can be trusted.
func (t *turn) lastIndex(last *state, user *userIndex) (*baseIndex, error) {
	if last == nil {
		return nil, nil
	}
	file := t.w.private("index")
	stamp, at, err := stampOf(file)
	if err != nil {
		return nil, nil // none yet
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read private index: %w", err)
	}
	index, err := parseIndex(data, t.width)
	if err != nil || index.foreign != "" {
		return nil, nil // damaged: made anew
	}
	b := &baseIndex{path: file, index: index, time: at, last: last, untouched: stamp == last.Index}
	return b, b.sparse(t, user)
}

// sparse takes over the entries a sparse checkout leaves out of the folder:
// they are part of the tree, and not deleted.
func (b *baseIndex) sparse(t *turn, user *userIndex) error {
	var add []entry
	for _, e := range user.index.entries {
		if e.extra&extraSkip == 0 || e.flags&flagStage != 0 || e.mode == modeGit {
			continue
		}
		if i, ok := b.index.find(e.path); ok && b.index.entries[i].oid == e.oid && b.index.entries[i].extra == extraSkip || exists(t.at(e.path)) {
			continue
		}
		add = append(add, entry{path: e.path, oid: e.oid, mode: e.mode, extra: extraSkip})
	}
	if len(add) == 0 {
		return nil
	}
	var fresh []entry
	for _, e := range add {
		if i, ok := b.index.find(e.path); ok {
			b.index.entries[i] = e
		} else {
			fresh = append(fresh, e)
		}
	}
	b.index.entries = append(b.index.entries, fresh...)
	sort.Slice(b.index.entries, func(i, j int) bool { return b.index.entries[i].path < b.index.entries[j].path })
	b.index.tree = nil
	return b.write(t)
}

// seed makes an index from the user's: ten times faster than reading every
// file. What git could have converted, or was told not to look at, is seeded
// without a stat, so it is read.
func (t *turn) seed(ctx context.Context, user *userIndex) (*baseIndex, error) {
	b := &baseIndex{index: &gitIndex{}, time: user.time, seeded: true}
	for _, e := range user.index.entries {
		if e.mode == modeGit || e.flags&flagStage != 0 || e.extra&extraIntentToAdd != 0 {
			continue
		}
		if e.extra&extraSkip != 0 && !exists(t.at(e.path)) {
			e.stat, e.flags = stat{}, 0
		} else if e.flags != 0 || e.extra != 0 {
			e.stat, e.flags, e.extra = stat{}, 0, 0
		}
		b.index.entries = append(b.index.entries, e)
	}
	if t.mayConvert(b.index) {
		for i := range b.index.entries {
			b.index.entries[i].stat = stat{}
		}
	} else if err := t.checkSizes(ctx, b.index); err != nil {
		return nil, err
	}
	if len(b.index.entries) == len(user.index.entries) {
		b.index.tree = user.index.tree
	}
	return b, b.write(t)
}

// checkSizes drops the stat of entries whose file is not as long as the blob:
// line ends were converted, now or under a setting that is gone since.
func (t *turn) checkSizes(ctx context.Context, x *gitIndex) error {
	ids := make([]string, len(x.entries))
	for i, e := range x.entries {
		ids[i] = hex.EncodeToString([]byte(e.oid))
	}
	found, err := t.private.Objects(ctx, false, ids...)
	if err != nil {
		return fmt.Errorf("compare sizes with the repository: %w", err)
	}
	for i, o := range found {
		if o.ID == "" || uint32(o.Size) != x.entries[i].stat.size {
			x.entries[i].stat = stat{}
		}
	}
	return nil
}

// mayConvert says whether attributes can make a file differ from its blob
// without changing its length: filters, ident, encodings. Line ends cannot.
func (t *turn) mayConvert(x *gitIndex) bool {
	files := []string{filepath.Join(t.w.CommonDir, "info", "attributes"), "/etc/gitattributes"}
	if file, ok := t.config["core.attributesfile"]; ok {
		if rest, home := strings.CutPrefix(file, "~/"); home {
			file = filepath.Join(t.w.home, rest)
		}
		files = append(files, file)
	} else if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		files = append(files, filepath.Join(dir, "git", "attributes"))
	} else {
		files = append(files, filepath.Join(t.w.home, ".config", "git", "attributes"))
	}
	for _, e := range x.entries {
		if path.Base(e.path) != ".gitattributes" {
			continue
		}
		if e.extra != 0 || !exists(t.at(e.path)) {
			return true // git would use the one in its index
		}
		files = append(files, t.at(e.path))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, word := range []string{"filter", "ident", "encoding"} {
			if err != nil || bytes.Contains(text, []byte(word)) {
				return true
			}
		}
	}
	return false
}

// hasAttributes says whether an attributes file is among paths.
func hasAttributes(paths []string) bool {
	for _, p := range paths {
		if path.Base(p) == ".gitattributes" {
			return true
		}
	}
	return false
}

// present are the paths of the entries that were seen.
func (x *gitIndex) present(seen []bool) (paths []string) {
	for i, e := range x.entries {
		if seen[i] {
			paths = append(paths, e.path)
		}
	}
	return paths
}

// write makes the turn's own copy from memory. The file's time stays that of
// the stats in it: git takes entries as young as the file for doubtful.
func (b *baseIndex) write(t *turn) error {
	b.path, b.untouched = t.indexFile(), false
	if err := os.WriteFile(b.path, b.index.bytes(t.width), 0o600); err != nil {
		return fmt.Errorf("write private index: %w", err)
	}
	return os.Chtimes(b.path, b.time, b.time)
}

// own makes a copy of the index for this turn, if it has none yet.
func (b *baseIndex) own(t *turn) error {
	if b.path == t.indexFile() {
		return nil
	}
	data, err := os.ReadFile(b.path)
	if err != nil {
		return fmt.Errorf("read private index: %w", err)
	}
	b.path, b.untouched = t.indexFile(), false
	if err := os.WriteFile(b.path, data, 0o600); err != nil {
		return fmt.Errorf("write private index: %w", err)
	}
	return os.Chtimes(b.path, b.time, b.time)
}

// doubt takes the stat of entries away, as git does with what it calls racy:
// a size of zero makes it read the file.
func (b *baseIndex) doubt(t *turn, paths []string) error {
	if len(paths) == 0 {
		return b.own(t)
	}
	for _, p := range paths {
		if i, ok := b.index.find(p); ok {
			e := &b.index.entries[i]
			e.stat.size, e.flags, e.extra = 0, 0, 0
		}
	}
	return b.write(t)
}

// indexFile is this turn's index.
func (t *turn) indexFile() string { return filepath.Join(t.tmp, "index") }

// writeUserTree writes the tree of the user's index from a copy.
func (t *turn) writeUserTree(ctx context.Context, user *userIndex) (string, error) {
	file := filepath.Join(t.tmp, "user-index")
	in := t.private
	if user.data == nil {
		return t.write("tree", nil)
	}
	if err := os.WriteFile(file, user.data, 0o600); err != nil {
		return "", fmt.Errorf("copy the repository's index: %w", err)
	}
	if user.index.foreign != "" {
		// What a split index shares lies in the user's git dir.
		in = t.user.Storing(t.quarantine(), t.objects())
		in.Config = append(append([]string(nil), in.Config...), "core.splitIndex=false")
	}
	tree, err := in.With("GIT_INDEX_FILE="+file).Line(ctx, "write-tree", "--missing-ok")
	if err != nil {
		return "", fmt.Errorf("write the repository's index as a tree: %w", err)
	}
	return tree, nil
}
