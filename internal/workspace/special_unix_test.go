//go:build unix

package workspace

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestCase35SpecialFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := syscall.Mkfifo(p.at("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(p.at("src/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A socket's address has little room: it is made by its short name.
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", filepath.Join(short, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename(filepath.Join(short, "socket"), p.at("socket")); err != nil {
		t.Fatal(err)
	}
	want := p.snapshot()
	s := p.keep()
	reasons := map[string]string{}
	for _, n := range s.NotCovered {
		reasons[n.Path] = n.Reason
	}
	for _, n := range []string{"pipe", "src/pipe", "socket"} {
		if reasons[n] != Special {
			t.Errorf("%s is %q in what is not covered, want %q", n, reasons[n], Special)
		}
	}
	p.write("README", "changed\n")
	p.restore(s)
	p.same(p.snapshot(), want)
}

// A FIFO in the place of a file cannot be kept, so it is left.
func TestCase35SpecialFileInTheWay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	p.remove("README")
	if err := syscall.Mkfifo(p.at("README"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.write("src/a.go", "changed\n")
	r := p.restore(s)
	if len(r.Left) != 1 || r.Left[0] != "README" {
		t.Errorf("left %v, want README", r.Left)
	}
	if p.read("src/a.go") != "package a\n" {
		t.Error("src/a.go was not brought back")
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

// A whole folder that cannot be read is left as it is, with what is in it.
func TestCase36UnreadableFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	p.own()
	if err := os.Chmod(p.at("src"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(p.at("src"), 0o755) })
	p.write("README", "changed\n")
	p.own()
	now := p.childKeep()
	if len(now.NotCovered) != 1 || now.NotCovered[0].Path != "src/" || now.NotCovered[0].Reason != Unreadable {
		t.Errorf("not covered: %+v, want src/", now.NotCovered)
	}
	p.childRestore(s)
	if got := p.read("README"); got != "hello\n" {
		t.Errorf("README is %q", got)
	}
	if got := p.read("src/a.go"); got != "package a\n" {
		t.Errorf("src/a.go is %q", got)
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

func TestCase29EnvironmentLeak(t *testing.T) {
	t.Parallel()
	p, victim := newPlace(t), newPlace(t)
	before := victim.userState()
	p.write("README", "edited\n")
	want := p.snapshot()
	leak := []string{"GIT_DIR=" + victim.at(".git"), "GIT_WORK_TREE=" + victim.top, "GIT_INDEX_FILE=" + victim.at(".git/index"),
		"GIT_OBJECT_DIRECTORY=" + victim.at(".git/objects"), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true", "GIT_PREFIX=src/"}
	s := p.childKeep(leak...)
	p.write("README", "damaged\n")
	p.childRestore(s, leak...)
	p.same(p.snapshot(), want)
	victim.same(victim.userState(), before)
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
