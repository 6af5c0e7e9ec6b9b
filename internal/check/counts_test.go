package check

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParseCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, output string
		want         *Counts
	}{
		{"nothing", "", nil},
		{"prose", "3 apples\nno error in 5 files\n10 passed the gate in the morning\nTests are fun\n", nil},
		{"go", "ok  \tx/a\t0.01s\nok  \tx/b\t(cached)\n?   \tx/c\t[no test files]\n", &Counts{Passed: 2, Unit: "packages"}},
		{"go with failures", "--- FAIL: TestSums (0.00s)\n    --- FAIL: TestSums/two (0.00s)\n        a_test.go:9: got 1, want 2\nFAIL\nFAIL\tx/a\t0.01s\nok  \tx/b\t0.01s\nFAIL\tx/c [build failed]\nFAIL\n",
			&Counts{Passed: 1, Failed: 2, Unit: "packages", FirstFailures: []string{"TestSums/two", "x/c"}}},
		{"go -v", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/one\n    --- PASS: TestB/one (0.00s)\n    --- SKIP: TestB/two (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \tx/a\t0.01s\n",
			&Counts{Passed: 2, Skipped: 1, Unit: "tests"}},
		{"go -v, all skipped", "--- SKIP: TestA (0.00s)\nPASS\nok  \tx/a\t0.01s\n", &Counts{Skipped: 1, Unit: "tests"}},
		{"go, no tests", "?   \tx/a\t[no test files]\ntesting: warning: no tests to run\nPASS\nok  \tx/b\t0.01s [no tests to run]\n", &Counts{Unit: "tests"}},
		{"go, no packages", "go: warning: \"./...\" matched no packages\nno packages to test\n", &Counts{Unit: "tests"}},
		{"go -json", strings.Join([]string{
			`{"Action":"start","Package":"x/a"}`,
			`{"Action":"run","Package":"x/a","Test":"TestA"}`, `{"Action":"run","Package":"x/a","Test":"TestA/one"}`,
			`{"Action":"output","Package":"x/a","Test":"TestA/one","Output":"--- FAIL: TestNot (0.00s)\n"}`,
			`{"Action":"pass","Package":"x/a","Test":"TestA/one"}`, `{"Action":"pass","Package":"x/a","Test":"TestA"}`,
			`{"Action":"run","Package":"x/a","Test":"TestPanics"}`,
			`{"Action":"fail","Package":"x/a"}`,
			`{"Action":"fail","Package":"x/b","FailedBuild":"x/b"}`,
			`{"Action":"run","Package":"x/c","Test":"TestSlow"}`,
		}, "\n"), &Counts{Passed: 1, Failed: 3, Unit: "tests", FirstFailures: []string{"TestPanics", "x/b", "TestSlow"}}},
		{"go -json, no tests", `{"Action":"start","Package":"x/a"}` + "\n" + `{"Action":"skip","Package":"x/a"}`, &Counts{Unit: "tests"}},
		{"pytest", "FAILED tests/test_a.py::test_two - assert 1 == 2\n\x1b[31m==== \x1b[1m1 failed\x1b[0m, 3 passed, 2 skipped, 1 xfailed, 4 warnings in 0.12s (0:00:01) ====\x1b[0m\n",
			&Counts{Passed: 3, Failed: 1, Skipped: 3, Unit: "tests", FirstFailures: []string{"tests/test_a.py::test_two"}}},
		{"pytest -q", "....\n4 passed in 0.01s\n", &Counts{Passed: 4, Unit: "tests"}},
		{"pytest, collection error", "ERROR tests/test_a.py::x\n1 error in 0.05s\n", &Counts{Failed: 1, Unit: "tests", FirstFailures: []string{"tests/test_a.py::x"}}},
		{"pytest, none", "==== no tests ran in 0.01s ====\n", &Counts{Unit: "tests"}},
		{"unittest", "FAIL: test_two (tests.Sums.test_two)\nRan 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n",
			&Counts{Passed: 2, Failed: 2, Skipped: 1, Unit: "tests", FirstFailures: []string{"test_two"}}},
		{"unittest ok", "Ran 2 tests in 0.001s\n\nOK\n", &Counts{Passed: 2, Unit: "tests"}},
		{"jest", "  ● sums › adds two\n\nTests:       1 failed, 1 skipped, 2 passed, 4 total\n", &Counts{Passed: 2, Failed: 1, Skipped: 1, Unit: "tests", FirstFailures: []string{"sums › adds two"}}},
		{"vitest", " FAIL  src/a.test.ts > sums > adds two\n Test Files  1 failed (1)\n      Tests  1 failed | 3 passed | 1 skipped (5)\n",
			&Counts{Passed: 3, Failed: 1, Skipped: 1, Unit: "tests", FirstFailures: []string{"src/a.test.ts > sums > adds two"}}},
		{"mocha", "  3 passing (10ms)\n  1 pending\n  1 failing\n", &Counts{Passed: 3, Failed: 1, Skipped: 1, Unit: "tests"}},
		{"bun", "bun test v1.1.0\n\n 3 pass\n 1 skip\n 1 fail\n 9 expect() calls\nRan 5 tests across 1 files. [12.00ms]\n", &Counts{Passed: 3, Failed: 1, Skipped: 1, Unit: "tests"}},
		{"Playwright", "  1 failed\n    [chromium] › a.spec.ts:3:1 › adds two\n  32 did not run\n  20 passed (57.1s)\n", &Counts{Passed: 20, Failed: 1, Skipped: 32, Unit: "tests"}},
		{"what a passing test prints", "=== RUN   TestParser\n--- FAIL: TestInner (0.00s)\n--- PASS: TestParser (0.00s)\nok  \tx/a\t0.1s\nFAILED a.py::b - x\n2 passed in 0.1s\n", &Counts{Passed: 3, Unit: "tests"}},
		{"cut before its package ends", "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", &Counts{Passed: 1, Failed: 1, Unit: "tests", FirstFailures: []string{"TestB"}}},
		{"node, TAP", "TAP version 13\nnot ok 1 - adds two\nok 2 - adds three\n1..2\n# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 44.1\n",
			&Counts{Passed: 1, Failed: 1, Unit: "tests", FirstFailures: []string{"adds two"}}},
		{"node, spec", "✖ adds two (1.2ms)\nℹ tests 2\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ duration_ms 44.1\n✖ failing tests:\n✖ adds two (1.2ms)\n",
			&Counts{Passed: 1, Failed: 1, Unit: "tests", FirstFailures: []string{"adds two"}}},
		{"node, none", "ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\n", &Counts{Unit: "tests"}},
		{"cargo", "test sums::two ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
			&Counts{Passed: 4, Failed: 1, Skipped: 2, Unit: "tests", FirstFailures: []string{"sums::two"}}},
		{"rspec", "5 examples, 1 failure, 1 pending\n\nrspec ./spec/a_spec.rb:5 # Sums adds two\n", &Counts{Passed: 3, Failed: 1, Skipped: 1, Unit: "tests", FirstFailures: []string{"Sums adds two"}}},
		{"rspec, error outside", "0 examples, 0 failures, 1 error occurred outside of examples\n", &Counts{Failed: 1, Unit: "tests"}},
		{"phpunit", "1) SumsTest::testTwo\nTests: 4, Assertions: 6, Failures: 1, Errors: 1, Skipped: 1.\n", &Counts{Passed: 1, Failed: 2, Skipped: 1, Unit: "tests", FirstFailures: []string{"SumsTest::testTwo"}}},
		{"phpunit ok", "OK (3 tests, 5 assertions)\n", &Counts{Passed: 3, Unit: "tests"}},
		{"ctest", "50% tests passed, 1 tests failed out of 4\n\nThe following tests did not run:\n\t  2 - slow (Skipped)\n\nThe following tests FAILED:\n\t  3 - sums (Failed)\n",
			&Counts{Passed: 2, Failed: 1, Skipped: 1, Unit: "tests", FirstFailures: []string{"sums"}}},
		{"maven", "[INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.01 s - in SumsTest\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1\n", &Counts{Passed: 1, Failed: 1, Skipped: 1, Unit: "tests"}},
		{"dotnet", "Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 5 ms - a.dll (net8.0)\n", &Counts{Passed: 3, Failed: 1, Unit: "tests"}},
		{"TAP", "1..4\nok 1 adds\nnot ok 2 - subtracts\nok 3 # skip no bash\n    not ok 1 - inner\nnot ok 4 - divides # TODO later\n", &Counts{Passed: 1, Failed: 1, Skipped: 2, Unit: "tests", FirstFailures: []string{"subtracts", "inner"}}},
		{"two runners", "ok  \tx/a\t0.1s\n3 passed in 0.1s\n", &Counts{Passed: 4, Unit: "tests"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ParseCounts(tt.output); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("ParseCounts(%q)\n got %+v\nwant %+v", tt.output, got, tt.want)
			}
		})
	}
}

