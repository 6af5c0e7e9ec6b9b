package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// in is the place of a repository inside another.
func (p *place) in(name string) *place {
	return &place{t: p.t, top: p.at(name), state: p.state}
}

// withSubmodule makes a repository with a populated submodule in lib.
func withSubmodule(t *testing.T) *place {
	p, origin := newPlace(t), newPlace(t)
	p.git("submodule", "--quiet", "add", origin.top, "lib")
	p.git("commit", "-q", "-m", "submodule")
	return p
}

func TestCase18SubmoduleDirty(t *testing.T) {
	t.Parallel()
	p := withSubmodule(t)
	p.write("lib/README", "edited in the submodule\n")
	p.write("lib/untracked", "x\n")
	want := p.snapshot()
	link, modules := p.git("ls-files", "-s", "lib"), p.read(".gitmodules")
	var s SafePoint
	p.untouched(func() { p.in("lib").untouched(func() { s = p.keep() }) })
	p.write("lib/README", "damaged\n")
	p.remove("lib/untracked", "README")
	p.write("lib/agent", "new\n")
	p.untouched(func() { p.in("lib").untouched(func() { p.restore(s) }) })
	p.same(p.snapshot(), want)
	if got := p.git("ls-files", "-s", "lib"); got != link || p.read(".gitmodules") != modules {
		t.Errorf("gitlink is %s, want %s", got, link)
	}
}

// Even when the folder of the submodule was removed with its .git file: the
// objects are in the outer repository's git dir.
func TestCase18SubmoduleRemoved(t *testing.T) {
	t.Parallel()
	p := withSubmodule(t)
	p.write("lib/README", "edited in the submodule\n")
	p.write("lib/untracked", "x\n")
	want := p.snapshot()
	s := p.keep()
	p.remove("lib")
	p.restore(s)
	p.same(p.snapshot(), want)
	if got := p.in("lib").git("status", "--porcelain"); !strings.Contains(got, "M README") {
		t.Errorf("status in the submodule: %q", got)
	}
}

func TestCase19SubmoduleUninitialised(t *testing.T) {
	t.Parallel()
	outer := withSubmodule(t)
	p := newFolder(t)
	p.git("clone", "-q", outer.top, ".")
	want := p.snapshot()
	if want["lib"] != "empty folder" {
		t.Fatalf("lib is %s: the case is not what it should be", want["lib"])
	}
	s := p.keep()
	p.write("README", "changed\n")
	p.remove("lib")
	p.restore(s)
	p.same(p.snapshot(), want)
}

func TestCase20NestedRepository(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.mkdir("tools/inner")
	inner := p.in("tools/inner")
	inner.git("init", "-q", "-b", "main")
	inner.write("code", "committed\n")
	inner.git("add", "-A")
	inner.git("-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-q", "-m", "inner")
	inner.write("code", "dirty\n")
	inner.write("new/file", "untracked\n")
	p.write("tools/beside", "x\n")
	want := p.snapshot()
	git, err := os.Stat(inner.at(".git"))
	if err != nil {
		t.Fatal(err)
	}
	var s SafePoint
	inner.untouched(func() { s = p.keep() })
	inner.write("code", "damaged\n")
	inner.remove("new")
	p.remove("tools/beside")
	inner.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if now, err := os.Stat(inner.at(".git")); err != nil || !os.SameFile(git, now) {
		t.Errorf("the inner .git is another one now (%v)", err)
	}
}

func TestCase21NestedRepositoryWithoutCommit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.mkdir("inner")
	p.in("inner").git("init", "-q")
	p.write("inner/file", "x\n")
	p.write("README", "new content\n")
	want := p.snapshot()
	s := p.keep()
	if got := p.git("show", s.Commit+":README"); got != "new content" {
		t.Errorf("README in the safe point is %q", got)
	}
	p.write("README", "damaged\n")
	p.write("inner/file", "damaged\n")
	p.restore(s)
	p.same(p.snapshot(), want)
}

// A submodule in which somebody else changed a file stops going back before
// anything is touched.
func TestNestedForeignChange(t *testing.T) {
	t.Parallel()
	p := withSubmodule(t)
	s := p.keep()
	p.write("lib/README", "somebody else's\n")
	p.write("README", "by a step\n")
	damaged := p.snapshot()
	r, err := p.workspace().Restore(t.Context(), RestoreOptions{Job: job, Target: s.Commit, Last: s.Commit, Explained: func(path string) bool { return path == "README" }})
	if err == nil || len(r.Refused) != 1 || r.Refused[0] != "lib/README" {
		t.Errorf("refused %v with %v, want lib/README", r.Refused, err)
	}
	p.same(p.snapshot(), damaged)
}

