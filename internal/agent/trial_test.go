package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// ran is a call in short: a command line and how it ended, "0", an exit code,
// "denied"; or an edit of a file.
func ran(command, how, output string) *Call {
	c := &Call{Name: "Bash"}
	c.CommandLine(command)
	c.Done = &Done{Result: job.Failed, Output: output}
	switch how {
	case "0":
		c.Done.Result = job.OK
	case "denied":
		c.Done.Result = job.Denied
	case "unknown":
		c.Done.Result = job.ResultUnknown
	}
	if code := 0; c.Done.Result == job.OK || c.Done.Result == job.Failed {
		_, _ = fmt.Sscan(how, &code)
		c.Done.Exit = &code
	}
	return c
}

func changed(file string) *Call {
	return &Call{Name: "Edit", Class: job.ClassEdit, Paths: []job.Touch{{Name: file, Role: job.RoleEdit}}, Done: &Done{Result: job.OK}}
}

func TestTrials(t *testing.T) {
	t.Parallel()
	const red = "--- FAIL: TestSum (0.01s)\nFAIL"
	for name, c := range map[string]struct {
		calls []*Call
		want  string // "text; why" of each, "over: name" for what holds no longer
	}{
		"one failure is none": {[]*Call{ran("make", "2", "make: *** Error 1")}, ""},
		"the same again and again": {[]*Call{ran("make", "2", "x.c:3: error: no"), ran("make", "2", "x.c:4: error: no"), ran("cat x.c", "0", ""), ran("make", "2", "x.c:3: error: no"), ran("make", "2", "x.c:3: error: no")},
			"`make` fails: x.c:3: error: no; 3 times alike, with nothing changed between"},
		"work under way":           {[]*Call{ran("go test ./a", "1", red), changed("/w/a.go"), ran("go test ./a", "1", red), changed("/w/a.go"), ran("go test ./a", "1", red), ran("sed -i s/a/b/ a.go", "0", ""), ran("go test ./a", "1", red)}, ""},
		"other failures each time": {[]*Call{ran("make", "2", "error: a"), ran("make", "2", "error: b"), ran("make", "2", "error: a"), ran("make", "2", "error: b")}, ""},
		"it passed between":        {[]*Call{ran("make", "2", "error: a"), ran("make", "2", "error: a"), ran("make", "0", ""), ran("make", "2", "error: a")}, ""},
		"called through what does not take it": {[]*Call{ran("rtk bun run test 2>&1", "2", "error: unrecognized subcommand 'bun'\n\nUsage: rtk"), ran("cd /w && bun run test 2>&1 | tail -3", "0", "3 pass")},
			"`rtk bun run test` does not work here: error: unrecognized subcommand 'bun'; `bun run test` does"},
		"another way to run the tests": {[]*Call{ran("npm test", "1", "npm error Missing script: \"test\""), ran("cat package.json", "0", ""), ran("npx vitest run", "0", "")},
			"`npm test` does not work here: npm error Missing script: \"test\"; `npx vitest run` does"},
		"another option": {[]*Call{ran("gh pr checks 1 --json conclusion", "1", "Unknown JSON field: \"conclusion\""), ran("gh pr checks 1 --json state", "0", "")},
			"`gh pr checks 1 --json conclusion` does not work here: Unknown JSON field: \"conclusion\"; `gh pr checks 1 --json state` does"},
		"too long after":         {[]*Call{ran("npm test", "1", "Missing script"), changed("a"), changed("b"), changed("c"), changed("d"), ran("npx vitest run", "0", "")}, ""},
		"something else passes":  {[]*Call{ran("npm test", "1", "Missing script"), ran("npm install", "0", "")}, ""},
		"red, then another test": {[]*Call{ran("go test ./a", "1", red), ran("go test ./b", "0", "ok")}, ""},
		"behind a pipe it fails still": {[]*Call{ran("rtk bun x", "2", "error: unrecognized subcommand 'bun'"), ran("rtk bun x | tail -1", "0", "error: unrecognized subcommand 'bun'")},
			"`rtk bun x` fails: error: unrecognized subcommand 'bun'; 2 times alike, with nothing changed between"},
		"no such program": {[]*Call{ran("golangci-lint run", "127", "(eval):1: command not found: golangci-lint"), ran("golangci-lint run ./a", "127", "bash: line 1: golangci-lint: command not found")},
			"`golangci-lint` is not there: command not found; "},
		"it was installed":       {[]*Call{ran("jq . a", "127", "sh: 1: jq: not found"), ran("jq . a | cat", "0", "sh: 1: jq: not found"), ran("apt-get install -y jq", "0", ""), ran("jq . a", "0", "{}")}, "`jq` is not there: command not found; \nover: jq"},
		"a file is not found":    {[]*Call{ran("./run.sh", "127", "./run.sh: line 3: x: not found")}, ""},
		"refused once":           {[]*Call{ran("git push --force", "denied", "Permission denied")}, ""},
		"refused again":          {[]*Call{ran("git push --force", "denied", "Permission to use Bash has been denied"), changed("a"), ran("git push --force", "denied", "Permission to use Bash has been denied")}, "`git push --force` is refused: Permission to use Bash has been denied; 2 times"},
		"refused, then allowed":  {[]*Call{ran("make up", "denied", "denied"), ran("make up", "denied", "denied"), ran("make up", "0", "")}, "`make up` is refused: denied; 2 times\nover: make up"},
		"taken back":             {[]*Call{changed("/w/cart/sum.go"), changed("/w/other.go"), ran("go test ./cart", "1", red), ran("git checkout -- cart/sum.go", "0", ""), ran("go test ./cart", "0", "ok")}, "what was changed in sum.go was taken back: `go test ./cart` failed with --- FAIL: TestSum (0.01s); "},
		"all taken back":         {[]*Call{changed("/w/a.go"), changed("/w/b.go"), ran("go test ./...", "1", red), ran("git reset --hard HEAD", "0", "")}, "what was changed in a.go, b.go was taken back: `go test ./...` failed with --- FAIL: TestSum (0.01s); "},
		"restored":               {[]*Call{changed("/w/a.go"), ran("go test ./...", "1", red), ran("git restore --source HEAD a.go", "0", "")}, "what was changed in a.go was taken back: `go test ./...` failed with --- FAIL: TestSum (0.01s); "},
		"unstaged, not restored": {[]*Call{changed("/w/a.go"), ran("go test ./...", "1", red), ran("git restore --staged a.go", "0", "")}, ""},
		"only put aside":         {[]*Call{changed("/w/a.go"), ran("go test ./...", "1", red), ran("git stash", "0", "")}, ""},
		"nothing had failed":     {[]*Call{changed("/w/a.go"), ran("go test ./...", "0", "ok"), changed("/w/a.go"), ran("git checkout .", "0", "")}, ""},
		"others taken back":      {[]*Call{changed("/w/a.go"), ran("go test ./...", "1", red), ran("git checkout -- b.go", "0", "")}, ""},
		"looks try nothing":      {[]*Call{ran("grep x y", "1", ""), ran("grep x y", "1", ""), ran("grep x y", "1", ""), ran("ls z", "2", "No such file"), ran("ls z", "2", "No such file"), ran("ls z", "2", "No such file")}, ""},
		"nobody knows":           {[]*Call{ran("make", "unknown", "error"), ran("make", "unknown", "error"), ran("make", "unknown", "error"), nil, {Name: "Bash", Command: "make"}}, ""},
	} {
		var trials Trials
		var got []string
		told := map[string]bool{}
		for _, call := range c.calls {
			for _, d := range trials.Take(call) {
				got = append(got, d.Text+"; "+d.Why)
				told[d.Name] = true
			}
			for _, name := range Works(call) {
				if told[name] {
					got = append(got, "over: "+name)
					delete(told, name)
				}
			}
			saved, err := json.Marshal(trials)
			if err != nil {
				t.Fatal(err)
			}
			trials = Trials{}
			if err := json.Unmarshal(saved, &trials); err != nil {
				t.Fatal(err)
			}
		}
		if all := strings.Join(got, "\n"); all != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, all, c.want)
		}
	}
}

