package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// start runs this program again and returns when it says that it begins.
func (p *place) start(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(childProgram)
	cmd.Dir = p.top
	cmd.Env = append(os.Environ(), "WORKSPACE_CHILD="+strings.Join(args, "\n"), "PLACE="+p.top, "STATE="+p.state, "ANNOUNCE=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begin\n" {
		p.t.Fatalf("the child said %q (%v)", line, err)
	}
	return cmd
}

func TestCase54KilledWhileKeeping(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for i := range 150 {
		p.write(fmt.Sprintf("many/%d", i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 50))
	}
	first := p.keep()
	random := rand.New(rand.NewPCG(54, 1))
	for round := range scaled(6) {
		for i := range 150 {
			p.write(fmt.Sprintf("many/%d", i), strings.Repeat(fmt.Sprintf("round %d of %d\n", round, i), 50))
		}
		want := p.snapshot()
		p.untouched(func() {
			cmd := p.start("keep")
			time.Sleep(time.Duration(random.IntN(120)) * time.Millisecond) // anywhere: the moment is what is tested
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		s := p.keep()
		p.remove("many")
		p.restore(s)
		p.same(p.snapshot(), want)
	}
	if out, err := p.tryGit("fsck", "--full", "--strict"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
	if list, err := os.ReadDir(p.at(".git/duplex/tmp")); err != nil || len(list) != 0 {
		t.Errorf("left behind: %v (%v)", list, err)
	}
	p.noRubbish()
	if _, err := p.workspace().Show(context.Background(), first.ID); err != nil {
		t.Error(err)
	}
}

func TestKilledWhileGoingBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for i := range 150 {
		p.write(fmt.Sprintf("many/%d", i), fmt.Sprintf("good %d\n", i))
	}
	want := p.snapshot()
	s := p.keep()
	random := rand.New(rand.NewPCG(54, 2))
	for range scaled(6) {
		for i := range 150 {
			p.write(fmt.Sprintf("many/%d", i), fmt.Sprintf("bad %d\n", i))
		}
		cmd := p.start("restore", s.Commit)
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.restore(s)
		p.same(p.snapshot(), want)
	}
}

// Two processes in one workspace wait for each other.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var wait sync.WaitGroup
	errs := make(chan error, 16)
	for i := range 2 {
		wait.Go(func() {
			for n := range 4 {
				name := fmt.Sprintf("by%d", i)
				if err := os.WriteFile(p.at(name), []byte(fmt.Sprint(n)), 0o644); err != nil {
					errs <- err
				}
				_, err := p.workspace().Keep(context.Background(), KeepOptions{Job: job, Why: name})
				errs <- err
			}
		})
	}
	wait.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	points, err := p.workspace().List(context.Background(), job)
	if err != nil || len(points) == 0 {
		t.Fatalf("list: %v (%v)", points, err)
	}
	names := p.git("ls-tree", "--name-only", points[len(points)-1].Commit)
	if !strings.Contains(names, "by0") || !strings.Contains(names, "by1") {
		t.Errorf("the last safe point has %s", names)
	}
}

// Two work trees of one repository keep for the same job at the same time:
// their numbers differ.
func TestTwoWorkTreesAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	side := &place{t: t, top: filepath.Join(filepath.Dir(p.top), "side"), state: p.state}
	p.git("worktree", "add", "-q", "-b", "side", side.top)
	var wait sync.WaitGroup
	ids := make(chan string, 16)
	for _, at := range []*place{p, side} {
		w := at.workspace()
		wait.Go(func() {
			for n := range 4 {
				_ = os.WriteFile(at.at("file"), []byte(fmt.Sprint(at.top, n)), 0o644)
				s, err := w.Keep(context.Background(), KeepOptions{Job: job})
				if err != nil {
					s.ID = err.Error()
				}
				ids <- s.ID
			}
		})
	}
	wait.Wait()
	close(ids)
	seen := map[string]bool{}
	for id := range ids {
		if seen[id] || !strings.HasPrefix(id, job+"/") {
			t.Errorf("got %q twice, or an error", id)
		}
		seen[id] = true
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.workspace()
	if err := w.prepare(); err != nil {
		t.Fatal(err)
	}
	held, err := w.lock(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	_, err = w.lock(context.Background(), 50*time.Millisecond)
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second lock gave %v, want ErrBusy with our process id", err)
	}
}

func TestCase53DiskGrowth(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.keep()
	before := p.diskUse()
	rounds := scaled(20)
	for i := range rounds {
		p.write("README", fmt.Sprintf("edit %d\n", i))
		p.keep()
	}
	grown := p.diskUse() - before
	if most := int64(rounds) * 100 << 10; grown > most { // 20 MB in 200
		t.Errorf("%d safe points took %d bytes, more than %d", rounds, grown, most)
	}
	p.noRubbish()
}

// diskUse is what the repository takes, in blocks of 4 KiB.
func (p *place) diskUse() (size int64) {
	p.t.Helper()
	err := filepath.WalkDir(p.at(".git"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		size += (info.Size() + 4095) &^ 4095
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return size
}

// noRubbish fails for temporary files in the user's objects.
func (p *place) noRubbish() {
	p.t.Helper()
	err := filepath.WalkDir(p.at(".git/objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "tmp_") {
			p.t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// A safe point in which nothing changed starts git twice; ten changes start
// it a few times more. Process starts are what it costs in a small repository.
func TestProcessStarts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	old := time.Now().Add(-time.Hour)
	p.keep()
	bin := filepath.Join(filepath.Dir(p.top), "bin")
	log := filepath.Join(filepath.Dir(p.top), "starts")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\nexec '%s' \"$@\"\n", log, git)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	starts := func() int {
		_ = os.Remove(log)
		cmd := exec.Command(childProgram)
		cmd.Env = append(os.Environ(), "WORKSPACE_CHILD=keep", "PLACE="+p.top, "STATE="+p.state, "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	// Let everything become old enough not to be doubted.
	for _, name := range []string{"README", ".gitignore", "src/a.go", "src/b.go", "docs/long/page.txt"} {
		if err := os.Chtimes(p.at(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(racy + 100*time.Millisecond) // the change time cannot be set back
	starts()
	if n := starts(); n != 2 {
		t.Errorf("nothing changed: git was started %d times, want 2", n)
	}
	for i := range 10 {
		p.write(fmt.Sprintf("new%d", i), "x\n")
	}
	if n := starts(); n > 7 {
		t.Errorf("ten files changed: git was started %d times, want at most 7", n)
	}
}
