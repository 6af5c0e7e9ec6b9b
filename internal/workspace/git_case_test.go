package workspace

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCase03StagedIndex(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("README", "staged\n")
	p.git("add", "README")
	p.write("README", "edited after\n")
	p.write("intent", "to add\n")
	p.git("add", "-N", "intent")
	p.git("rm", "-q", "--cached", "src/a.go")
	p.write("new", "staged new\n")
	p.git("add", "new")
	want, index := p.snapshot(), p.git("ls-files", "-s")
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	if got := p.git("show", s.Index+":README"); got != "staged" {
		t.Errorf("the safe point's index has README %q", got)
	}
	p.write("README", "damaged\n")
	p.remove("new", "intent", "src/a.go")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if got := p.git("ls-files", "-s"); got != index {
		t.Errorf("index is\n%s\nwant\n%s", got, index)
	}
}

func TestCase07AgentCommitted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("README", "uncommitted\n")
	want := p.snapshot()
	s := p.keep()
	p.write("README", "agent's\n")
	p.write("agent.txt", "x\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "agent")
	p.git("commit", "-q", "--amend", "-m", "agent amended")
	head := p.git("rev-parse", "HEAD")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if got := p.git("rev-parse", "HEAD"); got != head {
		t.Errorf("HEAD moved from %s to %s", head, got)
	}
}

func TestCase08BranchSwitched(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.git("branch", "other")
	p.write("README", "on main\n")
	p.git("commit", "-q", "-am", "second")
	p.write("src/a.go", "uncommitted\n")
	want := p.snapshot()
	s := p.keep()
	p.git("checkout", "-q", "-f", "other")
	p.git("reset", "-q", "--hard")
	refs := p.git("for-each-ref", "refs/heads")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if got := p.git("for-each-ref", "refs/heads"); got != refs {
		t.Errorf("branches are\n%s\nwant\n%s", got, refs)
	}
	if s.Branch != "main" {
		t.Errorf("branch of the safe point is %q", s.Branch)
	}
}

func TestCase22LinkedWorkTree(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	side := &place{t: t, top: filepath.Join(filepath.Dir(p.top), "side"), state: p.state}
	p.git("worktree", "add", "-q", "-b", "side", side.top)
	p.write("mine", "in main\n")
	mainBefore := p.snapshot()
	side.write("README", "in side\n")
	want := side.snapshot()
	var s SafePoint
	p.untouched(func() { side.untouched(func() { s = side.keep() }) })
	side.write("README", "damaged\n")
	side.remove("src")
	side.untouched(func() { side.restore(s) })
	side.same(side.snapshot(), want)
	p.same(p.snapshot(), mainBefore)
	one, err := p.workspace().ID()
	two, err2 := side.workspace().ID()
	if err != nil || err2 != nil || one == two {
		t.Errorf("ids of two work trees: %q and %q (%v, %v)", one, two, err, err2)
	}
}

// A linked work tree inside the folder of its repository is a workspace of
// its own: keeping and going back leave it alone.
func TestCase22LinkedWorkTreeInside(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.git("worktree", "add", "-q", "-b", "side", ".trees/side")
	s := p.keep()
	p.write(".trees/side/README", "work in side\n")
	p.write("README", "changed\n")
	p.restore(s)
	if got := p.read(".trees/side/README"); got != "work in side\n" {
		t.Errorf("the other work tree's README is %q", got)
	}
	if got := p.read("README"); got != "hello\n" {
		t.Errorf("README is %q", got)
	}
}

func TestCase23UnbornHead(t *testing.T) {
	t.Parallel()
	p := newFolder(t)
	p.git("init", "-q", "-b", "main")
	p.write("first", "x\n")
	p.write("staged", "y\n")
	p.git("add", "staged")
	want := p.snapshot()
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	p.remove("first")
	p.write("staged", "damaged\n")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if s.Head != "" || s.Branch != "main" {
		t.Errorf("head %q on branch %q, want none on main", s.Head, s.Branch)
	}
}

