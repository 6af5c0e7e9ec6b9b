package check

import (
	"encoding/json"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string
}

func parseEvent(line string) (event, bool) {
	var e event
	if !strings.HasPrefix(line, `{"`) || !strings.Contains(line, `"Action":"`) {
		return e, false
	}
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil && e.Action != ""
}

// goRun follows go test. Results come before the line that names their package.
type goRun struct {
	seen     bool
	packages map[string]goPackage // from events
	current  goPackage            // from plain lines, until its package ends
	tests    Counts
	ok, bad  int // packages
}

// goPackage holds the results of one package: the name of a test to its state.
type goPackage map[string]string

// line reports whether the line was go test's.
func (g *goRun) line(line string) bool {
	if e, ok := parseEvent(line); ok {
		g.event(e)
		return true
	}
	result, isTest := strings.CutPrefix(strings.TrimLeft(line, " "), "--- ")
	switch {
	case isTest:
		state, rest, ok := strings.Cut(result, ": ")
		name, _, timed := strings.Cut(rest, " (")
		word := map[string]string{"PASS": passed, "FAIL": failed, "SKIP": skipped}[state]
		if !ok || !timed || word == "" {
			return false
		}
		if g.current == nil {
			g.current = goPackage{}
		}
		g.current[name] = word
		return true
	case strings.HasPrefix(line, "ok  \t"):
		g.end(line[len("ok  \t"):], passed)
		return true
	case strings.HasPrefix(line, "FAIL\t"):
		g.end(line[len("FAIL\t"):], failed)
		return true
	case strings.HasPrefix(line, "?   \t"), strings.HasPrefix(line, "testing: warning: no tests to run"), strings.HasPrefix(line, "go: warning: ") && strings.HasSuffix(line, "matched no packages"):
		g.seen = true
		return true
	}
	return false
}

// end closes the package whose results were read from plain lines.
func (g *goRun) end(rest, state string) {
	g.seen = true
	results := g.current
	g.current = nil
	if state == passed && strings.Contains(rest, "[no tests to run]") {
		return
	}
	name, _, _ := strings.Cut(rest, "\t")
	name, _, _ = strings.Cut(name, " ")
	g.close(name, state, results)
}

func (g *goRun) event(e event) {
	g.seen = true
	if e.Package == "" {
		return
	}
	if g.packages == nil {
		g.packages = map[string]goPackage{}
	}
	p := g.packages[e.Package]
	if p == nil {
		p = goPackage{}
		g.packages[e.Package] = p
	}
	switch e.Action {
	case "run":
		p[e.Test] = failed // until it ends; a panic or a time limit ends the program before it does
	case "pass", "fail", "skip":
		state := map[string]string{"pass": passed, "fail": failed, "skip": skipped}[e.Action]
		if e.Test != "" {
			p[e.Test] = state
			return
		}
		delete(g.packages, e.Package)
		if state != skipped && (state == failed || len(p) > 0) {
			g.close(e.Package, state, p)
		}
	}
}

// close adds a package's leaf tests. One that failed without a failed test did
// not build, panicked or exited: it counts as one failure under its own name.
func (g *goRun) close(name, state string, results goPackage) {
	passes, failures := 0, 0
	for _, test := range leaves(results) {
		switch results[test] {
		case passed:
			passes++
			g.tests.Passed++
		case skipped:
			g.tests.Skipped++
		case failed:
			if state == passed {
				continue // text that a test printed: a package with a failed test is not ok
			}
			failures++
			g.tests.Failed++
			g.tests.fail(test)
		}
	}
	switch state {
	case "": // not known how it ended
		return
	case passed:
		if passes > 0 || len(results) == 0 { // not when all it had was skipped
			g.ok++
		}
		return
	}
	g.bad++
	if failures == 0 {
		g.tests.Failed++
		g.tests.fail(name)
	}
}

func (g *goRun) counts() (Counts, bool) {
	if len(g.current) > 0 { // results whose package was never named, as in an output that was cut
		g.seen = true
		g.close("", "", g.current)
		g.current = nil
	}
	for _, name := range sortedKeys(g.packages) { // begun and never ended
		if results := g.packages[name]; len(results) > 0 {
			g.close(name, failed, results)
		}
	}
	g.packages = nil
	total := g.tests
	total.Unit = "tests"
	if g.ok > 0 && total.Passed == 0 {
		total.Passed, total.Failed, total.Unit = g.ok, g.bad, "packages"
	}
	return total, g.seen
}

// leaves are the tests that have no subtests, sorted.
func leaves(results goPackage) []string {
	parents := map[string]bool{}
	for name := range results {
		for i := range len(name) {
			if name[i] == '/' {
				parents[name[:i]] = true
			}
		}
	}
	var names []string
	for name := range results {
		if !parents[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
