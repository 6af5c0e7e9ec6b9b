package check

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// parseSource parses one test file as parseTests does those on disk.
func parseSource(body string) (*testSource, error) {
	s := newTestSource()
	file, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\n\nimport (\n\"testing\"\n\"log\"\n\"os\"\n\"github.com/x/require\"\n\"github.com/x/is/v2\"\n)\n"+body, parser.ParseComments|parser.SkipObjectResolution)
	if err == nil {
		s.add(file)
	}
	return s, err
}

func TestAssertions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       int
	}{
		{"none", `_ = 1; t.Log("x"); t.Parallel()`, 0},
		{"its own", `if a != b { t.Errorf("x") }; t.Fatal("y"); t.FailNow()`, 3},
		{"in loops and switches", `for { switch x { case 1: t.Error() } }; select { case <-c: t.Fail() }`, 2},
		{"given to a package", `require.Equal(t, 1, 2); require.NoError(t, f())`, 2},
		{"made by a package", `is := is.New(t); is.Equal(1, 1); is.True(x)`, 2},
		{"made by a package, then unused", `is := is.New(t); is.Helper()`, 0},
		{"a helper", `helps(t); helps(t)`, 2},
		{"a helper that calls one", `outer(t)`, 1},
		{"an emptied helper", `harmless(t)`, 0},
		{"a helper that calls itself", `recurses(t)`, 1},
		{"an unknown helper", `elsewhere(t)`, 1},
		{"a helper that panics", `must(f())`, 1},
		{"a method", `s.holds(t); s.nothing(t)`, 1},
		{"a suite's own t", `s.t.Errorf("x"); s.T().Fatal("y")`, 2},
		{"a local function", `check := func(a int) { if a != 1 { t.Error() } }; check(1); check(2)`, 2},
		{"a local function nobody calls", `check := func(a int) { t.Error(a) }; _ = check`, 0},
		{"panic and exit", `panic("x"); log.Fatal("x"); os.Exit(1)`, 3},
		{"a subtest", `t.Run("a", func(tt *testing.T) { tt.Error() })`, 1},
		{"a subtest in a function", `t.Run("a", TestOther)`, 2},
		{"cleanup and goroutine", `t.Cleanup(func() { t.Error() }); go func() { t.Error() }(); defer func() { t.Error() }()`, 3},
		{"another t", `var t other; f := func(t other) { t.Error() }; f(t)`, 0},
		{"after return", `if x { return }; t.Error(); return; t.Error()`, 1},
		{"after skip", `t.Skip("later"); t.Error()`, 0},
		{"if false", `if false { t.Error() }; if !true { t.Error() } else { t.Fail() }; if x && false { t.Error() }`, 1},
		{"if true", `if true || x { t.Error() } else { t.Error() }`, 1},
		{"if nothing differs", `if got != got { t.Error() }; if 1 == 2 { t.Error() }; if "a" != "a" { t.Error() }`, 0},
		{"if something may", `if got != want { t.Error() }; if 1 != 2 { t.Error() }; if !(got == want) { t.Error() }`, 3},
		{"an error of something else", `log.Error("x"); err.Error(); x.Errorf("y")`, 0},
	}
	for _, tt := range tests {
		source, err := parseSource("func TestX(t *testing.T) {\n" + tt.body + `
}
func helps(t testing.TB) { t.Helper(); t.Error() }
func outer(t *testing.T) { helps(t) }
func harmless(t *testing.T) { t.Helper() }
func recurses(t *testing.T) { if x { recurses(t) }; t.Error() }
func must(err error) { if err != nil { panic(err) } }
func (s suite) holds(t *testing.T) { t.Error() }
func (s suite) nothing(t *testing.T) {}
func TestOther(t *testing.T) { t.Error(); t.Error() }
`)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := source.assertions("TestX"); got != tt.want {
			t.Errorf("%s: %d assertions in\n%s\nwant %d", tt.name, got, tt.body, tt.want)
		}
	}
}

func TestAssertionsOfSubtests(t *testing.T) {
	t.Parallel()
	source, err := parseSource(`
func TestX(t *testing.T) {
	t.Run("two words", func(t *testing.T) {
		t.Error()
		t.Run("inner", func(t *testing.T) { t.Error(); t.Error() })
	})
	t.Run("none", func(t *testing.T) {})
	for _, n := range names {
		t.Run(n, func(t *testing.T) { t.Error() })
	}
}
func TestMain(m *testing.M) { os.Exit(m.Run()) }
func Testify(t *testing.T) {}
func ExampleX() {
	// Output: 3
}
func ExampleNotRun() {}
func FuzzX(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { t.Error() }) }
`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		"TestX": 4, "TestX/two_words": 3, "TestX/two_words/inner": 2, "TestX/two_words/other": 3,
		"TestX/none": 0, "TestX/from_a_table": 4, "ExampleX": 1, "FuzzX/seed#0": 1, "TestGone": -1,
	} {
		if got := source.assertions(name); got != want {
			t.Errorf("%s has %d assertions, want %d", name, got, want)
		}
	}
	if got, want := strings.Join(source.tests(), " "), "ExampleX FuzzX TestX"; got != want {
		t.Errorf("tests() = %s, want %s", got, want)
	}
}

func FuzzAssertions(f *testing.F) {
	f.Add(`func TestX(t *testing.T) { t.Run("a", func(t *testing.T) { if false { t.Error() } }); var x, y = 1; f := func() {}; f() }`)
	f.Add("func TestX() {}\nfunc (T) m(a, b int) { a.m(b); panic(1); (func() {})(); x := testing.New(t) }")
	f.Fuzz(func(t *testing.T, body string) {
		source, err := parseSource(body)
		if err != nil {
			return
		}
		for _, name := range source.tests() {
			if n := source.assertions(name); n < 0 {
				t.Errorf("%s in %q has %d assertions", name, body, n)
			}
		}
	})
}
