package tracker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Added is the entry a small act made.
type Added struct {
	Job      job.ID   `json:"job"`
	Short    string   `json:"short"`
	Entry    job.ID   `json:"entry"`
	Position int64    `json:"position"`
	Kind     job.Kind `json:"kind"`
	// Missed are entries appended since the position the caller last saw.
	Missed int64 `json:"missed,omitempty"`
}

// act appends one entry as the actor, while the job is open: nobody would meet what
// is said about one that has ended, and its lessons are drawn.
func (t *Tracker) act(ctx context.Context, by Actor, id job.ID, durable bool, make func(*change) (job.Payload, error)) (Added, error) {
	var out Added
	err := t.write(ctx, by, durable, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil {
			return err
		}
		if err := mayGoOn(&s); err != nil {
			return err
		}
		p, err := make(c)
		if err != nil {
			return err
		}
		e, err := c.append(id, p)
		out = Added{Job: id, Short: s.Short, Entry: e.ID, Position: e.Position, Kind: e.Kind}
		return err
	})
	return out, err
}

// mayGoOn refuses a job that has ended, and says how and when it did.
func mayGoOn(s *job.Standing) error {
	if !s.Done() {
		return nil
	}
	return fmt.Errorf("%w: %s, %s on %s; what is still to be done is a job of its own: duplex start \"GOAL\"",
		job.ErrFinished, s.Short, s.Outcome.Outcome, s.Outcome.At.Time().Local().Format("Mon 2 Jan 15:04 -0700"))
}

// errEmpty: a text was wanted.
func needText(s, what string) error {
	if strings.TrimSpace(s) == "" {
		return fmt.Errorf("%w: %s is empty", job.ErrInvalid, what)
	}
	return nil
}

// Decide settles a question; supersedes may name an earlier decision by entry id
// or position.
func (t *Tracker) Decide(ctx context.Context, by Actor, id job.ID, text, why string, rejected []string, supersedes string) (Added, error) {
	return t.act(ctx, by, id, false, func(c *change) (job.Payload, error) {
		if err := needText(text, "the decision"); err != nil {
			return nil, err
		}
		d := &job.Decided{Text: c.clip(text, 2000), Why: c.clip(why, 4000), Rejected: rejected}
		if supersedes != "" {
			old, err := c.itemNamed(id, supersedes, job.KindDecided)
			if err != nil {
				return nil, err
			}
			d.Supersedes = old.ID
		}
		return d, nil
	})
}

// Raise opens an item; next marks it as what to do next.
func (t *Tracker) Raise(ctx context.Context, by Actor, id job.ID, text string, next bool) (Added, error) {
	return t.act(ctx, by, id, false, func(c *change) (job.Payload, error) {
		return &job.Raised{Text: c.clip(text, 2000), Next: next}, needText(text, "the open item")
	})
}

// Settle closes an open item, named by entry id or position; it also ends a
// decision, a dead end or an instruction that no longer holds.
func (t *Tracker) Settle(ctx context.Context, by Actor, id job.ID, item, how string) (Added, error) {
	return t.act(ctx, by, id, false, func(c *change) (job.Payload, error) {
		row, err := c.itemNamed(id, item, "")
		if err != nil {
			return nil, err
		}
		if row.State != job.Open && row.State != job.InForce {
			return nil, fmt.Errorf("%w: #%d is %s already", job.ErrInvalid, row.Position, row.State)
		}
		if row.Kind == job.KindInstructed && by.Author.Kind != job.Person {
			return nil, fmt.Errorf("%w: an instruction ends by a person's word", job.ErrPersonOnly)
		}
		return &job.Settled{Item: row.ID, How: c.clip(how, 2000)}, nil
	})
}

// DeadEnd records what was tried and failed.
func (t *Tracker) DeadEnd(ctx context.Context, by Actor, id job.ID, text, why, command string) (Added, error) {
	return t.act(ctx, by, id, false, func(c *change) (job.Payload, error) {
		return &job.DeadEnd{Text: c.clip(text, 2000), Why: c.clip(why, 4000), Command: c.clip(command, 2000)}, needText(text, "the dead end")
	})
}