func TestParseCountsKeepsTwentyNames(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 50 {
		b.WriteString("--- FAIL: Test" + strings.Repeat("x", i+1) + " (0.00s)\n")
	}
	b.WriteString("FAIL\tx\t0.1s\n")
	got := ParseCounts(b.String())
	if got == nil || got.Failed != 50 || len(got.FirstFailures) != maxFailures {
		t.Errorf("ParseCounts = %+v, want 50 failed and %d names", got, maxFailures)
	}
}

func FuzzParseCounts(f *testing.F) {
	for _, seed := range []string{
		"ok  \tx/a\t0.01s\n--- FAIL: TestA (0.00s)\nFAIL\tx/b\t1s\n", `{"Action":"pass","Package":"x","Test":"T"}`,
		"=== 1 failed, 2 passed in 0.12s ===", "Ran 5 tests in 0.1s\nFAILED (failures=9)", "Tests: 1, Failures: 7.",
		"5 examples, 9 failures, 1 error occurred outside of examples", "50% tests passed, 9 tests failed out of 4\n 2 - a (Skipped)",
		"ℹ tests 2\nℹ pass 99999999999", "test result: ok. 1 passed; 2 failed", "Tests  1 failed | 2 passed (3)", "1..3\nok 1\nnot ok 2 - a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, output string) {
		got := ParseCounts(output)
		if got == nil {
			return
		}
		if got.Passed < 0 || got.Failed < 0 || got.Skipped < 0 || len(got.FirstFailures) > maxFailures {
			t.Errorf("ParseCounts(%q) = %+v", output, got)
		}
		var whole counter
		w := &lineWriter{line: whole.line}
		for _, b := range []byte(output) {
			_, _ = w.Write([]byte{b})
		}
		w.flush()
		if split := whole.counts(); !reflect.DeepEqual(got, split) {
			t.Errorf("%q: read at once %+v, byte by byte %+v", output, got, split)
		}
	})
}

