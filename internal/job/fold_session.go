package job

import (
	"cmp"
	"fmt"
)

// The rules for sessions: who sat at the job, who held it, what was carried.

// session reads the row of the entry's session once.
func (f *folding) session() (*Sitting, error) {
	if f.sitting != nil || f.e.Session == "" {
		return f.sitting, nil
	}
	row, err := f.rows.Sitting(f.e.Session)
	if err != nil || row == nil {
		return nil, err
	}
	r := *row
	f.sitting = &r
	return f.sitting, nil
}

func (f *folding) sessionStarted(p *SessionStarted) error {
	s := f.s
	before, err := f.session()
	if err != nil {
		return err
	}
	beside := f.e.Guest || f.e.Late
	if !beside {
		s.Sessions++
	}
	row := &Sitting{ID: f.e.Session, Number: p.Number, Started: f.e.HappenedAt, SessionStarted: *p, Guest: f.e.Guest, First: f.e.Position}
	if before != nil { // a guest that took the job, or a holder that came back: what it did stays its own
		row.First, row.Token, row.Handovers = before.First, before.Token, before.Handovers
		row.Steps, row.Spent, row.Pico, row.Context, row.Peak = before.Steps, before.Spent, before.Pico, before.Context, before.Peak
	}
	f.sitting = row
	if p.Workspace.ID != "" && !beside {
		s.addWorkspace(p.Workspace)
	}
	seat := Seat{ID: f.e.Session, Number: p.Number, Agent: Clip(p.Agent, maxWord), Model: Clip(p.Model, maxModel),
		Started: f.e.HappenedAt, Level: p.Level, Guest: f.e.Guest}
	for i := range s.Sitting {
		if s.Sitting[i].ID == seat.ID {
			s.Sitting[i] = seat
			f.mark()
			return nil
		}
	}
	if len(s.Sitting) == maxSessions {
		s.Sitting = append(s.Sitting[:0], s.Sitting[1:]...)
	}
	s.Sitting = append(s.Sitting, seat)
	f.mark()
	return nil
}

func (f *folding) sessionEnded(p *SessionEnded) error {
	f.mark()
	if seat := f.s.Seat(f.e.Session); seat != nil {
		seat.Ended, seat.Reason = f.e.HappenedAt, Clip(p.Reason, maxWord)
	}
	row, err := f.session()
	if err != nil || row == nil {
		return err
	}
	row.Ended, row.Reason, row.Evidence = f.e.HappenedAt, p.Reason, p.Evidence
	return nil
}

func (f *folding) leaseTaken(p *LeaseTaken) error {
	l := p.Lease
	l.Session, l.Process.Host, l.Process.Boot, l.Process.Start = l.Session.clipped(), Clip(l.Process.Host, 64), Clip(l.Process.Boot, 48), Clip(l.Process.Start, 40)
	f.s.Lease, f.s.Token = &l, max(f.s.Token, p.Token)
	f.mark()
	if f.s.Pause != nil && f.s.Pause.Reason != PauseAnswer && f.s.Pause.Reason != PauseBudget {
		f.s.Pause = nil
	}
	row, err := f.session()
	if err != nil || row == nil {
		return err
	}
	row.Token = p.Token
	return nil
}

func (f *folding) handedOver(p *HandedOver) error {
	f.s.Handover = &HandoverNow{Entry: f.e.ID, Position: f.e.Position, At: f.e.HappenedAt, Session: f.e.Session, Fill: p.Fill, Why: Clip(p.Why, maxWord)}
	if p.Next != "" {
		f.s.Next = Clip(p.Next, maxNext)
	}
	f.mark()
	row, err := f.session()
	if err != nil || row == nil {
		return err
	}
	row.Handovers++
	return nil
}

func (f *folding) tookOver(p *TookOver) error {
	f.mark()
	f.s.InFlight = nil // the arriving session was told of it
	row, err := f.session()
	if err != nil || row == nil {
		return err
	}
	row.TookOverAt = f.s.Actions
	row.Actions, row.Rereads, row.Productive, row.ProductiveAfter, row.ProductiveTokens = 0, 0, 0, 0, 0
	return nil
}

// spent folds what a message cost. A later row of the same message replaces the
// earlier: the difference is what moves the sums.
func (f *folding) spent(p *Spent) error {
	key := f.e.Key
	if key == "" {
		key = string(f.e.ID)
	}
	key = SpendKey(key)
	old, err := f.rows.Spend(key)
	if err != nil {
		return err
	}
	if old != nil && old.Job != f.e.Job {
		return nil // a fork's or a resume's copy: another job has paid for it
	}
	if old != nil && !p.follows(&old.Spent) {
		return nil // an earlier row of the message, delivered after a later one
	}
	row := Spend{Key: key, Job: f.e.Job, Session: f.e.Session, At: f.e.HappenedAt, Position: f.e.Position, Spent: *p}
	f.put(Change{Spend: &row})
	if old != nil {
		f.bill(old.Spent, -1)
	}
	f.bill(*p, 1)
	f.mark()
	if old != nil {
		if err := f.unbill(old); err != nil {
			return err
		}
	}
	sit, err := f.session()
	if err != nil || sit == nil {
		return err
	}
	sit.Spent = sit.Spent.Plus(p.Tokens)
	sit.Pico += pico(*p)
	if p.Context > 0 {
		sit.Context, sit.Peak = p.Context, max(sit.Peak, p.Context)
		if seat := f.s.Seat(f.e.Session); seat != nil {
			seat.Context = p.Context
		}
	}
	return nil
}

