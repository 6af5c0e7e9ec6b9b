package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository makes one with a single commit and returns its top.
func repository(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	r := Runner{Dir: top}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		if err := r.Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestEnvironmentDropsInheritedGit(t *testing.T) {
	t.Parallel()
	got := environment([]string{"PATH=/bin", "GIT_DIR=/x", "git_work_tree=/y", "GIT_CONFIG_COUNT=1", "LC_ALL=de_DE", "GITHUB_TOKEN=t"})
	for _, bad := range []string{"GIT_DIR=/x", "git_work_tree=/y", "GIT_CONFIG_COUNT=1"} {
		if slices.Contains(got, bad) {
			t.Errorf("%s was handed on", bad)
		}
	}
	for _, want := range []string{"PATH=/bin", "GITHUB_TOKEN=t", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if last := got[len(got)-1]; slices.Index(got, "LC_ALL=de_DE") > slices.Index(got, "LC_ALL=C") {
		t.Errorf("the inherited language wins; the last is %s", last)
	}
}

func TestErrorSaysWhatGitSaid(t *testing.T) {
	t.Parallel()
	r := Runner{Dir: repository(t)}
	err := r.Run(t.Context(), "rev-parse", "--verify", "nothing-of-that-name")
	var e *Error
	if !errors.As(err, &e) || e.Code != 128 || Code(err) != 128 {
		t.Fatalf("got %#v, want an Error with exit code 128", err)
	}
	if !strings.Contains(err.Error(), "git rev-parse: fatal:") {
		t.Errorf("the message is %q", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx, "status"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if Code(io.EOF) != -1 {
		t.Error("an error that is not git's has an exit code")
	}
}

func TestMissingGitSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Runner{}.Run(t.Context(), "version")
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "install") {
		t.Errorf("without git: %v", err)
	}
}

func TestUserIgnoresEnvironmentAndHooks(t *testing.T) {
	top, other := repository(t), repository(t)
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.bare")
	t.Setenv("GIT_CONFIG_VALUE_0", "true")
	r := User(filepath.Join(top, ".git"), top)
	if got, err := r.Line(t.Context(), "rev-parse", "--absolute-git-dir"); err != nil || !strings.HasPrefix(got, top) && !strings.Contains(got, filepath.Base(top)) {
		t.Errorf("git dir is %q (%v), want that of %s", got, err, top)
	}
	if got, err := r.Line(t.Context(), "config", "core.hooksPath"); err != nil || got != "/dev/null" {
		t.Errorf("hooks path is %q (%v)", got, err)
	}
}

func TestStoringWritesToQuarantineAndReadsAlternates(t *testing.T) {
	t.Parallel()
	top := repository(t)
	objects := filepath.Join(top, ".git", "objects")
	quarantine := filepath.Join(t.TempDir(), `odd:"name`)
	if err := os.Mkdir(quarantine, 0o755); err != nil {
		t.Fatal(err)
	}
	r := User(filepath.Join(top, ".git"), top).Storing(quarantine, objects)
	if found, err := r.Objects(t.Context(), false, "HEAD"); err != nil || found[0].Type != "commit" {
		t.Errorf("HEAD through the alternate: %+v (%v)", found, err)
	}
	out, err := r.Feed(t.Context(), strings.NewReader("new\n"), "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(quarantine, id[:2], id[2:])); err != nil {
		t.Errorf("the object is not in the quarantine: %v", err)
	}
	// A folder whose own name needs quoting is an alternate too.
	back := User(filepath.Join(top, ".git"), top).Storing(objects, quarantine)
	if found, err := back.Objects(t.Context(), true, id); err != nil || string(found[0].Body) != "new\n" {
		t.Errorf("through a quoted alternate: %+v (%v)", found, err)
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	r := Runner{Dir: repository(t)}
	found, err := r.Objects(t.Context(), true, "HEAD", "no such thing", "HEAD^{tree}")
	if err != nil || len(found) != 3 {
		t.Fatalf("%+v (%v)", found, err)
	}
	if found[0].Type != "commit" || !bytes.Contains(found[0].Body, []byte("first")) || found[1].ID != "" || found[2].Type != "tree" {
		t.Errorf("got %+v", found)
	}
	if _, err := r.Objects(t.Context(), false, "two\nlines"); err == nil {
		t.Error("a name of two lines was asked for")
	}
	if found, err := r.Objects(t.Context(), false); err != nil || found != nil {
		t.Errorf("no names gave %v (%v)", found, err)
	}
}

func TestStreamStopsWhenTheReaderDoes(t *testing.T) {
	t.Parallel()
	r := Runner{Dir: repository(t)}
	enough := errors.New("enough")
	if err := r.Stream(t.Context(), nil, func(io.Reader) error { return enough }, "log"); err != enough {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

func TestSplitJoin(t *testing.T) {
	t.Parallel()
	for _, records := range [][]string{nil, {"a"}, {"a", "b\nc", "\xff"}} {
		text, err := io.ReadAll(Join(records))
		if err != nil {
			t.Fatal(err)
		}
		if got := Split(text); !slices.Equal(got, records) {
			t.Errorf("%q came back as %q", records, got)
		}
	}
}

func FuzzReadObject(f *testing.F) {
	f.Add([]byte("0123456789012345678901234567890123456789 blob 5\nhello\n"))
	f.Add([]byte("name missing\n"))
	f.Add([]byte("a b 99999999999\n"))
	f.Add([]byte("a b -1\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, body := range []bool{false, true} {
			o, err := readObject(bufio.NewReader(bytes.NewReader(data)), body)
			if err == nil && body && o.ID != "" && int64(len(o.Body)) != o.Size {
				t.Errorf("body of %d bytes, size says %d", len(o.Body), o.Size)
			}
		}
	})
}
