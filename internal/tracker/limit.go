package tracker

import (
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// A limit is told twice: by a hook when it ends the turn, and by the transcript, which
// knows to the second when it ends. Either may come first. The job is paused by that
// one, and again only when the transcript knows better.

// pauseFor is the pause for what a provider said when it refused a turn, which begins
// with the refusal; nil for what is the agent's to try again.
func (c *change) pauseFor(text string, until job.Time) *job.Paused {
	why := agent.RefusalOf(text)
	said := c.clip(strings.TrimLeft(strings.TrimPrefix(text, string(why)), ": "), 400)
	switch why {
	case agent.RefusedRate, agent.RefusedServer:
		return &job.Paused{Reason: job.PauseRate, Evidence: said, Until: until}
	case agent.RefusedCredit:
		return &job.Paused{Reason: job.PauseHand, Evidence: "the account has no credit left: " + said}
	}
	return nil
}

// turnFailed is a hook's word of it. Claude Code leaves the time to the transcript, and
// to what it tells people.
func (o *observing) turnFailed(c *change) error {
	if o.row.Guest || o.stale {
		return nil
	}
	until := o.ev.Until
	if r, ok := o.ad.(agent.Resetter); ok && until == 0 {
		until = r.Resets(o.ev.Message, c.now.Time().Local())
	}
	p := c.pauseFor(o.ev.Reason+": "+o.ev.Message, until)
	s, err := c.tx.Standing(o.row.Job)
	if err != nil || p == nil || waitsFor(&s, p) || s.Pause != nil && s.Pause.Reason == p.Reason && s.Pause.Until > c.now {
		return err
	}
	_, err = c.append(o.row.Job, p)
	return soften(err)
}

// limit is the transcript's word of it. When more has happened since, it is of the past.
func (r *recorder) limit(a agent.Row, key, at detail) error {
	p := r.pauseFor(a.Text, a.Until)
	if !r.live || r.by.Guest || p == nil {
		return nil
	}
	s, err := r.tx.Standing(r.row.Job)
	if err != nil || waitsFor(&s, p) || s.Pause == nil && a.At > 0 && s.Updated.Sub(a.At) > time.Minute {
		return err
	}
	_, err = r.append(p, key, at)
	return soften(err)
}

// waitsFor reports whether a pause says nothing new.
func waitsFor(s *job.Standing, p *job.Paused) bool {
	return s.Pause != nil && s.Pause.Reason == p.Reason && (p.Until == 0 || p.Until == s.Pause.Until)
}

// goesOn ends the pause for a limit when the provider has answered the session since.
func (r *recorder) goesOn(at detail) error {
	if !r.live || r.by.Guest {
		return nil
	}
	s, err := r.tx.Standing(r.row.Job)
	if err != nil || s.Pause == nil || s.Pause.Reason != job.PauseRate {
		return err
	}
	e := job.Envelope{HappenedAt: r.now}
	if at(&e); e.HappenedAt <= s.Pause.Since {
		return nil
	}
	_, err = r.append(&job.Resumed{Why: "the provider answers again"}, at)
	return soften(err)
}
