package cost

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Worked out by hand: tokens times dollars per million is micro-USD, a million pico each.
func TestPrice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, model, day string
		tokens           Tokens
		want             string // exact USD; none when unpriced
		id               string
	}{
		{"every kind once", "claude-opus-4-5", "2026-01-10",
			Tokens{Input: 1_000_000, CacheWrite5m: 1_000_000, CacheWrite1h: 1_000_000, CacheRead: 1_000_000, Output: 1_000_000},
			"$46.75", "claude-opus-4-5@2025-11-24"}, // 5 + 6.25 + 10 + 0.50 + 25
		{"reasoning is part of output", "gpt-5", "2025-09-01", Tokens{Output: 1_000_000, Reasoning: 900_000}, "$10.00", "gpt-5@2025-08-07"},
		{"one token", "claude-haiku-4-5", "2026-01-10", Tokens{CacheRead: 1}, "$0.0000001", "claude-haiku-4-5@2025-10-15"},
		{"nothing", "claude-haiku-4-5", "2026-01-10", Tokens{}, "$0.00", "claude-haiku-4-5@2025-10-15"},
		{"a dated name", "claude-sonnet-4-5-20250929", "2026-01-10", Tokens{Input: 10, Output: 100}, "$0.00153", "claude-sonnet-4-5@2025-09-29"}, // 30 + 1500 micro

		{"prompt at the long limit", "claude-sonnet-4-5", "2026-01-10", Tokens{Input: 1000, CacheRead: 199_000, Output: 1000}, "$0.0777", "claude-sonnet-4-5@2025-09-29"},            // 3000 + 59,700 + 15,000
		{"prompt over the long limit", "claude-sonnet-4-5", "2026-01-10", Tokens{Input: 1001, CacheRead: 199_000, Output: 1000}, "$0.147906", "claude-sonnet-4-5@2025-09-29>200000"}, // 6006 + 119,400 + 22,500
		{"output does not make a prompt long", "claude-sonnet-4-5", "2026-01-10", Tokens{Output: 300_000}, "$4.50", "claude-sonnet-4-5@2025-09-29"},
		{"the long tier ended", "claude-opus-4-6", "2026-03-12", Tokens{CacheRead: 500_000}, "$0.50", "claude-opus-4-6@2026-02-05>200000"},
		{"the day after", "claude-opus-4-6", "2026-03-13", Tokens{CacheRead: 500_000}, "$0.25", "claude-opus-4-6@2026-03-13"},
		{"a long tier over 100,000", "claude-haiku-5-5", "2026-11-01", Tokens{Input: 100_001}, "$0.0500005", "claude-haiku-5-5@2026-10-07>100000"},

		{"before the price fell", "gpt-5.6-sol", "2026-08-20", Tokens{Input: 100_000, CacheRead: 100_000, Output: 10_000}, "$0.85", "gpt-5.6-sol@2026-07-09"}, // 0.50 + 0.05 + 0.30
		{"after", "gpt-5.6-sol", "2026-08-21", Tokens{Input: 100_000, CacheRead: 100_000, Output: 10_000}, "$0.64", "gpt-5.6-sol@2026-08-21"},                 // 0.40 + 0.04 + 0.20
		{"before anybody could call it", "claude-opus-5", "2020-01-01", Tokens{Input: 1_000_000}, "$5.00", "claude-opus-5@2026-07-24"},
		{"an announced rise", "gemini-3.8-flash", "2027-01-01", Tokens{Output: 1_000_000}, "$7.50", "gemini-3.8-flash@2027-01-01"},

		// What ccusage makes of the same tokens.
		{"a Codex session", "gpt-5.2-codex", "2026-02-01", Tokens{Input: 217_528, CacheRead: 1_775_744, Output: 32_835, Reasoning: 19_861}, "$1.1511192", "gpt-5.2-codex@2026-01-14"},
		{"another", "gpt-5.1-codex-max", "2025-12-01", Tokens{Input: 6978, CacheRead: 18_944, Output: 469}, "$0.0157805", "gpt-5.1-codex-max@2025-11-19"},
		{"a Claude Code session", "claude-opus-4-6", "2026-04-01", Tokens{Input: 17, CacheWrite1h: 44_142, CacheRead: 554_588, Output: 2070}, "$0.770549", "claude-opus-4-6@2026-03-13"},

		{"play money", "script-large", "2026-01-10", Tokens{Input: 200_000, Output: 1000}, "$1.025", "script-large@1970-01-01"},

		{"an unknown model", "claude-opus-9", "2026-01-10", Tokens{Input: 1}, "", ""},
		{"a name that begins like a known one", "gpt-5-codex-mini", "2026-01-10", Tokens{Input: 1}, "", ""},
		{"no model", "", "2026-01-10", Tokens{Input: 1}, "", ""},
		{"the agent itself", "<synthetic>", "2026-01-10", Tokens{}, "", ""},
		{"another seller", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "2026-01-10", Tokens{Input: 1}, "", ""},
		{"tokens below zero", "gpt-5", "2026-01-10", Tokens{Input: 5, Output: -1}, "", ""},
		{"more than fits", "gpt-5", "2026-01-10", Tokens{Output: math.MaxInt64 / 1000}, "", ""},
		{"a sum that does not fit", "gpt-5", "2026-01-10", Tokens{Input: math.MaxInt64 / 1_250_000, Output: math.MaxInt64 / 10_000_000}, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pico, id, ok := Price(test.model, micros(t, test.day), test.tokens)
			if !ok {
				if test.want != "" || pico != 0 || id != "" {
					t.Errorf("unpriced (%d, %q), want %s", pico, id, test.want)
				}
				return
			}
			if got := USDExact(pico); got != test.want || id != test.id {
				t.Errorf("got %s by %s, want %s by %s", got, id, test.want, test.id)
			}
		})
	}
}

