package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"
)

// racy is how long after a change a second one may leave the same stat
// behind: FAT keeps times to two seconds, others to a few milliseconds.
const racy = 2 * time.Second

// walk compares the folder with an index. It never follows a symlink and
// never enters a folder the index knows nothing in: those are settled after
// git has said which files in them are not ignored.
type walk struct {
	top      string
	index    *gitIndex
	since    time.Time // entries whose file changed later may hide a second change
	fileMode bool      // the executable bit means something here
	links    bool      // the file system has symlinks

	mu         sync.Mutex
	seen       []bool       // by entry: still there, as a file or link
	doubtful   []int        // entries whose content has to be read again
	files      []string     // files the index does not know
	dirs       []string     // folders it knows nothing in, with "/"
	empty      []string     // folders with nothing in them
	notCovered []NotCovered // what cannot be kept: special, unreadable
	blind      []string     // folders that could not be read, with "/"

	slots chan struct{}
	wait  sync.WaitGroup
}

// run walks the whole folder, in as many goroutines as there are processors.
func (k *walk) run() {
	k.seen = make([]bool, len(k.index.entries))
	k.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	k.dir("", 0, len(k.index.entries))
	k.wait.Wait()
	sort.Ints(k.doubtful)
	sort.Strings(k.files)
	sort.Strings(k.dirs)
}

// dir walks one folder; prefix is its path with "/", "" for the top, and the
// index has its files from lo to hi.
func (k *walk) dir(prefix string, lo, hi int) {
	at := filepath.Join(k.top, filepath.FromSlash(prefix))
	f, err := os.Open(at)
	var list []fs.DirEntry
	if err == nil {
		defer f.Close()
		list, err = f.ReadDir(-1)
	}
	if err != nil {
		if prefix != "" && os.IsNotExist(err) {
			return // gone since its parent was read
		}
		k.note(func() {
			k.blind = append(k.blind, prefix)
			k.notCovered = append(k.notCovered, NotCovered{Path: prefix, Reason: Unreadable})
		})
		return
	}
	if len(list) == 0 && prefix != "" {
		k.note(func() { k.empty = append(k.empty, strings.TrimSuffix(prefix, "/")) })
	}
	for _, d := range list {
		path := prefix + d.Name()
		switch {
		case d.Name() == ".git":
		case d.IsDir():
			path += "/"
			from, to := k.index.under(path, lo, hi)
			if from == to {
				k.note(func() { k.dirs = append(k.dirs, path) })
				continue
			}
			k.spread(path, from, to)
		case special(d):
			k.note(func() { k.notCovered = append(k.notCovered, NotCovered{Path: path, Reason: Special}) })
		default:
			i := k.index.search(path, lo, hi)
			if i == hi || k.index.entries[i].path != path {
				k.note(func() { k.files = append(k.files, path) })
				continue
			}
			s, mode, err := statIn(f, d.Name())
			if err != nil {
				continue // gone since the folder was read: not seen
			}
			k.seen[i] = true // one goroutine an entry
			if !k.clean(&k.index.entries[i], s, mode) {
				k.note(func() { k.doubtful = append(k.doubtful, i) })
			}
		}
	}
}

// special says that d is neither a file nor a link nor a folder.
func special(d fs.DirEntry) bool { return d.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 }

// spread walks a folder in another goroutine when one is free.
func (k *walk) spread(prefix string, lo, hi int) {
	select {
	case k.slots <- struct{}{}:
		k.wait.Go(func() {
			k.dir(prefix, lo, hi)
			<-k.slots
		})
	default:
		k.dir(prefix, lo, hi)
	}
}

