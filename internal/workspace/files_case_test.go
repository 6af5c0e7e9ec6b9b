package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The numbered cases are those a safe point has to pass; each name says what
// happens between keeping and going back.

func TestCase01TrackedEdit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := p.snapshot()
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	p.write("README", "changed\n")
	p.remove("src/a.go")
	if err := os.Rename(p.at("src/b.go"), p.at("src/c.go")); err != nil {
		t.Fatal(err)
	}
	p.write("new/agent.txt", "new\n")
	var r Restored
	p.untouched(func() { r = p.restore(s) })
	p.same(p.snapshot(), want)
	if len(r.Written) != 3 || len(r.Removed) != 2 || len(r.MovedAside) != 3 {
		t.Errorf("written %v, removed %v, moved aside %v: want 3, 2 and 3", r.Written, r.Removed, r.MovedAside)
	}
	text, err := os.ReadFile(filepath.Join(r.Aside, "README"))
	if string(text) != "changed\n" {
		t.Errorf("moved aside README is %q (%v)", text, err)
	}
}

func TestCase02Untracked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("notes.txt", "mine\n")
	p.write("fresh/deep/er/file", "mine too\n")
	want := p.snapshot()
	s := p.keep()
	p.remove("fresh")
	p.write("notes.txt", "overwritten\n")
	p.restore(s)
	p.same(p.snapshot(), want)
}

