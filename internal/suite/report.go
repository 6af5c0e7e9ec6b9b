package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// report is what a run comes to. A stage counts as one, and each test that has no subtests counts as one.
type report struct {
	Schema   string    `json:"schema"` // duplex.suite/1
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Skipped  int       `json:"skipped"`
	Seconds  float64   `json:"seconds"`
	Failures []failure `json:"failures"`
	Skips    []left    `json:"skips"`
}

// failure is one test or stage that failed, with everything it printed.
type failure struct {
	Name   string `json:"name"`
	Output string `json:"output"`
}

// left is one test or stage that was left out, with the reason it gave.
type left struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (r *report) failed(name, output string) {
	r.Failed++
	r.Failures = append(r.Failures, failure{name, output})
}

func (r *report) skipped(name, reason string) {
	r.Skipped++
	r.Skips = append(r.Skips, left{name, reason})
}

func (r *report) writeJSON(w io.Writer) error {
	r.Schema = "duplex.suite/1"
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// writeText prints the failures last but for the time and the closing line, where a person's eye is.
func (r *report) writeText(w io.Writer) {
	if len(r.Skips) > 0 {
		fmt.Fprintln(w, "\nLeft out")
		sort.Slice(r.Skips, func(i, j int) bool { return r.Skips[i].Name < r.Skips[j].Name })
		for _, s := range r.Skips {
			fmt.Fprintf(w, "  %s: %s\n", s.Name, s.Reason)
		}
	}
	if len(r.Failures) > 0 {
		fmt.Fprintln(w, "\nFailed")
		for _, f := range r.Failures {
			fmt.Fprintf(w, "  %s\n", f.Name)
			for line := range strings.Lines(strings.TrimRight(f.Output, "\n") + "\n") {
				fmt.Fprint(w, "      ", line)
			}
		}
	}
	fmt.Fprintf(w, "\n%.0f s\n%d passed, %d failed, %d skipped\n", r.Seconds, r.Passed, r.Failed, r.Skipped)
}
