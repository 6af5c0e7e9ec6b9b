package check

import (
	"slices"
	"strings"
)

// meaning gives each runner's word for a result one of three; words that are no
// result have none.
func meaning(word string) string {
	switch word {
	case "passed", "pass", "passing", "xpassed":
		return passed
	case "failed", "failing", "failure", "failures", "error", "errors":
		return failed
	case "skipped", "pending", "todo", "ignored", "xfailed", "disabled", "incomplete":
		return skipped
	}
	return ""
}

// asides may stand in a summary and count nothing.
var asides = []string{
	"total", "warning", "warnings", "deselected", "rerun", "measured", "filtered out", "assertions", "assertion",
	"subtests passed", "deprecations", "risky", "tests run", "tests",
}

// summary reads a line in which a runner says how a run went.
func (c *counter) summary(line string) (Counts, bool) {
	text := strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "test result: "); ok { // cargo test
		_, rest, _ = strings.Cut(rest, ". ")
		rest, _, _ = strings.Cut(rest, "; finished in")
		return tally(rest, ";")
	}
	if rest, ok := strings.CutPrefix(text, "Tests:"); ok && !strings.HasSuffix(text, ".") { // jest
		return tally(rest, ",")
	}
	if rest, ok := strings.CutPrefix(text, "Tests  "); ok { // vitest
		rest, _, _ = strings.Cut(rest, "(")
		return tally(rest, "|")
	}
	for _, read := range []func(string) (Counts, bool){pytest, rspec, phpunit, surefire, dotnet} {
		if sum, ok := read(text); ok {
			return sum, true
		}
	}
	if sum, ok := c.unittest(text); ok {
		return sum, true
	}
	if sum, ok := c.node(line); ok {
		return sum, true
	}
	if sum, ok := c.ctest(text); ok {
		return sum, true
	}
	return indented(line)
}

// tally reads "3 passed, 1 failed": every part must be a number and a word that
// runners use, or the line is prose.
func tally(text, separator string) (Counts, bool) {
	var sum Counts
	found := false
	for part := range strings.SplitSeq(text, separator) {
		number, word, ok := strings.Cut(strings.TrimSpace(part), " ")
		n, isNumber := leadingNumber(number)
		if !ok || !isNumber || !sum.count(word, n) {
			return Counts{}, false
		}
		found = true
	}
	return sum, found
}

// colons reads "Tests: 3, Failures: 1", where the number follows its word.
func colons(text string) (sum Counts, total int, ok bool) {
	total = -1
	for part := range strings.SplitSeq(text, ",") {
		word, number, cut := strings.Cut(strings.TrimSpace(part), ":")
		n, isNumber := leadingNumber(strings.TrimSpace(number))
		word = strings.ToLower(word)
		if !cut || !isNumber || !sum.count(word, n) {
			return Counts{}, 0, false
		}
		if word == "tests" || word == "tests run" || word == "total" {
			total = n
		}
	}
	return sum, total, total >= 0
}

// count adds n results, and tells whether the word is one that runners use.
func (c *Counts) count(word string, n int) bool {
	switch meaning(word) {
	case passed:
		c.Passed += n
	case failed:
		c.Failed += n
	case skipped:
		c.Skipped += n
	default:
		return slices.Contains(asides, word)
	}
	return true
}

// rest are the tests of a total that neither failed nor were skipped.
func (c Counts) rest(total int) Counts {
	c.Passed = max(0, total-c.Failed-c.Skipped)
	return c
}

// pytest: "=== 1 failed, 2 passed in 0.12s ===", or without the signs with -q.
func pytest(text string) (Counts, bool) {
	text = strings.Trim(text, "= ")
	results, took, ok := strings.Cut(text, " in ")
	if _, timed := leadingNumber(took); !ok || !timed {
		return Counts{}, false
	}
	if results == "no tests ran" {
		return Counts{}, true
	}
	return tally(results, ",")
}

