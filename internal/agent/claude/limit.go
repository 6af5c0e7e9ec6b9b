package claude

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// limit reads a row that Claude Code wrote in the model's place, because the
// provider refused: an error, or a limit. Its text begins with the error's name
// where it has one, such as "rate_limit".
func (r *reader) limit(l *line, text string) {
	until := reset(l.quota.get("resetsAt"))
	if until == 0 {
		until = resetIn(text, l.at)
	}
	if word := l.errorWord.text(); word != "" && word != "unknown" {
		text = word + ": " + text
	}
	r.add(l, agent.Row{Kind: agent.RowLimit, Record: l.uuid, Text: text, Until: until})
}

// reset reads a time in seconds since 1970, or milliseconds.
func reset(value raw) job.Time {
	n := value.number()
	switch {
	case n < 1e9 || n > 1e14:
		return 0
	case n > 1e11:
		return job.Time(n * 1000)
	}
	return job.Time(n * 1e6)
}

// resetIn finds when a limit ends in what people are told: "…reached|1796100000"
// in older versions, "resets 4:40am (UTC)" since. Other time zones than UTC are
// left alone: to know them takes files that differ from machine to machine.
func resetIn(text string, now job.Time) job.Time {
	if _, after, ok := strings.Cut(text, "|"); ok {
		digits := strings.TrimSpace(after)
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return reset(raw(strconv.FormatInt(n, 10)))
		}
	}
	_, after, ok := strings.Cut(text, "resets ")
	if !ok || now == 0 {
		return 0
	}
	clock, _, ok := strings.Cut(after, " (UTC)")
	if !ok {
		return 0
	}
	for _, layout := range []string{"3:04pm", "3pm", "15:04"} {
		t, err := time.Parse(layout, clock)
		if err != nil {
			continue
		}
		from := now.Time().UTC()
		at := time.Date(from.Year(), from.Month(), from.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
		if !at.After(from) {
			at = at.AddDate(0, 0, 1)
		}
		return job.At(at)
	}
	return 0
}
