package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestCase04IgnoredSurvive(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".env", "KEY=1\n")
	p.write("build/out/a.o", "object\n")
	p.write("src/trace.log", "line\n")
	s := p.keep()
	p.write(".env", "KEY=2\n")
	p.write("build/out/b.o", "later\n")
	p.write("README", "changed\n")
	p.restore(s)
	for name, want := range map[string]string{".env": "KEY=2\n", "build/out/a.o": "object\n", "build/out/b.o": "later\n", "src/trace.log": "line\n", "README": "hello\n"} {
		if got := p.read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestCase05IgnoreRuleRemovedLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("data.log", "precious\n")
	p.write("build/cache", "precious too\n")
	s := p.keep()
	p.write(".gitignore", "# nothing\n")
	p.write("later.log", "also ignored under the old rules\n")
	r := p.restore(s)
	for _, n := range []string{"data.log", "build/cache", "later.log"} {
		if !exists(p.at(n)) {
			t.Errorf("%s was deleted", n)
		}
	}
	if got := p.read(".gitignore"); !strings.Contains(got, "build/") {
		t.Errorf(".gitignore is %q", got)
	}
	if len(r.Left) != 3 {
		t.Errorf("left %v, want three", r.Left)
	}
}

func TestCase06IgnoreRuleAddedLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("notes.txt", "old\n")
	want := p.snapshot()
	s := p.keep()
	p.write(".gitignore", "notes.txt\nREADME\n")
	p.write("notes.txt", "new\n")
	r := p.restore(s)
	p.same(p.snapshot(), want)
	p.restore(r.Undo)
	if got := p.read("notes.txt"); got != "new\n" {
		t.Errorf("after the undo notes.txt is %q", got)
	}
}

// An ignored file in the place of one to be written is kept first.
func TestCase06IgnoredFileInTheWay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("out", "kept\n")
	first := p.keep()
	p.remove("out")
	second := p.keep()
	p.write(".gitignore", "out\n")
	p.write("out", "ignored now\n")
	if now := p.keep(); now.Tree == second.Tree {
		t.Error("the new .gitignore is not in the safe point")
	}
	r := p.restore(first)
	if got := p.read("out"); got != "kept\n" {
		t.Errorf("out is %q", got)
	}
	p.restore(r.Undo)
	if got := p.read("out"); got != "ignored now\n" {
		t.Errorf("after the undo out is %q", got)
	}
}

// A file that is tracked although it is ignored is part of the work.
func TestTrackedAndIgnored(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.keep()
	p.write("build/keep.txt", "forced\n")
	p.git("add", "-f", "build/keep.txt")
	s := p.keep()
	p.write("build/keep.txt", "damaged\n")
	p.restore(s)
	if got := p.read("build/keep.txt"); got != "forced\n" {
		t.Errorf("build/keep.txt is %q", got)
	}
}

func TestCase09CleanAndReset(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("README", "edited\n")
	p.write("untracked/file", "x\n")
	p.write(".env", "KEY=1\n")
	want := p.snapshot()
	s := p.keep()
	p.git("clean", "-fdxq")
	p.git("reset", "-q", "--hard")
	p.restore(s)
	delete(want, ".env")
	p.same(p.snapshot(), want)
	covered := map[string]string{}
	for _, n := range s.NotCovered {
		covered[n.Path] = n.Reason
	}
	if covered[".env"] != Ignored {
		t.Errorf("not covered are %v, want .env among them", covered)
	}
}

