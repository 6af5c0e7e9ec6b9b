package process

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	rest := " S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 10 11"
	tests := []struct {
		line string
		want row
		ok   bool
	}{
		{"42 (sh)" + rest, row{pid: 42, parent: 7, session: 9, start: "123456", name: "sh"}, true},
		{"42 (a) S (b c)" + rest, row{pid: 42, parent: 7, session: 9, start: "123456", name: "a) S (b c"}, true},
		{"42 (x)" + strings.Replace(rest, " S ", " Z ", 1), row{pid: 42, parent: 7, session: 9, start: "123456", name: "x", dead: true}, true},
		{"42 (sh) S 7 8 9", row{}, false},
		{"x (sh)" + rest, row{}, false},
		{"", row{}, false},
	}
	for _, tt := range tests {
		got, ok := parseStat([]byte(tt.line))
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("parseStat(%q) = %+v, %v; want %+v, %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 10 11"))
	f.Add([]byte(") 1 ("))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, ok := parseStat(line); ok && r.start == "" {
			t.Errorf("parseStat(%q) = %+v without a start", line, r)
		}
	})
}

// family starts a shell whose script prints the pids of what it starts, one a
// line, as "name pid", and returns them once all of names are there.
func family(t *testing.T, script string, names ...string) (*exec.Cmd, map[string]int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{"root": cmd.Process.Pid}
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for len(pids) <= len(names) && lines.Scan() {
		name, number, _ := strings.Cut(lines.Text(), " ")
		if pids[name], err = strconv.Atoi(number); err != nil {
			t.Fatalf("%q is no pid: %v", lines.Text(), err)
		}
	}
	for _, name := range names {
		if pids[name] == 0 {
			t.Fatalf("the script did not start %s: %v", name, pids)
		}
	}
	return cmd, pids
}

const threeLevels = `
trap '' TERM
setsid sh -c 'trap "" TERM; echo other $$; sleep 300 & echo deep $!; wait' &
sleep 300 & echo child $!
wait`

func TestDescendantsAndAncestors(t *testing.T) {
	t.Parallel()
	_, pids := family(t, threeLevels, "other", "deep", "child")
	var found []int
	for _, info := range Descendants(pids["root"]) {
		found = append(found, info.PID)
	}
	for _, name := range []string{"other", "deep", "child"} {
		if !slices.Contains(found, pids[name]) {
			t.Errorf("Descendants = %v, without %s %d", found, name, pids[name])
		}
	}
	if slices.Index(found, pids["other"]) > slices.Index(found, pids["deep"]) {
		t.Errorf("Descendants = %v, want %d before its child %d", found, pids["other"], pids["deep"])
	}
	up := Ancestors(pids["deep"])
	if len(up) < 3 || up[0].PID != pids["other"] || up[1].PID != pids["root"] || up[2].PID != os.Getpid() {
		t.Fatalf("Ancestors(deep) = %+v, want other, root, us", up)
	}
	if up[0].Name != "sh" || len(up[0].Args) != 3 || up[0].Parent != pids["root"] {
		t.Errorf("nearest ancestor = %+v, want sh with its three arguments below root", up[0])
	}
}

func TestKillTreeEndsWhatIgnoresTermInOtherSessions(t *testing.T) {
	t.Parallel()
	cmd, pids := family(t, threeLevels, "other", "deep", "child")
	ids := idents(t, pids)
	ended := KillTree(pids["root"], 30*time.Millisecond)
	_ = cmd.Wait()
	if len(ended) != 4 || ended[0].PID != pids["root"] {
		t.Errorf("KillTree = %+v, want the root and three below", ended)
	}
	wantGone(t, ids)
}

