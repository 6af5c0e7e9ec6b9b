package check

import (
	"reflect"
	"slices"
	"testing"
)

func TestLeaf(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"TestSums":                  "TestSums",
		"TestSums/adds_two":         "adds_two",
		"TestSums/deep/adds_two":    "adds_two",
		"TestSums/adds_two#01":      "adds_two",
		"TestSums/#00":              "#00",
		"FuzzSums/seed#0":           "seed#0",
		"TestSums/ends/":            "TestSums/ends/",
		"tests/a.py::test_x[a/b::]": "test_x[a/b::]",
		"tests/a.py::Sums::test_x":  "test_x",
		"sums::tests::adds_two":     "adds_two",
		"a.test.ts > sums > a/b":    "a/b",
		"sums › adds › two":         "two",
		"":                          "",
	}
	for name, want := range tests {
		if got := Leaf(name); got != want {
			t.Errorf("Leaf(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	c := func(suite, name, state string, assertions int) Case {
		return Case{Suite: suite, Name: name, State: state, Assertions: assertions}
	}
	tests := []struct {
		name          string
		before, after []Case
		want          []Loss
	}{
		{"nothing at all", nil, nil, nil},
		{"the same", []Case{c("x", "TestA", passed, 1)}, []Case{c("x", "TestA", passed, 1)}, nil},
		{"more than before", nil, []Case{c("x", "TestA", passed, 1)}, nil},
		{"moved below a parent and into another package", []Case{c("x", "adds_two", passed, 1)}, []Case{c("y", "TestSums/adds_two", passed, 3)}, nil},
		{"now red", []Case{c("x", "TestA", passed, 1)}, []Case{c("x", "TestA", failed, 1)}, nil},
		{"missing", []Case{c("x", "TestA/one", passed, 1), c("x", "TestA/two", passed, 1)}, []Case{c("x", "TestA/one", passed, 1)},
			[]Loss{{"TestA/two", "x", Missing}}},
		{"all missing", []Case{c("x", "TestB", passed, 1), c("x", "TestA", failed, -1)}, nil,
			[]Loss{{"TestA", "x", Missing}, {"TestB", "x", Missing}}},
		{"one of two of a name", []Case{c("x", "TestA/one", passed, 1), c("x", "TestB/one", passed, 1)}, []Case{c("x", "TestAll/one", passed, 1)},
			[]Loss{{"TestB/one", "x", Missing}}},
		{"one of two of a name, the other kept", []Case{c("x", "TestA/one", passed, 1), c("x", "TestB/one", passed, 1)}, []Case{c("x", "TestB/one", passed, 1)},
			[]Loss{{"TestA/one", "x", Missing}}},
		{"newly skipped", []Case{c("x", "TestA", passed, 1)}, []Case{c("x", "TestA", skipped, 1)}, []Loss{{"TestA", "x", NewlySkipped}}},
		{"skipped before", []Case{c("x", "TestA", skipped, 1)}, []Case{c("x", "TestA", skipped, 1)}, nil},
		{"skipped and emptied", []Case{c("x", "TestA", failed, 1)}, []Case{c("x", "TestA", skipped, 0)}, []Loss{{"TestA", "x", NewlySkipped}}},
		{"emptied", []Case{c("x", "TestA", passed, 2)}, []Case{c("x", "TestA", passed, 0)}, []Loss{{"TestA", "x", Emptied}}},
		{"empty before", []Case{c("x", "TestA", passed, 0)}, []Case{c("x", "TestA", passed, 0)}, nil},
		{"assertions not known before", []Case{c("x", "TestA", "", -1)}, []Case{c("x", "TestA", passed, 0)}, nil},
		{"assertions not known after", []Case{c("x", "TestA", passed, 2)}, []Case{c("x", "TestA", passed, -1)}, nil},
		{"a name kept is compared with itself", []Case{c("x", "TestA/one", passed, 1), c("x", "TestB/one", skipped, 1)},
			[]Case{c("x", "TestA/one", skipped, 1), c("x", "TestB/one", passed, 1)}, []Loss{{"TestA/one", "x", NewlySkipped}}},
		{"moved, with a skipped one of the same name", []Case{c("x", "TestA/one", skipped, 1), c("x", "TestB/one", passed, 1)},
			[]Case{c("x", "TestC/one", passed, 1), c("x", "TestD/one", skipped, 1)}, nil},
		{"moved, with an empty one of the same name", []Case{c("x", "TestA/one", "", -1), c("x", "TestB/one", passed, 1)},
			[]Case{c("x", "TestC/one", passed, 0), c("x", "TestD/one", passed, 1)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // and in the other order: it must not matter
				got := Compare(Listing{Cases: slices.Clone(tt.before)}, Listing{Cases: slices.Clone(tt.after)})
				if !reflect.DeepEqual(got, tt.want) {
					t.Errorf("Compare(%v, %v)\n got %v\nwant %v", tt.before, tt.after, got, tt.want)
				}
				slices.Reverse(tt.before)
				slices.Reverse(tt.after)
			}
		})
	}
}

