package demo_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// binary is duplex itself: hooks and the scripted agent are processes of it.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "duplex-demo-test-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "duplex")
	c := exec.Command("go", "build", "-o", binary, "../../cmd/duplex")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// played is a demo that was played to its end.
type played struct {
	out  string
	home string
	repo string
}

func play(t *testing.T, env ...string) played {
	t.Helper()
	p := played{home: t.TempDir(), repo: filepath.Join(t.TempDir(), "shop")}
	// The clean checkouts of all tests share one build cache.
	shared := filepath.Join(os.TempDir(), "duplex-test-cache")
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(p.home, "cache")); err != nil {
		t.Fatal(err)
	}
	out, err := p.duplex(t, env, "demo", "--dir", p.repo)
	p.out = out
	if err != nil && len(env) == 0 {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	return p
}

func (p played) duplex(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	c := exec.Command(binary, args...)
	c.Env = append(append(os.Environ(), "DUPLEX_HOME="+p.home), env...)
	if info, err := os.Stat(p.repo); err == nil && info.IsDir() {
		c.Dir = p.repo
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if err != nil {
		t.Logf("duplex %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), err
}

// sittings reads the sessions of the demo's job as show prints them.
func (p played) sittings(t *testing.T) []job.Sitting {
	t.Helper()
	out, err := p.duplex(t, nil, "show", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Sessions []job.Sitting `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatalf("show --json: %v\n%s", err, out)
	}
	return shown.Sessions
}

func TestDemo(t *testing.T) {
	t.Parallel()
	p := play(t)
	for _, want := range []string{
		"The start", "40 test files with 120 cases", "red: to be reached", "120 tests listed",
		"The limit", "in the middle of a folder", "left in list/", "stayed behind: the conversation",
		"The next morning", "crashed", "went back to safe point",
		"The finish", "down_to_zero", "stays_at_ten", "did not survive", "passed",
		"read as one piece", "It stays for you to look at",
	} {
		if !strings.Contains(p.out, want) {
			t.Errorf("the demo does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(p.out)
	}
	if out, err := p.duplex(t, nil, "verify"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

// TestBriefSavesRediscovery holds what a session re-reads in its first ten actions
// with the brief against what it re-reads without.
func TestBriefSavesRediscovery(t *testing.T) {
	t.Parallel()
	with, without := second(t, play(t)), second(t, play(t, "DUPLEX_EMPTY_BRIEF=1"))
	t.Logf("re-reads in the first %d actions of session 2: %d with the brief, %d without", job.RediscoveryWindow, with.Rereads, without.Rereads)
	if without.Rereads < 2 {
		t.Fatalf("without a brief only %d files were re-read: the measure measures nothing", without.Rereads)
	}
	if 2*with.Rereads > without.Rereads {
		t.Errorf("%d re-reads with the brief, more than half of %d without", with.Rereads, without.Rereads)
	}
}

// second is the session after the handover.
func second(t *testing.T, p played) job.Sitting {
	t.Helper()
	for _, s := range p.sittings(t) {
		if s.Number == 2 {
			return s
		}
	}
	t.Fatalf("there was no second session:\n%s", p.out)
	return job.Sitting{}
}