func TestKillTreeWaitsForGrace(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tidied")
	cmd, pids := family(t, fmt.Sprintf(`trap 'echo yes > %q; exit' TERM; echo ready $$; while :; do sleep 0.01; done`, file), "ready")
	begun := time.Now()
	KillTree(pids["root"], time.Minute)
	_ = cmd.Wait()
	if got, err := os.ReadFile(file); err != nil || string(got) != "yes\n" {
		t.Errorf("after TERM the file holds %q, %v; want the trap to have run", got, err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("KillTree took %v though all had ended", took)
	}
}

func TestKillTreeEndsFrozen(t *testing.T) {
	t.Parallel()
	cmd, pids := family(t, `sleep 300 & echo child $!; wait`, "child")
	ids := idents(t, pids)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	KillTree(pids["root"], 10*time.Millisecond)
	_ = cmd.Wait()
	wantGone(t, ids)
}

func TestKillTreeSparesCallerAndAncestors(t *testing.T) {
	t.Parallel()
	for _, pid := range []int{os.Getpid(), os.Getppid(), 1, 0, -1, 1 << 30} {
		if ended := KillTree(pid, 0); ended != nil {
			t.Errorf("KillTree(%d) ended %+v", pid, ended)
		}
	}
}

// orphaned leaves a process in a session of its own, whose parent has ended
// before anyone could have seen it below the root.
const orphaned = `
(setsid sh -c 'echo orphan $$; trap "" TERM; while :; do sleep 0.05; done' >pids 2>/dev/null &)
until grep -qs orphan pids; do sleep 0.01; done; cat pids
`

func TestRunEndsOrphans(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, more string
		timeout    time.Duration
		want       Result
	}{
		{"when it ends by itself", "exit 3", 0, Result{Exit: 3}},
		{"when its time is up", "sleep 300", 300 * time.Millisecond, Result{Exit: -1, TimedOut: true, Signal: "terminated"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Run(t.Context(), Spec{Dir: t.TempDir(), Shell: orphaned + tt.more, Timeout: tt.timeout, Grace: 20 * time.Millisecond})
			if got.Exit != tt.want.Exit || got.TimedOut != tt.want.TimedOut || got.Signal != tt.want.Signal {
				t.Errorf("Run = %+v, want %+v", got, tt.want)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(got.Output, "orphan ")))
			if err != nil {
				t.Fatalf("output %q names no orphan", got.Output)
			}
			if r, err := readRow(pid); err == nil && !r.dead {
				t.Errorf("orphan %+v still lives", r)
			}
		})
	}
}

func TestRunEndsItsTreeOnCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	root := make(chan int, 1)
	var below []Info
	got := Run(ctx, Spec{
		Shell:   threeLevels,
		Grace:   20 * time.Millisecond,
		OnStart: func(i Ident) { root <- i.PID },
		Stdout: &after{lines: 3, do: func() {
			below = Descendants(<-root)
			cancel()
		}},
	})
	if !got.Cancelled || got.TimedOut || got.Passed() {
		t.Errorf("Run = %+v, want cancelled", got)
	}
	if len(below) != 3 {
		t.Fatalf("before the cancel the tree held %+v, want three", below)
	}
	for _, info := range below {
		if r, err := readRow(info.PID); err == nil && !r.dead && r.start == info.Start {
			t.Errorf("%+v still lives", info)
		}
	}
}

// after calls do when that many lines were written.
type after struct {
	lines int
	do    func()
}

func (a *after) Write(p []byte) (int, error) {
	before := a.lines
	a.lines -= strings.Count(string(p), "\n")
	if before > 0 && a.lines <= 0 {
		a.do()
	}
	return len(p), nil
}

func TestDetachOutlivesTheRunItWasStartedIn(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	env := append(os.Environ(), markVariable+"=0123", "WORD=kept")
	pid, err := Detach([]string{"sh", "-c", `echo "$WORD ${DUPLEX_TREE:-none}"; exec sleep 300`}, t.TempDir(), env, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { KillTree(pid, time.Second) })
	r, err := readRow(pid)
	if err != nil || r.session != pid {
		t.Errorf("detached %+v, %v; want a session of its own", r, err)
	}
	waitFor(t, "its log", func() bool { got, _ := os.ReadFile(log); return string(got) == "kept none\n" })
	if carries(pid, markVariable, "0123") {
		t.Errorf("the detached process carries the mark of the run around it")
	}
}

// A hook starts its own long work with Detach while it runs inside an agent
// that runs inside us: the end of the agent must not end it.
func TestRunSparesWhatWasDetached(t *testing.T) {
	if os.Getenv("PROCESS_TEST_DETACH") != "" {
		pid, err := Detach([]string{"sleep", "300"}, "", nil, "")
		fmt.Println("pid", pid, err)
		return
	}
	t.Parallel()
	got := Run(t.Context(), Spec{
		Argv: []string{os.Args[0], "-test.run=^TestRunSparesWhatWasDetached$"},
		Env:  append(os.Environ(), "PROCESS_TEST_DETACH=1"),
	})
	var pid int
	if _, err := fmt.Sscanf(got.Output, "pid %d <nil>", &pid); err != nil {
		t.Fatalf("Run = %+v: %v", got, err)
	}
	defer KillTree(pid, time.Second)
	if id, err := Of(pid); err != nil || id.Liveness() != Live {
		t.Errorf("the detached process is %+v, %v after the run; want it live", id, err)
	}
}

