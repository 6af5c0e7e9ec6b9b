package claude_test

import (
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
)

// The first group was measured on 2.1.332 by raising what the provider said was
// used: the level is the first size at which it compacted or stopped.
func TestLevels(t *testing.T) {
	t.Parallel()
	const window, percent, line = "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "--autocompact"
	const settings, version = ".autoCompactWindow", "AI_AGENT"
	for _, c := range []struct {
		model string
		env   []string
		want  agent.Levels
	}{
		{"claude-opus-5-5", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-sonnet-5-5", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5-5", []string{window, "100000"}, agent.Levels{Window: 1_000_000, Level: 67_000}},
		{"claude-opus-5-5", []string{window, "100000", percent, "50"}, agent.Levels{Window: 1_000_000, Level: 40_000}},
		{"claude-haiku-4-5", nil, agent.Levels{Window: 200_000, Level: 200_000}},
		{"claude-haiku-4-5", []string{window, "200000"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-haiku-4-5", []string{line, "200000"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-haiku-4-5", []string{"DISABLE_AUTO_COMPACT", "1"}, agent.Levels{Window: 200_000, Level: 177_000}},

		{"claude-opus-5-5", []string{line, "200"}, agent.Levels{Window: 1_000_000, Level: 167_000}},
		{"claude-opus-5-5", []string{line, "0.5m"}, agent.Levels{Window: 1_000_000, Level: 467_000}},
		{"claude-opus-5-5", []string{line, "auto"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5-5", []string{line, "200000", window, "300k"}, agent.Levels{Window: 1_000_000, Level: 267_000}},
		{"claude-opus-5-5", []string{line, "200000", window, "soon"}, agent.Levels{Window: 1_000_000, Level: 167_000}},
		{"claude-opus-5-5", []string{window, "500"}, agent.Levels{Window: 1_000_000, Level: 67_000}},  // the least there is
		{"claude-opus-5-5", []string{percent, "99"}, agent.Levels{Window: 1_000_000, Level: 967_000}}, // it only lowers
		{"claude-opus-5-5", []string{window, "5000000"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5-5", []string{window, "many", percent, "-3"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5-5", []string{"DISABLE_COMPACT", "true"}, agent.Levels{Window: 1_000_000, Level: 977_000}},
		{"claude-opus-5-5", []string{"DISABLE_AUTO_COMPACT", "0"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		// The newest of each, those of one generation before, and the ones that wait
		// for the provider to refuse.
		{"opus", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"sonnet", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"haiku", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-haiku-5-5", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-sonnet-5", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-fable-5", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-4-7", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-4-8-20260101", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"us.anthropic.claude-opus-6-v1:0", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-4-6", nil, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-sonnet-4-6", nil, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-4-5-20251101", nil, agent.Levels{Window: 200_000, Level: 200_000}},
		{"claude-sonnet-4-5-20250929", nil, agent.Levels{Window: 200_000, Level: 200_000}},
		{"claude-3-5-haiku-20241022", nil, agent.Levels{Window: 200_000, Level: 200_000}},
		{"claude-3-7-sonnet-20250219", nil, agent.Levels{Window: 200_000, Level: 200_000}},
		{"opus[1m]", nil, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-sonnet-4-6[1m]", nil, agent.Levels{Window: 1_000_000, Level: 1_000_000}},
		{"claude-haiku-4-5[1m]", nil, agent.Levels{Window: 1_000_000, Level: 1_000_000}},

		{"claude-opus-4-6", []string{window, "50000"}, agent.Levels{Window: 200_000, Level: 67_000}},
		{"claude-opus-4-6", []string{window, "many"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-4-6", []string{percent, "30"}, agent.Levels{Window: 200_000, Level: 54_000}},
		{"claude-haiku-4-5", []string{percent, "30"}, agent.Levels{Window: 200_000, Level: 200_000}},
		{"claude-opus-4-6", []string{"CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8000"}, agent.Levels{Window: 200_000, Level: 179_000}},
		{"claude-opus-5-5", []string{"CLAUDE_CODE_DISABLE_1M_CONTEXT", "1"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-5-5", []string{"CLAUDE_CODE_MAX_CONTEXT_TOKENS", "150000"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5-5", []string{"CLAUDE_CODE_MAX_CONTEXT_TOKENS", "150000", "DISABLE_COMPACT", "1"}, agent.Levels{Window: 150_000, Level: 127_000}},

		// Settings files, which the command line overrules.
		{"claude-opus-4-6", []string{settings, "150000"}, agent.Levels{Window: 200_000, Level: 117_000}},
		{"claude-opus-4-6", []string{settings, "150000", line, "auto"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-4-6", []string{settings, "50000"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-5-5", []string{settings, "150000", ".modelSettings.opus.autoCompactWindow", "100000"}, agent.Levels{Window: 1_000_000, Level: 67_000}},
		{"claude-opus-5-5", []string{settings, "150000", ".modelSettings.claude-opus-5-5.autoCompactWindow", "100000"}, agent.Levels{Window: 1_000_000, Level: 67_000}},
		{"claude-opus-5-5", []string{".autoCompactEnabled", "false"}, agent.Levels{Window: 1_000_000, Level: 977_000}},
		{"claude-opus-4-6", []string{".autoCompactEnabled", "false"}, agent.Levels{Window: 200_000, Level: 177_000}},
		{"claude-opus-4-6", []string{".autoCompactEnabled", "true"}, agent.Levels{Window: 200_000, Level: 167_000}},

		// Older versions, as their recorded sessions were compacted.
		{"claude-opus-4-5-20251101", []string{version, "claude-code_2-1-5_agent"}, agent.Levels{Window: 200_000, Level: 155_000}},
		{"claude-opus-4-5-20251101", []string{version, "claude-code_2-1-29_agent"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-5", []string{version, "claude-code_2-1-226_agent"}, agent.Levels{Window: 200_000, Level: 167_000}},
		{"claude-opus-5-5", []string{version, "claude-code_2-1-332_harness"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"claude-opus-5-5", []string{version, "another_1-0"}, agent.Levels{Window: 1_000_000, Level: 967_000}},
		{"", nil, agent.Levels{}},
		{"glm-5", nil, agent.Levels{}},
	} {
		if got := (claude.Adapter{}).Levels(c.model, environment(c.env...)); got != c.want {
			t.Errorf("%s with %v: got %+v, want %+v", c.model, c.env, got, c.want)
		}
	}
}

// FuzzLevels: whatever is set, a level lies within its model's window.
func FuzzLevels(f *testing.F) {
	f.Add("claude-opus-5-5", "100000", "200k", "50", "")
	f.Add("claude-haiku-4-5", "-1", "1e99m", "NaN", "1")
	f.Add("opus[1m]", "0x10", "auto", "1e-300", "0")
	f.Fuzz(func(t *testing.T, model, window, line, percent, off string) {
		l := (claude.Adapter{}).Levels(model, environment("CLAUDE_CODE_AUTO_COMPACT_WINDOW", window, "--autocompact", line, "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", percent,
			"CLAUDE_CODE_MAX_OUTPUT_TOKENS", line, "CLAUDE_CODE_MAX_CONTEXT_TOKENS", window, "AI_AGENT", line, "DISABLE_COMPACT", off))
		if l.Level < 0 || l.Level > l.Window {
			t.Errorf("%s: got %+v", model, l)
		}
	})
}
