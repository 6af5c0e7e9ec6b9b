package tracker

import (
	"maps"
	"slices"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/cost"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// An agent's own totals hold what its transcript does not tell: what a compaction
// really cost. They are of a session as the agent sees it, which is not quite as we do:
// a fork's begin with its parent's, and after a kill they go on without what was spent
// since they were last written down.

// totals writes what the agent's own totals say beyond our sums.
func (r *recorder) totals(a agent.Row, key, at detail) error {
	sums, err := r.sums(r.row.Job)
	if err != nil {
		return err
	}
	e := job.Envelope{HappenedAt: r.now}
	at(&e)
	r.row.Totals = map[string]job.Tokens{}
	var diff []job.ModelDifference
	for _, t := range a.Totals {
		name := cost.Name(t.Model)
		r.row.Totals[name] = r.row.Totals[name].Plus(t.Tokens)
		ours := sums[name]
		counted := t.Tokens.Minus(r.row.Base[name]).Minus(ours.Tokens.Minus(ours.Guessed))
		if !possible(counted) {
			continue // the agent has forgotten what its provider's messages say
		}
		m := job.ModelDifference{Model: t.Model, Tokens: counted.Minus(ours.Guessed), Guessed: ours.Guessed, GuessedPico: ours.GuessedPico}
		if m.Tokens == (job.Tokens{}) && m.Guessed == (job.Tokens{}) {
			continue
		}
		if pico, _, ok := cost.Together(t.Model, int64(e.HappenedAt), cost.Tokens(counted), ours.Guesses); ok {
			m.Pico = new(pico - ours.GuessedPico)
		}
		diff = append(diff, m)
	}
	if len(diff) == 0 {
		return nil
	}
	_, err = r.append(&job.Reconciled{Source: r.row.Agent, Models: diff}, key, at)
	return err
}

// sums are what the session has cost a job, by the model's name in the price table.
func (r *recorder) sums(id job.ID) (map[string]store.ModelSum, error) {
	models, err := r.tx.SessionModels(id, r.row.ID, r.row.Beyond)
	if err != nil {
		return nil, err
	}
	byName := map[string]store.ModelSum{}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		m := models[model]
		sum := byName[cost.Name(model)]
		sum.Tokens, sum.Guessed = sum.Tokens.Plus(m.Tokens), sum.Guessed.Plus(m.Guessed)
		sum.GuessedPico += m.GuessedPico
		sum.Guesses += m.Guesses
		byName[cost.Name(model)] = sum
	}
	return byName, nil
}

// possible reports whether calls can have used so much. Reasoning is a part of the
// output, and not every total has it.
func possible(t job.Tokens) bool {
	return t.Input >= 0 && t.CacheWrite5m >= 0 && t.CacheWrite1h >= 0 && t.CacheRead >= 0 && t.Output >= 0
}

// resumed is for a process of the agent that goes on with the session: it begins with
// the totals that were last written down, whatever was spent since.
func (r *recorder) resumed() error {
	s, err := r.tx.Standing(r.row.Job)
	if err != nil {
		return err
	}
	r.row.Base, r.row.Beyond = maps.Clone(r.row.Totals), s.Position
	return r.less(r.row.Job, -1)
}

// settle is for a session that leaves its job for another: what it has cost the old
// one stays in the agent's totals.
func (r *recorder) settle() error {
	r.row.Beyond = 0
	return r.less(r.row.Job, 1)
}

// less adds what the session has cost a job to the base, or takes it off.
func (r *recorder) less(id job.ID, sign int) error {
	sums, err := r.sums(id)
	if err != nil {
		return err
	}
	if r.row.Base == nil {
		r.row.Base = map[string]job.Tokens{}
	}
	for name, sum := range sums {
		if sign < 0 {
			r.row.Base[name] = r.row.Base[name].Minus(sum.Tokens)
		} else {
			r.row.Base[name] = r.row.Base[name].Plus(sum.Tokens)
		}
	}
	return nil
}
