package claude

import (
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// Sizes of contexts and of what Claude Code keeps free in them, in tokens, as
// measured on 2.1.332: it compacts 20,000 + 13,000 below the window, and where
// compaction is off it stops 23,000 below. Versions before 2.1.29 compacted 45,000
// below. The provider may set others for an account; those are learned.
const (
	small      = 200_000
	large      = 1_000_000
	answerRoom = 20_000 // for the model's answer; less for one that may only give less
	compactAt  = 13_000 // below that
	oldAt      = 25_000
	stopRoom   = 3_000
	stopAt     = answerRoom + stopRoom
	leastRoom  = 100_000 // that its context can be set to
)

// Levels are the sizes of a model's context under what is set: of the environment
// CLAUDE_CODE_AUTO_COMPACT_WINDOW, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE,
// CLAUDE_CODE_MAX_OUTPUT_TOKENS, CLAUDE_CODE_DISABLE_1M_CONTEXT, DISABLE_AUTO_COMPACT
// and DISABLE_COMPACT; of the command line --autocompact; of the settings files
// autoCompactWindow, autoCompactEnabled and modelSettings, weaker in this order. A
// model that is none of Anthropic's has no sizes.
func (Adapter) Levels(model string, env func(string) string) agent.Levels {
	v := versionOf(env("AI_AGENT"))
	window, waits := windowOf(model, v)
	if window == 0 {
		return agent.Levels{}
	}
	if isSet(env("CLAUDE_CODE_DISABLE_1M_CONTEXT")) && window == large {
		window, waits = small, false
	}
	room := int64(answerRoom)
	if n, err := strconv.ParseInt(strings.TrimSpace(env("CLAUDE_CODE_MAX_OUTPUT_TOKENS")), 10, 64); err == nil && n > 0 {
		room = min(room, n)
	}
	l := agent.Levels{Window: window}
	if isSet(env("DISABLE_AUTO_COMPACT")) || isSet(env("DISABLE_COMPACT")) || strings.TrimSpace(env(".autoCompactEnabled")) == "false" {
		if n := size(env("CLAUDE_CODE_MAX_CONTEXT_TOKENS")); n > 0 && isSet(env("DISABLE_COMPACT")) {
			l.Window = n
		}
		l.Level = max(0, l.Window-room-stopRoom)
		return l
	}
	if set := setWindow(model, env); set > 0 {
		window, waits = min(set, window), false
	}
	if waits { // nothing happens before the provider refuses the prompt
		l.Level = window
		return l
	}
	l.Level = window - room - compactAt
	if v.before(2, 1, 29) {
		l.Level = window - room - oldAt
	}
	if percent, err := strconv.ParseFloat(strings.TrimSpace(env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")), 64); err == nil && percent > 0 && percent <= 100 {
		l.Level = min(l.Level, int64(percent/100*float64(window-room)))
	}
	return l
}

// setWindow is the size that somebody gave the context, 0 when nobody did.
func setWindow(model string, env func(string) string) int64 {
	if n := size(env("CLAUDE_CODE_AUTO_COMPACT_WINDOW")); n > 0 {
		return max(n, leastRoom)
	}
	for _, value := range []string{thousands(env("--autocompact")), env(".modelSettings." + plain(model) + ".autoCompactWindow"),
		env(".modelSettings." + family(model) + ".autoCompactWindow"), env(".autoCompactWindow")} {
		if value == "auto" {
			return 0
		}
		if n := size(value); n >= leastRoom {
			return n
		}
	}
	return 0
}

// size reads a number of tokens: "500000", "500k", "1m". What is none gives 0.
func size(value string) int64 {
	value = strings.ToLower(strings.TrimSpace(value))
	unit := 1.0
	switch {
	case strings.HasSuffix(value, "k"):
		unit = 1e3
	case strings.HasSuffix(value, "m"):
		unit = 1e6
	}
	n, err := strconv.ParseFloat(strings.TrimRight(value, "km"), 64)
	if n *= unit; err != nil || !(n >= 1 && n < 1<<40) {
		return 0
	}
	return int64(n)
}

// thousands reads "200" as "200k", as the command line may have it.
func thousands(value string) string {
	if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 100 && n <= 1000 {
		return strconv.Itoa(n) + "k"
	}
	return value
}

func isSet(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// version of Claude Code; the zero one is not known and taken for the newest.
type version [3]int

// versionOf reads what Claude Code tells its children of itself:
// "claude-code_2-1-332_harness".
func versionOf(said string) (v version) {
	rest, ok := strings.CutPrefix(said, "claude-code_")
	if !ok {
		return v
	}
	number, _, _ := strings.Cut(rest, "_")
	for i, part := range strings.SplitN(number, "-", len(v)) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return version{}
		}
		v[i] = n
	}
	return v
}

func (v version) before(major, minor, patch int) bool {
	if v == (version{}) {
		return false
	}
	for i, n := range [3]int{major, minor, patch} {
		if v[i] != n {
			return v[i] < n
		}
	}
	return false
}

var families = []string{"opus", "sonnet", "fable", "haiku"}

// windowOf is the window of a model, "claude-opus-5-5", "claude-sonnet-4-5-20250929",
// "opus[1m]", with a provider's prefix or without, and whether Claude Code waits for
// the provider to refuse a prompt before it compacts.
func windowOf(model string, v version) (window int64, waits bool) {
	model = strings.ToLower(model)
	if family(model) == "" && !strings.Contains(model, "claude") {
		return 0, false
	}
	g, extended := generation(model), strings.Contains(model, "[1m]")
	const first = 406 // of those whose window is as large as the account allows
	switch {
	case v.before(2, 1, 300): // how large, was not measured: the smaller one is safe
		if extended {
			return large, false
		}
		return small, false
	case extended:
		return large, g <= first
	case g <= first:
		return small, g < first
	}
	return large, false
}

// generation is the number of a model, 405 for "claude-haiku-4-5-20251001". A name
// without a number stands for the newest; one with its number elsewhere, such as
// "claude-3-7-sonnet-20250219", is old.
func generation(model string) int {
	_, after, _ := strings.Cut(model, family(model))
	if !strings.HasPrefix(after, "-") {
		return 9900
	}
	var n [2]int
	for i, part := range strings.SplitN(after[1:], "-", 3) {
		number, err := strconv.Atoi(plain(part))
		if i == len(n) || err != nil || number > 99 {
			break
		}
		n[i] = number
	}
	return n[0]*100 + n[1]
}

func family(model string) string {
	for _, f := range families {
		if strings.Contains(strings.ToLower(model), f) {
			return f
		}
	}
	return ""
}

// plain is a model without the note on its window: "opus" of "opus[1m]".
func plain(model string) string {
	name, _, _ := strings.Cut(model, "[")
	return name
}
