package claude_test

import (
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

func TestResets(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("CET", 3600)
	utc := time.Date(2026, 12, 1, 3, 15, 0, 0, time.UTC)
	for _, c := range []struct {
		text string
		said time.Time
		want string // empty: it does not say
	}{
		{"You've hit your limit · resets 4:40am (UTC)", utc, "2026-12-01T04:40:00Z"},
		{"You've hit your limit · resets 3am (UTC)", utc, "2026-12-02T03:00:00Z"},
		{"You've hit your limit · resets 3:15am (UTC)", utc.Add(59 * time.Second), "2026-12-01T03:16:00Z"},
		{"You've hit your limit · resets 3:15am (UTC)", utc.Add(60 * time.Second), "2026-12-02T03:15:00Z"},
		{"You've hit your limit · resets 16:05 (UTC)", utc, "2026-12-01T16:05:00Z"},
		{"You've hit your weekly limit · resets Dec 3, 4am (UTC)", utc, "2026-12-03T04:00:00Z"},
		{"resets Dec 3, 4:05pm (UTC) · /upgrade", utc, "2026-12-03T16:05:00Z"},
		{"resets Jan 2, 2027, 4am (UTC)", utc, "2027-01-02T04:00:00Z"},
		{"resets 4:40am (Europe/Berlin)", utc.In(berlin), "2026-12-01T03:40:00Z"},
		{"resets 4am (Europe/Berlin)", utc.In(berlin), "2026-12-02T03:00:00Z"}, // 04:15 is over there
		{"resets Dec 3, 4am (Europe/Berlin)", utc.In(berlin), "2026-12-03T03:00:00Z"},
		{"resets 4:40am (UTC)", utc.In(berlin), "2026-12-01T04:40:00Z"},
		{"Claude usage limit reached|1796100000", utc, "2026-12-01T04:40:00Z"},
		{"resets 4:40am (Europe/Berlin)", utc, ""}, // whose clock that is, is not known
		{"resets soon (UTC)", utc, ""},
		{"resets 4:40am", utc, ""},
		{"Request rejected (429)", utc, ""},
	} {
		got := ""
		if at := (claude.Adapter{}).Resets(c.text, c.said); at > 0 {
			got = at.Time().UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%q at %s: got %q, want %q", c.text, c.said, got, c.want)
		}
	}
}

// FuzzResets: whatever it reads, a clock without a day is that of the next 24 hours.
func FuzzResets(f *testing.F) {
	f.Add("resets 4:40am (UTC)", int64(1796100000))
	f.Add("x|1796100000", int64(0))
	f.Add("resets Feb 29, 12pm (UTC)", int64(1<<40))
	f.Fuzz(func(t *testing.T, clock string, seconds int64) {
		said := time.Unix(seconds%(1<<36), 0).UTC()
		(claude.Adapter{}).Resets(clock, said)
		if _, err := time.Parse("3:04pm", clock); err != nil {
			return
		}
		at := (claude.Adapter{}).Resets("resets "+clock+" (UTC)", said)
		if now := job.At(said); at <= now || at.Sub(now) > 24*time.Hour {
			t.Errorf("%q at %s: got %s", clock, said, at.Time())
		}
	})
}
