package process

import (
	"os"
	"slices"
	"time"
)

// endure is how long a killed process may take to leave the table; one that
// waits for a broken disk or a dead network share takes longer, and is left.
const endure = 2 * time.Second

// KillTree ends a process and everything below it, also what left its process
// group or session, and returns what it ended, the root first. All are asked
// to end (TERM) and have grace to do so; the rest is frozen, so that nothing is
// started meanwhile and escapes, looked at again, and killed. Neither the
// caller nor an ancestor of it is ever ended: for such a pid nothing happens.
// On Windows there is no asking: grace is not waited for.
func KillTree(pid int, grace time.Duration) []Info {
	root, err := readRow(pid)
	if err != nil {
		return nil
	}
	t := newTree(pid, root.start, "")
	if t.spared[pid] {
		return nil
	}
	info := root.info()
	ended := t.end(grace)
	if !root.dead && !slices.Contains(t.living(), pid) {
		ended = slices.Insert(ended, 0, info)
	}
	return ended
}

// KillMarked ends every process that was started under a mark (Spec.Mark) and runs
// still, though the process that started it may be gone, and returns what it ended.
// What cleared its environment is not found by it, and nothing is where no
// environment can be read. It spares those that KillTree does.
func KillMarked(mark string, grace time.Duration) []Info {
	if mark == "" {
		return nil
	}
	t := newTree(0, "", mark)
	return t.end(grace)
}

// end ends the tree and returns which of its members, the root left aside, are gone.
func (t *tree) end(grace time.Duration) []Info {
	t.grow()
	if len(t.living()) == 0 {
		return nil
	}
	asked := map[int]bool{}
	t.wait(grace, func() {
		for _, pid := range t.living() {
			if !asked[pid] {
				asked[pid] = true
				terminate(pid)
			}
		}
	})
	for again := true; again; again = t.grow() { // frozen parents start nothing new: this ends
		for _, pid := range t.living() {
			freeze(pid)
		}
	}
	t.wait(endure, func() {
		for _, pid := range t.living() {
			kill(pid)
		}
	})
	t.reap()
	living := t.living()
	return slices.DeleteFunc(slices.Clone(t.found), func(i Info) bool { return slices.Contains(living, i.PID) })
}

// wait calls act, looks whether the whole tree is gone, and does so again with
// growing pauses until it is or the time is up. What a member starts while it
// ends joins the tree.
func (t *tree) wait(limit time.Duration, act func()) {
	deadline := time.Now().Add(limit)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		act()
		left := time.Until(deadline)
		if left <= 0 || len(t.living()) == 0 && !t.grow() {
			return
		}
		time.Sleep(min(pause, left))
		t.grow()
	}
}

// bury waits for orphans that were given to us and have ended by themselves: nobody
// else can, and a long run would fill the table with them. The root and its guard are
// their starter's to wait for.
func bury(root int, g *guard) {
	self := os.Getpid()
	for _, r := range table() {
		if r.dead && r.parent == self && r.pid != root && !g.is(r.pid) {
			collect(r.pid)
		}
	}
}

// reap waits for members that became our children because we are a subreaper.
// The root is its starter's to wait for.
func (t *tree) reap() {
	self := os.Getpid()
	for _, member := range t.found {
		if r, err := readRow(member.PID); err == nil && r.dead && r.parent == self && r.start == member.Start {
			collect(member.PID)
		}
	}
}
