package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Auto: "on", Nudge: 0.7, Handover: 0.85, BriefTokens: 2000, OnCrash: "back", SafepointKeep: 50,
		Quota: 5e9, LeaseHeartbeat: 10 * time.Second, LeaseLength: 45 * time.Second, LeaseRemote: 30 * time.Minute,
	}
	got := c.All()
	for i, v := range want.All() {
		if got[i].Value != v.Value || got[i].Origin.String() != "default" {
			t.Errorf("%s is %q from %v, want %q from default", v.Key, got[i].Value, got[i].Origin, v.Value)
		}
	}
}

func TestStrongerSourceWins(t *testing.T) {
	t.Parallel()
	// Each source adds one to how many of the settings it gives, so that each wins exactly one of them.
	folder, home := t.TempDir(), t.TempDir()
	user := write(t, home, "config.toml", "nudge = 0.1\nhandover = 0.91\n[brief]\ntokens = 1001\n[lease]\nlength = \"31s\"\nremote = \"1m\"\n")
	project := write(t, folder, ProjectFile, "nudge = 0.2\nhandover = 0.92\nbrief.tokens = 1002\nlease.length = \"32s\"\n")
	local := write(t, folder, LocalFile, "# mine\nnudge = 0.3\nhandover = 0.93\nbrief.tokens = 1003\n")
	variables := map[string]string{"DUPLEX_NUDGE": "0.4", "DUPLEX_HANDOVER": "0.94"}
	c, err := Load(Sources{
		Flags:    map[string]string{"nudge": "0.5"},
		Getenv:   func(name string) string { return variables[name] },
		Folder:   folder,
		UserFile: user,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ key, value, origin string }{
		{"nudge", "0.5", "--nudge"},
		{"handover", "0.94", "DUPLEX_HANDOVER"},
		{"brief.tokens", "1003", local + ":4"},
		{"lease.length", "32s", project + ":4"},
		{"lease.remote", "1m0s", user + ":7"},
		{"auto", "on", "default"},
	} {
		got, err := c.Get(want.key)
		if err != nil || got.Value != want.value || got.Origin.String() != want.origin {
			t.Errorf("%s is %q from %v (%v), want %q from %s", want.key, got.Value, got.Origin, err, want.value, want.origin)
		}
	}
	if c.Nudge != 0.5 || c.LeaseRemote != time.Minute {
		t.Errorf("nudge %v and lease.remote %v, want 0.5 and 1m", c.Nudge, c.LeaseRemote)
	}
}

func TestWrongSettings(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"unknown", "\nnugde = 0.5\n", ":2: no setting is called \"nugde\": did you mean nudge?"},
		{"unknown in a table", "[brief]\n# how long\ntoken = 5\n", ":3: no setting is called \"brief.token\": did you mean brief.tokens?"},
		{"unknown in an inline table", "lease = { lenght = \"1m\" }\n", ":1: no setting is called \"lease.lenght\": did you mean lease.length?"},
		{"unknown, nothing near", "colour = true\n", ":1: no setting is called \"colour\": duplex config lists them"},
		{"unknown empty table", "auto = \"on\"\n[telemetry]\n", ":2: no setting is called \"telemetry\""},
		{"list of tables", "[[redact]]\nx = 1\n", ":1: redact: give it a text"},
		{"after a text of several lines", "prices = \"\"\"\na\nb\"\"\"\nnugde = 1\n", ":4: no setting is called"},
		{"after a list of several lines", "redact.known-files = [\n  \"a\", # ]\n  \"b]\",\n]\nnugde = 1\n", ":5: no setting is called"},
		{"not TOML", "auto = \"on\"\nnudge 0.5\n", ":2: "},
		{"word", "auto = \"never\"\n", ":1: auto: \"never\" is not one of on, ask, off"},
		{"level", "nudge = 70\n", ":1: nudge: \"70\" is not a level above 0 and up to 1, like 0.7 or 70%"},
		{"count", "brief.tokens = 2.5\n", ":1: brief.tokens: \"2.5\" is not a whole number"},
		{"truth", "safepoint.capture-ignored = \"maybe\"\n", ":1: safepoint.capture-ignored: \"maybe\" is neither"},
		{"time", "lease.length = 45\n", ":1: lease.length: \"45\" is not a time like 45s"},
		{"size", "quota = \"5 elephants\"\n", ":1: quota: \"5 elephants\" is not a size"},
		{"list", "redact.known-files = [1]\n", ":1: redact.known-files: a list holds texts"},
		{"date", "auto = 2026-01-01\n", ":1: auto: give it a text"},
		{"nudge after handover", "nudge = 0.9\n", "nudge 0.9 ("},
		{"lease of one heartbeat", "lease.length = \"15s\"\n", "lease.length 15s ("},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, t.TempDir(), "config.toml", test.text)
			c, err := Load(Sources{UserFile: file})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
			if strings.HasPrefix(test.want, ":") && !strings.HasPrefix(err.Error(), file+test.want[:2]) {
				t.Errorf("%v does not begin with the file and line", err)
			}
			if c.Handover != 0.85 || c.BriefTokens != 2000 {
				t.Errorf("with an error the other settings are %v and %v, want their defaults", c.Handover, c.BriefTokens)
			}
		})
	}
}

