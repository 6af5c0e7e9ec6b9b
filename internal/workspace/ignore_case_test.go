package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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

// With a person's consent small ignored files are captured, outside the
// repository, and come back.
func TestCaptureIgnored(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w, ctx := p.workspace(), context.Background()
	secret := "TOKEN=" + strings.Repeat("x", 20)
	p.write(".env", secret)
	p.write("src/local.log", "small\n")
	p.write("build/out", "can be made again\n")
	p.write("large.log", strings.Repeat("x", smallFile+1))
	o := KeepOptions{Job: job, CaptureIgnored: true}
	s, err := w.Keep(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.Keep(ctx, o); err != nil || !again.Reused {
		t.Errorf("nothing changed: %+v (%v)", again, err)
	}
	p.write(".env", "TOKEN=changed")
	p.remove("src/local.log", "build")
	second, err := w.Keep(ctx, o)
	if err != nil || second.Reused {
		t.Errorf("an ignored file changed: reused %v (%v)", second.Reused, err)
	}
	r, err := w.Restore(ctx, RestoreOptions{Job: job, Target: s.Commit})
	if err != nil {
		t.Fatal(err)
	}
	if p.read(".env") != "TOKEN=changed" || p.read("src/local.log") != "small\n" || exists(p.at("build")) {
		t.Errorf("without consent only what is gone comes back; left %v", r.Left)
	}
	r, err = w.Restore(ctx, RestoreOptions{Job: job, Target: s.Commit, CaptureIgnored: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.read(".env") != secret {
		t.Errorf(".env is %q", p.read(".env"))
	}
	if _, err := w.Restore(ctx, RestoreOptions{Job: job, Target: r.Undo.Commit, CaptureIgnored: true}); err != nil {
		t.Fatal(err)
	}
	if p.read(".env") != "TOKEN=changed" {
		t.Errorf("after the undo .env is %q", p.read(".env"))
	}
	for _, args := range [][]string{{"grep", "-q", "TOKEN", s.Commit}, {"cat-file", "-e", p.git("hash-object", ".env")}} {
		if _, err := p.tryGit(args...); err == nil {
			t.Errorf("git %v finds the secret in the repository", args)
		}
	}
	info, err := os.Stat(w.ignoredStore(job))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store is %v (%v), want 0700", info.Mode(), err)
	}
	layers, err := w.Layers(ctx, job)
	if err != nil || layerOf(t, layers, "ignored files").Count < 4 {
		t.Errorf("layers: %+v (%v)", layers, err)
	}
	store := w.ignoredStore(job)
	if _, err := w.Remove(ctx, job); err != nil || exists(store) {
		t.Errorf("after removal the store is there: %v (%v)", exists(store), err)
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
	if r := p.restore(s); r.Undo.Bytes > 1<<20 {
		t.Errorf("the undo point took %d bytes", r.Undo.Bytes)
	}
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
