package hook

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/spool"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// watcher calls hooks in this process, with a clock to set, and counts who asks the store.
type watcher struct {
	*place
	now        time.Time
	transcript string
	asked      int
	started    int // processes that take in
	n          int
}

func newWatcher(t *testing.T) *watcher {
	w := &watcher{place: newPlace(t), now: time.Now(), transcript: filepath.Join(t.TempDir(), "t.jsonl")}
	w.says(0, "Move everything")
	w.hook(script.HookSessionStart, map[string]any{"source": "startup"})
	return w
}

// says adds a message to the transcript.
func (w *watcher) says(context int, text string) {
	w.t.Helper()
	w.saysAs("script-large", context, text)
}

func (w *watcher) saysAs(model string, context int, text string) {
	w.t.Helper()
	f, err := os.OpenFile(w.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	w.n++
	m := &script.Content{ID: fmt.Sprint("m", w.n), Role: "user", Content: []script.Block{{Type: "text", Text: text}}}
	l := script.Line{Type: script.LineUser, UUID: m.ID, Time: w.now, Message: m}
	if context > 0 {
		m.Role, m.Model, m.Usage = "assistant", model, &script.Usage{Input: int64(context), Output: 5}
		l.Type = script.LineAssistant
	}
	line, err := json.Marshal(l)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "%s\n", line); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watcher) hook(event string, more map[string]any) string {
	w.t.Helper()
	if more == nil {
		more = map[string]any{}
	}
	more["transcript_path"] = w.transcript
	c := w.call(context.Background(), event, more)
	var in bytes.Buffer
	if _, err := in.ReadFrom(c.Stdin); err != nil {
		w.t.Fatal(err)
	}
	out, err := Run(context.Background(), Call{Adapter: script.Adapter{}, Stdin: &in, Getenv: func(string) string { return "" }, Dir: w.home,
		Now:    func() time.Time { return w.now },
		TakeIn: func() error { w.started++; return nil },
		Redact: func() (*redact.Redactor, error) { return tracker.Redactor(w.home, nil) },
		Open: func(ctx context.Context, refold bool) (*tracker.Tracker, error) {
			w.asked++
			return tracker.Open(ctx, tracker.Options{Dir: w.home, Settings: tracker.DefaultSettings(), Busy: time.Minute, Hook: !refold,
				Now: func() time.Time { return w.now }, Agents: []agent.Adapter{script.Adapter{}}})
		}})
	if err != nil && !errors.Is(err, store.ErrRefold) {
		w.t.Errorf("%s: %v", event, err)
	}
	return string(out.Stdout)
}

// tool is the hook after a command, and whether it asked the store.
func (w *watcher) tool(n int, output string) (answer string, asked bool) {
	w.t.Helper()
	before := w.asked
	answer = w.hook(script.HookAfterTool, map[string]any{"tool_name": "Bash", "tool_use_id": toolID(n),
		"tool_input": map[string]any{"command": fmt.Sprint("go test ./part", n)}, "tool_response": map[string]any{"stdout": output}})
	return answer, w.asked > before
}

// TestAside: a hook after a tool leaves the store alone until something is due.
func TestAside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(w *watcher)
		asks bool
		says string
	}{
		{"nothing is due", func(w *watcher) {}, false, ""},
		{"the context grows", func(w *watcher) { w.says(100, "on") }, false, ""},
		{"another model answers, with other levels", func(w *watcher) { w.saysAs("script-small", 100, "on") }, true, ""},
		{"the nudge is due", func(w *watcher) { w.says(nudged(), "on") }, true, "of this context is used"},
		{"five minutes have gone by", func(w *watcher) { w.now = w.now.Add(askEvery) }, true, ""},
		{"the clock was set back", func(w *watcher) { w.now = w.now.Add(-time.Hour) }, true, ""},
		{"a command has decided something", func(w *watcher) {
			if err := Forget(w.home); err != nil {
				t.Error(err)
			}
		}, true, ""},
		{"the watch is torn", func(w *watcher) { w.damage() }, true, ""},
		{"the transcript was cut", func(w *watcher) {
			if err := os.Truncate(w.transcript, 3); err != nil {
				t.Error(err)
			}
		}, true, ""},
		{"the store's key is gone", func(w *watcher) {
			if err := os.Rename(filepath.Join(w.home, "duplex.key"), filepath.Join(w.home, "duplex.key.gone")); err != nil {
				t.Error(err)
			}
		}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWatcher(t)
			w.tool(1, "ok")
			c.do(w)
			said, asked := w.tool(2, "ok")
			if asked != c.asks {
				t.Errorf("the store was asked: %v, want %v", asked, c.asks)
			}
			if !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("answered %q, want %q", said, c.says)
			}
			_ = os.Rename(filepath.Join(w.home, "duplex.key.gone"), filepath.Join(w.home, "duplex.key"))
			if found, _ := w.calls(); !found[toolID(1)] || !found[toolID(2)] {
				t.Errorf("recorded are %v, want both calls", found)
			}
		})
	}
}

