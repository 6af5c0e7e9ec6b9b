package cost

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/BurntSushi/toml"
)

// Parse reads a person's own price table, in USD per million tokens:
//
//	[[price]]
//	model = "our-model"
//	since = "2026-01-01"   # may be left out: always
//	input = 2.50
//	output = 10.0
//	cache-read = 0.25      # may be left out, like cache-write-5m and cache-write-1h: as input
//	long-over = 200000     # may be left out; then the table below is too
//	[price.long]
//	input = 5.0
//	output = 15.0
func Parse(text string) ([]Row, error) {
	type rates struct {
		Input        *float64 `toml:"input"`
		CacheWrite5m *float64 `toml:"cache-write-5m"`
		CacheWrite1h *float64 `toml:"cache-write-1h"`
		CacheRead    *float64 `toml:"cache-read"`
		Output       *float64 `toml:"output"`
	}
	var file struct {
		Price []struct {
			Model string `toml:"model"`
			Since string `toml:"since"`
			rates
			LongOver int64  `toml:"long-over"`
			Long     *rates `toml:"long"`
		} `toml:"price"`
	}
	seen, err := toml.Decode(text, &file)
	if err != nil {
		return nil, fmt.Errorf("own prices: %w", err)
	}
	if unknown := seen.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("own prices: %s means nothing here: a price has model, since, input, cache-write-5m, cache-write-1h, cache-read, output, long-over and long", unknown[0])
	}
	convert := func(r rates) (Rates, error) {
		if r.Input == nil || r.Output == nil {
			return Rates{}, errors.New("input and output are both needed")
		}
		var made Rates
		for _, kind := range [...]struct {
			into *int64
			from *float64
		}{
			{&made.Input, r.Input}, {&made.Output, r.Output}, {&made.CacheRead, r.CacheRead},
			{&made.CacheWrite5m, r.CacheWrite5m}, {&made.CacheWrite1h, r.CacheWrite1h},
		} {
			if kind.from == nil {
				*kind.into = made.Input
				continue
			}
			micro, err := micro(*kind.from)
			if err != nil {
				return Rates{}, err
			}
			*kind.into = micro
		}
		return made, nil
	}
	var rows []Row
	for i, p := range file.Price {
		row := Row{Model: Name(p.Model), Since: p.Since, LongOver: p.LongOver, Own: true}
		if row.Since == "" {
			row.Since = "1970-01-01"
		}
		_, err := time.Parse(time.DateOnly, row.Since)
		switch {
		case row.Model == "":
			err = errors.New("model is needed")
		case err != nil:
			err = fmt.Errorf("since is %q: give a day like 2026-01-31", p.Since)
		case (p.LongOver > 0) != (p.Long != nil) || p.LongOver < 0:
			err = errors.New("long-over and long go together")
		default:
			if row.Rates, err = convert(p.rates); err == nil && p.Long != nil {
				row.Long, err = convert(*p.Long)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("own prices: price %d (%s): %w", i+1, p.Model, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// micro is USD per million tokens as micro-USD. A price finer than that is an error, not rounded.
func micro(dollars float64) (int64, error) {
	exact := dollars * usd
	rounded := math.Round(exact)
	if !(rounded >= 0 && rounded <= 1e6*usd) || math.Abs(exact-rounded) > 1e-3 {
		return 0, fmt.Errorf("%v is not a price in USD per million tokens, with six decimals at most", dollars)
	}
	return int64(rounded), nil
}