func TestCase24DetachedHead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.git("checkout", "-q", "--detach")
	head := p.git("rev-parse", "HEAD")
	want := p.snapshot()
	s := p.keep()
	p.write("README", "changed\n")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if s.Branch != "" || s.Head != head {
		t.Errorf("branch %q, head %s; want detached at %s", s.Branch, s.Head, head)
	}
}

// conflicted makes a repository where two branches disagree about README.
func conflicted(t *testing.T) *place {
	p := newPlace(t)
	p.git("checkout", "-q", "-b", "other")
	p.write("README", "theirs\n")
	p.git("commit", "-q", "-am", "theirs")
	p.git("checkout", "-q", "main")
	p.write("README", "ours\n")
	p.git("commit", "-q", "-am", "ours")
	return p
}

func TestCase25MergeConflict(t *testing.T) {
	t.Parallel()
	p := conflicted(t)
	if out, err := p.tryGit("merge", "other"); err == nil {
		t.Fatalf("the merge did not conflict: %s", out)
	}
	want := p.snapshot()
	stages := p.git("ls-files", "-u")
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	if s.Op != "merge" || s.Index != "" {
		t.Errorf("operation %q and index commit %q, want merge and none", s.Op, s.Index)
	}
	if size := p.git("cat-file", "-s", s.Record+":index"); size == "0" {
		t.Error("the raw index was not kept")
	}
	p.write("README", "resolved badly\n")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if got := p.git("ls-files", "-u"); got != stages {
		t.Errorf("stages are\n%s\nwant\n%s", got, stages)
	}
}

func TestCase26RebaseInProgress(t *testing.T) {
	t.Parallel()
	p := conflicted(t)
	if out, err := p.tryGit("rebase", "other"); err == nil {
		t.Fatalf("the rebase did not conflict: %s", out)
	}
	want := p.snapshot()
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	if s.Op != "rebase" {
		t.Errorf("operation is %q, want rebase", s.Op)
	}
	p.write("README", "resolved badly\n")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
}