func TestEveryWrongSettingIsTold(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "config.toml", "a1 = 1\nnudge = 2\n")
	_, err := Load(Sources{
		UserFile: file,
		Flags:    map[string]string{"a3": "1"},
		Getenv:   func(name string) string { return map[string]string{"DUPLEX_QUOTA": "much"}[name] },
	})
	want := []string{file + ":1:", file + ":2: nudge:", "DUPLEX_QUOTA: quota:", "--a3:"}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d:\n%v", len(lines), len(want), err)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d is %q, want it to begin with %q", i, lines[i], want[i])
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir() // a folder in the place of the file cannot be read, even by root
	if _, err := Load(Sources{UserFile: folder}); err == nil {
		t.Error("a settings file that cannot be read is no error")
	}
}

func TestProjectFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	mkdir(t, top, "outer/tree/.git")
	mkdir(t, top, "outer/tree/sub/deep")
	write(t, filepath.Join(top, "outer"), ProjectFile, "auto = \"off\"\n")
	if got, want := projectFolder(filepath.Join(top, "outer/tree/sub/deep")), filepath.Join(top, "outer/tree"); got != want {
		t.Errorf("in a work tree: %s, want its top %s", got, want)
	}
	write(t, filepath.Join(top, "outer/tree/sub"), LocalFile, "")
	if got, want := projectFolder(filepath.Join(top, "outer/tree/sub/deep")), filepath.Join(top, "outer/tree/sub"); got != want {
		t.Errorf("below a folder with its own settings: %s, want %s", got, want)
	}
	c, err := Load(Sources{Folder: filepath.Join(top, "outer/tree")})
	if err != nil || c.Auto != "on" {
		t.Errorf("auto is %q (%v): the settings above the work tree are not this project's", c.Auto, err)
	}
}

func TestPricesFileIsBesideItsSettings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, ProjectFile, "prices = \"ours/prices.toml\"\n")
	c, err := Load(Sources{Folder: folder})
	if want := filepath.Join(folder, "ours", "prices.toml"); err != nil || c.Prices != want {
		t.Errorf("prices is %q (%v), want %q", c.Prices, err, want)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	separator := string(os.PathListSeparator)
	tests := []struct{ key, text, want string }{
		{"nudge", "70%", "0.7"},
		{"quota", "1.5 gb", "1500MB"},
		{"quota", "123", ""},
		{"quota", "NaNGB", ""},
		{"nudge", "NaN", ""},
		{"nudge", "0", ""},
		{"lease.length", "90s", "1m30s"},
		{"lease.length", "-1s", ""},
		{"brief.tokens", "0", ""},
		{"safepoint.capture-ignored", "on", "true"},
		{"redact.known-files", ".env" + separator + "~/.netrc", ".env" + separator + "~/.netrc"},
		{"redact.known-files", ".env" + separator, ""},
	}
	for _, test := range tests {
		c, err := Load(Sources{Flags: map[string]string{test.key: test.text}})
		if test.want == "" {
			if err == nil {
				t.Errorf("%s takes %q", test.key, test.text)
			}
			continue
		}
		if v, _ := c.Get(test.key); err != nil || v.Value != test.want {
			t.Errorf("%s = %q reads as %q (%v), want %q", test.key, test.text, v.Value, err, test.want)
		}
	}
}

