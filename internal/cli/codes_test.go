package cli_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/cli"
)

// desk is a person's folder with a store of its own, and commands run in it.
type desk struct {
	t        *testing.T
	dir      string
	env      map[string]string
	out, err string
	ctx      context.Context
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	top := t.TempDir()
	d := &desk{t: t, dir: filepath.Join(top, "shop"), ctx: t.Context(),
		env: map[string]string{"HOME": filepath.Join(top, "home"), "DUPLEX_HOME": filepath.Join(top, "state"), "PATH": os.Getenv("PATH")}}
	d.write("price.sh", "echo 9.999\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=Mara", "-c", "user.email=mara@example.org", "commit", "-q", "-m", "begin"}} {
		c := exec.Command("git", args...)
		c.Dir = d.dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// run runs one command and gives its exit code.
func (d *desk) run(args ...string) int { return d.call("", args...) }

func (d *desk) call(stdin string, args ...string) int {
	d.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(d.ctx, &cli.App{Args: args, In: strings.NewReader(stdin), Out: &out, Err: &errs, Dir: d.dir, Program: "duplex", Now: time.Now,
		Getenv: func(name string) string { return d.env[name] }})
	d.out, d.err = out.String(), errs.String()
	return code
}

// begin starts a job and gives its short name.
func (d *desk) begin(flags ...string) string {
	d.t.Helper()
	if code := d.run(append([]string{"start", "Round prices"}, flags...)...); code != 0 {
		d.t.Fatalf("start: exit %d\n%s", code, d.err)
	}
	m := regexp.MustCompile(`(?m)^(\S+) is open`).FindStringSubmatch(d.out)
	if m == nil {
		d.t.Fatalf("start names no job:\n%s", d.out)
	}
	return m[1]
}

// calls gives, for each exit code, a call that ends with it.
var calls = []struct {
	code int
	name string
	call func(*desk) int
	says string // on one of the streams
}{
	{0, "done", func(d *desk) int { return d.run("version") }, "duplex"},
	{1, "could not be done", func(d *desk) int { d.begin(); return d.run("decide", "") }, "the decision is empty"},
	{2, "no argument", func(d *desk) int { return d.run("start") }, "see duplex"},
	{2, "no such flag", func(d *desk) int { return d.run("jobs", "--al") }, "duplex jobs --help"},
	{2, "no such command", func(d *desk) int { return d.run("strat") }, "see duplex --help"},
	{2, "a value that cannot be", func(d *desk) int { return d.run("start", "x", "--usd", "lots") }, "--usd"},
	{2, "a pattern that cannot be", func(d *desk) int { return d.run("start", "x", "--protect", "[") }, "not closed"},
	{2, "a pattern that cannot be, later", func(d *desk) int { return d.run("amend", d.begin(), "--protect", "a[") }, "not closed"},
	{2, "a deadline that has passed", func(d *desk) int { return d.run("start", "x", "--deadline", "2020-01-02") }, "has passed"},
	{2, "a deadline before now", func(d *desk) int { return d.run("start", "x", "--deadline", "-1h") }, "has passed"},
	{2, "a folder without a name", func(d *desk) int { d.begin(); return d.run("verify", "--salvage", "") }, "names no folder"},
	{3, "no such job", func(d *desk) int { return d.run("show", "nope") }, "nope"},
	{3, "no job here", func(d *desk) int { return d.run("show") }, "duplex start"},
	{3, "several jobs here", func(d *desk) int { d.begin(); d.begin(); return d.run("show") }, "name one"},
	{4, "it has ended", func(d *desk) int {
		job := d.begin()
		d.run("accept", "--reason", "good", "--confirm", job)
		return d.run("finish")
	}, "accepted"},
	{5, "a red check", func(d *desk) int { d.begin("--check", "false"); return d.run("check") }, "✕ false"},
	{5, "an unverified finish", func(d *desk) int { d.begin(); return d.run("finish") }, "unverified"},
	{6, "it waits", func(d *desk) int {
		job := d.begin()
		d.run("amend", job, "--deadline", "2020-01-02", "--confirm", job)
		d.write("end.json", `{"end": "Done."}`)
		return d.run("run", "--script", "end.json")
	}, "the deadline has passed"},
	{7, "not confirmed", func(d *desk) int { d.begin(); return d.run("amend", "--goal", "x") }, "--confirm"},
	{8, "a damaged store", func(d *desk) int {
		d.begin()
		if err := os.WriteFile(filepath.Join(d.env["DUPLEX_HOME"], "duplex.db"), bytes.Repeat([]byte("no database "), 4000), 0o600); err != nil {
			d.t.Fatal(err)
		}
		return d.run("show")
	}, "duplex verify --salvage"},
	{8, "a lost store", func(d *desk) int {
		d.begin()
		if err := os.Remove(filepath.Join(d.env["DUPLEX_HOME"], "duplex.db")); err != nil {
			d.t.Fatal(err)
		}
		return d.run("start", "x")
	}, "backup"},
	{9, "somebody else's change", func(d *desk) int {
		d.begin()
		for _, event := range []string{`"hook_event_name":"SessionStart","source":"startup"`,
			`"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"make"},"tool_response":{"stdout":"ok"}`} {
			d.call(`{"session_id":"s1","cwd":`+strconv.Quote(d.dir)+`,`+event+`}`, "hook", "script")
		}
		d.write("price.sh", "echo Mara was here\n")
		return d.run("restore", "1")
	}, "price.sh"},
	{130, "interrupted", func(d *desk) int {
		d.begin("--check", "true", "--no-baseline")
		ctx, cancel := context.WithCancel(d.ctx)
		cancel()
		d.ctx = ctx
		return d.run("check")
	}, "what was recorded stays"},
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		t.Run(strconv.Itoa(c.code)+" "+c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if got := c.call(d); got != c.code {
				t.Errorf("exit %d, want %d\n%s%s", got, c.code, d.out, d.err)
			}
			if !strings.Contains(d.out+d.err, c.says) {
				t.Errorf("it does not say %q:\n%s%s", c.says, d.out, d.err)
			}
		})
	}
}

// TestExitCodesAreDocumented holds together the page for people, the constants and
// the calls above.
func TestExitCodesAreDocumented(t *testing.T) {
	t.Parallel()
	codesIn := func(file, pattern string) []int {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := map[int]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(data), -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			found[n] = true
		}
		return slices.Sorted(maps.Keys(found))
	}
	documented := codesIn(filepath.Join("..", "..", "docs", "exit-codes.md"), "(?m)^\\| `(\\d+)` \\|")
	constants := codesIn("exit.go", `(?m)^\tExit\w+\s+= (\d+)`)
	called := map[int]bool{}
	for _, c := range calls {
		called[c.code] = true
	}
	if want := slices.Sorted(maps.Keys(called)); !slices.Equal(documented, want) || !slices.Equal(constants, want) {
		t.Errorf("docs/exit-codes.md lists %v, exit.go has %v, and the calls give %v", documented, constants, want)
	}
}