// rspec: "5 examples, 1 failure, 1 pending".
func rspec(text string) (Counts, bool) {
	first, rest, ok := strings.Cut(text, ", ")
	total, number := leadingNumber(first)
	if !ok || !number || !strings.HasSuffix(strings.TrimSuffix(first, "s"), " example") {
		return Counts{}, false
	}
	rest, outside, _ := strings.Cut(rest, " error")
	if outside != "" { // "1 error occurred outside of examples"
		var errors string
		if i := strings.LastIndex(rest, ", "); i >= 0 {
			rest, errors = rest[:i], rest[i+2:]
		}
		sum, ok := tally(rest, ",")
		n, _ := leadingNumber(errors)
		sum = sum.rest(total)
		sum.Failed += n
		return sum, ok
	}
	sum, ok := tally(rest, ",")
	return sum.rest(total), ok
}

// phpunit: "OK (3 tests, 5 assertions)", or "Tests: 3, Failures: 1."
func phpunit(text string) (Counts, bool) {
	if text == "No tests executed!" {
		return Counts{}, true
	}
	if rest, ok := strings.CutPrefix(text, "OK ("); ok && strings.Contains(rest, " assertion") {
		total, number := leadingNumber(rest)
		return Counts{Passed: total}, number
	}
	if !strings.HasPrefix(text, "Tests: ") || !strings.HasSuffix(text, ".") {
		return Counts{}, false
	}
	sum, total, ok := colons(strings.TrimSuffix(text, "."))
	return sum.rest(total), ok
}

// surefire (Maven): the line over all classes; those of one class tell a time.
func surefire(text string) (Counts, bool) {
	i := strings.Index(text, "Tests run: ")
	if i < 0 || strings.Contains(text, "Time elapsed") {
		return Counts{}, false
	}
	sum, total, ok := colons(text[i:])
	return sum.rest(total), ok
}

// dotnet test: "Failed!  - Failed: 1, Passed: 3, Skipped: 0, Total: 4, Duration: …".
func dotnet(text string) (Counts, bool) {
	state, rest, ok := strings.Cut(text, "  - ")
	if !ok || state != "Passed!" && state != "Failed!" {
		return Counts{}, false
	}
	rest, _, _ = strings.Cut(rest, ", Duration")
	sum, _, ok := colons(rest)
	return sum, ok
}

// unittest (Python) needs two lines: "Ran 5 tests in 0.1s", then how they went.
func (c *counter) unittest(text string) (Counts, bool) {
	if rest, ok := strings.CutPrefix(text, "Ran "); ok && strings.Contains(rest, " test") && strings.Contains(rest, " in ") {
		var number bool
		if c.ran, number = leadingNumber(rest); number {
			return Counts{}, true
		}
	}
	rest, failing := strings.CutPrefix(text, "FAILED (")
	if !failing {
		if text != "OK" && !strings.HasPrefix(text, "OK (skipped=") {
			return Counts{}, false
		}
		rest = strings.TrimPrefix(text, "OK (")
	}
	if c.ran == 0 {
		return Counts{}, false
	}
	var sum Counts
	for part := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ", ") {
		word, number, _ := strings.Cut(part, "=")
		n, _ := leadingNumber(number)
		switch word {
		case "failures", "errors", "unexpected successes":
			sum.Failed += n
		case "skipped", "expected failures":
			sum.Skipped += n
		}
	}
	sum = sum.rest(c.ran)
	c.ran = 0
	return sum, true
}

// node --test ends with "# tests 3" and a line for each result, or the same
// after an i in a circle.
func (c *counter) node(line string) (Counts, bool) {
	rest, ok := strings.CutPrefix(line, "# ")
	if !ok {
		rest, ok = strings.CutPrefix(line, "ℹ ")
	}
	word, number, cut := strings.Cut(rest, " ")
	n, isNumber := leadingNumber(number)
	if !ok || !cut || !isNumber {
		return Counts{}, false
	}
	switch {
	case word == "tests":
		c.inNode = true
	case !c.inNode:
		return Counts{}, false
	case word == "pass":
		return Counts{Passed: n}, true
	case word == "fail", word == "cancelled":
		return Counts{Failed: n}, true
	case word == "skipped", word == "todo":
		return Counts{Skipped: n}, true
	case word == "duration_ms":
		c.inNode = false
	}
	return Counts{}, true
}

