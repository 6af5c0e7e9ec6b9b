package workspace

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const job = "k7m2abcd"

// place is a folder under test, with what a test does to it.
type place struct {
	t     testing.TB
	top   string
	state string
}

// newPlace makes a repository with a commit of a few files.
func newPlace(t testing.TB, initArgs ...string) *place {
	t.Helper()
	p := newFolder(t)
	p.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	p.git("config", "user.name", "someone")
	p.git("config", "user.email", "someone@localhost")
	p.write("README", "hello\n")
	p.write("src/a.go", "package a\n")
	p.write("src/b.go", "package b\n")
	p.write("docs/long/page.txt", strings.Repeat("words and more words\n", 50))
	p.write(".gitignore", "*.log\nbuild/\n.env\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p
}

// newFolder makes a plain folder.
func newFolder(t testing.TB) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, top: filepath.Join(root, "work"), state: filepath.Join(root, "state")}
	if err := os.Mkdir(p.top, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) at(name string) string { return filepath.Join(p.top, filepath.FromSlash(name)) }

func (p *place) write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.at(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.at(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.at(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func (p *place) remove(names ...string) {
	p.t.Helper()
	for _, n := range names {
		if err := os.RemoveAll(p.at(n)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *place) mkdir(name string) {
	p.t.Helper()
	if err := os.MkdirAll(p.at(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) link(target, name string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.at(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Symlink(target, p.at(name)); err != nil {
		p.t.Fatal(err)
	}
}

// git runs git as a person would and returns what it prints.
func (p *place) git(args ...string) string {
	p.t.Helper()
	out, err := p.tryGit(args...)
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (p *place) tryGit(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = p.top
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

func (p *place) workspace() *Workspace {
	p.t.Helper()
	w, err := Find(p.top, p.state)
	if err != nil {
		p.t.Fatal(err)
	}
	return w
}

func (p *place) keep() SafePoint {
	p.t.Helper()
	s, err := p.workspace().Keep(context.Background(), KeepOptions{Job: job, Why: "test"})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *place) restore(s SafePoint) Restored {
	p.t.Helper()
	r, err := p.workspace().Restore(context.Background(), RestoreOptions{Job: job, Target: s.Commit})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// snapshot is everything in the folder but git dirs: path to kind and content.
func (p *place) snapshot(skip ...string) map[string]string {
	p.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(p.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.top, path)
		name = filepath.ToSlash(name)
		if d.Name() == ".git" || slices.Contains(skip, name) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			list, err := os.ReadDir(path)
			if err == nil && len(list) == 0 {
				found[name] = "empty folder"
			}
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			found[name] = "link " + target
			return err
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			found[name] = fmt.Sprintf("file %v %q", info.Mode()&0o100 != 0, text)
			return err
		}
		found[name] = info.Mode().Type().String()
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// same fails for every path in which two snapshots differ.
func (p *place) same(got, want map[string]string) {
	p.t.Helper()
	var names []string
	for n := range got {
		names = append(names, n)
	}
	for n := range want {
		if _, both := got[n]; !both {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	shown := 0
	for _, n := range names {
		if got[n] != want[n] && shown < 10 {
			p.t.Errorf("%q: got %.200s, want %.200s", n, got[n], want[n])
			shown++
		}
	}
}

// userState is all of the user's repository that nobody may touch: HEAD,
// index bytes, refs but ours, configuration, reflog, stash, operations.
func (p *place) userState() map[string]string {
	p.t.Helper()
	w := p.workspace()
	found := map[string]string{}
	for _, dir := range []string{w.GitDir, w.CommonDir} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(dir, path)
			if d.IsDir() {
				if name == "duplex" || name == "objects" || name == filepath.Join("refs", "duplex") || name == "modules" || name == "worktrees" {
					return filepath.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() {
				return nil
			}
			text, err := os.ReadFile(path)
			found[filepath.Join(dir, name)] = "file " + hex.EncodeToString(text)
			return err
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return found
}

// untouched runs do and fails when it changed anything of the user's.
func (p *place) untouched(do func()) {
	p.t.Helper()
	before := p.userState()
	do()
	p.same(p.userState(), before)
}

// scaled is a number of rounds, multiplied by DUPLEX_SCALE.
func scaled(n int) int {
	if f, err := strconv.ParseFloat(os.Getenv("DUPLEX_SCALE"), 64); err == nil && f > 0 {
		return max(1, int(float64(n)*f))
	}
	return n
}

// child is what this program does when a test starts it again: "keep" makes a
// safe point and prints its id, "restore" goes back to a commit.
func child(run string) error {
	w, err := Find(os.Getenv("PLACE"), os.Getenv("STATE"))
	if err != nil {
		return err
	}
	ctx, args := context.Background(), strings.Split(run, "\n")
	if os.Getenv("ANNOUNCE") != "" {
		fmt.Println("begin")
	}
	switch args[0] {
	case "keep":
		s, err := w.Keep(ctx, KeepOptions{Job: job})
		if err != nil {
			return err
		}
		fmt.Println(s.ID)
	case "restore":
		_, err = w.Restore(ctx, RestoreOptions{Job: job, Target: args[1]})
		return err
	}
	return nil
}