// clean says that the file surely has the content the entry names.
func (k *walk) clean(e *entry, s stat, mode fs.FileMode) bool {
	if !e.stat.same(s) || e.flags != 0 || e.extra != 0 {
		return false
	}
	since := k.since.Add(-racy)
	if at := time.Unix(int64(s.ctime), int64(s.ctimeNS)); !at.Before(since) {
		return false
	}
	if at := time.Unix(int64(s.mtime), int64(s.mtimeNS)); !at.Before(since) {
		return false
	}
	if link := mode&fs.ModeSymlink != 0; k.links && link != (e.mode == modeLink) {
		return false
	}
	return !k.fileMode || e.mode == modeLink || mode&0o100 != 0 == (e.mode == modeExec)
}

func (k *walk) note(f func()) {
	k.mu.Lock()
	f()
	k.mu.Unlock()
}

// missing are the entries whose file is gone, but for those below a folder
// that could not be read.
func (k *walk) missing() (gone, hidden []int) {
	for i, e := range k.index.entries {
		switch {
		case k.seen[i]:
		case below(k.blind, e.path):
			hidden = append(hidden, i)
		default:
			gone = append(gone, i)
		}
	}
	return gone, hidden
}

// settle goes into the folders the index knows nothing in. known are the
// files git does not ignore, sorted; nested the repositories among the
// folders, with "/". What is neither is ignored: reported whole where nothing
// in a folder is kept.
func (k *walk) settle(known, nested []string) (ignored []string) {
	for _, f := range k.files {
		if !holds(known, f) {
			ignored = append(ignored, f)
		}
	}
	for _, d := range k.dirs {
		ignored = append(ignored, k.unknown(d, known, nested)...)
	}
	sort.Strings(k.empty)
	sort.Strings(ignored)
	return ignored
}

func (k *walk) unknown(prefix string, known, nested []string) (ignored []string) {
	if holds(nested, prefix) {
		return nil
	}
	if !holdsBelow(known, prefix) && !holdsBelow(nested, prefix) {
		empty, whole := k.hollow(prefix)
		if !whole {
			return []string{prefix}
		}
		k.empty = append(k.empty, empty...)
		return nil
	}
	list, err := readDir(filepath.Join(k.top, filepath.FromSlash(prefix)))
	if err != nil {
		k.notCovered = append(k.notCovered, NotCovered{Path: prefix, Reason: Unreadable})
		return nil
	}
	for _, d := range list {
		path := prefix + d.Name()
		switch {
		case d.Name() == ".git":
		case d.IsDir():
			ignored = append(ignored, k.unknown(path+"/", known, nested)...)
		case special(d):
			k.notCovered = append(k.notCovered, NotCovered{Path: path, Reason: Special})
		case !holds(known, path):
			ignored = append(ignored, path)
		}
	}
	return ignored
}

// hollow looks whether a folder holds nothing but folders, and returns the
// innermost ones. It stops at the first file: an ignored node_modules is not
// walked.
func (k *walk) hollow(prefix string) (empty []string, whole bool) {
	list, err := readDir(filepath.Join(k.top, filepath.FromSlash(prefix)))
	if err != nil {
		return nil, false
	}
	if len(list) == 0 {
		return []string{strings.TrimSuffix(prefix, "/")}, true
	}
	for _, d := range list {
		if !d.IsDir() {
			return nil, false
		}
	}
	for _, d := range list {
		inner, whole := k.hollow(prefix + d.Name() + "/")
		if !whole {
			return nil, false
		}
		empty = append(empty, inner...)
	}
	return empty, true
}

// readDir lists a folder without sorting it.
func readDir(path string) ([]fs.DirEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// holds says whether sorted contains path.
func holds(sorted []string, path string) bool {
	i := sort.SearchStrings(sorted, path)
	return i < len(sorted) && sorted[i] == path
}

// holdsBelow says whether sorted contains something below dir, which ends
// with "/".
func holdsBelow(sorted []string, dir string) bool {
	i := sort.SearchStrings(sorted, dir)
	return i < len(sorted) && strings.HasPrefix(sorted[i], dir)
}

// below says whether path is, or lies in, one of the given paths; those that
// end with "/" are folders.
func below(list []string, path string) bool {
	for _, p := range list {
		if path == p || p == "" || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}