// Instruct records a person's words that bind.
func (t *Tracker) Instruct(ctx context.Context, by Actor, id job.ID, text string) (Added, error) {
	return t.act(ctx, by, id, true, func(c *change) (job.Payload, error) {
		if by.Author.Kind != job.Person {
			return nil, fmt.Errorf("%w: only a person's words bind", job.ErrPersonOnly)
		}
		return &job.Instructed{Text: c.clip(text, keptText), Standing: len(job.Directives(text)) > 0}, needText(text, "the instruction")
	})
}

// Ask records an agent's question and pauses the job until a person answers.
func (t *Tracker) Ask(ctx context.Context, by Actor, id job.ID, text string, options []string) (Added, error) {
	var out Added
	err := t.write(ctx, by, true, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil {
			return err
		}
		if err := errors.Join(mayGoOn(&s), needText(text, "the question")); err != nil {
			return err
		}
		e, err := c.append(id, &job.Asked{Text: c.clip(text, keptText), Options: options})
		if err != nil {
			return err
		}
		out = Added{Job: id, Entry: e.ID, Position: e.Position, Kind: e.Kind}
		_, err = c.append(id, &job.Paused{Reason: job.PauseAnswer, Evidence: c.clip(text, 300), On: e.ID}, said(job.Author{Kind: job.Duplex}))
		return err
	})
	return out, err
}

// Answer records a person's answer to the oldest open question, or to the one
// named.
func (t *Tracker) Answer(ctx context.Context, by Actor, id job.ID, question, text string) (Added, error) {
	return t.act(ctx, by, id, true, func(c *change) (job.Payload, error) {
		if by.Author.Kind != job.Person {
			return nil, fmt.Errorf("%w: a question to a person is answered by a person", job.ErrPersonOnly)
		}
		if err := needText(text, "the answer"); err != nil {
			return nil, err
		}
		p := &job.Answered{Text: c.clip(text, keptText)}
		if question != "" {
			q, err := c.itemNamed(id, question, job.KindAsked)
			if err != nil {
				return nil, err
			}
			p.Question = q.ID
			return p, nil
		}
		open, err := c.tx.Items(id, job.KindAsked, job.Open, 1, false)
		if err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return nil, fmt.Errorf("%w: no question is open; to instruct the agent: duplex amend --instruct \"…\"", job.ErrNotFound)
		}
		p.Question = open[0].ID
		return p, nil
	})
}

// itemNamed finds a row by entry id, a unique prefix of it, or #position.
func (c *change) itemNamed(id job.ID, name string, kind job.Kind) (*job.Item, error) {
	e, err := c.tx.Entry(id, strings.TrimPrefix(name, "#"))
	if errors.Is(err, job.ErrNotFound) || errors.Is(err, job.ErrInvalid) {
		return c.itemSaying(id, name, kind)
	}
	if err != nil {
		return nil, err
	}
	row, err := c.tx.Rows(id).Item(e.ID)
	if err != nil {
		return nil, err
	}
	if row == nil || kind != "" && row.Kind != kind {
		return nil, fmt.Errorf("%w: #%d is a %q entry, which cannot be named here", job.ErrInvalid, e.Position, e.Kind)
	}
	return row, nil
}

// itemSaying finds the one open item, decision, dead end or question whose text
// holds a phrase.
func (c *change) itemSaying(id job.ID, phrase string, kind job.Kind) (*job.Item, error) {
	var found []job.Item
	for _, k := range []job.Kind{job.KindRaised, job.KindDecided, job.KindDeadEnd, job.KindAsked} {
		if kind != "" && k != kind {
			continue
		}
		state := job.InForce
		if k == job.KindRaised || k == job.KindAsked {
			state = job.Open
		}
		items, err := c.tx.Items(id, k, state, 0, true)
		if err != nil {
			return nil, err
		}
		for _, i := range items {
			if len(phrase) >= 4 && strings.Contains(strings.ToLower(i.Text), strings.ToLower(phrase)) {
				found = append(found, i)
			}
		}
	}
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, fmt.Errorf("%q: %w; name an entry by its position, as duplex log shows it", named(phrase), job.ErrNotFound)
	}
	return nil, fmt.Errorf("%q: %w: #%d and #%d; name one by its position", named(phrase), job.ErrAmbiguous, found[0].Position, found[1].Position)
}