func TestCase42PlainFolder(t *testing.T) {
	t.Parallel()
	p := newFolder(t)
	p.write("letter.txt", "dear\n")
	p.write("sub/other", "x\n")
	p.link("letter.txt", "link")
	p.mkdir("empty")
	want := p.snapshot()
	s := p.keep()
	p.same(p.snapshot(), want)
	p.remove("sub", "link", "empty")
	p.write("letter.txt", "damaged\n")
	p.write("agent", "new\n")
	damaged := p.snapshot()
	r := p.restore(s)
	p.same(p.snapshot(), want)
	p.restore(r.Undo)
	p.same(p.snapshot(), damaged)
	sub, err := Find(p.at("empty/.."), p.state)
	if err != nil || sub.Top != p.top {
		t.Errorf("found %v (%v), want %s", sub, err, p.top)
	}
	p.mkdir("deeper/down")
	below, err := Find(p.at("deeper/down"), p.state)
	if err != nil || below.Top != p.top {
		t.Errorf("from below: %+v (%v), want the folder above that is a workspace already", below, err)
	}
}

func TestCase43HomeRefused(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home", "me")
	if err := os.MkdirAll(filepath.Join(home, "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	state := filepath.Join(home, ".local", "state", "duplex")
	for _, dir := range []string{home, filepath.Dir(home), "/"} {
		if w, err := Find(dir, state); err == nil || !strings.Contains(err.Error(), "git init") {
			t.Errorf("%s gave %+v, %v: want a refusal that says what to do", dir, w, err)
		}
	}
	if w, err := Find(filepath.Join(home, "project"), state); err != nil || w.Git {
		t.Errorf("project gave %+v, %v", w, err)
	}
	// A repository of dotfiles at $HOME does not change that.
	p := &place{t: t, top: home, state: state}
	p.git("init", "-q")
	if w, err := Find(home, state); err == nil {
		t.Errorf("$HOME with git gave %+v", w)
	}
	if w, err := Find(filepath.Join(home, "project"), state); err != nil || w.Git || w.Top != p.at("project") {
		t.Errorf("project below a repository at $HOME gave %+v, %v", w, err)
	}
}

func TestFindRefusesBareRepositories(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bare := filepath.Join(filepath.Dir(p.top), "bare.git")
	p.git("init", "-q", "--bare", bare)
	for _, dir := range []string{bare, filepath.Join(bare, "objects"), p.at(".git"), p.at(".git/refs")} {
		if w, err := Find(dir, p.state); err == nil {
			t.Errorf("%s gave %+v", dir, w)
		}
	}
}

func TestCase44Subfolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("README", "edited\n")
	want := p.snapshot()
	w, err := Find(p.at("src"), p.state)
	if err != nil || w.Top != p.top {
		t.Fatalf("from a subfolder: %+v (%v)", w, err)
	}
	s, err := w.Keep(t.Context(), KeepOptions{Job: job})
	if err != nil {
		t.Fatal(err)
	}
	p.write("README", "damaged\n")
	p.remove("docs")
	if _, err := w.Restore(t.Context(), RestoreOptions{Job: job, Target: s.Commit}); err != nil {
		t.Fatal(err)
	}
	p.same(p.snapshot(), want)
}

func TestIDMovesWithTheFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	before, err := p.workspace().ID()
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(filepath.Dir(p.top), "moved")
	if err := os.Rename(p.top, moved); err != nil {
		t.Fatal(err)
	}
	p.top = moved
	if after, err := p.workspace().ID(); err != nil || after != before {
		t.Errorf("after mv the id is %q (%v), before %q", after, err, before)
	}
	info, err := os.Stat(p.at(".git/duplex/id"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("id file: %v (%v), want 0600", info.Mode(), err)
	}
}

func TestIDRace(t *testing.T) {
	t.Parallel()
	for range scaled(20) {
		p := newFolder(t)
		p.mkdir(".git")
		p.write(".git/HEAD", "ref: refs/heads/main\n")
		w := p.workspace()
		got := make(chan string)
		for range 8 {
			go func() {
				id, err := w.ID()
				if err != nil {
					id = err.Error()
				}
				got <- id
			}()
		}
		first := <-got
		for range 7 {
			if next := <-got; next != first {
				t.Fatalf("two creators disagree: %q and %q", first, next)
			}
		}
	}
}
