package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const duplexPath = "/home/mara/go/bin/duplex"

// newHome is a person's home with nothing in it.
func newHome(t *testing.T) Home {
	t.Helper()
	root := t.TempDir()
	work := filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	return Home{State: filepath.Join(root, "state"), Claude: filepath.Join(root, ".claude"), Dir: work, Top: work, Program: duplexPath,
		Now: time.Date(2037, 11, 9, 9, 0, 0, 0, time.UTC)}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// setUp plans and applies, and fails when it must not.
func setUp(t *testing.T, h Home) Plan {
	t.Helper()
	p, err := h.PlanEntries(User)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// undo undoes the one setup that is remembered.
func undo(t *testing.T, h Home) Plan {
	t.Helper()
	all, err := h.Setups()
	if err != nil || len(all) != 1 {
		t.Fatalf("remembered are %v, %v; want one", all, err)
	}
	p, err := h.PlanUndo(all[0])
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the undoing something is still remembered: %v", err)
	}
	return p
}

// theirs is one more tool that uses hooks.
const theirs = `{"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/audit --hook claude-code", "timeout": 2}]}`

// longFile is a settings file of some megabytes, as a tool may write one.
func longFile() string {
	var b strings.Builder
	b.WriteString("{\n  \"permissions\": {\n    \"allow\": [\n")
	for i := range 60_000 {
		fmt.Fprintf(&b, "      \"Bash(make target-%d:*)\",\n", i)
	}
	b.WriteString("      \"Read\"\n    ]\n  },\n  \"model\": \"opus\"\n}\n")
	return b.String()
}

// asPeopleHaveThem are settings files, and why one is refused.
func asPeopleHaveThem() []struct{ name, text, refused string } {
	old := func(line string) string { return `{"type": "command", "command": ` + quote(line) + `}` }
	return []struct{ name, text, refused string }{
		{"plain", "{\n  \"model\": \"opus\"\n}\n", ""},
		{"empty object", "{}", ""},
		{"empty object on two lines", "{\n}\n", ""},
		{"empty file", "", ""},
		{"only blanks", "\n  \n", ""},
		{"unknown keys", "{\n  \"model\": \"opus\",\n  \"futureThing\": {\"a\": [1, 2, {\"b\": null}]},\n  \"$schema\": \"https://example.org/s.json\"\n}\n", ""},
		{"hooks of another tool", "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      " + theirs + "\n    ],\n    \"Notification\": [{\"hooks\": []}]\n  },\n  \"model\": \"opus\"\n}\n", ""},
		{"another tool under every event", everyEvent(theirs), ""},
		{"empty hooks", "{\n  \"hooks\": {},\n  \"env\": {}\n}\n", ""},
		{"empty lists", "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": [\n    ]\n  }\n}\n", ""},
		{"four blanks", "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}\n", ""},
		{"tabs", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n", ""},
		{"CRLF", "{\r\n  \"model\": \"opus\",\r\n  \"env\": {\r\n    \"A\": \"1\"\r\n  }\r\n}\r\n", ""},
		{"BOM", "\xef\xbb\xbf{\n  \"model\": \"opus\"\n}\n", ""},
		{"BOM alone", "\xef\xbb\xbf", ""},
		{"BOM and CRLF and tabs", "\xef\xbb\xbf{\r\n\t\"model\": \"opus\"\r\n}", ""},
		{"no final newline", "{\n  \"model\": \"opus\"\n}", ""},
		{"blank lines at the end", "{\n  \"model\": \"opus\"\n}\n\n\n", ""},
		{"one line", `{"model":"opus","hooks":{"Stop":[` + theirs + `]}}`, ""},
		{"brace on its own line, comma first", "{\n  \"a\": 1\n, \"model\": \"opus\"\n}\n", ""},
		{"oddly laid out", "{ \"model\":\"opus\" ,\n\n\n      \"hooks\" :{ \"Stop\":[ ] } }", ""},
		{"escapes and other scripts", "{\n  \"statusLine\": \"\\u00e9 \\\"„ü“\\\" \\\\ 日本\"\n}\n", ""},
		{"not UTF-8", "{\n  \"note\": \"caf\xe9\"\n}\n", ""},
		{"our hooks of an older version", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [" + old("duplex hook claude") + "]}\n    ],\n    \"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": [" +
			old("/usr/local/bin/duplex hook claude") + ", " + old("'/opt/a b/duplex' hook claude") + "]}, " + theirs + "]\n  }\n}\n", ""},
		{"our hooks for a program elsewhere", everyEvent(`{"hooks": [` + old(Line("/opt/it's here/duplex", claude)) + `]}`), ""},
		{"a line of a person's own that calls us", "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [" + old("nice duplex hook claude 2>>/tmp/log") + "]}]\n  }\n}\n", ""},
		{"huge", longFile(), ""},
		{"a name with two meanings", `{"hooks": {"Stop": []}, "a": {"hooks": "text"}, "hooksx": 1}`, ""},

		{"comment", "{\n  // my own\n  \"model\": \"opus\"\n}\n", "line 2, column 3: a comment"},
		{"comment in a block", "{\n  \"model\": \"opus\" /* cheap */\n}\n", "line 2, column 19: a comment"},
		{"trailing comma", "{\n  \"model\": \"opus\",\n}\n", "line 2, column 18: a comma before }"},
		{"trailing comma in a list", "{\r\n  \"a\": [1, 2 ,\r\n  ]\r\n}\r\n", "line 2, column 14: a comma before ]"},
		{"torn", "{\n  \"model\": \"op", "line 2, column 12: a text without an end"},
		{"not closed", "{\"model\": \"opus\"", "line 1, column 17: want a comma or }"},
		{"two values", "{}\n{}\n", "line 2, column 1: text after the end of the value"},
		{"a list", "[]\n", "settings are an object"},
		{"single quotes", "{'model': 'opus'}", `line 1, column 2: want a name in "`},
		{"a number that is none", "{\n  \"a\": 01\n}", "line 2, column 9"},
		{"an escape that is none", "{\n  \"a\": \"\\q\"\n}", "line 2, column 10"},
		{"hooks are null", `{"hooks": null}`, `line 1, column 11: "hooks" is no object`},
		{"an event is an object", "{\n\"hooks\": {\"Stop\": {}}}", `line 2, column 19: "Stop" is no list`},
		{"an entry without hooks", `{"hooks": {"Stop": [{"command": "x"}]}}`, `an entry of "Stop" without a list of hooks`},
		{"hooks twice", "{\n  \"hooks\": {},\n  \"hooks\": {}\n}", `line 3, column 3: "hooks" stands here a second time`},
		{"an event twice", `{"hooks": {"Stop": [], "Stop": []}}`, `"Stop" stands here a second time`},
		{"too deep", strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600), "nested more than 500 deep"},
		{"a web page", "<!DOCTYPE html>\n<html></html>\n", `line 1, column 1: "<!DOCTYPE" is no value`},
	}
}

