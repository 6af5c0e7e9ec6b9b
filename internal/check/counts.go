package check

import (
	"fmt"
	"slices"
	"strings"
)

// maxFailures is how many names of failed tests are kept.
const maxFailures = 20

// Counts are what a test runner said about a whole run.
type Counts struct {
	Passed, Failed, Skipped int
	Unit                    string   // "tests"; "packages" for go test without -v, which counts nothing smaller
	FirstFailures           []string // at most 20 names
}

// failed is the reason a check with these counts failed.
func (c *Counts) failed() string {
	text := fmt.Sprintf("%d of %d %s failed", c.Failed, c.Passed+c.Failed, c.Unit)
	if names := c.FirstFailures; len(names) > 0 {
		text += ": " + strings.Join(names[:min(3, len(names))], ", ")
		if more := len(names) - 3; more > 0 {
			text += ", …"
		}
	}
	return text
}

// ParseCounts reads the counts from the output of the common test runners: go
// test (plain, -v and -json), pytest, unittest, jest, vitest, mocha, node
// --test, bun, Playwright, cargo test, rspec, phpunit, ctest, Maven, dotnet
// test, TAP. Several
// runs in one output add up. It returns nil when it recognises none; counts
// that are all zero mean that a runner said it ran nothing.
func ParseCounts(output string) *Counts {
	var c counter
	for line := range strings.Lines(output) {
		c.line(line)
	}
	return c.counts()
}

// counter reads an output a line at a time, so that counts do not depend on
// how much of the output is kept.
type counter struct {
	seen   bool // some runner has reported
	sum    Counts
	golang goRun
	tap    Counts // counted line by line; used only when no runner sums up
	plan   bool   // a TAP plan (1..N) was seen
	ran    int    // tests that unittest ran, until it says how they went
	inNode bool   // inside the closing lines of node --test
	inCT   bool   // after the summary of ctest, where the failed tests are named
}

func (c *counter) line(raw string) {
	line := strings.TrimRight(plain(raw), " \t")
	if line == "" || c.golang.line(line) {
		return
	}
	if sum, ok := c.summary(line); ok {
		c.seen = true
		c.sum.Passed += sum.Passed
		c.sum.Failed += sum.Failed
		c.sum.Skipped += sum.Skipped
		return
	}
	if name, ok := failure(line); ok {
		c.sum.fail(name)
	}
	c.tapLine(line)
}

func (c *counter) counts() *Counts {
	total := c.sum
	total.Unit = "tests"
	total.FirstFailures = slices.Clone(c.sum.FirstFailures)
	run, ok := c.golang.counts()
	switch {
	case ok && !c.seen:
		return &run
	case ok:
		total.Passed += run.Passed
		total.Failed += run.Failed
		total.Skipped += run.Skipped
		for _, name := range run.FirstFailures {
			total.fail(name)
		}
	case !c.seen && c.plan:
		total.Passed, total.Failed, total.Skipped = c.tap.Passed, c.tap.Failed, c.tap.Skipped
	case !c.seen:
		return nil
	}
	if total.Failed == 0 {
		total.FirstFailures = nil // names that some test printed
	}
	return &total
}

// fail adds a name, once.
func (c *Counts) fail(name string) {
	name = clip(strings.TrimSpace(name), 200)
	if name != "" && len(c.FirstFailures) < maxFailures && !slices.Contains(c.FirstFailures, name) {
		c.FirstFailures = append(c.FirstFailures, name)
	}
}

// tapLine counts results of the Test Anything Protocol at its outer level.
func (c *counter) tapLine(line string) {
	rest, passed := strings.CutPrefix(line, "ok ")
	if !passed {
		var failed bool
		if rest, failed = strings.CutPrefix(line, "not ok "); !failed {
			if upto, ok := strings.CutPrefix(line, "1.."); ok {
				_, number := leadingNumber(upto)
				c.plan = c.plan || number
			}
			return
		}
	}
	if _, ok := leadingNumber(rest); !ok {
		return
	}
	lower := strings.ToLower(rest)
	switch {
	case strings.Contains(lower, "# skip"), strings.Contains(lower, "# todo"):
		c.tap.Skipped++
	case passed:
		c.tap.Passed++
	default:
		c.tap.Failed++
	}
}

// leadingNumber reads the number a text begins with. More than nine digits are
// nobody's count.
func leadingNumber(s string) (int, bool) {
	n, i := 0, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if i == 9 {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, i > 0
}