func named(s string) string { return job.Clip(s, 60) }

// Amend changes what a job is about. Only a person may.
func (t *Tracker) Amend(ctx context.Context, by Actor, id job.ID, p *job.Amended) (Added, error) {
	return t.act(ctx, by, id, true, func(c *change) (job.Payload, error) {
		if by.Author.Kind != job.Person {
			return nil, fmt.Errorf("%w (%w): a job's goal, checks and budget are a person's", ErrNotPerson, job.ErrPersonOnly)
		}
		if p.Goal != nil {
			if err := needText(*p.Goal, "the goal"); err != nil {
				return nil, err
			}
		}
		if err := needCommands(p.AddChecks); err != nil {
			return nil, err
		}
		s, err := c.tx.Standing(id)
		if err != nil {
			return nil, err
		}
		for i := range p.AddChecks {
			if p.AddChecks[i].ID == "" {
				p.AddChecks[i].ID = nextCheck(s.Checks, p.AddChecks[:i])
			}
		}
		if len(s.Checks)+len(p.AddChecks)-len(p.DropChecks) > job.MaxChecks {
			return nil, fmt.Errorf("%w: a job has at most %d checks; join some with &&", job.ErrInvalid, job.MaxChecks)
		}
		for _, d := range p.DropChecks {
			if !hasCheck(s.Checks, d) {
				return nil, fmt.Errorf("%w: no check %s; duplex show lists them", job.ErrNotFound, d)
			}
		}
		return p, nil
	})
}

func hasCheck(list []job.CheckNow, id string) bool {
	for _, c := range list {
		if c.ID == id {
			return true
		}
	}
	return false
}

// nextCheck is the lowest c1, c2, … that is free.
func nextCheck(have []job.CheckNow, also []job.Check) string {
	for n := 1; ; n++ {
		id := fmt.Sprintf("c%d", n)
		free := !hasCheck(have, id)
		for _, c := range also {
			free = free && c.ID != id
		}
		if free {
			return id
		}
	}
}

// Pause lets the job wait, by hand.
func (t *Tracker) Pause(ctx context.Context, by Actor, id job.ID, evidence string, until job.Time) (Added, error) {
	return t.PauseFor(ctx, by, id, job.PauseHand, evidence, until)
}

// PauseFor lets the job wait for a reason.
func (t *Tracker) PauseFor(ctx context.Context, by Actor, id job.ID, why job.PauseReason, evidence string, until job.Time) (Added, error) {
	return t.act(ctx, by, id, true, func(c *change) (job.Payload, error) {
		return &job.Paused{Reason: why, Evidence: c.clip(evidence, 500), Until: until}, nil
	})
}

// Unpause ends a pause.
func (t *Tracker) Unpause(ctx context.Context, by Actor, id job.ID, why string) error {
	return t.write(ctx, by, true, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil || s.Pause == nil {
			return err
		}
		_, err = c.append(id, &job.Resumed{Why: c.clip(why, 300)})
		return err
	})
}

// SetOff leaves the sessions of a folder's workspace alone, or stops doing so.
func (t *Tracker) SetOff(ctx context.Context, by Actor, dir string, off bool) (Place, error) {
	p, err := t.Place(dir)
	if err != nil {
		return p, err
	}
	if off && by.Author.Kind != job.Person {
		return p, fmt.Errorf("%w (%w)", ErrNotPerson, job.ErrPersonOnly)
	}
	return p, t.store.Write(ctx, false, func(tx *store.Tx) error { return tx.SetOff(p.ID, off) })
}