const askEvery = 5 * time.Minute

// nudged is a context at which the scripted model is to be nudged.
func nudged() int {
	level := script.Adapter{}.Levels("script-large", func(string) string { return "" }).Level
	return int(float64(level)*tracker.DefaultSettings().Nudge) + 1
}

func (w *watcher) damage() {
	files, err := filepath.Glob(filepath.Join(w.home, "watch", "*"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("watches: %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"bound":tr`), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// TestNudgedOnce: what was told aside is not told again.
func TestNudgedOnce(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	w.says(nudged(), "on")
	if said, _ := w.tool(1, "ok"); said == "" {
		t.Fatal("there was no nudge")
	}
	for n := range 3 {
		w.says(nudged()+n, "on")
		if said, asked := w.tool(2+n, "ok"); said != "" || asked {
			t.Errorf("nudged already, the hook asked the store (%v) and said %q", asked, said)
		}
	}
}

// TestAsideIsTakenIn: a prompt takes in what was spooled, at the time it happened,
// and before the moment itself.
func TestAsideIsTakenIn(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	for n := range 3 {
		w.now = w.now.Add(time.Second)
		w.tool(n, "ok")
	}
	if spool.Waiting(spoolDir(w.home)) == 0 {
		t.Fatal("nothing waits")
	}
	w.hook(script.HookPrompt, map[string]any{"prompt": "go on"})
	if n := spool.Waiting(spoolDir(w.home)); n > 0 {
		t.Errorf("%d bytes wait after a prompt", n)
	}
	w.hook(script.HookSessionEnd, map[string]any{"reason": "exit"})
	if left, _ := filepath.Glob(filepath.Join(w.home, "watch", "*")); len(left) > 0 {
		t.Errorf("after the session's end there are watches: %v", left)
	}
}

// TestMuchIsTakenIn: when much waits a process of its own takes it in, once.
func TestMuchIsTakenIn(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	for n := 0; w.started == 0; n++ {
		if n > 40 {
			t.Fatal("nobody was started to take in what waits")
		}
		w.tool(n, strings.Repeat("0123456789abcdef ", 1<<10))
	}
	if n := spool.Waiting(spoolDir(w.home)); n < much || n > much+64<<10 {
		t.Errorf("%d bytes wait", n)
	}
}

// TestAsideIsRedacted: what waits in the spool went through the funnel, with the
// store's own marker.
func TestAsideIsRedacted(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	w.tool(1, "token "+secret)
	b, err := os.ReadFile(filepath.Join(w.home, "spool", "waiting"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := tracker.Redactor(w.home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(secret)) || !bytes.Contains(b, []byte(r.Text("token "+secret).String())) {
		t.Errorf("the spool holds %q, want %q in place of the token", b, r.Text("token "+secret))
	}
}

// TestOtherRules: after an upgrade the standing has to be folded again. No hook after
// a tool waits for that, nothing is lost, and a session that starts has its brief.
func TestOtherRules(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	w.tool(1, "ok")
	db, err := sql.Open("sqlite", filepath.Join(w.home, "duplex.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE job SET standing = json_set(standing, '$.apply', 0)"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(askEvery)
	if said, asked := w.tool(2, "ok"); said != "" || !asked || w.started != 1 {
		t.Errorf("the hook said %q, asked the store: %v, started %d processes, want one that folds again", said, asked, w.started)
	}
	if said := w.hook(script.HookSessionStart, map[string]any{"source": "resume"}); !strings.Contains(said, "Move everything") {
		t.Errorf("the session that starts was told %q, want its brief", said)
	}
	if found, _ := w.calls(); !found[toolID(1)] || !found[toolID(2)] {
		t.Errorf("recorded are %v, want both calls", found)
	}
}

// TestWatchThatCannotBeWritten: a call that is recorded did not fail, so it is not
// spooled and recorded again.
func TestWatchThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	if err := os.RemoveAll(watchDir(w.home)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(watchDir(w.home), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if _, asked := w.tool(n, "ok"); !asked {
			t.Errorf("call %d: the store was not asked, and no watch could say why", n)
		}
	}
	if n := spool.Waiting(spoolDir(w.home)); n > 0 {
		t.Errorf("%d bytes of calls that are recorded wait in the spool", n)
	}
	if found, _ := w.calls(); !found[toolID(0)] || !found[toolID(1)] {
		t.Errorf("recorded are %v, want both calls", found)
	}
}