// everyEvent is a file with a group under each event we use.
func everyEvent(group string) string {
	var events []string
	for _, e := range claudeEvents() {
		events = append(events, "    "+quote(e.event)+": [\n      "+group+"\n    ]")
	}
	return "{\n  \"hooks\": {\n" + strings.Join(events, ",\n") + "\n  }\n}\n"
}

// TestSettings: setup then undo leaves every byte as it was, or setup refuses with the
// reason and touches nothing.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, c := range asPeopleHaveThem() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			path := h.SettingsFile(User)
			put(t, path, c.text)
			p, err := h.PlanEntries(User)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), path) {
					t.Fatalf("refused with %v, want %s and %q", err, path, c.refused)
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Apply(); err != nil {
					t.Fatal(err)
				}
				checkHooks(t, c.text, get(t, path))
				if again := setUp(t, h); !again.Nothing() {
					t.Errorf("a second setup changes it again:\n%s", strings.Join(again.Changes[0].Diff(), "\n"))
				}
				undo(t, h)
			}
			if now := get(t, path); now != c.text {
				t.Errorf("left is\n%.2000q\nwant\n%.2000q", now, c.text)
			}
			if left, _ := filepath.Glob(filepath.Join(h.Claude, ".*")); len(left) > 0 {
				t.Errorf("left behind are %v", left)
			}
		})
	}
}

