package tracker

import (
	"context"
	"fmt"
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

// A compaction says better than the table where a session's context ends, until it
// is another model's, or starts anew.
func TestLevelLearned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	write := func(lines ...string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, line := range lines {
			if _, err := fmt.Fprintln(f, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	observe := func(ev agent.Event, want int64) {
		t.Helper()
		ev.Session, ev.Dir, ev.Transcript = "s1", w.repo, path
		o, err := w.Observe(context.Background(), claude.Adapter{}, ev)
		if err != nil {
			t.Fatal(err)
		}
		if o.Watch == nil || o.Watch.Fill.Level != want {
			t.Errorf("%s %s: hooks go by %+v, want the level %d", ev.Kind, ev.Source, o.Watch, want)
		}
	}
	message := func(id, model, asked string, in int) string {
		return fmt.Sprintf(`{"type":"assistant","sessionId":"s1","uuid":"u-%s","requestedModel":%q,"message":{"id":%q,"model":%q,"content":[],"usage":{"input_tokens":%d}}}`, id, asked, id, model, in)
	}
	boundary := func(id, trigger string, tokens int) string {
		return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","sessionId":"s1","uuid":%q,"compactMetadata":{"trigger":%q,"preTokens":%d}}`, id, trigger, tokens)
	}
	prompt := agent.Event{Kind: agent.Prompt}
	write(message("m1", "claude-opus-5-5", "claude-opus-5-5", 160_000))
	observe(prompt, 967_000)
	write(boundary("c1", "manual", 100_000))
	observe(prompt, 967_000)
	write(boundary("c2", "auto", 168_000))
	observe(prompt, 168_000)
	observe(agent.Event{Kind: agent.SessionStart, Source: "compact"}, 168_000)
	write(message("m2", "claude-sonnet-4-6", "claude-sonnet-4-6[1m]", 1000))
	observe(prompt, 1_000_000)
	write(message("m3", "claude-sonnet-4-6", "claude-sonnet-4-6[1m]", 1000))
	observe(prompt, 1_000_000)
	write(message("m4", "claude-opus-5-5", "claude-opus-5-5", 1000), boundary("c3", "auto", 168_000))
	observe(prompt, 168_000)
	observe(agent.Event{Kind: agent.SessionStart, Source: "resume"}, 967_000)
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
