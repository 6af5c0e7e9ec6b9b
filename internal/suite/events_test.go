package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestGoTest runs the real go command on a small module that has one of everything.
func TestGoTest(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "go.mod", "module example.com/x\n\ngo 1.26\n")
	write(t, root, "x.go", "package x\n")
	write(t, root, "x_test.go", `package x

import "testing"

func TestPass(t *testing.T) {}

func TestTable(t *testing.T) {
	t.Run("one", func(t *testing.T) {})
	t.Run("two", func(t *testing.T) { t.Error("got 2, want 3") })
	t.Run("three", func(t *testing.T) { t.Run("deep", func(t *testing.T) {}) })
}

func TestSkip(t *testing.T) { t.Skip("only on plan9") }

func TestBare(t *testing.T) { t.SkipNow() }

func TestOwn(t *testing.T) {
	t.Run("fine", func(t *testing.T) {})
	t.Error("the sum is wrong")
}
`)
	var out bytes.Buffer
	s := &suite{root: root, out: &out}
	counted, err := s.goTest(t.Context(), nil, "test", "-json", "./...")
	if err != nil {
		t.Fatal(err)
	}
	if counted.passed != 4 { // TestPass, one, three/deep, fine
		t.Errorf("%d passed, want 4", counted.passed)
	}
	wantFailures := map[string]string{"x.TestTable/two": "got 2, want 3", "x.TestOwn": "the sum is wrong"}
	for _, f := range counted.failures {
		if want, ok := wantFailures[f.Name]; !ok || !strings.Contains(f.Output, want) {
			t.Errorf("failure %s with %q is not one of %v", f.Name, f.Output, wantFailures)
		}
		delete(wantFailures, f.Name)
	}
	if len(wantFailures) > 0 {
		t.Errorf("not reported: %v", wantFailures)
	}
	wantSkips := []left{{"x.TestBare", "no reason given"}, {"x.TestSkip", "only on plan9"}}
	slices.SortFunc(counted.skips, func(a, b left) int { return strings.Compare(a.Name, b.Name) })
	if !slices.Equal(counted.skips, wantSkips) {
		t.Errorf("skips are %v, want %v", counted.skips, wantSkips)
	}
	if !strings.Contains(out.String(), "FAILED  8 tests, 2 failed, 2 skipped") {
		t.Errorf("progress is %q", out.String())
	}
}

func TestGoTestReportsWhatNeverRan(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, source, failure, output string }{
		{"does not compile", "package x\n\nvar _ int = \"x\"\n", "x", "cannot use"},
		{"panics", "package x\n\nimport \"testing\"\n\nfunc TestP(t *testing.T) { panic(\"out of order\") }\n", "x.TestP", "out of order"},
		{"hangs", "package x\n\nimport \"testing\"\n\nfunc TestH(t *testing.T) { select {} }\n", "x.TestH", "TestH"},
		{"ends by itself", "package x\n\nimport (\"os\"; \"testing\")\n\nfunc TestE(t *testing.T) { os.Exit(3) }\n", "x.TestE", ""},
		{"fails in TestMain", "package x\n\nimport (\"fmt\"; \"os\"; \"testing\")\n\nfunc TestMain(*testing.M) { fmt.Println(\"no server\"); os.Exit(3) }\n", "x", "no server"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, root, "go.mod", "module example.com/x\n\ngo 1.26\n")
			write(t, root, "x_test.go", test.source)
			s := &suite{root: root, out: new(bytes.Buffer)}
			counted, err := s.goTest(t.Context(), nil, "test", "-json", "-timeout", "1s", "./...")
			if err != nil {
				t.Fatal(err)
			}
			if len(counted.failures) != 1 || counted.failures[0].Name != test.failure || !strings.Contains(counted.failures[0].Output, test.output) {
				t.Errorf("failures are %q, want %s with %q", counted.failures, test.failure, test.output)
			}
		})
	}
}

func TestGoTestThatCannotBegin(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "go.mod", "no module\n")
	s := &suite{root: root, out: new(bytes.Buffer)}
	if _, err := s.goTest(t.Context(), nil, "test", "-json", "./..."); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("got %v, want the go command's own words about go.mod", err)
	}
}

func TestSkipReason(t *testing.T) {
	t.Parallel()
	tests := []struct{ output, want string }{
		{"=== RUN   TestX\n    x_test.go:3: only on windows\n--- SKIP: TestX (0.00s)\n", "only on windows"},
		{"    sub/dir/x_test.go:30: root is not held back by file modes: read-only\n", "root is not held back by file modes: read-only"},
		{"    x_test.go:3: first said\n    x_test.go:4: then the reason\n", "then the reason"},
		{"--- SKIP: TestX (0.00s)\n", "no reason given"},
		{"", "no reason given"},
	}
	for _, test := range tests {
		if got := skipReason(strings.SplitAfter(test.output, "\n")); got != test.want {
			t.Errorf("skipReason(%q) = %q, want %q", test.output, got, test.want)
		}
	}
}

func TestAllowedSkips(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]bool{
		"only on windows":                       true,
		"only on windows: junctions":            true,
		noDatabase + ": no such host":           true,
		"no reason given":                       false,
		"flaky":                                 false,
		"staticcheck v0.8.2 cannot be fetched":  false,
		"no Claude Code is installed: go run":   false,
		"no tmux is installed: apt-get install": false,
		"fails where it is only on windows too": false,
	} {
		if got := allowed(reason); got != want {
			t.Errorf("allowed(%q) = %v, want %v", reason, got, want)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add(`{"Action":"run","Package":"a/internal/b","Test":"T/x"}` + "\n" + `{"Action":"fail","Package":"a/internal/b"}` + "\n")
	f.Add(`{"Action":"build-output","ImportPath":"a","Output":"x"}` + "\n" + `{"Action":"fail","Package":"a","FailedBuild":"a"}`)
	f.Add("go: no modules\n{\n")
	f.Fuzz(func(t *testing.T, stream string) {
		ended := 0
		counted, err := readEvents(strings.NewReader(stream), func(e event, _ *packageTally) {
			if e.Action == "pass" || e.Action == "fail" {
				ended++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if counted.passed > ended {
			t.Errorf("%d passed of %d that ended", counted.passed, ended)
		}
		if strings.Contains(fmt.Sprintf("%q", counted.failures), "%!") {
			t.Errorf("failures cannot be printed: %q", counted.failures)
		}
	})
}
