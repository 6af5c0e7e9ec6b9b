//go:build !windows

package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/process"
)

func TestListCommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, command string
		want          []string
		err           error
		says          string
	}{
		{"a case a line", "printf 'b\nSKIP a\n\nb\n'", []string{"a skipped", "b ", "b "}, nil, ""},
		{"what it says beside", "echo a; echo warning >&2", []string{"a "}, nil, ""},
		{"nothing", "true", nil, ErrNoTests, "`true` printed no case"},
		{"failed after it listed", "echo a; echo 'error: half a list' >&2; exit 3", nil, ErrCannotList, "error: half a list"},
		{"no such program", "no-such-program", nil, ErrCannotList, "exited with 127"},
		{"no case", `echo a; echo '{"name"'`, nil, ErrCannotList, `"{\"name\"" is no case`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := ListCommand(t.Context(), t.TempDir(), os.Environ(), tt.command)
			var got []string
			for _, c := range l.Cases {
				got = append(got, c.Name+" "+c.State)
			}
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("ListCommand(%q) = %q, %v; want %q, %v", tt.command, got, err, tt.want, tt.err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
			if l.Command != tt.command {
				t.Errorf("the listing is of %q, want %q", l.Command, tt.command)
			}
		})
	}
}

func TestListCommandCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ListCommand(ctx, t.TempDir(), os.Environ(), "echo a"); !errors.Is(err, ErrCannotList) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v because of %v", err, ErrCannotList, context.Canceled)
	}
}

// goEnv is an environment in which go works without a network.
func goEnv() []string {
	return append(process.Scrubbed(os.Environ()), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local")
}

// module writes files, and a go.mod where none is among them.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if _, ok := files["go.mod"]; !ok {
		write(t, dir, "go.mod", "module example.org/sums\n\ngo 1.24\n")
	}
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func shown(l Listing) string {
	var b strings.Builder
	for _, c := range l.Cases {
		fmt.Fprintf(&b, "%s %s %s %d\n", strings.TrimPrefix(c.Suite, "example.org/"), c.Name, c.State, c.Assertions)
	}
	return b.String()
}

func TestListGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a Go module")
	}
	dir := module(t, map[string]string{
		"sums.go": "package sums\n\nfunc Add(a, b int) int { return a + b }\n",
		"sums_test.go": `package sums

import (
	"fmt"
	"testing"
)

func TestAdd(t *testing.T) {
	t.Run("adds two", func(t *testing.T) {
		if Add(1, 1) != 2 {
			t.Error("wrong")
		}
	})
	t.Run("later", func(t *testing.T) { t.Skip("not yet"); t.Error("never") })
}

func TestRed(t *testing.T) {
	if got := Add(1, 1); got != 3 {
		t.Fatalf("got %d", got)
	}
}

func ExampleAdd() {
	fmt.Println(Add(1, 2))
	// Output: 3
}

func FuzzAdd(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {
		if Add(n, 0) != n {
			t.Error("wrong")
		}
	})
}
`,
		"tagged_test.go": "//go:build never\n\npackage sums\n\nimport \"testing\"\n\nfunc TestNever(t *testing.T) {}\n",
		"panics/panics_test.go": `package panics

import "testing"

func TestFirst(t *testing.T)  {}
func TestPanics(t *testing.T) { var m map[string]int; m["x"] = 1 }
func TestZLast(t *testing.T)  { t.Error("never begins") }
`,
		"plain/plain.go":           "package plain\n",
		"testdata/bad_test.go":     "not Go",
		"nested/go.mod":            "module example.org/nested\n\ngo 1.24\n",
		"nested/outside_test.go":   "package nested_test\n\nimport \"testing\"\n\nfunc TestOutside(t *testing.T) { helper(t) }\n\nfunc helper(t *testing.T) { t.Helper() }\n",
		"untested/go.mod":          "module example.org/untested\n\ngo 1.24\n\nrequire example.org/not/here v1.0.0\n",
		"untested/untested.go":     "package untested\n",
		"node_modules/x/x_test.go": "package x\n",
	})
	l, err := ListGo(t.Context(), dir, goEnv())
	if err != nil {
		t.Fatal(err)
	}
	want := `nested TestOutside passed 0
sums ExampleAdd passed 1
sums FuzzAdd/seed#0 passed 1
sums TestAdd/adds_two passed 1
sums TestAdd/later skipped 0
sums TestRed failed 1
sums/panics TestFirst passed 0
sums/panics TestPanics failed 0
sums/panics TestZLast failed 1
`
	if got := shown(l); got != want {
		t.Errorf("ListGo\n got %s\nwant %s", got, want)
	}
}

func TestListGoCannot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a Go module")
	}
	tests := []struct {
		name  string
		files map[string]string
		env   []string
		err   error
		says  string
	}{
		{"does not build", map[string]string{"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { missing() }\n"},
			goEnv(), ErrCannotList, "undefined: missing"},
		{"does not parse", map[string]string{"a_test.go": "package a\n\nfunc {\n"}, goEnv(), ErrCannotList, "a_test.go:3"},
		{"a package is not there", map[string]string{"a_test.go": "package a\n\nimport (\n\t_ \"example.org/not/here\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {}\n"},
			goEnv(), ErrCannotList, "example.org/not/here"},
		{"no module", map[string]string{"go.mod": "not a module\n", "a_test.go": "package a\n"}, goEnv(), ErrCannotList, "go.mod"},
		{"no tests", map[string]string{"a.go": "package a\n"}, goEnv(), ErrNoTests, "no Go test"},
		{"no go", map[string]string{"a.go": "package a\n"}, []string{"PATH=/none"}, ErrCannotList, "look for go on PATH"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := ListGo(t.Context(), module(t, tt.files), tt.env)
			if !errors.Is(err, tt.err) || len(l.Cases) != 0 {
				t.Fatalf("ListGo = %v, %v; want %v", l.Cases, err, tt.err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
		})
	}
}

// One migration as a job would do it: separate tests become a table; what is
// dropped, skipped and emptied on the way is found.
func TestListGoBeforeAndAfter(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a Go module")
	}
	dir := module(t, map[string]string{"a_test.go": `package a

import "testing"

func check(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

func Test(t *testing.T) {
	t.Run("kept", func(t *testing.T) { check(t, 1, 1) })
	t.Run("dropped", func(t *testing.T) { check(t, 2, 2) })
	t.Run("skipped", func(t *testing.T) { check(t, 3, 3) })
}

func TestEmptied(t *testing.T) { check(t, 4, 4) }
`})
	before, err := ListGo(t.Context(), dir, goEnv())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a_test.go")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "table/table_test.go", `package table

import "testing"

func TestTable(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  int
	}{{"kept", 1}, {"skipped", 3}} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "skipped" {
				t.Skip("later")
			}
			if tt.got == 0 {
				t.Error("no sum")
			}
		})
	}
}

func TestEmptied(t *testing.T) {
	got := 4
	if got != got {
		t.Error("never")
	}
}
`)
	after, err := ListGo(t.Context(), dir, goEnv())
	if err != nil {
		t.Fatal(err)
	}
	want := []Loss{
		{"Test/dropped", "example.org/sums", Missing},
		{"Test/skipped", "example.org/sums", NewlySkipped},
		{"TestEmptied", "example.org/sums", Emptied},
	}
	if got := Compare(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("Compare = %v, want %v", got, want)
	}
}