func TestCase10Symlinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	outside := filepath.Join(filepath.Dir(p.top), "outside")
	if err := os.WriteFile(outside, []byte("not ours"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.link("README", "relative")
	p.link(outside, "absolute")
	p.link("nowhere", "dangling")
	p.link("src", "folder")
	want := p.snapshot()
	s := p.keep()
	p.remove("relative", "dangling")
	p.remove("absolute")
	p.write("absolute", "a file now\n")
	p.remove("folder")
	p.link("docs", "folder")
	p.restore(s)
	p.same(p.snapshot(), want)
	if text, _ := os.ReadFile(outside); string(text) != "not ours" {
		t.Errorf("the file outside is %q", text)
	}
}

func TestCase11FolderSwappedForLink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	outside := filepath.Join(filepath.Dir(p.top), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "a.go"), []byte("not ours"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := p.snapshot()
	s := p.keep()
	p.remove("src")
	p.link(outside, "src")
	p.restore(s)
	p.same(p.snapshot(), want)
	list, err := os.ReadDir(outside)
	if err != nil || len(list) != 1 {
		t.Errorf("outside holds %v (%v), want a.go alone", list, err)
	}
	if text, _ := os.ReadFile(filepath.Join(outside, "a.go")); string(text) != "not ours" {
		t.Errorf("the file outside is %q", text)
	}
}

func TestCase12FileFolderSwap(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := p.snapshot()
	s := p.keep()
	p.remove("README", "src")
	p.write("README/inside", "x\n")
	p.write("src", "a file\n")
	damaged := p.snapshot()
	r := p.restore(s)
	p.same(p.snapshot(), want)
	p.restore(r.Undo)
	p.same(p.snapshot(), damaged)
}

func TestCase12FolderWithIgnoredFilesInTheWay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	p.remove("README")
	p.write("README/seen", "x\n")
	p.write("README/trace.log", "ignored\n")
	r := p.restore(s)
	if got := p.read("README"); got != "hello\n" {
		t.Errorf("README is %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(r.Aside, "README", "trace.log")); string(text) != "ignored\n" {
		t.Errorf("the ignored file was not moved aside: %q (%v)", text, err)
	}
}

func TestCase13ExecutableBit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.Chmod(p.at("src/a.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := p.snapshot()
	s := p.keep()
	for name, mode := range map[string]os.FileMode{"src/a.go": 0o644, "src/b.go": 0o755} {
		if err := os.Chmod(p.at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	p.restore(s)
	p.same(p.snapshot(), want)
}

func TestCase33OddNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	names := []string{"new\nline", "tab\there", `quote"here`, "-dash", "trailing ", "glob*[x]?", ":(top)magic", ":!not", "ünïcode",
		"back\\slash", "./" + strings.Repeat("deep/", 60) + "file", "#hash", "!bang"}
	if runtime.GOOS == "linux" {
		names = append(names, "not\xffutf8")
	}
	for _, n := range names {
		p.write(n, "content of "+n)
	}
	p.write("folder :(glob)/**", "x")
	want := p.snapshot()
	s := p.keep()
	for i, n := range names {
		switch i % 3 {
		case 0:
			p.remove(n)
		case 1:
			p.write(n, "damaged")
		}
	}
	p.remove("folder :(glob)")
	p.write(":(exclude)new", "agent's")
	p.write("x\xfe.txt", "agent's")
	p.restore(s)
	p.same(p.snapshot(), want)
}

func TestCase34EmptyFolders(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.mkdir("empty")
	p.mkdir("src/also/empty")
	p.mkdir("a/b/c")
	want := p.snapshot()
	s := p.keep()
	p.remove("empty", "src/also", "a")
	p.mkdir("agents/own/empty")
	p.restore(s)
	p.same(p.snapshot(), want)
	if exists(p.at("agents")) {
		t.Error("the agent's empty folder is still there")
	}
}

func TestCase41RestoreIsUndone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := p.snapshot()
	s := p.keep()
	p.write("README", "damaged\n")
	p.write("agent.txt", "work of an hour\n")
	p.remove("docs")
	p.mkdir("left/empty")
	damaged := p.snapshot()
	r := p.restore(s)
	p.same(p.snapshot(), want)
	back := p.restore(r.Undo)
	p.same(p.snapshot(), damaged)
	p.restore(back.Undo)
	p.same(p.snapshot(), want)
}

func TestCase45SomebodyElsesFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	p.write("theirs.txt", "somebody else's\n")
	r := p.restore(s)
	if exists(p.at("theirs.txt")) {
		return
	}
	names, err := p.workspace().ListDir(context.Background(), r.Undo.Commit, "")
	if err != nil || !strings.Contains(strings.Join(names, "\n"), "theirs.txt") {
		t.Errorf("theirs.txt is neither in the workspace nor in the undo point: %v (%v)", names, err)
	}
}

func TestCase48SameSizeSameTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	at := time.Now().Add(-time.Hour)
	p.write("race", "aaaa")
	if err := os.Chtimes(p.at("race"), at, at); err != nil {
		t.Fatal(err)
	}
	first := p.keep()
	p.write("race", "bbbb")
	if err := os.Chtimes(p.at("race"), at, at); err != nil {
		t.Fatal(err)
	}
	second := p.keep()
	if first.Tree == second.Tree {
		t.Fatal("an edit with the same size and time was not seen")
	}
	for _, c := range []struct {
		s    SafePoint
		want string
	}{{first, "aaaa"}, {second, "bbbb"}, {first, "aaaa"}} {
		p.restore(c.s)
		if got := p.read("race"); got != c.want {
			t.Errorf("after going back to %s it is %q, want %q", c.s.ID, got, c.want)
		}
	}
}

func TestCase49TwoInOneSecond(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var points []SafePoint
	for _, text := range []string{"one", "two", "six", "ten"} {
		p.write("race", text)
		points = append(points, p.keep())
	}
	seen := map[string]bool{}
	for _, s := range points {
		if seen[s.Tree] {
			t.Errorf("%s has the tree of an earlier one", s.ID)
		}
		seen[s.Tree] = true
	}
}

func TestCase52CaseOnlyRename(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("File.txt", "x\n")
	want := p.snapshot()
	s := p.keep()
	if err := os.Rename(p.at("File.txt"), p.at("file.txt")); err != nil {
		t.Fatal(err)
	}
	p.restore(s)
	p.same(p.snapshot(), want)
}

