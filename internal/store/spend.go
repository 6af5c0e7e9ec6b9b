package store

import (
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

const spendColumns = `key, job, session, at, position, message, model, input, cache_write_5m, cache_write_1h, cache_read,
	output, reasoning, pico, price, estimate, purpose, class, context`

func scanSpend(r row) *job.Spend {
	s := &job.Spend{Key: r.str(0), Job: job.ID(r.str(1)), Session: job.ID(r.str(2)), At: job.Time(r.int(3)), Position: r.int(4),
		Spent: job.Spent{Message: r.str(5), Model: r.str(6), Tokens: scanTokens(r, 7),
			Price: r.str(14), Estimate: r.int(15) != 0, Purpose: r.str(16), Class: job.Class(r.str(17)), Context: r.int(18)}}
	if r[13] != nil {
		pico := r.int(13)
		s.Pico = &pico
	}
	return s
}

func scanTokens(r row, i int) job.Tokens {
	return job.Tokens{Input: r.int(i), CacheWrite5m: r.int(i + 1), CacheWrite1h: r.int(i + 2), CacheRead: r.int(i + 3),
		Output: r.int(i + 4), Reasoning: r.int(i + 5)}
}

func (t *Tx) saveSpend(s *job.Spend) error {
	var pico any
	if s.Pico != nil {
		pico = *s.Pico
	}
	_, err := t.c.exec("INSERT OR REPLACE INTO spend ("+spendColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		s.Key, s.Job, s.Session, s.At, s.Position, s.Message, s.Model, s.Tokens.Input, s.Tokens.CacheWrite5m, s.Tokens.CacheWrite1h,
		s.Tokens.CacheRead, s.Tokens.Output, s.Tokens.Reasoning, pico, s.Price, s.Estimate, s.Purpose, s.Class, s.Context)
	return err
}

// Spends hands what each message of a job cost to fn, in the order it was recorded.
func (t *Tx) Spends(id job.ID, fn func(job.Spend) error) error {
	if err := t.flushRows(); err != nil {
		return err
	}
	return t.c.query(func(r row) error { return fn(*scanSpend(r)) },
		"SELECT "+spendColumns+" FROM spend WHERE job = ? ORDER BY position", id)
}

// ModelSum is what a session used of one model.
type ModelSum struct {
	Tokens job.Tokens
	// Guessed is the part behind a position that is an estimate still, of so many calls.
	Guessed     job.Tokens
	GuessedPico int64
	Guesses     int64
}

// SessionModels sums what one session used by model, as far as this job paid; what is
// an estimate counts as one behind a position.
func (t *Tx) SessionModels(id, session job.ID, behind int64) (map[string]ModelSum, error) {
	if err := t.flushRows(); err != nil {
		return nil, err
	}
	sums := map[string]ModelSum{}
	err := t.c.query(func(r row) error {
		sum, tokens := sums[r.str(0)], scanTokens(r, 4)
		sum.Tokens = sum.Tokens.Plus(tokens)
		if r.int(1) != 0 {
			sum.Guessed, sum.GuessedPico, sum.Guesses = tokens, r.int(2), r.int(3)
		}
		sums[r.str(0)] = sum
		return nil
	}, "SELECT model, estimate AND position > ?, coalesce(sum(pico), 0), sum(message <> '' AND position > (SELECT coalesce(max(position), 0) FROM spend WHERE job = ? AND session = ? AND purpose = ?)), "+
		sumTokens+" FROM spend WHERE job = ? AND session = ? GROUP BY 1, 2",
		behind, id, session, job.PurposeReconciled, id, session)
	return sums, err
}

const sumTokens = "sum(input), sum(cache_write_5m), sum(cache_write_1h), sum(cache_read), sum(output), sum(reasoning)"

// CostBy says what a cost is summed by.
type CostBy string

// The sides a bill is cut by. A day is one of the zone that is asked for.
const (
	BySession CostBy = "session"
	ByModel   CostBy = "model"
	ByDay     CostBy = "day"
	ByAgent   CostBy = "agent"
	ByClass   CostBy = "class" // of the step a message led to
	ByPurpose CostBy = "purpose"
	ByJob     CostBy = "job"
)

// CostRow is one line of a bill.
type CostRow struct {
	Name     string     `json:"name"`
	Pico     int64      `json:"pico_usd"`
	Estimate int64      `json:"estimate_pico_usd,omitempty"` // the part that is an estimate
	Tokens   job.Tokens `json:"tokens"`
	Unpriced int64      `json:"unpriced_tokens,omitempty"`
	Messages int64      `json:"messages"`
}

func (r *CostRow) add(o CostRow) {
	r.Pico += o.Pico
	r.Estimate += o.Estimate
	r.Tokens = r.Tokens.Plus(o.Tokens)
	r.Unpriced += o.Unpriced
	r.Messages += o.Messages
}

// quarter is the grain in which SQL sums days: every zone is a whole number of
// quarter hours off UTC, so days can be put together from them.
const quarter = int64(15 * time.Minute / time.Microsecond)

// SpendBy sums what a job cost, or the whole store when id is empty, in the order
// of the names. What a child spent is the child's.
func (t *Tx) SpendBy(id job.ID, by CostBy, zone *time.Location) ([]CostRow, error) {
	if err := t.flushRows(); err != nil {
		return nil, err
	}
	group, from := "", "spend"
	switch by {
	case BySession, ByModel, ByClass, ByPurpose, ByJob:
		group = "spend." + string(by)
	case ByAgent:
		group, from = "coalesce(sitting.agent, '')", "spend LEFT JOIN sitting ON sitting.job = spend.job AND sitting.id = spend.session"
	case ByDay:
		group = fmt.Sprintf("spend.at / %d", quarter)
	default:
		return nil, fmt.Errorf("%w: sum by %q", job.ErrInvalid, by)
	}
	where, args := "spend.job = ?", []any{id}
	if id == "" {
		where, args = "spend.job <> ''", nil
	}
	var out []CostRow
	at := map[string]int{}
	err := t.c.query(func(r row) error {
		name := r.str(0)
		if by == ByDay {
			name = job.Time(r.int(0) * quarter).Time().In(zone).Format(time.DateOnly)
		}
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, CostRow{Name: name})
		}
		out[i].add(CostRow{Pico: r.int(1), Estimate: r.int(2), Unpriced: r.int(3), Messages: r.int(4), Tokens: scanTokens(r, 5)})
		return nil
	}, "SELECT "+group+`, sum(pico), sum(CASE WHEN estimate THEN pico END),
		sum(CASE WHEN pico IS NULL THEN input + cache_write_5m + cache_write_1h + cache_read + output END), sum(purpose <> '`+job.PurposeReconciled+`'), `+sumTokens+
		" FROM "+from+" WHERE "+where+" GROUP BY 1 ORDER BY 1", args...)
	return out, err
}