// TestTogether: of several calls only the sum is known, and each is priced by its size.
func TestTogether(t *testing.T) {
	t.Parallel()
	sum := Tokens{Input: 180_000, Output: 2000}
	for calls, want := range map[int64]string{0: "$0.095", 1: "$0.095", 2: "$0.019"} { // 90,000 + 5000 micro; 18,000 + 1000
		if pico, _, ok := Together("claude-haiku-5-5", micros(t, "2026-11-01"), sum, calls); !ok || USDExact(pico) != want {
			t.Errorf("%d calls: %s, want %s", calls, USDExact(pico), want)
		}
	}
}

func TestADayEndsAtMidnightUTC(t *testing.T) {
	t.Parallel()
	change := micros(t, "2026-08-21")
	for at, want := range map[int64]string{change - 1: "gpt-5.6-sol@2026-07-09", change: "gpt-5.6-sol@2026-08-21"} {
		if _, id, _ := Price("gpt-5.6-sol", at, Tokens{Input: 1}); id != want {
			t.Errorf("at %d by %s, want %s", at, id, want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"claude-sonnet-4-5-20250929":    "claude-sonnet-4-5",
		"claude-sonnet-4-20250514":      "claude-sonnet-4",
		"claude-opus-4-0":               "claude-opus-4",
		"anthropic/claude-opus-4.5":     "claude-opus-4-5",
		"Claude-Opus-4-6[1m]":           "claude-opus-4-6",
		"claude-3-7-sonnet-latest":      "claude-sonnet-3-7",
		"claude-3-5-haiku-20241022":     "claude-haiku-3-5",
		"gpt-5-2025-08-07":              "gpt-5",
		"openai/gpt-5.1-codex":          "gpt-5.1-codex",
		"gpt-5.6":                       "gpt-5.6-sol",
		"models/gemini-2.5-pro":         "gemini-2.5-pro",
		"gemini-2.5-pro-preview-06-05":  "gemini-2.5-pro",
		"gemini-3-pro-preview":          "gemini-3-pro",
		"gemini-2.5-flash-preview":      "gemini-2.5-flash",
		"o1-preview":                    "o1-preview",
		" gpt-5 ":                       "gpt-5",
		"20250929":                      "20250929",
		"-20250929":                     "-20250929",
		"openrouter/openai/gpt-5":       "openrouter/openai/gpt-5",
		"claude-sonnet-4-5@20250929":    "claude-sonnet-4-5@20250929",
		"gpt-4-06-13":                   "gpt-4-06-13",
		"claude-opus-4-5-20251101-fast": "claude-opus-4-5-20251101-fast",
	} {
		if got := Name(name); got != want {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestTable holds the built-in rows to what a slip of the hand would break.
func TestTable(t *testing.T) {
	t.Parallel()
	for i, r := range builtIn {
		at := r.Model + "@" + r.Since
		if Name(r.Model) != r.Model {
			t.Errorf("%s: no call is looked up under this name but %q", at, Name(r.Model))
		}
		if _, err := time.Parse(time.DateOnly, r.Since); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if i > 0 && builtIn[i-1].Model == r.Model {
			if builtIn[i-1].Since >= r.Since {
				t.Errorf("%s is not after the row above", at)
			}
		} else if slices.ContainsFunc(builtIn[:i], func(b Row) bool { return b.Model == r.Model }) {
			t.Errorf("%s is apart from the model's other rows", at)
		}
		if r.Own || (r.LongOver > 0) != (r.Long != Rates{}) {
			t.Errorf("%s: own %v, long over %d, long rates %v", at, r.Own, r.LongOver, r.Long)
		}
		check := func(rates Rates) {
			if !(0 < rates.CacheRead && rates.CacheRead < rates.Input && rates.Input <= rates.CacheWrite5m &&
				rates.CacheWrite5m <= rates.CacheWrite1h && rates.CacheWrite1h < rates.Output) {
				t.Errorf("%s: %+v is not in the order of every price list: cache read, input, cache writes, output", at, rates)
			}
			if strings.HasPrefix(r.Model, "claude-") && (rates.CacheWrite5m*4 != rates.Input*5 || rates.CacheWrite1h != rates.Input*2) {
				t.Errorf("%s: %+v: Anthropic writes for 1.25 and 2 times input", at, rates)
			}
		}
		check(r.Rates)
		if r.LongOver == 0 {
			continue
		}
		check(r.Long)
		if (strings.HasPrefix(r.Model, "gpt-") || strings.HasPrefix(r.Model, "claude-sonnet") || strings.HasPrefix(r.Model, "gemini-")) &&
			(r.Long.Input != 2*r.Rates.Input || r.Long.CacheRead != 2*r.Rates.CacheRead || 2*r.Long.Output != 3*r.Rates.Output) {
			t.Errorf("%s: a long prompt is twice as dear, its answer half as much again; got %+v", at, r.Long)
		}
	}
}

func TestOwnPrices(t *testing.T) {
	t.Parallel()
	own, err := Parse(`
[[price]]
model = "our-model"
input = 0.075
output = 3
[[price]]
model = "anthropic/claude-opus-5"
since = "2026-10-01"
input = 4.5
cache-write-5m = 5.0
cache-write-1h = 8.0
cache-read = 0.4
output = 22.5
long-over = 1000
[price.long]
input = 9.0
output = 45.0
`)
	if err != nil {
		t.Fatal(err)
	}
	prices := Prices{}.With(own)
	million := Tokens{Input: 500_000, CacheWrite5m: 0, CacheRead: 500_000, Output: 1_000_000}
	tests := []struct {
		name, model, day string
		tokens           Tokens
		want, id         string
	}{
		{"a model of one's own, at any time", "our-model", "2020-01-01", million, "$3.075", "own:our-model@1970-01-01"}, // cache read as input
		{"before the own price", "claude-opus-5", "2026-09-30", Tokens{Input: 1_000_000}, "$5.00", "claude-opus-5@2026-07-24"},
		{"the own price", "claude-opus-5", "2026-10-01", Tokens{Input: 1000, Output: 1000}, "$0.027", "own:claude-opus-5@2026-10-01"},
		{"the own long price", "claude-opus-5", "2026-10-01", Tokens{CacheRead: 1_000_000}, "$9.00", "own:claude-opus-5@2026-10-01>1000"},
		{"others stay", "gpt-5", "2026-10-01", Tokens{Input: 1_000_000}, "$1.25", "gpt-5@2025-08-07"},
	}
	for _, test := range tests {
		pico, id, _ := prices.Price(test.model, micros(t, test.day), test.tokens)
		if USDExact(pico) != test.want || id != test.id {
			t.Errorf("%s: got %s by %s, want %s by %s", test.name, USDExact(pico), id, test.want, test.id)
		}
	}
	later := prices.With([]Row{{Model: "our-model", Since: "1970-01-01", Rates: Rates{Input: usd}, Own: true}})
	if pico, _, _ := later.Price("our-model", 0, Tokens{Input: 1_000_000}); USD(pico) != "$1.00" {
		t.Errorf("the row that was added last gives %s, want $1.00", USD(pico))
	}
	if pico, _, _ := prices.Price("our-model", 0, Tokens{Output: 1_000_000}); USD(pico) != "$3.00" {
		t.Errorf("the table that was added to gives %s, want $3.00 as before", USD(pico))
	}
}

func TestWrongOwnPrices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[[price]]\ninput = 1.0\noutput = 1.0":                                         "price 1 (): model is needed",
		"[[price]]\nmodel = \"x\"\ninput = 1.0":                                        "input and output are both needed",
		"[[price]]\nmodel = \"x\"\ninput = -1.0\noutput = 1.0":                         "-1 is not a price",
		"[[price]]\nmodel = \"x\"\ninput = nan\noutput = 1.0":                          "NaN is not a price",
		"[[price]]\nmodel = \"x\"\ninput = 1e9\noutput = 1.0":                          "1e+09 is not a price",
		"[[price]]\nmodel = \"x\"\ninput = 0.0000001\noutput = 1.0":                    "1e-07 is not a price",
		"[[price]]\nmodel = \"x\"\nsince = \"May\"\ninput = 1.0\noutput = 1.0":         "since is \"May\"",
		"[[price]]\nmodel = \"x\"\ninput = 1.0\noutput = 1.0\nlong-over = 5":           "long-over and long go together",
		"[[price]]\nmodel = \"x\"\ninput = 1.0\noutput = 1.0\n[price.long]\ninput = 1": "long-over and long go together",
		"[[price]]\nmodel = \"x\"\ninputs = 1.0":                                       "price.inputs means nothing here",
		"[price":                                                                       "own prices: toml: line 1",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestUSD(t *testing.T) {
	t.Parallel()
	const dollar = 1_000_000_000_000
	tests := []struct {
		pico         int64
		short, exact string
	}{
		{0, "$0.00", "$0.00"},
		{1, "$0.00", "$0.000000000001"},
		{dollar/200 - 1, "$0.00", "$0.004999999999"},
		{dollar / 200, "$0.01", "$0.005"},
		{dollar, "$1.00", "$1.00"},
		{1234*dollar + dollar/2, "$1,234.50", "$1,234.50"},
		{1_234_567 * dollar, "$1,234,567.00", "$1,234,567.00"},
		{-dollar / 8, "-$0.13", "-$0.125"},
		{-1, "$0.00", "-$0.000000000001"},
		{math.MaxInt64, "$9,223,372.04", "$9,223,372.036854775807"},
		{math.MinInt64, "-$9,223,372.04", "-$9,223,372.036854775808"},
	}
	for _, test := range tests {
		if short, exact := USD(test.pico), USDExact(test.pico); short != test.short || exact != test.exact {
			t.Errorf("%d is %s and %s, want %s and %s", test.pico, short, exact, test.short, test.exact)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	sum := Tokens{1, 2, 3, 4, 5, 6}.Plus(Tokens{10, 20, 30, 40, 50, 60})
	if sum != (Tokens{11, 22, 33, 44, 55, 66}) || sum.Prompt() != 110 || sum.Total() != 165 {
		t.Errorf("got %+v, prompt %d, total %d", sum, sum.Prompt(), sum.Total())
	}
}

func TestPlay(t *testing.T) {
	t.Parallel()
	if !Play("script-small") || !Play("script-large") || Play("claude-opus-5") {
		t.Error("the scripted models, and only they, are play money")
	}
}

// FuzzPrice: the price of a call is the sum of the prices of its kinds, and never below zero.
func FuzzPrice(f *testing.F) {
	f.Add("claude-opus-4-5", int64(0), int64(1), int64(2), int64(3), int64(4), int64(5))
	f.Add("gpt-5.6-sol", int64(1787000000000000), int64(272_001), int64(0), int64(0), int64(9), int64(1)<<40)
	f.Add("gemini-2.5-pro-preview-06-05", int64(-1), int64(1)<<62, int64(1)<<62, int64(0), int64(0), int64(0))
	f.Fuzz(func(t *testing.T, model string, at, input, write5m, write1h, read, output int64) {
		whole := Tokens{Input: input, CacheWrite5m: write5m, CacheWrite1h: write1h, CacheRead: read, Output: output}
		pico, id, ok := Price(model, at, whole)
		if !ok {
			return
		}
		row := Prices{}.find(Name(model), time.UnixMicro(at).UTC().Format(time.DateOnly))
		rates := row.Rates
		if strings.Contains(id, ">") {
			rates = row.Long
		}
		want := input*rates.Input + write5m*rates.CacheWrite5m + write1h*rates.CacheWrite1h + read*rates.CacheRead + output*rates.Output
		if pico != want || pico < 0 {
			t.Errorf("%s, %+v: got %d, want %d", model, whole, pico, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("[[price]]\nmodel = \"x\"\ninput = 1.5\noutput = 2\n")
	f.Add("[[price]]\nmodel = \"gpt-5\"\nsince = \"2026-01-01\"\ninput = 1\noutput = 2\nlong-over = 5\n[price.long]\ninput = 1\noutput = 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := Parse(text)
		if err != nil {
			return
		}
		for _, r := range rows {
			if r.Model == "" || !r.Own || r.Rates.Input < 0 || r.Rates.Output < 0 || (r.LongOver > 0) != (r.Long != Rates{}) && r.LongOver < 0 {
				t.Errorf("%q gives %+v", text, r)
			}
		}
	})
}

func BenchmarkPrice(b *testing.B) {
	for b.Loop() {
		Price("claude-sonnet-4-5-20250929", 1_767_000_000_000_000, Tokens{Input: 10, CacheRead: 50_000, Output: 900})
	}
}

func micros(t *testing.T, day string) int64 {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}
