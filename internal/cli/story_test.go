//go:build unix

package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	_ "time/tzdata" // stories are told in one time zone, on every machine

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-5777983b/duplex/internal/cli"
)

// The stories in testdata/story are promises of Duplex, told with its commands in
// a form that somebody who never saw the code can read; docs/stories.md lists
// them. Two things in them are made up: the clock, and the model of the scripted
// agent. Every entry they read back came from a hook, from duplex run or from a
// person's command.

// TestMain makes this binary be duplex and clock too, for the stories' shells.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"duplex": func() { os.Exit(duplex()) },
		"clock":  func() { os.Exit(clockProgram()) },
	})
}

// duplex is the real command line with the story's clock.
func duplex() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	clock := storyClock(os.Getenv("STORY_CLOCK"))
	a := cli.FromProcess(clock.now)
	a.Version = cli.Version{Number: "0.1.0"}
	if program, err := exec.LookPath("duplex"); err == nil {
		a.Program = program
	}
	return cli.Main(ctx, a)
}

// clockProgram moves the clock from within an agent's command: a command that
// takes 40 minutes is one that moves it so far.
func clockProgram() int {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clock TIME|+DURATION")
		return 2
	}
	if err := storyClock(os.Getenv("STORY_CLOCK")).move(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestStory(t *testing.T) {
	root := storyFolder(t)
	cache := storyCache(t)
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "story"),
		WorkdirRoot:        root,
		RequireUniqueNames: true,
		Setup:              func(e *testscript.Env) error { return setup(e, cache) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agent":      agentCommand,
			"background": backgroundCommand,
			"clock":      clockCommand,
			"freeze":     signalCommand(syscall.SIGSTOP),
			"golden":     goldenCommand,
			"hook":       hookCommand,
			"interrupt":  signalCommand(os.Interrupt),
			"join":       joinCommand,
			"kill9":      signalCommand(os.Kill),
			"let":        letCommand,
			"repo":       repoCommand,
			"start":      startCommand,
			"thaw":       signalCommand(syscall.SIGCONT),
			"until":      untilCommand,
		},
	})
}

// storyFolder is where stories play. Its name has the same length each time: an
// agent's context holds paths, so that tokens and cost in the goldens depend on it.
func storyFolder(t *testing.T) string {
	t.Helper()
	for n := os.Getpid() % 1e6; ; n++ {
		root := fmt.Sprintf("/tmp/duplex-story-%06d", n%1e6)
		err := os.Mkdir(root, 0o700)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if root, err = filepath.EvalSymlinks(root); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if os.Getenv("STORY_KEEP") == "" {
				removeFolder(root)
			}
		})
		return root
	}
}

// removeFolder removes a folder, also what a story has made read-only in it.
func removeFolder(root string) {
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(root)
}

// storyCache is the build cache of clean checkouts: the user's own, so that the
// standard library is not compiled again for stories.
func storyCache(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("GOCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "go-build")
}

// monday is when stories begin. It is a year to come, since their files have the
// machine's own times: none may look younger than what the ledger says of it.
const monday = "2037-11-09T09:00:00+01:00"

// setup gives a story a home, a store, a clock at Monday nine o'clock, and git
// with a name and a date, so that the same commits have the same ids.
func setup(e *testscript.Env, cache string) error {
	home, state := filepath.Join(e.WorkDir, "home"), filepath.Join(e.WorkDir, "state")
	for _, dir := range []string{home, filepath.Join(state, "cache"), cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.Symlink(cache, filepath.Join(state, "cache", "go-build")); err != nil {
		return err
	}
	clock := storyClock(filepath.Join(home, "clock"))
	if err := clock.move(monday); err != nil {
		return err
	}
	config := "[user]\n\tname = Mara\n\temail = mara@example.org\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n[gc]\n\tauto = 0\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME": home, "DUPLEX_HOME": state, "SCRIPT_HOME": filepath.Join(home, ".script"), "STORY_CLOCK": string(clock),
		"TZ": "Europe/Berlin", "GIT_AUTHOR_DATE": monday, "GIT_COMMITTER_DATE": monday, "GIT_CONFIG_NOSYSTEM": "1",
		"GOCACHE": cache, "GOPROXY": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local", "NO_COLOR": "1",
	} {
		e.Setenv(name, value)
	}
	e.Defer(func() { endAll(clock) })
	p := &play{running: map[string]*running{}}
	for _, v := range e.Vars {
		name, _, _ := strings.Cut(v, "=")
		p.variables = append(p.variables, name)
	}
	e.Values[playKey{}] = p
	return nil
}

// endAll ends what a story has left behind: an agent that was killed leaves its
// commands running. They are known by the story's clock in their environment, which
// only Linux shows.
func endAll(clock storyClock) {
	const proc = "/proc"
	entries, err := os.ReadDir(proc)
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join(proc, e.Name(), "environ"))
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), "STORY_CLOCK="+string(clock)) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// storyClock is the file that holds a story's time: the time it was set to, and a
// dot for each reading since. A reading is a millisecond later than the one
// before, in whatever process, so that what comes after is later.
type storyClock string

func (c storyClock) now() time.Time {
	if c == "" {
		return time.Now()
	}
	at, err := c.read()
	if err != nil {
		panic(err) // a story without its clock would tell any time at all
	}
	return at
}

func (c storyClock) read() (time.Time, error) {
	f, err := os.OpenFile(string(c), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	head := make([]byte, len(clockLayout))
	if _, err := f.ReadAt(head, 0); err != nil {
		return time.Time{}, err
	}
	set, err := time.Parse(clockLayout, string(head))
	if err != nil {
		return time.Time{}, err
	}
	if _, err := f.Write([]byte{'.'}); err != nil {
		return time.Time{}, err
	}
	end, err := f.Seek(0, 1) // behind the dot just written, whoever wrote others
	return set.Add(time.Duration(end-int64(len(head))) * time.Millisecond), err
}

const clockLayout = "2006-01-02T15:04:05.000-07:00"

// move sets the clock to a time, or forward by a duration.
func (c storyClock) move(to string) error {
	var at time.Time
	if by, ok := strings.CutPrefix(to, "+"); ok {
		d, err := time.ParseDuration(by)
		if err != nil {
			return err
		}
		now, err := c.read()
		if err != nil {
			return err
		}
		at = now.Add(d)
	} else {
		var err error
		if at, err = time.Parse(time.RFC3339, to); err != nil {
			return err
		}
	}
	next := string(c) + ".next"
	if err := os.WriteFile(next, []byte(at.Format(clockLayout)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, string(c))
}