// A process that hands over to a new one in a new session and ends, again and
// again, is never below anything that still lives.
func TestRunEndsWhatRunsAway(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	hop := "echo hop; sleep 0.01; setsid sh ./hop &"
	if err := os.WriteFile(filepath.Join(dir, "hop"), []byte(hop), 0o600); err != nil {
		t.Fatal(err)
	}
	got := Run(ctx, Spec{
		Dir: dir, Grace: 20 * time.Millisecond, Shell: "sh ./hop; exec sleep 300",
		Stdout: &after{lines: 5, do: cancel},
	})
	if !got.Cancelled {
		t.Errorf("Run = %+v, want cancelled", got)
	}
	for _, r := range table() {
		if cwd, _ := os.Readlink(procPath(r.pid, "cwd")); cwd == dir && !r.dead {
			t.Errorf("%+v still runs in the folder", r)
		}
	}
}

func TestSubreaperKeepsOrphans(t *testing.T) {
	if os.Getenv("PROCESS_TEST_SUBREAPER") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSubreaperKeepsOrphans$")
		cmd.Env = append(os.Environ(), "PROCESS_TEST_SUBREAPER=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := Subreaper(); err != nil {
		t.Fatal(err)
	}
	got := Run(t.Context(), Spec{Dir: t.TempDir(), Grace: 20 * time.Millisecond,
		Shell: orphaned + `read name pid <pids; ps -o ppid= -p $pid`})
	if want := strconv.Itoa(os.Getpid()); !strings.HasSuffix(strings.TrimSpace(got.Output), want) {
		t.Errorf("parent of the orphan: %q, want us, %s", got.Output, want)
	}
	if left := Descendants(os.Getpid()); len(left) != 0 {
		t.Errorf("left after Run: %+v, want none, and none waiting to be collected", left)
	}
	for _, r := range table() {
		if r.parent == os.Getpid() {
			t.Errorf("%+v was not collected", r)
		}
	}
}

// TestBoundTreeEndsWithItsStarter kills what runs a command: the command ends too, with
// what it left in the background and in a session of its own, deaf to being asked.
func TestBoundTreeEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	const in = "PROCESS_TEST_BOUND"
	if dir := os.Getenv(in); dir != "" {
		if r := Run(t.Context(), Spec{Argv: []string{"true"}, Bound: true}); !r.Passed() {
			t.Fatalf("%+v", r)
		}
		if left := Descendants(os.Getpid()); len(left) > 0 {
			t.Fatalf("after a command that ended: %+v, want not even its guard", left)
		}
		Run(t.Context(), Spec{Dir: dir, Bound: true, Shell: orphaned + "echo leader $$ >>pids; sleep 300 & echo child $! >>pids; wait"})
		t.Fatal("it was not killed")
	}
	dir := t.TempDir()
	var said bytes.Buffer
	starter := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	starter.Env, starter.Stdout = append(os.Environ(), in+"="+dir), &said
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = starter.Wait(); close(ended) }()
	pids := map[string]int{}
	waitFor(t, "the command", func() bool {
		select {
		case <-ended:
			t.Fatalf("the starter has ended:\n%s", &said)
		default:
		}
		text, _ := os.ReadFile(filepath.Join(dir, "pids"))
		for line := range strings.Lines(string(text)) {
			name, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			pids[name], _ = strconv.Atoi(number)
		}
		return pids["child"] > 0
	})
	ids := idents(t, pids)
	if len(ids) != 3 {
		t.Fatalf("%v, want an orphan, a leader and a child", ids)
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	for name, id := range ids {
		waitFor(t, "the end of the "+name, func() bool { return id.Liveness() == Gone })
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no sign of %s", what)
		}
	}
}

func idents(t *testing.T, pids map[string]int) map[string]Ident {
	t.Helper()
	ids := map[string]Ident{}
	for name, pid := range pids {
		id, err := Of(pid)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	return ids
}

func wantGone(t *testing.T, ids map[string]Ident) {
	t.Helper()
	for name, id := range ids {
		if got := id.Liveness(); got != Gone {
			t.Errorf("%s is %s, want gone", name, got)
		}
	}
}

func BenchmarkAncestors(b *testing.B) {
	for b.Loop() {
		if len(Ancestors(os.Getpid())) == 0 {
			b.Fatal("no ancestors")
		}
	}
}

func BenchmarkDescendants(b *testing.B) {
	for b.Loop() {
		Descendants(os.Getpid())
	}
}

func BenchmarkLiveness(b *testing.B) {
	self := Self()
	for b.Loop() {
		if self.Liveness() != Live {
			b.Fatal("not live")
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if r := Run(b.Context(), Spec{Argv: []string{"true"}}); !r.Passed() {
			b.Fatalf("%+v", r)
		}
	}
}
