package process

import (
	"cmp"
	"os"
	"slices"
)

// Ancestors lists the processes above pid, its parent first, as far as the
// first process that can be seen goes. It costs two small reads an ancestor.
func Ancestors(pid int) []Info {
	var chain []Info
	r, err := readRow(pid)
	for err == nil && r.parent > 0 && len(chain) < 1024 { // a limit, should the table ever loop
		if r, err = readRow(r.parent); err == nil {
			chain = append(chain, r.info())
		}
	}
	return chain
}

// Descendants lists every process below pid, parents before their children.
func Descendants(pid int) []Info {
	t := tree{root: pid, known: map[int]string{}}
	rows := table()
	for _, r := range rows {
		if r.pid == pid {
			t.known[pid] = r.start
		}
	}
	if len(t.known) == 0 {
		return nil
	}
	t.below(rows)
	return t.found
}

// tree is what belongs together and may have to end together. It only grows:
// a process once seen below the root stays in it when it is given to init.
type tree struct {
	root   int
	mark   string // what carries() looks for; empty: parent links and session only
	since  string // start of the root: what a mark can name is younger
	leader bool   // the root leads a session: its members belong to the tree
	// orphans: our own children belong to it, but what was detached.
	orphans bool
	spared  map[int]bool   // never in the tree, nor below it: the caller and its ancestors
	known   map[int]string // pid to start
	found   []Info         // all but the root, in the order seen
}

// newTree begins a tree at a process that lives, or lived.
func newTree(root int, start, mark string) *tree {
	return &tree{root: root, mark: mark, since: start, known: map[int]string{root: start}, spared: spared()}
}

// spared names the processes that no tree may hold: ourselves and those above.
func spared() map[int]bool {
	self := os.Getpid()
	set := map[int]bool{0: true, 1: true, self: true}
	for r, err := readRow(self); err == nil && r.parent > 0 && !set[r.parent]; r, err = readRow(r.parent) {
		set[r.parent] = true
	}
	return set
}

// grow looks at the process table again and tells whether the tree gained any.
func (t *tree) grow() bool {
	before := len(t.found)
	rows := table()
	for _, r := range rows {
		if r.pid == t.root && r.start == t.known[t.root] && r.session == t.root {
			t.leader = true
		}
	}
	reused := slices.ContainsFunc(rows, func(r row) bool { return r.pid == t.root && r.start != t.known[t.root] })
	for _, r := range rows {
		if r.dead || t.spared[r.pid] || t.has(r) || earlier(r.start, t.since) {
			continue
		}
		inSession := t.leader && !reused && r.session == t.root
		if inSession || t.mark != "" && carries(r.pid, markVariable, t.mark) || t.orphaned(r) {
			t.add(r)
		}
	}
	t.below(rows)
	return len(t.found) > before
}

// orphaned tells whether a process was given to us when its parent ended.
func (t *tree) orphaned(r row) bool {
	return t.orphans && r.parent == os.Getpid() && !carries(r.pid, detachVariable, "")
}

// below adds the children, and theirs, of every process already known.
func (t *tree) below(rows []row) {
	children := make(map[int][]row, len(rows))
	var queue []row
	for _, r := range rows {
		children[r.parent] = append(children[r.parent], r)
		if t.has(r) {
			queue = append(queue, r)
		}
	}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		next := children[parent.pid]
		slices.SortFunc(next, func(a, b row) int { return cmp.Compare(a.pid, b.pid) })
		for _, r := range next {
			if r.dead || t.spared[r.pid] || t.has(r) {
				continue
			}
			t.add(r)
			queue = append(queue, r)
		}
	}
}

func (t *tree) has(r row) bool {
	start, ok := t.known[r.pid]
	return ok && start == r.start
}

func (t *tree) add(r row) {
	t.known[r.pid] = r.start
	t.found = append(t.found, r.info())
}

// living lists the members that still run, the root included.
func (t *tree) living() []int {
	var pids []int
	for pid, start := range t.known {
		if r, err := readRow(pid); err == nil && !r.dead && r.start == start && !t.spared[pid] {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// earlier compares two starts as the numbers they are on every system we read.
func earlier(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