func TestTrialsStaySmall(t *testing.T) {
	t.Parallel()
	var trials Trials
	for i := range 500 {
		trials.Take(ran(fmt.Sprintf("make x%d %s", i, strings.Repeat("a", 1000)), "2", strings.Repeat("error ", 1000)))
		trials.Take(changed(fmt.Sprintf("/w/%d.go", i)))
	}
	if saved, err := json.Marshal(trials); err != nil || len(saved) > 12<<10 {
		t.Errorf("%d bytes, %v", len(saved), err)
	}
}

// FuzzTrials: whatever runs, a dead end has a name and one line of text.
func FuzzTrials(f *testing.F) {
	f.Add("rtk bun run test", "error: unrecognized subcommand 'bun'", "bun run test", "ok", 2)
	f.Add("a\x00$(b", "\x1b[31mfatal\xff", "git checkout -- .", "", 127)
	f.Fuzz(func(t *testing.T, first, said, second, then string, code int) {
		var trials Trials
		how := fmt.Sprint(code)
		for _, c := range []*Call{changed(second), ran(first, how, said), ran(first, how, said), ran(second, "0", then), ran(first, how, said), ran(first, "denied", said), ran(first, "denied", then)} {
			for _, d := range trials.Take(c) {
				if d.Name == "" || d.Text == "" || strings.ContainsAny(d.Text, "\n") {
					t.Errorf("%+v", d)
				}
			}
		}
	})
}