func TestCase36UnreadableFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("secret", "mine\n")
	p.write("docs/locked", "tracked\n")
	p.git("add", "docs/locked")
	p.git("commit", "-q", "-m", "locked")
	p.asOther(func() {
		for _, n := range []string{"secret", "docs/locked"} {
			if err := os.Chmod(p.at(n), 0); err != nil {
				t.Fatal(err)
			}
		}
	})
	s := p.childKeep()
	reasons := map[string]string{}
	for _, n := range s.NotCovered {
		reasons[n.Path] = n.Reason
	}
	if reasons["secret"] != Unreadable {
		t.Errorf("not covered: %v, want secret as %s", reasons, Unreadable)
	}
	p.write("README", "changed\n")
	p.own()
	p.childRestore(s)
	if got := p.read("README"); got != "hello\n" {
		t.Errorf("README is %q", got)
	}
	for _, n := range []string{"secret", "docs/locked"} {
		if !exists(p.at(n)) {
			t.Errorf("%s is gone", n)
		}
	}
}

func TestCase47ReadOnlyFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("fixed/file", "stays\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "fixed")
	p.asOther(func() {
		if err := os.Chmod(p.at("fixed"), 0o555); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { os.Chmod(p.at("fixed"), 0o755) })
	s := p.childKeep()
	p.write("README", "changed\n")
	p.own()
	p.childRestore(s)
	if got := p.read("README"); got != "hello\n" {
		t.Errorf("README is %q", got)
	}
}

func TestCase37BigFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	f, err := os.Create(p.at("huge.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(300<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	s := p.keep()
	if s.Bytes > 1<<20 {
		t.Errorf("the safe point took %d bytes", s.Bytes)
	}
	if len(s.NotCovered) != 1 || s.NotCovered[0].Reason != Large || s.NotCovered[0].Size != 300<<20 {
		t.Errorf("not covered: %+v, want huge.bin", s.NotCovered)
	}
	p.write("README", "changed\n")
	p.restore(s)
	if info, err := os.Stat(p.at("huge.bin")); err != nil || info.Size() != 300<<20 {
		t.Errorf("huge.bin is %v (%v)", info, err)
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	p := newFolder(t)
	for i := range 26 { // each under the cap of one file, together over that of a safe point
		f, err := os.Create(p.at(fmt.Sprintf("part%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(20<<20), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.workspace().Keep(context.Background(), KeepOptions{Job: job})
	if !errors.Is(err, ErrTooMuch) {
		t.Fatalf("keeping 520 MiB gave %v, want ErrTooMuch", err)
	}
	if points, err := p.workspace().List(context.Background(), job); len(points) != 0 || err != nil {
		t.Errorf("safe points after it: %v (%v)", points, err)
	}
}

func TestSkipHoldsBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("id_key", "looks like one\n")
	o := KeepOptions{Job: job, Skip: func(path string) bool { return path == "id_key" }}
	s, err := p.workspace().Keep(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.NotCovered) != 1 || s.NotCovered[0].Path != "id_key" || s.NotCovered[0].Reason != Skipped {
		t.Errorf("not covered: %+v", s.NotCovered)
	}
	p.restore(s)
	if !exists(p.at("id_key")) {
		t.Error("id_key was deleted")
	}
}

// other is a user without special rights; tests that run as root need one.
const other = 65534

// own gives the whole place to the user that children run as.
func (p *place) own() {
	p.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	root := filepath.Dir(p.top)
	for dir := filepath.Dir(root); strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, other, other)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) asOther(do func()) { p.own(); do() }

// inChild runs this test program again, without special rights, and returns
// what it prints.
func (p *place) inChild(args []string, env ...string) string {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir = p.top
	cmd.Env = append(os.Environ(), "WORKSPACE_CHILD="+strings.Join(args, "\n"), "HOME="+filepath.Dir(p.top)+"/home", "PLACE="+p.top, "STATE="+p.state)
	cmd.Env = append(cmd.Env, env...)
	if os.Getuid() == 0 && len(env) == 0 {
		cmd.Path = childProgram
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("child %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *place) childKeep(env ...string) SafePoint {
	p.t.Helper()
	id := strings.TrimSpace(p.inChild([]string{"keep"}, env...))
	s, err := p.workspace().Show(context.Background(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *place) childRestore(s SafePoint, env ...string) {
	p.t.Helper()
	p.inChild([]string{"restore", s.Commit}, env...)
}