// checkHooks holds a settings file after setup against the one before, by what a JSON
// reader of another make reads in both.
func checkHooks(t *testing.T, before, after string) {
	t.Helper()
	var had, has map[string]any
	if trimmed := strings.TrimSpace(strings.TrimPrefix(before, "\xef\xbb\xbf")); trimmed != "" {
		if err := json.Unmarshal([]byte(trimmed), &had); err != nil {
			t.Fatalf("the case is wrong: %v", err)
		}
	}
	if strings.HasPrefix(before, "\xef\xbb\xbf") != strings.HasPrefix(after, "\xef\xbb\xbf") {
		t.Error("the BOM is lost")
	}
	if err := json.Unmarshal(bytes.TrimPrefix([]byte(after), byteOrderMark), &has); err != nil {
		t.Fatalf("it is no JSON any more: %v\n%s", err, after)
	}
	if strings.Contains(before, "\r\n") && strings.Contains(strings.ReplaceAll(after, "\r\n", ""), "\n") {
		t.Errorf("line ends are mixed: %q", after)
	}
	hooks := has["hooks"].(map[string]any)
	for _, e := range claudeEvents() {
		n := 0
		for _, g := range hooks[e.event].([]any) {
			for _, x := range g.(map[string]any)["hooks"].([]any) {
				if line, _ := x.(map[string]any)["command"].(string); line == Line(duplexPath, claude) || strings.HasPrefix(line, "nice duplex") {
					n++
				}
			}
		}
		if n == 0 {
			t.Errorf("nothing of ours is called at %s", e.event)
		}
	}
	// What else there is, is as it was.
	delete(has, "hooks")
	theirs := had["hooks"]
	delete(had, "hooks")
	if got, want := fmt.Sprint(has), fmt.Sprint(had); len(had) > 0 && got != want {
		t.Errorf("the other settings are %.500s, want %.500s", got, want)
	}
	for event, groups := range mapOf(theirs) {
		for _, g := range groups.([]any) {
			if text := fmt.Sprint(g); !strings.Contains(text, "duplex") && !strings.Contains(fmt.Sprint(hooks[event]), text) {
				t.Errorf("under %s, %s is gone", event, text)
			}
		}
	}
}

func mapOf(v any) map[string]any { m, _ := v.(map[string]any); return m }

func TestNoSettingsFile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p := setUp(t, h)
	if len(p.Changes) != 1 || p.Changes[0].Was {
		t.Fatalf("planned is %+v", p.Changes)
	}
	checkHooks(t, "", get(t, h.SettingsFile(User)))
	undo(t, h)
	if _, err := os.Stat(h.Claude); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that was made is still there: %v", err)
	}
}

// TestFolderOfOthersStays: a folder that we made, and in which others now keep things.
func TestFolderOfOthersStays(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	setUp(t, h)
	put(t, filepath.Join(h.Claude, "history.jsonl"), "{}\n")
	undo(t, h)
	if _, err := os.Stat(h.SettingsFile(User)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file that was made is still there: %v", err)
	}
	get(t, filepath.Join(h.Claude, "history.jsonl"))
}

