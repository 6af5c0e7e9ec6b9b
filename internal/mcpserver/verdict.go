package mcpserver

import (
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// What runs of the checks found, as an agent reads it.

func verdict(v tracker.Verdict) answer {
	f := v.Verdict
	lines := []string{strings.TrimSuffix(fmt.Sprintf("%s %s: %s", v.Short, f.Outcome, f.Reason), ": ")}
	if v.Run != nil {
		lines = append(lines, checked(v.Run, false)...)
	}
	if f.Outcome.Ends() {
		lines = append(lines, "The job has ended: there is nothing left to record on it.")
	} else {
		lines = append(lines, "The job stays open. Go on with what fails, then claim again; what cannot be met, only the person accepts.")
	}
	less, least := v, v
	v.Run, v.Verdict.Results = inShort(v.Run, 1000), nil // the run has them
	less.Run, less.Verdict.Results, less.Lessons = inShort(v.Run, 200), nil, nil
	less.Verdict.Losses, less.Verdict.ChecksChanged = some(f.Losses, 20), some(f.ChecksChanged, 20)
	least.Run, least.Lessons = nil, nil
	least.Verdict.Results, least.Verdict.Losses, least.Verdict.ChecksChanged = nil, some(f.Losses, 5), nil
	least.Verdict.Reason = job.Clip(f.Reason, 1000)
	return answer{schema: "verdict/1", text: strings.Join(lines, "\n"), sizes: []any{v, less, least}}
}

// inShort is a run with the ends of its outputs, in bytes each, and some of each list.
func inShort(run *tracker.CheckRun, output int) *tracker.CheckRun {
	if run == nil {
		return nil
	}
	r := *run
	r.Losses, r.Changed = some(run.Losses, 20), some(run.Changed, 20)
	r.Results = nil
	for _, c := range run.Results {
		r.Results = append(r.Results, short(c, output))
	}
	if run.Setup != nil {
		s := short(*run.Setup, output)
		r.Setup = &s
	}
	return &r
}

// short keeps the end of a failure's output, where tools say what is wrong.
func short(c job.CheckResult, output int) job.CheckResult {
	c.Command, c.Reason = job.Clip(c.Command, 300), job.Clip(c.Reason, 300)
	text := c.Output.Text
	c.Output = job.Receipt{}
	if c.State != job.CheckPassed {
		c.Output.Text = ending(text, output)
	}
	return c
}

// ending is the end of a text: whole lines, at most n bytes.
func ending(text string, n int) string {
	text = strings.TrimRight(text, "\n")
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)/2 {
		text = text[i+1:]
	}
	return "…" + strings.ToValidUTF8(text, "")
}

func some[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// checked tells a run in lines.
func checked(run *tracker.CheckRun, first bool) []string {
	var lines []string
	tell := func(c job.CheckResult) {
		note := string(c.State)
		switch {
		case c.State == job.CheckCannotRun:
			note = "cannot run: " + job.Clip(c.Reason, 200)
		case first && c.State == job.CheckPassed:
			note = "green at the start: proves nothing yet"
		case first && c.State == job.CheckFailed:
			note = "red: to be reached"
		}
		if c.Agent != "" && c.Agent != c.State {
			note += fmt.Sprintf("; %s with the protected files as they are now", c.Agent)
		}
		lines = append(lines, fmt.Sprintf("check %s  %s  %s", c.ID, job.Clip(c.Command, 100), note))
		if end := ending(c.Output.Text, 600); !first && c.State == job.CheckFailed && end != "" {
			lines = append(lines, "  "+strings.ReplaceAll(end, "\n", "\n  "))
		}
	}
	if run.Setup != nil && run.Setup.State != job.CheckPassed {
		tell(*run.Setup)
	}
	for _, c := range run.Results {
		tell(c)
	}
	for _, l := range some(run.Losses, 12) {
		if !l.Accepted {
			lines = append(lines, fmt.Sprintf("lost test: %s, %s", l.Name, l.Loss))
		}
	}
	if n := len(run.Losses) - 12; n > 0 {
		lines = append(lines, "and "+counted(int64(n), "more lost test"))
	}
	for _, path := range some(run.Changed, 10) {
		lines = append(lines, "protected file differs from day one: "+path)
	}
	switch {
	case run.ListError != "":
		lines = append(lines, "tests cannot be listed: "+job.Clip(run.ListError, 200))
	case run.Tests > 0:
		lines = append(lines, counted(int64(run.Tests), "test")+" listed")
	}
	return lines
}