func TestGetUnknown(t *testing.T) {
	t.Parallel()
	c, _ := Load(Sources{})
	if _, err := c.Get("handovr"); err == nil || !strings.Contains(err.Error(), "did you mean handover?") {
		t.Errorf("got %v, want the nearest setting", err)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	absolute := t.TempDir()
	tests := []struct {
		name, system string
		variables    map[string]string
		state, user  string // an error's words after "!"
	}{
		{"moved", "linux", map[string]string{"DUPLEX_HOME": absolute, "HOME": "/h"}, absolute, "/h/.config/duplex"},
		{"XDG", "linux", map[string]string{"XDG_STATE_HOME": absolute, "XDG_CONFIG_HOME": absolute}, absolute + "/duplex", absolute + "/duplex"},
		{"home", "linux", map[string]string{"HOME": "/h"}, "/h/.local/state/duplex", "/h/.config/duplex"},
		{"mac", "darwin", map[string]string{"HOME": "/h"}, "/h/.local/state/duplex", "/h/.config/duplex"},
		{"relative XDG is passed over", "linux", map[string]string{"XDG_STATE_HOME": "x", "XDG_CONFIG_HOME": "x", "HOME": "/h"}, "/h/.local/state/duplex", "/h/.config/duplex"},
		{"windows", "windows", map[string]string{"LocalAppData": "/l", "AppData": "/a"}, "/l/duplex", "/a/duplex"},
		{"windows without", "windows", nil, "!%LocalAppData% is not set", "!%AppData% is not set"},
		{"no home", "linux", nil, "!HOME is not set", "!HOME is not set"},
		{"relative DUPLEX_HOME", "linux", map[string]string{"DUPLEX_HOME": "state", "HOME": "/h"}, "!give it an absolute path", "/h/.config/duplex"},
	}
	for _, test := range tests {
		getenv := func(name string) string { return test.variables[name] }
		state, stateErr := stateDir(test.system, getenv)
		user, userErr := userDir(test.system, getenv)
		for _, got := range []struct {
			what, folder, want string
			err                error
		}{{"state", state, test.state, stateErr}, {"user", user, test.user, userErr}} {
			words, fails := strings.CutPrefix(got.want, "!")
			if fails && (got.err == nil || !strings.Contains(got.err.Error(), words)) || !fails && (got.err != nil || filepath.ToSlash(got.folder) != filepath.ToSlash(got.want)) {
				t.Errorf("%s: %s folder is %q (%v), want %s", test.name, got.what, got.folder, got.err, got.want)
			}
		}
	}
}

// TestSettingsMatch holds the list together: every default is one that the setting takes and shows again, and
// every key has its own field.
func TestSettingsMatch(t *testing.T) {
	t.Parallel()
	c, _ := Load(Sources{})
	var keys []string
	for _, v := range c.All() {
		keys = append(keys, v.Key)
		if v.About == "" {
			t.Errorf("%s says nothing about itself", v.Key)
		}
		again, err := Load(Sources{Flags: map[string]string{v.Key: v.Value}})
		if shown, _ := again.Get(v.Key); err != nil || shown.Value != v.Value {
			t.Errorf("%s shows %q and reads it as %q (%v)", v.Key, v.Value, shown.Value, err)
		}
	}
	if slices.Compare(slices.Compact(slices.Sorted(slices.Values(keys))), slices.Sorted(slices.Values(keys))) != 0 {
		t.Errorf("a key stands twice: %v", keys)
	}
}

// BenchmarkLoadNothing is what every hook pays when there is no settings file: well under 100 µs.
func BenchmarkLoadNothing(b *testing.B) {
	tree := b.TempDir()
	deep := filepath.Join(tree, "a", "b", "c")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.Mkdir(filepath.Join(tree, ".git"), 0o700)); err != nil {
		b.Fatal(err)
	}
	for _, place := range []struct{ name, folder string }{{"no folder", ""}, {"top", tree}, {"deep", deep}} {
		b.Run(place.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(Sources{Getenv: os.Getenv, Folder: place.folder, UserFile: filepath.Join(deep, "config.toml")}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	file := filepath.Join(folder, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func mkdir(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
		t.Fatal(err)
	}
}