// TestChangedMeanwhile: what others changed between setup and undo stays, and only our
// entries go.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const model = "{\n  \"model\": \"opus\"\n}\n"
	reorder := func(text string) string { // as Claude Code itself writes the file again
		var all map[string]any
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Error(err)
		}
		b, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Error(err)
		}
		return string(b) + "\n"
	}
	for _, c := range []struct {
		name, before string
		change       func(string) string
		want         string
	}{
		{"a key added", model, func(s string) string { return strings.Replace(s, "{", "{\n  \"new\": 1,", 1) }, "{\n  \"new\": 1,\n  \"model\": \"opus\"\n}\n"},
		{"a comment added", model, func(s string) string { return strings.Replace(s, "\"model\"", "// cheap\n  \"model\"", 1) }, "{\n  // cheap\n  \"model\": \"opus\"\n}\n"},
		{"a trailing comma added", model, func(s string) string { return strings.TrimSuffix(s, "\n}\n") + ",\n}\n" }, "{\n  \"model\": \"opus\",\n}\n"},
		{"written again by the agent", model, reorder, model},
		{"written again, on one line", model, func(s string) string {
			var b bytes.Buffer
			if err := json.Compact(&b, []byte(s)); err != nil {
				t.Error(err)
			}
			return b.String()
		}, `{"model":"opus"}`},
		{"hooks of another tool added to ours", model, func(s string) string {
			return strings.Replace(s, `"Stop": [`, `"Stop": [`+theirs+", ", 1)
		}, "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [" + theirs + "]\n  }\n}\n"},
		{"another tool before ours", model, func(s string) string { return strings.Replace(s, `"hooks": {`, `"hooks": {"Notification": [],`, 1) },
			"{\n  \"model\": \"opus\",\n  \"hooks\": {\"Notification\": []\n  }\n}\n"},
		{"empty lists were there", "{\n  \"hooks\": {\"Stop\": []},\n  \"model\": \"opus\"\n}\n", reorder, "{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"model\": \"opus\"\n}\n"},
		{"ours taken out by hand", model, func(string) string { return "{\n  \"model\": \"haiku\"\n}\n" }, "{\n  \"model\": \"haiku\"\n}\n"},
		{"CRLF made of it", model, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, strings.ReplaceAll(model, "\n", "\r\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			path := h.SettingsFile(User)
			put(t, path, c.before)
			setUp(t, h)
			changed := c.change(get(t, path))
			put(t, path, changed)
			p := undo(t, h)
			if got := get(t, path); got != c.want {
				t.Errorf("left is\n%s\nwant\n%s", got, c.want)
			}
			said := strings.Contains(strings.Join(p.Notes, "\n"), "was changed by others since: only the 11 hooks of Duplex go")
			if want := strings.Contains(changed, "hook claude"); said != want {
				t.Errorf("said is %q; of the change: %v, want %v", p.Notes, said, want)
			}
		})
	}
}

// TestMadeFileChanged: a file that was made for our hooks goes unless others put
// something in it.
func TestMadeFileChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	setUp(t, h)
	path := h.SettingsFile(User)
	put(t, path, strings.Replace(get(t, path), "\"hooks\"", "\"model\": \"opus\", \"hooks\"", 1))
	undo(t, h)
	if got := get(t, path); got != "{\n  \"model\": \"opus\"\n}\n" {
		t.Errorf("left is %q", got)
	}

	put(t, path, "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	setUp(t, h)
	put(t, path, strings.ReplaceAll(get(t, path), "  ", "\t"))
	undo(t, h)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("only laid out anew, the file that was made stays: %v", err)
	}
}

// TestSetUpTwice: every setup in between is undone at once.
func TestSetUpTwice(t *testing.T) {
	t.Parallel()
	const text = "{\n  \"model\": \"opus\"\n}\n"
	h := newHome(t)
	path := h.SettingsFile(User)
	put(t, path, text)
	setUp(t, h)
	h.Program = "/opt/duplex/bin/duplex"
	if p := setUp(t, h); p.Nothing() {
		t.Error("the program is elsewhere, and nothing changed")
	}
	if got := get(t, path); strings.Contains(got, duplexPath) || strings.Count(got, h.Program) != 2*len(claudeEvents()) {
		t.Errorf("the program is elsewhere, and called is\n%s", got)
	}
	undo(t, h)
	if got := get(t, path); got != text {
		t.Errorf("left is %q", got)
	}
}

// TestForgotten: without a memory, our entries are found by their lines.
func TestForgotten(t *testing.T) {
	t.Parallel()
	const text = "{\n  \"hooks\": {\n    \"Stop\": [\n      " + theirs + "\n    ]\n  }\n}\n"
	h := newHome(t)
	path := h.SettingsFile(User)
	put(t, path, text)
	setUp(t, h)
	if err := os.RemoveAll(h.State); err != nil {
		t.Fatal(err)
	}
	found, err := h.Find()
	if err != nil || len(found) != 1 || found[0].Hooks != len(claudeEvents()) || found[0].Remembered || !found[0].Whole {
		t.Fatalf("found is %+v, %v", found, err)
	}
	p, err := h.PlanUndo(found[0].Setup)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, path); got != text {
		t.Errorf("left is %q, want %q", got, text)
	}
}

// TestOlderHooksComeBack: what stood there before is there again, and it is said.
func TestOlderHooksComeBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	put(t, h.SettingsFile(User), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"duplex hook claude"}]}]}}`)
	setUp(t, h)
	p := undo(t, h)
	if !strings.Contains(strings.Join(p.Notes, "\n"), "1 hook of Duplex stood in") {
		t.Errorf("said is %q", p.Notes)
	}
}
