package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Who starts a tree and is killed cannot end it; the mark lets another process.
func TestKillMarkedEndsWhatAKilledStarterLeft(t *testing.T) {
	if mark := os.Getenv("PROCESS_TEST_MARK"); mark != "" {
		Run(t.Context(), Spec{Mark: mark, Shell: `setsid sh -c 'trap "" TERM; echo $$ >other; while :; do sleep 0.05; done' & echo $$ >root; wait`})
		return
	}
	t.Parallel()
	dir := t.TempDir()
	mark := "mark" + strconv.Itoa(os.Getpid())
	starter := exec.Command(os.Args[0], "-test.run=^TestKillMarkedEndsWhatAKilledStarterLeft$")
	starter.Dir, starter.Env = dir, append(os.Environ(), "PROCESS_TEST_MARK="+mark)
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	ids := map[string]Ident{}
	for _, name := range []string{"root", "other"} {
		waitFor(t, name, func() bool { return pidIn(filepath.Join(dir, name)) > 0 })
		id, err := Of(pidIn(filepath.Join(dir, name)))
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	for name, id := range ids {
		if id.Liveness() != Live {
			t.Fatalf("%s ended with its starter; the test shows nothing", name)
		}
	}
	if ended := KillMarked("no"+mark, 0); ended != nil {
		t.Errorf("KillMarked of another mark ended %+v", ended)
	}
	ended := KillMarked(mark, 30*time.Millisecond)
	if len(ended) < 2 {
		t.Errorf("KillMarked = %+v, want the two shells", ended)
	}
	wantGone(t, ids)
}

func pidIn(file string) int {
	data, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

// A tool that clears its environment, makes a session of its own and lets its
// parent end is named by nothing any more, but by who adopted it.
func TestRunEndsOrphansWithoutAMark(t *testing.T) {
	if os.Getenv("PROCESS_TEST_ORPHANS") != "" {
		if err := Subreaper(); err != nil {
			t.Fatal(err)
		}
		spared, err := Detach([]string{"sleep", "300"}, "", nil, "")
		if err != nil {
			t.Fatal(err)
		}
		defer KillTree(spared, time.Second)
		got := Run(t.Context(), Spec{Orphans: true, Bound: true, Grace: 20 * time.Millisecond,
			Shell: `(env -i PATH="$PATH" setsid sh -c 'echo $$ >orphan; exec sleep 300' &); (true &); (true &); until test -s orphan; do sleep 0.01; done`})
		if !got.Passed() {
			t.Fatalf("Run = %+v", got)
		}
		if id, err := Of(pidIn("orphan")); err == nil {
			t.Errorf("the orphan lives: %+v", id)
		}
		for _, r := range table() {
			if r.parent == os.Getpid() && r.dead {
				t.Errorf("%+v was not collected", r)
			}
		}
		if id, err := Of(spared); err != nil || id.Liveness() != Live {
			t.Errorf("what was detached ended too: %+v, %v", id, err)
		}
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunEndsOrphansWithoutAMark$")
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PROCESS_TEST_ORPHANS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		if pid := pidIn(filepath.Join(cmd.Dir, "orphan")); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		t.Fatalf("%v\n%s", err, out)
	}
}
