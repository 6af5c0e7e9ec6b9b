package claude_test

import (
	"reflect"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent/claude"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const etc, library = "/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"
	for _, c := range []struct {
		home, dir string
		args, env []string
		want      []string
	}{
		{"/h", "/w", nil, nil, []string{etc, library, "/w/.claude/settings.local.json", "/w/.claude/settings.json", "/h/.claude/settings.json"}},
		{"/h", "/w", []string{"claude", "--settings", "a.json", "-p", "x"}, []string{"CLAUDE_CONFIG_DIR", "/c"},
			[]string{etc, library, "/w/a.json", "/w/.claude/settings.local.json", "/w/.claude/settings.json", "/c/settings.json"}},
		{"", "", []string{"claude", `--settings={"autoCompactWindow":1}`}, nil, []string{etc, library, `{"autoCompactWindow":1}`}},
		{"", "", []string{"claude", "--settings"}, nil, []string{etc, library}},
	} {
		if got := (claude.Adapter{}).Settings(c.home, c.dir, c.args, environment(c.env...)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %v:\n got %q\nwant %q", c.dir, c.args, got, c.want)
		}
	}
}

const someSettings = ` {"autoCompactEnabled": false, "autoCompactWindow": 150000, "env": {"A": "b"}, "x": [1],
	"modelSettings": {"opus": {"autoCompactWindow": "auto"}, "us.anthropic.claude-opus-6-v1:0": {"autoCompactWindow": 120000}}}`

func TestSetting(t *testing.T) {
	t.Parallel()
	if got := (claude.Adapter{}).Setting([]byte("\uFEFF{\"autoCompactWindow\": 5}"), ".autoCompactWindow"); got != "5" {
		t.Errorf("behind a byte order mark: got %q", got)
	}
	for name, want := range map[string]string{
		".autoCompactEnabled":                   "false",
		".autoCompactWindow":                    "150000",
		".modelSettings.opus.autoCompactWindow": "auto",
		".modelSettings.us.anthropic.claude-opus-6-v1:0.autoCompactWindow": "120000",
		".modelSettings.sonnet.autoCompactWindow":                          "",
		".modelSettings.": "",
		".env":            "",
		".x":              "",
		".none":           "",
	} {
		if got := (claude.Adapter{}).Setting([]byte(someSettings), name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// FuzzSetting: what is no JSON sets nothing and breaks nothing.
func FuzzSetting(f *testing.F) {
	f.Add([]byte(someSettings), ".modelSettings.opus.autoCompactWindow")
	f.Add([]byte(`// a comment`+"\n{}"), ".autoCompactWindow")
	f.Add([]byte("\xef\xbb\xbf{\"autoCompactWindow\": 1}"), "modelSettings")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		(claude.Adapter{}).Setting(text, name)
	})
}