func TestParseCase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want Case
		ok   bool
		err  bool
	}{
		{"TestA/one", Case{Name: "TestA/one", Assertions: -1}, true, false},
		{"  adds two \r\n", Case{Name: "adds two", Assertions: -1}, true, false},
		{"\x1b[32mgreen\x1b[0m", Case{Name: "green", Assertions: -1}, true, false},
		{"SKIP adds two", Case{Name: "adds two", State: skipped, Assertions: -1}, true, false},
		{"SKIPPED is a name", Case{Name: "SKIPPED is a name", Assertions: -1}, true, false},
		{"sums::adds_two: test", Case{Name: "sums::adds_two", Assertions: -1}, true, false},
		{`{"name":"a","suite":"s","state":"failed","assertions":0}`, Case{Name: "a", Suite: "s", State: failed}, true, false},
		{`{"name":"a"}`, Case{Name: "a", Assertions: -1}, true, false},
		{`{"name":"a","assertions":-7}`, Case{Name: "a", Assertions: -1}, true, false},
		{`{"name":""}`, Case{}, false, true},
		{`{"name":"a","state":"green"}`, Case{}, false, true},
		{`{"name":`, Case{}, false, true},
		{"", Case{}, false, false},
		{"SKIP ", Case{Name: "SKIP", Assertions: -1}, true, false},
		{"ok  \tx/a\t0.003s", Case{}, false, false},
		{"3 tests collected in 0.01s", Case{}, false, false},
		{"1 test, 0 benchmarks", Case{}, false, false},
		{"3 tests of sums", Case{Name: "3 tests of sums", Assertions: -1}, true, false},
	}
	for _, tt := range tests {
		got, ok, err := parseCase(tt.line)
		if ok != tt.ok || (err != nil) != tt.err || ok && got != tt.want {
			t.Errorf("parseCase(%q) = %+v, %v, %v; want %+v, %v, error %v", tt.line, got, ok, err, tt.want, tt.ok, tt.err)
		}
	}
}

func FuzzParseCase(f *testing.F) {
	for _, seed := range []string{"TestA", "SKIP a", `{"name":"a","state":"passed","assertions":3}`, "{", "9 tests, 1 benchmarks", "\x1b[", "a: test", ": test"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, ok, err := parseCase(line)
		if ok && (err != nil || c.Name == "" || c.Assertions < -1 || Leaf(c.Name) == "") {
			t.Errorf("parseCase(%q) = %+v, %v, %v", line, c, ok, err)
		}
		l := Listing{Cases: []Case{c}}
		if losses := Compare(l, l); len(losses) != 0 {
			t.Errorf("%q compared with itself loses %v", line, losses)
		}
	})
}
