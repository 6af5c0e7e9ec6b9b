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
	if until == 0 && l.at > 0 {
		until = resetIn(text, l.at.Time())
	}
	if word := l.errorWord.text(); word != "" && word != "unknown" {
		text = word + ": " + text
	}
	r.add(l, agent.Row{Kind: agent.RowLimit, Record: l.uuid, Text: text, Until: until})
}

// Resets reads when a limit ends in what people are told of it, to the minute.
func (Adapter) Resets(text string, said time.Time) job.Time { return resetIn(text, said) }

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

// resetIn finds when a limit ends in what people were told then: in older versions
// "…reached|1796100000", since "resets 4:40am (UTC)" and, when that is more than a day
// away, "resets Dec 3, 4am (UTC)". The zone is the machine's; said has to be in it
// where it is not UTC, for to know others takes files.
func resetIn(text string, said time.Time) job.Time {
	if _, after, ok := strings.Cut(text, "|"); ok {
		digits := strings.TrimSpace(after)
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return reset(raw(strconv.FormatInt(n, 10)))
		}
	}
	_, after, ok := strings.Cut(text, "resets ")
	if !ok {
		return 0
	}
	clock, zone, ok := strings.Cut(after, " (")
	switch {
	case !ok:
		return 0
	case strings.HasPrefix(zone, "UTC)"):
		said = said.UTC()
	case said.Location() == time.UTC:
		return 0
	}
	year, month, day := said.Date()
	for _, layout := range []string{"3:04pm", "3pm", "15:04", "Jan 2, 3:04pm", "Jan 2, 3pm", "Jan 2, 2006, 3:04pm", "Jan 2, 2006, 3pm"} {
		t, err := time.ParseInLocation(layout, clock, said.Location())
		if err != nil {
			continue
		}
		switch {
		case t.Year() > 0:
		case strings.HasPrefix(layout, "Jan"):
			t = t.AddDate(year, 0, 0)
		default:
			t = time.Date(year, month, day, t.Hour(), t.Minute(), 0, 0, said.Location())
			if minute := t.Add(time.Minute); !minute.After(said) {
				t = t.AddDate(0, 0, 1)
			} else if !t.After(said) {
				t = minute // some second of the one that it is
			}
		}
		return job.At(t)
	}
	return 0
}
