package cost

// usd is one dollar per million tokens.
const usd = 1_000_000

// builtIn are the makers' list prices, standard tier, as their price pages gave them. It was last held
// against them on 2026-11-22. A change of price is a new row; a row is never edited, because entries name it.
//
// Where a maker has no price for writing into a cache, such tokens are input like any other.
// OpenAI: a prompt over 272,000 tokens doubles what goes in and adds half to what comes out, for the whole call.
var builtIn = []Row{
	// Anthropic: writing for five minutes is 1.25 times input, for an hour twice. Since 2026-03-13 a long prompt
	// costs what a short one does, for the models of that day and later.
	{Model: "claude-haiku-3-5", Since: "2024-12-05", Rates: Rates{0.80 * usd, 1 * usd, 1.60 * usd, 0.08 * usd, 4 * usd}},
	{Model: "claude-haiku-4-5", Since: "2025-10-15", Rates: Rates{1 * usd, 1.25 * usd, 2 * usd, 0.10 * usd, 5 * usd}},
	{Model: "claude-haiku-5-5", Since: "2026-10-07", Rates: Rates{0.10 * usd, 0.125 * usd, 0.20 * usd, 0.01 * usd, 0.50 * usd},
		LongOver: 100_000, Long: Rates{0.50 * usd, 0.625 * usd, 1 * usd, 0.05 * usd, 2.50 * usd}},
	{Model: "claude-sonnet-3-7", Since: "2025-02-24", Rates: Rates{3 * usd, 3.75 * usd, 6 * usd, 0.30 * usd, 15 * usd}},
	{Model: "claude-sonnet-4", Since: "2025-05-22", Rates: Rates{3 * usd, 3.75 * usd, 6 * usd, 0.30 * usd, 15 * usd},
		LongOver: 200_000, Long: Rates{6 * usd, 7.50 * usd, 12 * usd, 0.60 * usd, 22.50 * usd}},
	{Model: "claude-sonnet-4-5", Since: "2025-09-29", Rates: Rates{3 * usd, 3.75 * usd, 6 * usd, 0.30 * usd, 15 * usd},
		LongOver: 200_000, Long: Rates{6 * usd, 7.50 * usd, 12 * usd, 0.60 * usd, 22.50 * usd}},
	{Model: "claude-sonnet-4-6", Since: "2026-02-17", Rates: Rates{3 * usd, 3.75 * usd, 6 * usd, 0.30 * usd, 15 * usd},
		LongOver: 200_000, Long: Rates{6 * usd, 7.50 * usd, 12 * usd, 0.60 * usd, 22.50 * usd}},
	{Model: "claude-sonnet-4-6", Since: "2026-03-13", Rates: Rates{3 * usd, 3.75 * usd, 6 * usd, 0.30 * usd, 15 * usd}},
	{Model: "claude-sonnet-5", Since: "2026-06-30", Rates: Rates{2 * usd, 2.50 * usd, 4 * usd, 0.20 * usd, 10 * usd}},
	{Model: "claude-sonnet-5-5", Since: "2026-09-28", Rates: Rates{2 * usd, 2.50 * usd, 4 * usd, 0.20 * usd, 10 * usd}},
	{Model: "claude-sonnet-5-5", Since: "2026-10-07", Rates: Rates{2 * usd, 2.50 * usd, 4 * usd, 0.10 * usd, 10 * usd}},
	{Model: "claude-opus-4", Since: "2025-05-22", Rates: Rates{15 * usd, 18.75 * usd, 30 * usd, 1.50 * usd, 75 * usd}},
	{Model: "claude-opus-4-1", Since: "2025-08-05", Rates: Rates{15 * usd, 18.75 * usd, 30 * usd, 1.50 * usd, 75 * usd}},
	{Model: "claude-opus-4-5", Since: "2025-11-24", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd}},
	{Model: "claude-opus-4-6", Since: "2026-02-05", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd},
		LongOver: 200_000, Long: Rates{10 * usd, 12.50 * usd, 20 * usd, 1 * usd, 37.50 * usd}},
	{Model: "claude-opus-4-6", Since: "2026-03-13", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd}},
	{Model: "claude-opus-4-7", Since: "2026-04-16", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd}},
	{Model: "claude-opus-4-8", Since: "2026-06-04", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd}},
	{Model: "claude-opus-5", Since: "2026-07-24", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd}},
	{Model: "claude-opus-5-5", Since: "2026-09-22", Rates: Rates{4 * usd, 5 * usd, 8 * usd, 0.20 * usd, 20 * usd}},
	{Model: "claude-fable-5", Since: "2026-06-09", Rates: Rates{10 * usd, 12.50 * usd, 20 * usd, 1 * usd, 50 * usd}},
	{Model: "claude-fable-5-1", Since: "2026-09-01", Rates: Rates{10 * usd, 12.50 * usd, 20 * usd, 0.25 * usd, 50 * usd}},

	// OpenAI: writing into the cache costs 1.25 times input from gpt-5.6 on.
	{Model: "gpt-5", Since: "2025-08-07", Rates: Rates{1.25 * usd, 1.25 * usd, 1.25 * usd, 0.125 * usd, 10 * usd}},
	{Model: "gpt-5-mini", Since: "2025-08-07", Rates: Rates{0.25 * usd, 0.25 * usd, 0.25 * usd, 0.025 * usd, 2 * usd}},
	{Model: "gpt-5-nano", Since: "2025-08-07", Rates: Rates{0.05 * usd, 0.05 * usd, 0.05 * usd, 0.005 * usd, 0.40 * usd}},
	{Model: "gpt-5-codex", Since: "2025-09-23", Rates: Rates{1.25 * usd, 1.25 * usd, 1.25 * usd, 0.125 * usd, 10 * usd}},
	{Model: "gpt-5.1", Since: "2025-11-13", Rates: Rates{1.25 * usd, 1.25 * usd, 1.25 * usd, 0.125 * usd, 10 * usd}},
	{Model: "gpt-5.1-codex", Since: "2025-11-13", Rates: Rates{1.25 * usd, 1.25 * usd, 1.25 * usd, 0.125 * usd, 10 * usd}},
	{Model: "gpt-5.1-codex-mini", Since: "2025-11-13", Rates: Rates{0.25 * usd, 0.25 * usd, 0.25 * usd, 0.025 * usd, 2 * usd}},
	{Model: "gpt-5.1-codex-max", Since: "2025-11-19", Rates: Rates{1.25 * usd, 1.25 * usd, 1.25 * usd, 0.125 * usd, 10 * usd}},
	{Model: "gpt-5.2", Since: "2025-12-11", Rates: Rates{1.75 * usd, 1.75 * usd, 1.75 * usd, 0.175 * usd, 14 * usd}},
	{Model: "gpt-5.2-codex", Since: "2026-01-14", Rates: Rates{1.75 * usd, 1.75 * usd, 1.75 * usd, 0.175 * usd, 14 * usd}},
	{Model: "gpt-5.3-codex", Since: "2026-02-05", Rates: Rates{1.75 * usd, 1.75 * usd, 1.75 * usd, 0.175 * usd, 14 * usd}},
	{Model: "gpt-5.4", Since: "2026-03-05", Rates: Rates{2.50 * usd, 2.50 * usd, 2.50 * usd, 0.25 * usd, 15 * usd},
		LongOver: 272_000, Long: Rates{5 * usd, 5 * usd, 5 * usd, 0.50 * usd, 22.50 * usd}},
	{Model: "gpt-5.4-mini", Since: "2026-03-17", Rates: Rates{0.75 * usd, 0.75 * usd, 0.75 * usd, 0.075 * usd, 4.50 * usd}},
	{Model: "gpt-5.4-nano", Since: "2026-03-17", Rates: Rates{0.20 * usd, 0.20 * usd, 0.20 * usd, 0.02 * usd, 1.25 * usd}},
	{Model: "gpt-5.5", Since: "2026-04-23", Rates: Rates{5 * usd, 5 * usd, 5 * usd, 0.50 * usd, 30 * usd},
		LongOver: 272_000, Long: Rates{10 * usd, 10 * usd, 10 * usd, 1 * usd, 45 * usd}},
	{Model: "gpt-5.6-sol", Since: "2026-07-09", Rates: Rates{5 * usd, 6.25 * usd, 6.25 * usd, 0.50 * usd, 30 * usd},
		LongOver: 272_000, Long: Rates{10 * usd, 12.50 * usd, 12.50 * usd, 1 * usd, 45 * usd}},
	{Model: "gpt-5.6-sol", Since: "2026-08-21", Rates: Rates{4 * usd, 5 * usd, 5 * usd, 0.40 * usd, 20 * usd}, // promised to 2026-11-21 at least
		LongOver: 272_000, Long: Rates{8 * usd, 10 * usd, 10 * usd, 0.80 * usd, 30 * usd}},
	{Model: "gpt-5.6-terra", Since: "2026-07-09", Rates: Rates{2.50 * usd, 3.125 * usd, 3.125 * usd, 0.25 * usd, 15 * usd},
		LongOver: 272_000, Long: Rates{5 * usd, 6.25 * usd, 6.25 * usd, 0.50 * usd, 22.50 * usd}},
	{Model: "gpt-5.6-terra", Since: "2026-07-30", Rates: Rates{2 * usd, 2.50 * usd, 2.50 * usd, 0.20 * usd, 12 * usd},
		LongOver: 272_000, Long: Rates{4 * usd, 5 * usd, 5 * usd, 0.40 * usd, 18 * usd}},
	{Model: "gpt-5.6-luna", Since: "2026-07-09", Rates: Rates{1 * usd, 1.25 * usd, 1.25 * usd, 0.10 * usd, 6 * usd},
		LongOver: 272_000, Long: Rates{2 * usd, 2.50 * usd, 2.50 * usd, 0.20 * usd, 9 * usd}},
	{Model: "gpt-5.6-luna", Since: "2026-07-30", Rates: Rates{0.20 * usd, 0.25 * usd, 0.25 * usd, 0.02 * usd, 1.20 * usd},
		LongOver: 272_000, Long: Rates{0.40 * usd, 0.50 * usd, 0.50 * usd, 0.04 * usd, 1.80 * usd}},
	{Model: "gpt-6-astra", Since: "2026-09-03", Rates: Rates{10 * usd, 12.50 * usd, 12.50 * usd, 1 * usd, 50 * usd},
		LongOver: 272_000, Long: Rates{20 * usd, 25 * usd, 25 * usd, 2 * usd, 75 * usd}},
	{Model: "gpt-6-sol", Since: "2026-09-22", Rates: Rates{2 * usd, 2.50 * usd, 2.50 * usd, 0.20 * usd, 10 * usd},
		LongOver: 272_000, Long: Rates{4 * usd, 5 * usd, 5 * usd, 0.40 * usd, 15 * usd}},
	{Model: "gpt-6-luna", Since: "2026-09-22", Rates: Rates{0.10 * usd, 0.125 * usd, 0.125 * usd, 0.01 * usd, 0.50 * usd},
		LongOver: 272_000, Long: Rates{0.20 * usd, 0.25 * usd, 0.25 * usd, 0.02 * usd, 0.75 * usd}},
	{Model: "gpt-6.1-sol", Since: "2026-09-29", Rates: Rates{2 * usd, 2.50 * usd, 2.50 * usd, 0.10 * usd, 10 * usd},
		LongOver: 272_000, Long: Rates{4 * usd, 5 * usd, 5 * usd, 0.20 * usd, 15 * usd}},
	{Model: "gpt-6.2-sol", Since: "2026-11-17", Rates: Rates{2 * usd, 2.50 * usd, 2.50 * usd, 0.10 * usd, 10 * usd},
		LongOver: 272_000, Long: Rates{4 * usd, 5 * usd, 5 * usd, 0.20 * usd, 15 * usd}},
	{Model: "gpt-6.2-astra", Since: "2026-11-17", Rates: Rates{8 * usd, 10 * usd, 10 * usd, 0.40 * usd, 40 * usd},
		LongOver: 272_000, Long: Rates{16 * usd, 20 * usd, 20 * usd, 0.80 * usd, 60 * usd}},

	// Google: text in and out; thinking is output. Storage of explicit caches is not counted.
	{Model: "gemini-2.5-pro", Since: "2025-06-17", Rates: Rates{1.25 * usd, 1.25 * usd, 1.25 * usd, 0.125 * usd, 10 * usd},
		LongOver: 200_000, Long: Rates{2.50 * usd, 2.50 * usd, 2.50 * usd, 0.25 * usd, 15 * usd}},
	{Model: "gemini-2.5-flash", Since: "2025-06-17", Rates: Rates{0.30 * usd, 0.30 * usd, 0.30 * usd, 0.03 * usd, 2.50 * usd}},
	{Model: "gemini-2.5-flash-lite", Since: "2025-07-22", Rates: Rates{0.10 * usd, 0.10 * usd, 0.10 * usd, 0.01 * usd, 0.40 * usd}},
	{Model: "gemini-3-pro", Since: "2025-11-18", Rates: Rates{2 * usd, 2 * usd, 2 * usd, 0.20 * usd, 12 * usd},
		LongOver: 200_000, Long: Rates{4 * usd, 4 * usd, 4 * usd, 0.40 * usd, 18 * usd}},
	{Model: "gemini-3-flash", Since: "2025-12-17", Rates: Rates{0.50 * usd, 0.50 * usd, 0.50 * usd, 0.05 * usd, 3 * usd}},
	{Model: "gemini-3.1-pro", Since: "2026-02-19", Rates: Rates{2 * usd, 2 * usd, 2 * usd, 0.20 * usd, 12 * usd},
		LongOver: 200_000, Long: Rates{4 * usd, 4 * usd, 4 * usd, 0.40 * usd, 18 * usd}},
	{Model: "gemini-3.5-flash", Since: "2026-05-20", Rates: Rates{1.50 * usd, 1.50 * usd, 1.50 * usd, 0.15 * usd, 9 * usd}},
	{Model: "gemini-3.5-flash-lite", Since: "2026-11-16", Rates: Rates{0.30 * usd, 0.30 * usd, 0.30 * usd, 0.03 * usd, 2.50 * usd}},
	{Model: "gemini-3.8-flash", Since: "2026-09-02", Rates: Rates{0.75 * usd, 0.75 * usd, 0.75 * usd, 0.075 * usd, 3.75 * usd}},
	{Model: "gemini-3.8-flash", Since: "2027-01-01", Rates: Rates{1.50 * usd, 1.50 * usd, 1.50 * usd, 0.15 * usd, 7.50 * usd}},
	{Model: "gemini-4-argon", Since: "2026-10-20", Rates: Rates{2 * usd, 2 * usd, 2 * usd, 0.10 * usd, 10 * usd}},
	{Model: "gemini-4-argon", Since: "2026-12-01", Rates: Rates{4 * usd, 4 * usd, 4 * usd, 0.20 * usd, 20 * usd}},
	{Model: "gemini-4-carbon", Since: "2026-11-16", Rates: Rates{2 * usd, 2 * usd, 2 * usd, 0.10 * usd, 10 * usd}},
	{Model: "gemini-4-carbon", Since: "2026-12-01", Rates: Rates{4 * usd, 4 * usd, 4 * usd, 0.20 * usd, 20 * usd}},
	{Model: "gemini-4-hydrogen", Since: "2026-11-16", Rates: Rates{1.50 * usd, 1.50 * usd, 1.50 * usd, 0.075 * usd, 7.50 * usd}},
	{Model: "gemini-4-neon", Since: "2026-11-18", Rates: Rates{3 * usd, 3 * usd, 3 * usd, 0.15 * usd, 15 * usd}},

	// Play money: the models of the built-in scripted agent. Nobody is billed for them.
	{Model: "script-small", Since: "1970-01-01", Rates: Rates{1 * usd, 1.25 * usd, 2 * usd, 0.10 * usd, 5 * usd}},
	{Model: "script-large", Since: "1970-01-01", Rates: Rates{5 * usd, 6.25 * usd, 10 * usd, 0.50 * usd, 25 * usd},
		LongOver: 200_000, Long: Rates{10 * usd, 12.50 * usd, 20 * usd, 1 * usd, 37.50 * usd}},
}

// Play tells whether a model's prices are play money.
func Play(model string) bool {
	name := Name(model)
	return name == "script-small" || name == "script-large"
}
