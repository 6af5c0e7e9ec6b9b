package claude

import (
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// Sizes of contexts and of what Claude Code keeps free in them, in tokens, as
// measured on 2.1.332: it compacts 20,000 + 13,000 below the window, and where
// compaction is off it stops 23,000 below. Versions before 2.1.29 compacted
// 45,000 below; those that are still used are learned from their compactions.
const (
	small      = 200_000
	large      = 1_000_000
	answerRoom = 20_000 // for the model's answer
	compactAt  = answerRoom + 13_000
	stopAt     = answerRoom + 3_000
	leastRoom  = 100_000 // that its context can be set to
)

// Levels are the sizes of a model's context under the environment's settings:
// CLAUDE_CODE_AUTO_COMPACT_WINDOW, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE,
// DISABLE_AUTO_COMPACT and DISABLE_COMPACT, and --autocompact of the command line,
// which the first of them overrules. An unknown model has no sizes.
func (Adapter) Levels(model string, env func(string) string) agent.Levels {
	window := windowOf(model)
	if window == 0 {
		return agent.Levels{}
	}
	l := agent.Levels{Window: window}
	if isSet(env("DISABLE_AUTO_COMPACT")) || isSet(env("DISABLE_COMPACT")) {
		l.Level = window - stopAt
		return l
	}
	room := window
	set := size(env("CLAUDE_CODE_AUTO_COMPACT_WINDOW"))
	if set == 0 {
		set = size(thousands(env("--autocompact")))
	}
	switch {
	case set > 0:
		room = min(max(set, leastRoom), window)
	case strings.Contains(model, "haiku"):
		// By default nothing happens before the provider refuses the prompt.
		l.Level = window
		return l
	}
	l.Level = room - compactAt
	if percent, err := strconv.ParseFloat(strings.TrimSpace(env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")), 64); err == nil && percent > 0 && percent <= 100 {
		l.Level = min(l.Level, int64(percent/100*float64(room-answerRoom)))
	}
	return l
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

// windowOf is the window of a model: "claude-opus-5-5", "claude-sonnet-4-5-20250929",
// "opus[1m]", with a provider's prefix or without.
func windowOf(model string) int64 {
	model = strings.ToLower(model)
	if strings.Contains(model, "[1m]") {
		return large
	}
	for _, family := range []string{"opus", "sonnet", "fable", "haiku"} {
		_, after, ok := strings.Cut(model, family)
		if !ok {
			continue
		}
		if family != "haiku" && atLeast(after, 5, 5) {
			return large
		}
		// Also of models whose window depends on the account, such as opus-5: a
		// handover too early costs little, one too late costs the work.
		return small
	}
	if strings.Contains(model, "claude") {
		return small
	}
	return 0
}

// atLeast reads the version in what follows a family's name: "-5-5", "-4-5-20250929".
func atLeast(after string, major, minor int) bool {
	numbers := [2]int{}
	for i, part := range strings.SplitN(strings.TrimPrefix(after, "-"), "-", 3) {
		n, err := strconv.Atoi(part)
		if i == len(numbers) || err != nil || n > 99 {
			break
		}
		numbers[i] = n
	}
	return numbers[0] > major || numbers[0] == major && numbers[1] >= minor
}
