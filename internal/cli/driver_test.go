package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// What Claude Code may do unasked is what was asked for, else what the person's own
// settings say, wherever they say it, else acceptEdits.
func TestPermissionMode(t *testing.T) {
	t.Parallel()
	const plan = `{"permissions": {"defaultMode": "plan"}}`
	for name, c := range map[string]struct {
		asked, file, text, want string
	}{
		"nobody says":          {"", "", "", "acceptEdits"},
		"asked for":            {"bypassPermissions", "home/.claude/settings.json", plan, "bypassPermissions"},
		"the user's settings":  {"", "home/.claude/settings.json", plan, ""},
		"the project's":        {"", "repo/.claude/settings.json", plan, ""},
		"the local ones":       {"", "repo/.claude/settings.local.json", plan, ""},
		"settings without one": {"", "home/.claude/settings.json", `{"permissions": {"allow": ["Bash(ls)"]}}`, "acceptEdits"},
		"no settings":          {"", "home/.claude/settings.json", `{"permissions": {`, "acceptEdits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if c.file != "" {
				file := filepath.Join(root, filepath.FromSlash(c.file))
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := &App{Dir: filepath.Join(root, "repo"), Getenv: func(name string) string { return map[string]string{"HOME": filepath.Join(root, "home")}[name] }}
			if got := a.permissionMode(c.asked); got != c.want {
				t.Errorf("the mode is %q, want %q", got, c.want)
			}
		})
	}
}