func TestFailingOutput(t *testing.T) {
	t.Parallel()
	golden := "\x1b[32mok\x1b[0m a\nbuilding 10%\rbuilding 100%\n    a_test.go:9: 1 is odd\n\x1b[31mError: no é\x1b[0m\r\nfine\nexpected 2\n"
	tests := []struct {
		name, output    string
		lines, maxBytes int
		want            string
	}{
		{"the lines that matter", golden, 10, 1000, "    a_test.go:9: 1 is odd\nError: no é\nexpected 2"},
		{"the last ones", golden, 2, 1000, "Error: no é\nexpected 2"},
		{"whole lines", golden, 10, 20, "expected 2"},
		{"one line too long", "panic: aaaé\n", 10, 3, "aé"},
		{"one line too long, inside a character", "panic: aaaé\n", 10, 1, ""},
		{"nothing says so", "one\n\ntwo\nthree\n", 2, 1000, "two\nthree"},
		{"inside go test -json", `{"Action":"output","Package":"x","Output":"panic: boom\n"}` + "\n" + `{"Action":"run","Package":"x","Test":"TestError"}`, 5, 100, "panic: boom"},
		{"no room", golden, 0, 0, ""},
		{"nothing", "", 5, 5, ""},
	}
	for _, tt := range tests {
		if got := FailingOutput(tt.output, tt.lines, tt.maxBytes); got != tt.want {
			t.Errorf("%s: FailingOutput = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzFailingOutput(f *testing.F) {
	f.Add("Error: \x1b]8;;x\x1b\\link\x1b[0m\n", 3, 10)
	f.Add("\x1b", 1, 1)
	f.Fuzz(func(t *testing.T, output string, lines, size int) {
		got := FailingOutput(output, lines, size)
		if len(got) > max(0, size) || got != "" && strings.Count(got, "\n") >= max(0, lines) {
			t.Errorf("FailingOutput(%q, %d, %d) = %q", output, lines, size, got)
		}
	})
}

// The outputs in testdata are those of real runners, each over one test that
// fails, one that passes and one that is skipped. Their first line says what
// is in them.
func TestParseCountsOnRealOutput(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no recorded outputs in testdata")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, output, _ := strings.Cut(string(data), "\n")
		got := ParseCounts(output)
		if got == nil {
			t.Errorf("%s: no counts", file)
			continue
		}
		said := fmt.Sprintf("%d passed, %d failed, %d skipped, %s: %s", got.Passed, got.Failed, got.Skipped, got.Unit, strings.Join(got.FirstFailures, "; "))
		if said = strings.TrimSpace(said); said != first {
			t.Errorf("%s: %q, want %q", file, said, first)
		}
	}
}
