// Package cost turns tokens into money by a dated price table. Amounts are whole pico-USD: tokens times
// micro-USD per million tokens, which is exact, so that sums over a million entries are too. Rounding happens
// where an amount is shown.
//
// It guesses nothing. A model without a row is unpriced, and a price is the one that held on the day of the
// call. It knows no discounts: not a batch, a fast mode, a subscription or a contract; a person's own table
// says those.
package cost

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tokens are the tokens of one call, or of many. The kinds are disjoint, except that reasoning is a part of
// output and is only counted.
type Tokens struct {
	Input        int64 // read afresh: neither from nor into a cache
	CacheWrite5m int64 // put into a cache for five minutes, or for as long as the provider keeps it
	CacheWrite1h int64 // put into a cache for an hour
	CacheRead    int64
	Output       int64
	Reasoning    int64 // of Output
}

// Prompt is how long the prompt was: everything that went in, cached or not.
func (t Tokens) Prompt() int64 { return t.Input + t.CacheWrite5m + t.CacheWrite1h + t.CacheRead }

// Total is everything that went in and came out.
func (t Tokens) Total() int64 { return t.Prompt() + t.Output }

// Plus adds kind by kind.
func (t Tokens) Plus(u Tokens) Tokens {
	return Tokens{
		t.Input + u.Input, t.CacheWrite5m + u.CacheWrite5m, t.CacheWrite1h + u.CacheWrite1h,
		t.CacheRead + u.CacheRead, t.Output + u.Output, t.Reasoning + u.Reasoning,
	}
}

// Rates are prices in micro-USD per million tokens, which is pico-USD a token.
type Rates struct {
	Input, CacheWrite5m, CacheWrite1h, CacheRead, Output int64
}

// Row is a model's price from a day on.
type Row struct {
	Model    string // as Name gives it
	Since    string // the first day (UTC) from which it is known to hold, 2026-01-31
	Rates    Rates
	LongOver int64 // a call whose prompt is longer than this many tokens is priced by Long as a whole; 0: none is
	Long     Rates
	Own      bool // from a person's own table
}

// Prices is a price table: the built-in rows, and a person's own before them.
type Prices struct {
	own []Row
}

// With adds a person's own rows, which come before the built-in ones.
func (p Prices) With(own []Row) Prices {
	return Prices{own: slices.Concat(p.own, own)}
}

// Price is what one call cost in pico-USD. at is when it was made, in microseconds of Unix time. priceID
// names the row and the tier, so that a later reader can tell by which price it was. ok is false when the
// model has no price, or when the tokens make no sense as those of a call.
//
// A model's first price holds before its day too: nobody could call it then, so the clock was wrong.
func (p Prices) Price(model string, at int64, t Tokens) (pico int64, priceID string, ok bool) {
	return p.Together(model, at, t, 1)
}

// Together is what so many calls of about one size cost, of which only the sum is known.
func (p Prices) Together(model string, at int64, t Tokens, calls int64) (pico int64, priceID string, ok bool) {
	row := p.find(Name(model), time.UnixMicro(at).UTC().Format(time.DateOnly))
	if row == nil {
		return 0, "", false
	}
	rates, id := row.Rates, row.Model+"@"+row.Since
	if row.Own {
		id = "own:" + id
	}
	if row.LongOver > 0 && t.Prompt()/max(1, calls) > row.LongOver {
		rates, id = row.Long, id+">"+strconv.FormatInt(row.LongOver, 10)
	}
	pico, ok = rates.of(t)
	if !ok {
		return 0, "", false
	}
	return pico, id, true
}

// Together is Prices.Together by the built-in rows.
func Together(model string, at int64, t Tokens, calls int64) (pico int64, priceID string, ok bool) {
	return Prices{}.Together(model, at, t, calls)
}

// Price is Prices.Price by the built-in rows.
func Price(model string, at int64, t Tokens) (pico int64, priceID string, ok bool) {
	return Prices{}.Price(model, at, t)
}

// find is the row in force on a day.
func (p Prices) find(model, day string) *Row {
	if row := newest(p.own, model, day); row != nil {
		return row
	}
	if row := newest(builtIn, model, day); row != nil {
		return row
	}
	first := slices.IndexFunc(builtIn, func(r Row) bool { return r.Model == model }) // a model's rows are in order
	if first < 0 {
		return nil
	}
	return &builtIn[first]
}

// newest is the model's last row whose day has come.
func newest(rows []Row, model, day string) *Row {
	var best *Row
	for i := range rows {
		r := &rows[i]
		if r.Model == model && r.Since <= day && (best == nil || r.Since >= best.Since) {
			best = r
		}
	}
	return best
}

// of multiplies and adds. It is false when a count is negative or the sum is beyond nine million USD.
func (r Rates) of(t Tokens) (pico int64, ok bool) {
	var sum uint64
	for _, kind := range [...]struct{ tokens, rate int64 }{
		{t.Input, r.Input}, {t.CacheWrite5m, r.CacheWrite5m}, {t.CacheWrite1h, r.CacheWrite1h},
		{t.CacheRead, r.CacheRead}, {t.Output, r.Output},
	} {
		if kind.tokens < 0 || kind.rate < 0 {
			return 0, false
		}
		high, product := bits.Mul64(uint64(kind.tokens), uint64(kind.rate))
		var carry uint64
		sum, carry = bits.Add64(sum, product, 0)
		if high != 0 || carry != 0 || sum > math.MaxInt64 {
			return 0, false
		}
	}
	return int64(sum), true
}

// USD shows an amount in dollars and cents, half a cent rounded up: $1,234.50.
func USD(pico int64) string {
	const cent = 10_000_000_000
	sign, amount := "", uint64(pico)
	if pico < 0 {
		sign, amount = "-", -amount
	}
	cents := (amount + cent/2) / cent
	if cents == 0 {
		sign = ""
	}
	return sign + "$" + grouped(cents/100) + "." + padded(cents%100, 2)
}

// USDExact shows an amount to the last pico-USD, with at least two decimals: $0.0157805.
func USDExact(pico int64) string {
	const dollar = 1_000_000_000_000
	sign, amount := "", uint64(pico)
	if pico < 0 {
		sign, amount = "-", -amount
	}
	decimals := strings.TrimRight(padded(amount%dollar, 12), "0")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return sign + "$" + grouped(amount/dollar) + "." + decimals
}

func padded(n uint64, width int) string {
	digits := strconv.FormatUint(n, 10)
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

func grouped(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
