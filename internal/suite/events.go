package main

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// event is one line of `go test -json`; `go doc test2json` describes it.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output
	Test        string
	Output      string
	FailedBuild string
	Elapsed     float64 // seconds
}

// tally is what the events of a whole run come to. Names are package.Test/subtest, with the package as in
// its import path's last part under internal/.
type tally struct {
	passed   int
	failures []failure
	skips    []left
	stray    string // what was printed that is no event, as the go command does when it cannot begin
}

type packageTally struct {
	passed, failed, skipped int
	output                  strings.Builder // of the package itself: a panic, what TestMain printed
	tests                   map[string]*test
}

type test struct {
	output      []string
	subtests    bool
	failedBelow bool // a subtest failed, so this one is its shadow
	ended       bool
}

// maxOutput bounds what is kept of one test's output, in lines from its end.
const maxOutput = 400

// readEvents counts a run. It calls seen after each event that ends a test or a package.
func readEvents(r io.Reader, seen func(event, *packageTally)) (tally, error) {
	var t tally
	packages := map[string]*packageTally{}
	buildOutput := map[string]string{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				t.stray += string(line)
			} else if e.Action == "build-output" {
				buildOutput[e.ImportPath] += e.Output
			} else if e.Package != "" {
				p := packages[e.Package]
				if p == nil {
					p = &packageTally{tests: map[string]*test{}}
					packages[e.Package] = p
				}
				if e.Test == "" {
					t.packageEvent(p, e, buildOutput)
				} else {
					t.testEvent(p, e)
				}
				if slices.Contains([]string{"pass", "fail", "skip", "run"}, e.Action) {
					seen(e, p)
				}
			}
		}
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return t, err
		}
	}
}

func (t *tally) testEvent(p *packageTally, e event) {
	current := p.tests[e.Test]
	if current == nil {
		current = &test{}
		p.tests[e.Test] = current
	}
	above := p.tests[e.Test[:max(0, strings.LastIndexByte(e.Test, '/'))]]
	name := short(e.Package) + "." + e.Test
	switch e.Action {
	case "run":
		if above != nil {
			above.subtests = true
		}
	case "output":
		current.output = append(current.output, e.Output)
		if len(current.output) > maxOutput {
			current.output = current.output[1:]
		}
	case "pass":
		current.ended, current.output = true, nil
		if !current.subtests {
			p.passed++
			t.passed++
		}
	case "skip":
		current.ended = true
		p.skipped++
		t.skips = append(t.skips, left{name, skipReason(current.output)})
		current.output = nil
	case "fail":
		current.ended = true
		if above != nil {
			above.failedBelow = true
		}
		if !current.failedBelow {
			p.failed++
			t.failures = append(t.failures, failure{name, strings.Join(current.output, "")})
		}
	}
}

func (t *tally) packageEvent(p *packageTally, e event, buildOutput map[string]string) {
	switch e.Action {
	case "output":
		p.output.WriteString(e.Output)
	case "fail":
		for _, name := range unended(p.tests) {
			p.failed++
			t.failures = append(t.failures, failure{
				short(e.Package) + "." + name,
				"did not end\n" + strings.Join(p.tests[name].output, "") + p.output.String(),
			})
		}
		if p.failed == 0 {
			p.failed++
			t.failures = append(t.failures, failure{short(e.Package), buildOutput[e.FailedBuild] + p.output.String()})
		}
	}
}

// unended lists the tests that began, have no subtests of their own, and never ended.
func unended(tests map[string]*test) []string {
	var names []string
	for name, t := range tests {
		if !t.ended && !t.subtests {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// skipReason is what the test said when it skipped: its output without the frame of === and --- lines and
// without the file and line in front.
func skipReason(output []string) string {
	place := regexp.MustCompile(`^\s*[\w./\\-]+\.go:\d+: `)
	var said []string
	for _, line := range output {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "=== ") || strings.HasPrefix(trimmed, "--- ") {
			continue
		}
		said = append(said, strings.TrimSpace(place.ReplaceAllString(line, "")))
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return said[len(said)-1]
}

func short(importPath string) string {
	if _, name, found := strings.Cut(importPath, "/internal/"); found {
		return name
	}
	return importPath[strings.LastIndexByte(importPath, '/')+1:]
}
