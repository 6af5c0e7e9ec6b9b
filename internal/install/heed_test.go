package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestObstacles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text      string
		managed, plugin bool
		want            string // of what is said; empty: nothing
	}{
		{"nothing", `{"model": "opus"}`, false, true, ""},
		{"empty", "", false, true, ""},
		{"all hooks off", `{"disableAllHooks": true}`, false, false, "disableAllHooks is on"},
		{"hooks not off", `{"disableAllHooks": false}`, false, false, ""},
		{"plugin off", `{"enabledPlugins": {"duplex@skills-dir": false, "x@y": true}}`, false, true, "the plugin is switched off"},
		{"plugin off, none of ours", `{"enabledPlugins": {"duplex@skills-dir": false}}`, false, false, ""},
		{"another plugin off", `{"enabledPlugins": {"x@y": false, "z@y": ["a"]}}`, false, true, ""},
		{"no JSON", "{\n// note\n}", false, true, "loads nothing of it"},
		{"of another shape", `{"disableAllHooks": "yes"}`, false, true, ""},
		{"BOM", "\xef\xbb\xbf{\"disableAllHooks\": true}", false, true, "disableAllHooks is on"},
		{"hooks of the organization only", `{"allowManagedHooksOnly": true}`, true, true, "its own hooks only"},
		{"the same, by a person, who cannot", `{"allowManagedHooksOnly": true}`, false, true, ""},
		{"marketplaces of the organization only", `{"strictKnownMarketplaces": [{"source": "github", "repo": "a/b"}]}`, true, true, "does not allow plugins"},
		{"no marketplaces at all", `{"strictKnownMarketplaces": []}`, true, true, "does not allow plugins"},
		{"the same, without a plugin of ours", `{"strictKnownMarketplaces": []}`, true, false, ""},
		{"the skills folder allowed", `{"strictKnownMarketplaces": [{"source": "skills-dir"}]}`, true, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.Managed = []string{filepath.Join(h.State, "managed-settings.json")}
			path := h.SettingsFile(User)
			if c.managed {
				path = h.Managed[0]
			}
			put(t, path, c.text)
			places := []Found{{Setup: Setup{Kind: Entries, Path: h.SettingsFile(Local)}}}
			if c.plugin {
				places = []Found{{Setup: Setup{Kind: Plugin, Path: h.PluginFolder()}}}
			}
			got := h.Obstacles(places)
			switch {
			case c.want == "" && len(got) == 0:
			case len(got) != 1 || c.want == "" || !strings.Contains(got[0].Says, c.want) || got[0].Path != path || got[0].Do == "":
				t.Errorf("found is %+v, want %q in %s", got, c.want, path)
			}
		})
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if got, err := h.Recent(time.Time{}, 5); err != nil || len(got) > 0 {
		t.Errorf("without a folder: %v, %v", got, err)
	}
	at := time.Date(2037, 11, 9, 9, 0, 0, 0, time.UTC)
	for name, when := range map[string]time.Time{
		"-home-mara-shop/old.jsonl":              at.Add(-time.Hour),
		"-home-mara-shop/a.jsonl":                at.Add(time.Minute),
		"-home-mara-shop/a.jsonl.gz":             at.Add(time.Hour),
		"-home-mara-shop/a/subagents/ag-1.jsonl": at.Add(time.Hour),
		"-home-mara-till/b.jsonl":                at.Add(3 * time.Minute),
		"-home-mara-till/c.jsonl":                at.Add(2 * time.Minute),
	} {
		path := filepath.Join(h.Claude, "projects", name)
		put(t, path, "{}\n")
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]string{9: "b c a", 2: "b c", 0: ""} {
		got, err := h.Recent(at, most)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("the %d newest are %v, want %s", most, ids, want)
		}
	}
}