func TestCase27HooksAndSigning(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	fired := filepath.Join(filepath.Dir(p.top), "FIRED")
	for _, h := range []string{"pre-commit", "post-index-change", "reference-transaction", "post-checkout", "post-commit", "pre-auto-gc"} {
		hook := filepath.Join(p.top, ".git", "hooks", h)
		if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hook, []byte("#!/bin/sh\necho "+h+" >> "+fired+"\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.git("config", "commit.gpgsign", "true")
	p.git("config", "user.signingkey", "NOSUCHKEY")
	p.git("config", "core.logAllRefUpdates", "always")
	want := p.snapshot()
	s := p.keep()
	p.write("README", "changed\n")
	p.restore(s)
	if _, err := p.workspace().Status(context.Background()); err != nil {
		t.Error(err)
	}
	p.same(p.snapshot(), want)
	if text, err := os.ReadFile(fired); err == nil {
		t.Errorf("hooks fired: %s", text)
	}
	if exists(filepath.Join(p.top, ".git", "logs", "refs", "duplex")) {
		t.Error("a reflog was written for a safe point")
	}
}

func TestCase28HostileConfig(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	fired := filepath.Join(filepath.Dir(p.top), "FIRED")
	script := filepath.Join(filepath.Dir(p.top), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $@\" >> "+fired+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "core.askPass", "credential.helper", "filter.x.clean", "filter.X.process", "diff.x.textconv", "gpg.program", "sequence.editor", "uploadpack.packObjectsHook"} {
		p.git("config", name, script)
	}
	for _, name := range []string{"status", "ls-files", "update-index", "write-tree", "read-tree", "cat-file", "rev-list"} {
		p.git("config", "alias."+name, "!"+script)
	}
	if err := os.WriteFile(filepath.Join(p.top, ".git", "info", "attributes"), []byte("* filter=X diff=x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := p.snapshot()
	s := p.keep()
	p.write("README", "changed\n")
	if _, err := p.workspace().Status(context.Background()); err != nil {
		t.Error(err)
	}
	p.restore(s)
	p.same(p.snapshot(), want)
	if _, err := p.workspace().Remove(context.Background(), job); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(fired); err == nil {
		t.Errorf("commands ran:\n%s", text)
	}
}

func TestCase30AssumeUnchanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.git("update-index", "--assume-unchanged", "README")
	p.git("update-index", "--skip-worktree", "src/a.go")
	p.write("README", "hidden edit\n")
	p.write("src/a.go", "hidden edit too\n")
	want, flags := p.snapshot(), p.git("ls-files", "-v")
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	p.write("README", "damaged\n")
	p.remove("src/a.go")
	p.restore(s)
	p.same(p.snapshot(), want)
	if got := p.git("ls-files", "-v"); got != flags {
		t.Errorf("flags are\n%s\nwant\n%s", got, flags)
	}
}

func TestCase31SparseCheckout(t *testing.T) {
	t.Parallel()
	for _, sparseIndex := range []string{"--no-sparse-index", "--sparse-index"} {
		p := newPlace(t)
		p.git("sparse-checkout", "set", "--cone", sparseIndex, "src")
		if exists(p.at("docs")) {
			t.Fatal("docs is still there: the case is not what it should be")
		}
		want := p.snapshot()
		var s SafePoint
		p.untouched(func() { s = p.keep() })
		if got := p.git("ls-tree", "-r", "--name-only", s.Commit); !strings.Contains(got, "docs/long/page.txt") {
			t.Errorf("%s: docs is recorded as deleted: %s", sparseIndex, got)
		}
		p.write("src/a.go", "damaged\n")
		p.untouched(func() { p.restore(s) })
		p.same(p.snapshot(), want)
	}
}

func TestCase32SplitIndex(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--split-index"}, {"--untracked-cache"}, {"--index-version", "4"}, {"--split-index", "--index-version", "4"}} {
		p := newPlace(t)
		p.git(append([]string{"update-index"}, args...)...)
		p.write("README", "edited\n")
		p.write("staged", "x\n")
		p.git("add", "staged")
		want := p.snapshot()
		var s SafePoint
		p.untouched(func() { s = p.keep() })
		p.write("README", "damaged\n")
		p.remove("staged")
		p.untouched(func() { p.restore(s) })
		p.same(p.snapshot(), want)
		if got := p.git("show", s.Index+":staged"); got != "x" {
			t.Errorf("%v: the index commit has staged %q", args, got)
		}
	}
}

func TestCase39SurvivesPrune(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("untracked", "x\n")
	p.write("README", "edited\n")
	want := p.snapshot()
	s := p.keep()
	p.git("commit", "-q", "--amend", "-am", "amended")
	p.git("reflog", "expire", "--expire=now", "--all")
	p.git("gc", "-q", "--prune=now")
	p.remove("untracked", "README", "src")
	p.restore(s)
	p.same(p.snapshot(), want)
	if out, err := p.tryGit("fsck", "--full", "--strict"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
}

func TestCase40NotPushed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.keep()
	bare := filepath.Join(filepath.Dir(p.top), "remote.git")
	p.git("init", "-q", "--bare", bare)
	p.git("push", "-q", "--all", bare)
	p.git("push", "-q", "--tags", bare)
	clone := filepath.Join(filepath.Dir(p.top), "clone")
	p.git("clone", "-q", p.top, clone)
	for _, repo := range []string{bare, clone} {
		if got := p.git("--git-dir="+strings.TrimSuffix(gitDirIn(repo), "/"), "for-each-ref", "refs/duplex"); got != "" {
			t.Errorf("%s has %s", repo, got)
		}
	}
}

func gitDirIn(repo string) string {
	if exists(filepath.Join(repo, ".git")) {
		return filepath.Join(repo, ".git")
	}
	return repo
}

func TestCase46IndexLockPresent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".git/index.lock", "git is running\n")
	want := p.snapshot()
	s := p.keep()
	p.write("README", "changed\n")
	p.restore(s)
	p.same(p.snapshot(), want)
	if got := p.read(".git/index.lock"); got != "git is running\n" {
		t.Errorf("the lock file is %q", got)
	}
}

