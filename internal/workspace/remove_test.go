package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// objects are all loose objects of the repository.
func (p *place) objects() map[string]bool {
	p.t.Helper()
	found, err := p.workspace().loose()
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

func TestRemoveTakesExactlyWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w, ctx := p.workspace(), context.Background()
	// What the user has, dangling or not, before and between.
	dangling := p.hashObject("a blob nobody names\n")
	other, err := w.Keep(ctx, KeepOptions{Job: "otherjob"})
	if err != nil {
		t.Fatal(err)
	}
	before := p.objects()

	p.write("only", "in our safe points\n")
	p.write("becomes", "a commit of the user's\n")
	p.write("dangles", "in a commit nobody names\n")
	p.write("shared", "with the other job\n")
	first := p.keep()
	p.write("README", "second\n")
	p.keep()
	// One of our blobs becomes the user's by a commit, one by a commit that is
	// then lost, one by another job's safe point.
	p.git("add", "becomes")
	p.git("commit", "-q", "-m", "user's")
	p.git("add", "dangles")
	lost := p.git("commit-tree", "-m", "lost", p.git("write-tree"))
	p.git("reset", "-q")
	if _, err := w.Keep(ctx, KeepOptions{Job: "otherjob"}); err != nil {
		t.Fatal(err)
	}
	p.remove("only")
	p.restore(first) // moves aside, and makes an undo point
	mine := p.git("rev-parse", first.Commit+":only")

	layers, err := w.Layers(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	if refs := layerOf(t, layers, "refs"); refs.Count != 3 {
		t.Errorf("refs to remove: %d, want 3", refs.Count)
	}
	if l := layerOf(t, layers, "moved aside"); l.Count == 0 {
		t.Error("nothing moved aside is counted")
	}
	if l := layerOf(t, layers, "loose objects"); l.Count < 5 || l.Bytes == 0 {
		t.Errorf("loose objects: %d of %d bytes", l.Count, l.Bytes)
	}
	p.untouched(func() {
		if _, err := w.Remove(ctx, job); err != nil {
			t.Fatal(err)
		}
	})
	after := p.objects()
	for id := range before {
		if !after[id] {
			t.Errorf("an object from before is gone: %s", id)
		}
	}
	if after[first.Commit] || after[first.Record] {
		t.Error("a commit of a removed safe point is still there")
	}
	for name, id := range map[string]string{"dangling blob": dangling, "other job's": other.Commit, "lost commit's blob": p.git("rev-parse", lost+":dangles"), "user's": p.git("rev-parse", "HEAD:becomes")} {
		if out, err := p.tryGit("cat-file", "-e", id); err != nil {
			t.Errorf("%s object %s is gone: %s", name, id, out)
		}
	}
	// "only" is in the other job's second safe point too.
	if out, err := p.tryGit("cat-file", "-e", mine); err != nil {
		t.Errorf("a blob the other job holds is gone: %s", out)
	}
	if out, err := p.tryGit("fsck", "--full"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
	p.nothingLeft(job)

	if _, err := w.Remove(ctx, "otherjob"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.tryGit("cat-file", "-e", mine); err == nil {
		t.Error("a blob nobody holds is still there")
	}
	p.nothingLeft("otherjob")
	// The workspace works on after its private index is gone.
	p.write("README", "third\n")
	want := p.snapshot()
	s := p.keep()
	p.remove("README", "src")
	p.restore(s)
	p.same(p.snapshot(), want)
}

// nothingLeft scans again, by Layers and by hand.
func (p *place) nothingLeft(job string) {
	p.t.Helper()
	layers, err := p.workspace().Layers(context.Background(), job)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, l := range layers {
		if l.Count != 0 && !l.Left {
			p.t.Errorf("after removal %s still counts %d in %s", l.Name, l.Count, l.Where)
		}
	}
	if got := p.git("for-each-ref", "refs/duplex/"+job); got != "" {
		p.t.Errorf("refs left: %s", got)
	}
	for _, dir := range []string{"refs/duplex/" + job, "logs/refs/duplex/" + job, "duplex/aside/" + job} {
		if exists(p.at(".git/" + dir)) {
			p.t.Errorf(".git/%s is still there", dir)
		}
	}
}

func layerOf(t *testing.T, layers []Layer, name string) Layer {
	t.Helper()
	for _, l := range layers {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no layer %q in %+v", name, layers)
	return Layer{}
}

func (p *place) hashObject(content string) string {
	p.t.Helper()
	file := filepath.Join(filepath.Dir(p.top), "blob")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(p.git("hash-object", "-w", file))
}

// What was packed meanwhile is left to git, and said.
func TestRemovePackedIsLeftToGit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("untracked", "x\n")
	s := p.keep()
	p.git("gc", "-q")
	layers, err := p.workspace().Layers(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if l := layerOf(t, layers, "packed objects"); l.Count < 3 || !l.Left {
		t.Errorf("packed objects: %+v", l)
	}
	r, err := p.workspace().Remove(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if l := layerOf(t, r.Layers, "packed objects"); l.Count < 3 {
		t.Errorf("removal reports %+v", l)
	}
	p.nothingLeft(job)
	p.git("gc", "-q", "--prune=now")
	if _, err := p.tryGit("cat-file", "-e", s.Commit); err == nil {
		t.Error("git's own gc did not drop what was left to it")
	}
}

func TestRemoveFromPlainFolderAndSubmodule(t *testing.T) {
	t.Parallel()
	plain := newFolder(t)
	plain.write("a", "x\n")
	plain.keep()
	if _, err := plain.workspace().Remove(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if points, err := plain.workspace().List(context.Background(), job); err != nil || len(points) != 0 {
		t.Errorf("left in the plain folder: %v (%v)", points, err)
	}
	p := withSubmodule(t)
	p.write("lib/untracked", "x\n")
	p.keep()
	if got := p.in("lib").git("for-each-ref", "refs/duplex"); got == "" {
		t.Fatal("the submodule has no safe point: the case is not what it should be")
	}
	if _, err := p.workspace().Remove(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	if got := p.in("lib").git("for-each-ref", "refs/duplex"); got != "" {
		t.Errorf("left in the submodule: %s", got)
	}
}

// A removal that was killed after the refs went is ended by the next: what the safe
// points listed was noted before.
func TestRemoveGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w, ctx := p.workspace(), context.Background()
	before := p.objects()
	p.write("secret", "in a safe point only\n")
	point := p.keep()
	p.remove("secret")
	turn, err := w.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	h, err := w.holdings(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	killed, kill := context.WithCancel(ctx)
	kill()
	if err := turn.erase(killed, job, h); err == nil {
		t.Fatal("an erasure whose context ended went on")
	}
	turn.end()
	p.git("update-ref", "-d", point.Ref)
	if _, err := w.Remove(ctx, job); err != nil {
		t.Fatal(err)
	}
	for id := range p.objects() {
		if !before[id] {
			t.Errorf("object %s is left: %s", id, p.git("cat-file", "-t", id))
		}
	}
	if exists(w.heirs()) {
		t.Error("the note is still there")
	}
}

// Dropped one by one, as retention does, safe points leave their objects to
// git; a removal later takes them along.
func TestDropThenRemove(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w, ctx := p.workspace(), context.Background()
	before := p.objects()
	p.write("only", "in the first\n")
	first := p.keep()
	p.remove("only")
	p.write("README", "second\n")
	r := p.restore(first)
	third := p.keep()
	if err := w.Drop(ctx, []SafePoint{first, r.Undo}); err != nil {
		t.Fatal(err)
	}
	if exists(r.Aside) {
		t.Error("what was moved aside for a dropped undo point is still there")
	}
	points, err := w.List(ctx, job)
	if err != nil || len(points) != 1 || points[0].Commit != third.Commit {
		t.Errorf("left are %+v (%v)", points, err)
	}
	if !p.objects()[first.Commit] {
		t.Error("dropping deleted an object")
	}
	p.write("README", "fourth\n")
	want := p.snapshot()
	fourth := p.keep()
	p.remove("README")
	p.restore(fourth)
	p.same(p.snapshot(), want)
	if _, err := w.Remove(ctx, job); err != nil {
		t.Fatal(err)
	}
	for id := range p.objects() {
		if !before[id] {
			t.Errorf("object %s is left: %s", id, p.git("cat-file", "-t", id))
		}
	}
	if exists(w.heirs()) {
		t.Error("the note on shared objects is still there")
	}
}

func TestMirrorsAreNamed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.git("remote", "add", "--mirror=push", "copy.of", "/nowhere")
	p.git("remote", "add", "origin", "/nowhere")
	if got, err := p.workspace().Mirrors(context.Background()); err != nil || strings.Join(got, " ") != "copy.of" {
		t.Errorf("mirrors are %v (%v)", got, err)
	}
}