// Going back refuses to replace what somebody else changed.
func TestRestoreRefusesForeignChanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	p.write("src/a.go", "by the job\n")
	last := p.keep()
	p.write("README", "by somebody else\n")
	p.write("src/b.go", "by a step\n")
	p.remove("docs/long/page.txt")
	o := RestoreOptions{Job: job, Target: s.Commit, Last: last.Commit, Explained: func(path string) bool { return path == "src/b.go" }}
	damaged := p.snapshot()

	o.DryRun = true
	r, err := p.workspace().Restore(context.Background(), o)
	if err != nil || len(r.Refused) != 1 || r.Refused[0] != "README" || len(r.Written) != 4 {
		t.Errorf("dry run: refused %v, written %v, error %v; want README refused and four written", r.Refused, r.Written, err)
	}
	o.DryRun = false
	r, err = p.workspace().Restore(context.Background(), o)
	if !errors.Is(err, ErrForeignChange) || len(r.Refused) != 1 || r.Refused[0] != "README" {
		t.Errorf("refused %v with %v, want README with ErrForeignChange", r.Refused, err)
	}
	p.same(p.snapshot(), damaged)
	if points, _ := p.workspace().List(context.Background(), job); len(points) != 2 {
		t.Errorf("%d safe points after a refusal and a dry run, want 2", len(points))
	}

	o.Force = true
	if r, err = p.workspace().Restore(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if p.read("README") != "hello\n" || p.read("src/a.go") != "package a\n" {
		t.Error("--force did not bring the files back")
	}
	p.restore(r.Undo)
	p.same(p.snapshot(), damaged)
}

func TestRestoreSomePaths(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	for _, n := range []string{"README", "src/a.go", "src/b.go", "docs/long/page.txt"} {
		p.write(n, "damaged\n")
	}
	p.write("src/new.go", "new\n")
	p.write("srcfile", "not in src\n")
	r, err := p.workspace().Restore(context.Background(), RestoreOptions{Job: job, Target: s.Commit, Paths: []string{"src/", "docs/long/page.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"README": "damaged\n", "src/a.go": "package a\n", "src/b.go": "package b\n", "srcfile": "not in src\n"}
	for name, content := range want {
		if got := p.read(name); got != content {
			t.Errorf("%s is %q, want %q", name, got, content)
		}
	}
	if exists(p.at("src/new.go")) {
		t.Error("src/new.go is still there")
	}
	if len(r.Written) != 3 {
		t.Errorf("written %v, want three", r.Written)
	}
	next := p.keep()
	if changes, err := p.workspace().Diff(context.Background(), r.Undo.Commit, next.Commit); err != nil || len(changes) != 4 {
		t.Errorf("the next safe point differs by %v (%v), want four paths", changes, err)
	}
}

// A process that goes on writing to a file that is replaced loses nothing.
func TestRestoreMovesAsideForWriters(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.keep()
	f, err := os.OpenFile(p.at("README"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before "); err != nil {
		t.Fatal(err)
	}
	r := p.restore(s)
	if _, err := f.WriteString("after"); err != nil {
		t.Fatal(err)
	}
	if got := p.read("README"); got != "hello\n" {
		t.Errorf("README is %q", got)
	}
	text, err := os.ReadFile(filepath.Join(r.Aside, "README"))
	if string(text) != "hello\nbefore after" {
		t.Errorf("moved aside is %q (%v)", text, err)
	}
}

// A link to a folder in the place of a folder: what lies behind it is not
// moved aside, though it has the names of what is to be written.
func TestCase11NothingBehindALinkIsMoved(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	outside := filepath.Join(filepath.Dir(p.top), "outside")
	if err := os.MkdirAll(filepath.Join(outside, "a.go", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "b.go"), []byte("not ours"), 0o000); err != nil {
		t.Fatal(err)
	}
	want := p.snapshot()
	s := p.keep()
	p.remove("src")
	p.link(outside, "src")
	r := p.restore(s)
	p.same(p.snapshot(), want)
	if len(r.MovedAside) != 1 || r.MovedAside[0] != "src" || len(r.Left) != 0 {
		t.Errorf("moved aside %v, left %v; want the link alone, and none", r.MovedAside, r.Left)
	}
	if !exists(filepath.Join(outside, "a.go", "deep")) || !exists(filepath.Join(outside, "b.go")) {
		t.Error("something outside was moved")
	}
}