// ctest: "75% tests passed, 1 tests failed out of 4", then names and why. What
// it skipped it counts as passed.
func (c *counter) ctest(text string) (Counts, bool) {
	if text == "No tests were found!!!" {
		return Counts{}, true
	}
	if _, rest, ok := strings.Cut(text, "% tests passed, "); ok {
		bad, number := leadingNumber(rest)
		_, of, cut := strings.Cut(rest, " failed out of ")
		total, numberOf := leadingNumber(of)
		c.inCT = number && cut && numberOf
		return Counts{Failed: bad}.rest(total), c.inCT
	}
	name, why, ok := strings.Cut(text, " (")
	if !c.inCT || !ok {
		return Counts{}, false
	}
	number, name, ok := strings.Cut(name, " - ")
	if _, isNumber := leadingNumber(number); !ok || !isNumber {
		return Counts{}, false
	}
	if why == "Skipped)" || why == "Disabled)" {
		return Counts{Passed: -min(1, c.sum.Passed), Skipped: 1}, true
	}
	c.sum.fail(name)
	return Counts{}, true
}

// indented reads the summaries that give each result an indented line of its
// own: mocha ("  3 passing (10ms)"), bun (" 3 pass"), Playwright ("  3 passed (2s)").
func indented(line string) (Counts, bool) {
	text := strings.TrimLeft(line, " ")
	number, rest, ok := strings.Cut(text, " ")
	word, aside, timed := strings.Cut(rest, " (")
	n, isNumber := leadingNumber(number)
	if !ok || !isNumber || text == line || timed && !strings.HasSuffix(aside, "s)") {
		return Counts{}, false
	}
	switch word {
	case "passing", "pass", "passed", "flaky":
		return Counts{Passed: n}, true
	case "failing", "fail", "failed":
		return Counts{Failed: n}, true
	case "pending", "skip", "todo", "skipped", "did not run":
		return Counts{Skipped: n}, true
	}
	return Counts{}, false
}

// failure reads the name of a failed test from the line that reports it.
func failure(line string) (string, bool) {
	text := strings.TrimSpace(line)
	for _, prefix := range []string{"FAILED ", "ERROR "} { // pytest: FAILED tests/a_test.py::test_x - why
		if rest, ok := strings.CutPrefix(text, prefix); ok && strings.Contains(rest, "::") {
			name, _, _ := strings.Cut(rest, " - ")
			return name, true
		}
	}
	if rest, ok := strings.CutPrefix(text, "test "); ok { // cargo: test a::b ... FAILED
		if name, ok := strings.CutSuffix(rest, " ... FAILED"); ok {
			return name, true
		}
	}
	if rest, ok := strings.CutPrefix(text, "not ok "); ok { // TAP: not ok 3 - name
		number, name, _ := strings.Cut(rest, " ")
		_, ok := leadingNumber(number)
		name = strings.TrimPrefix(name, "- ")
		lower := strings.ToLower(name)
		return name, ok && !strings.Contains(lower, "# todo") && !strings.Contains(lower, "# skip")
	}
	if rest, ok := strings.CutPrefix(text, "rspec "); ok { // rspec ./spec/a_spec.rb:5 # Adds two
		_, name, ok := strings.Cut(rest, " # ")
		return name, ok
	}
	for _, prefix := range []string{"FAIL: ", "ERROR: "} { // unittest: FAIL: test_x (tests.Sums)
		if rest, ok := strings.CutPrefix(text, prefix); ok && strings.HasSuffix(rest, ")") {
			name, _, ok := strings.Cut(rest, " (")
			return name, ok && !strings.Contains(name, " ")
		}
	}
	if rest, ok := strings.CutPrefix(text, "● "); ok && strings.Contains(rest, " › ") { // jest
		return rest, true
	}
	if rest, ok := strings.CutPrefix(text, "FAIL "); ok && strings.Contains(rest, " > ") { // vitest
		return rest, true
	}
	if rest, ok := strings.CutPrefix(text, "✖ "); ok && strings.HasSuffix(rest, "ms)") { // node
		name, _, _ := strings.Cut(rest, " (")
		return name, true
	}
	if number, rest, ok := strings.Cut(text, ") "); ok && strings.Contains(rest, "::") { // phpunit: 1) SumsTest::testX
		_, isNumber := leadingNumber(number)
		name, _, _ := strings.Cut(rest, " ")
		return name, isNumber
	}
	return "", false
}