// follows reports whether p is a later row of the message than old. Rows of one
// message only grow, and hooks, streams, transcripts and forks deliver them in any
// order, so the larger is the later; what was counted replaces what was estimated.
func (p *Spent) follows(old *Spent) bool {
	if p.Estimate != old.Estimate {
		return old.Estimate
	}
	a, b := p.Tokens, old.Tokens
	return cmp.Or(cmp.Compare(a.Total(), b.Total()), cmp.Compare(a.Output, b.Output), cmp.Compare(a.Reasoning, b.Reasoning),
		cmp.Compare(a.Input, b.Input), cmp.Compare(a.CacheRead, b.CacheRead), cmp.Compare(a.CacheWrite1h, b.CacheWrite1h)) >= 0
}

// unbill takes a replaced row off the session it was billed to, which is another
// one when a resume or a fork carried the message on, or none when the session sat
// down only afterwards.
func (f *folding) unbill(old *Spend) error {
	sit, err := f.session()
	if err != nil {
		return err
	}
	if old.Session != f.e.Session {
		row, err := f.rows.Sitting(old.Session)
		if err != nil || row == nil {
			return err
		}
		other := *row
		sit = &other
	}
	if sit == nil || old.Position < sit.First {
		return nil
	}
	sit.Spent, sit.Pico = sit.Spent.Minus(old.Tokens), sit.Pico-pico(old.Spent)
	if old.Session != f.e.Session {
		f.put(Change{Sitting: sit})
	}
	return nil
}

// reconciled moves the sums by what the agent's own totals say beyond ours: what was
// estimated goes, and what was counted comes in its place.
func (f *folding) reconciled(p *Reconciled) error {
	for i, m := range p.Models {
		counted := Spent{Model: m.Model, Purpose: PurposeReconciled, Tokens: m.Tokens.Plus(m.Guessed)}
		if m.Pico != nil {
			counted.Pico = new(*m.Pico + m.GuessedPico)
		}
		rows := []Spent{counted}
		if m.Guessed != (Tokens{}) || m.GuessedPico != 0 {
			rows = append(rows, Spent{Model: m.Model, Purpose: PurposeReconciled, Estimate: true,
				Tokens: Tokens{}.Minus(m.Guessed), Pico: new(-m.GuessedPico)})
		}
		for j, row := range rows {
			if err := f.correct(fmt.Sprint(f.e.ID, " ", i, " ", j), row); err != nil {
				return err
			}
		}
	}
	return nil
}

// correct adds to the costs of the entry's session what no message of it was.
func (f *folding) correct(key string, p Spent) error {
	f.put(Change{Spend: &Spend{Key: key, Job: f.e.Job, Session: f.e.Session, At: f.e.HappenedAt, Position: f.e.Position, Spent: p}})
	f.bill(p, 1)
	f.s.Spend.Messages--
	sit, err := f.session()
	if err != nil || sit == nil {
		return err
	}
	sit.Spent, sit.Pico = sit.Spent.Plus(p.Tokens), sit.Pico+pico(p)
	return nil
}

func pico(p Spent) int64 {
	if p.Pico == nil {
		return 0
	}
	return *p.Pico
}

func (f *folding) bill(p Spent, sign int64) {
	b := &f.s.Spend
	t := p.Tokens
	if sign < 0 {
		t = Tokens{}.Minus(t)
	}
	b.Messages += sign
	b.Tokens = b.Tokens.Plus(t)
	b.Pico += sign * pico(p)
	if p.Pico == nil {
		b.Unpriced += t.Total()
	}
	if p.Estimate {
		b.Estimate += sign * pico(p)
		b.Guessed = b.Guessed.Plus(t)
	}
	for i := range b.Models {
		last := i == maxModels-1
		if b.Models[i].Model == Clip(p.Model, maxModel) || last {
			b.Models[i].Pico += sign * pico(p)
			b.Models[i].Tokens = b.Models[i].Tokens.Plus(t)
			return
		}
	}
	name := Clip(p.Model, maxModel)
	if len(b.Models) == maxModels-1 {
		name = "other"
	}
	b.Models = append(b.Models, ModelBill{Model: name, Pico: sign * pico(p), Tokens: t})
}
