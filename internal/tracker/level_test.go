package tracker

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/store"
)

// A call that was spooled comes without the agent's environment. It is taken in by
// the levels that held for the agent, not by those that hold without any setting.
func TestSpooledCallsKeepTheLevel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	w.start(StartRequest{Goal: "Go on", NoBaseline: true})
	set := "100000"
	w.getenv = func(name string) string {
		if name == "CLAUDE_CODE_AUTO_COMPACT_WINDOW" {
			return set
		}
		return ""
	}
	level := func() (level int64) {
		err := w.store.Read(ctx, func(tx *store.Tx) error {
			row, err := tx.Session("claude", "s1")
			if err == nil {
				level = row.Level
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return level
	}
	start := agent.Event{Kind: agent.SessionStart, Source: "startup", Session: "s1", Dir: w.repo, Model: "claude-opus-5-5"}
	if _, err := w.Observe(ctx, claude.Adapter{}, start); err != nil {
		t.Fatal(err)
	}
	late := Late{Event: agent.Event{Kind: agent.AfterTool, Session: "s1", Dir: w.repo, Tool: &agent.Call{ID: "c1", Name: "Read", Done: &agent.Done{}}}, At: w.Now().Time()}
	o, err := w.Redeliver(ctx, claude.Adapter{}, []Late{late})
	if err != nil {
		t.Fatal(err)
	}
	if level() != 67_000 || o.Watch == nil || o.Watch.Fill.Level != 67_000 {
		t.Errorf("after a spooled call the level is %d, and hooks go by %+v; want 67000", level(), o.Watch)
	}
	set, start.Source = "", "resume" // in a process that is set otherwise
	if _, err := w.Observe(ctx, claude.Adapter{}, start); err != nil {
		t.Fatal(err)
	}
	if level() != 967_000 {
		t.Errorf("resumed without the setting, the level is %d, want 967000", level())
	}
}

// What a settings file says holds from the next call on, and for spooled ones.
func TestLevelOfSettingsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := t.TempDir()
	w.getenv = func(name string) string { return map[string]string{"HOME": home}[name] }
	write := func(dir, name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".claude", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	observe := func(want int64) {
		t.Helper()
		o, err := w.Observe(context.Background(), claude.Adapter{}, agent.Event{Kind: agent.SessionStart, Source: "startup", Session: "s1", Dir: w.repo, Model: "claude-opus-5-5"})
		if err != nil {
			t.Fatal(err)
		}
		if o.Watch == nil || o.Watch.Fill.Level != want {
			t.Errorf("hooks go by %+v, want the level %d", o.Watch, want)
		}
	}
	observe(967_000)
	write(home, "settings.json", `{"autoCompactWindow": 200000}`)
	observe(167_000)
	write(w.repo, "settings.local.json", `{"modelSettings": {"opus": {"autoCompactWindow": 100000}}}`)
	observe(67_000)
	write(w.repo, "settings.local.json", `{"autoCompactEnabled": false`)
	observe(167_000) // it is not whole: nothing is read of it
	write(w.repo, "settings.local.json", `{"autoCompactEnabled": false}`)
	observe(977_000)
}

func TestOption(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line []string
		want string
	}{
		{[]string{"claude", "--autocompact", "200k", "-p", "x"}, "200k"},
		{[]string{"claude", "--autocompact=auto"}, "auto"},
		{[]string{"claude", "--autocompact", "1", "--autocompact=2"}, "2"},
		{[]string{"claude", "--autocompacted", "1", "-p", "--autocompact"}, ""},
		{nil, ""},
	} {
		if got := option(c.line, "--autocompact"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
}