func TestCase50SHA256(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "--object-format=sha256")
	p.write("README", "edited\n")
	p.write("untracked", "x\n")
	want := p.snapshot()
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	if len(s.Commit) != 64 {
		t.Errorf("commit %s is not a SHA-256 id", s.Commit)
	}
	p.write("README", "damaged\n")
	p.remove("untracked", "src")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
	if out, err := p.tryGit("fsck", "--full", "--strict"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
}

func TestCase51ShallowAndPartial(t *testing.T) {
	t.Parallel()
	origin := newPlace(t)
	origin.write("README", "second\n")
	origin.git("commit", "-q", "-am", "second")
	origin.git("config", "uploadpack.allowFilter", "true")
	for _, args := range [][]string{{"--depth=1"}, {"--filter=blob:none"}, {"--filter=blob:none", "--sparse"}} {
		p := newFolder(t)
		p.git(append([]string{"clone", "-q", "file://" + origin.top, "."}, args...)...)
		moved := origin.top + "-gone"
		if err := os.Rename(origin.top, moved); err != nil {
			t.Fatal(err)
		}
		p.write("README", "edited\n")
		want := p.snapshot()
		s := p.keep()
		p.write("README", "damaged\n")
		p.remove("src")
		p.restore(s)
		p.same(p.snapshot(), want)
		if err := os.Rename(moved, origin.top); err != nil {
			t.Fatal(err)
		}
	}
}

// What a safe point says can be read back, whatever a caller's text holds.
func TestShowAndList(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w, ctx := p.workspace(), context.Background()
	o := KeepOptions{Job: job, N: 7, Why: "before a\nhandover", Position: 1234567, Message: "Ledger-Head: abc\n\nDuplex-Job: forged\n\n"}
	s, err := w.Keep(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	p.write("README", "changed\n")
	second := p.keep()
	if s.ID != job+"/7" || second.N != 8 {
		t.Errorf("numbers are %s and %d, want 7 and 8", s.ID, second.N)
	}
	got, err := w.Show(ctx, s.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Position != 1234567 || got.Why != "before a handover" || got.Commit != s.Commit || got.Tree != s.Tree || got.Job != job ||
		got.Head != p.git("rev-parse", "HEAD") || got.Branch != "main" || !strings.Contains(got.Message, "Ledger-Head: abc") || got.Time.IsZero() || got.Workspace == "" || got.Files != s.Files {
		t.Errorf("read back %+v", got)
	}
	list, err := w.List(ctx, job)
	if err != nil || len(list) != 2 || list[0].N != 7 || list[1].Commit != second.Commit {
		t.Errorf("list is %+v (%v)", list, err)
	}
	if list, err := w.List(ctx, "otherjob"); err != nil || len(list) != 0 {
		t.Errorf("another job has %v (%v)", list, err)
	}
	again := p.keep()
	if !again.Reused || again.ID != second.ID {
		t.Errorf("nothing changed, and %s was made (reused %v)", again.ID, again.Reused)
	}
	if other, err := w.Keep(ctx, KeepOptions{Job: "otherjob"}); err != nil || other.Reused || other.ID != "otherjob/1" {
		t.Errorf("another job got %+v (%v)", other, err)
	}
	if parents := strings.Fields(p.git("rev-list", "--parents", "-1", second.Commit)); slices.Contains(parents, s.Commit) || len(parents) != 4 {
		t.Errorf("parents are %v: want HEAD, index and record", parents[1:])
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}
