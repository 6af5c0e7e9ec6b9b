package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/script"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tale is a job over three days, told through the commands and hooks that a
// person and agents call. Only the clock and the agents are made up.
type tale struct {
	t     *testing.T
	dir   string
	env   map[string]string
	now   time.Time
	short string
	calls int
}

// berlin needs no time zone database.
var berlin = time.FixedZone("", 3600)

// newTale opens a job. Its short name has four characters, so that columns and
// line breaks of goldens are the same each time.
func newTale(t *testing.T) *tale {
	t.Helper()
	for range 40 {
		top := t.TempDir()
		w := &tale{t: t, dir: filepath.Join(top, "billing"), now: time.Date(2026, 11, 9, 9, 0, 0, 0, berlin),
			env: map[string]string{"HOME": filepath.Join(top, "home"), "DUPLEX_HOME": filepath.Join(top, "state"), "PATH": os.Getenv("PATH")}}
		w.write("refund_test.go", "package billing\n")
		w.write("invoice_test.go", "package billing\n")
		w.git("init", "-q", "-b", "table-tests")
		w.git("add", ".")
		w.git("-c", "user.name=Mara", "-c", "user.email=mara@example.org", "commit", "-q", "-m", "begin")
		out := w.must("start", "Move the billing tests to table tests without losing one", "--check", "test -f done.txt", "--check", "true",
			"--usd", "5", "--sessions", "6", "--deadline", "2026-11-13 18:00", "--protect", "*.golden", "--json")
		var started struct{ Short string }
		if err := json.Unmarshal([]byte(out), &started); err != nil {
			t.Fatal(err)
		}
		if w.short = started.Short; len(w.short) == 4 {
			return w
		}
	}
	t.Fatal("no job got a short name of four characters")
	return nil
}

func (w *tale) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *tale) git(args ...string) {
	w.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = w.dir
	// The same commit, by its id, each time.
	c.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-11-09T08:00:00Z", "GIT_COMMITTER_DATE=2026-11-09T08:00:00Z", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// run runs one command as a person at a pipe, or as the agent of a session.
func (w *tale) run(session, in string, args ...string) (out, errs string, code int) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	a := &App{Args: args, In: strings.NewReader(in), Out: &stdout, Err: &stderr, Dir: w.dir, Program: "duplex",
		Now: w.clock, Version: Version{Number: "0.1.0", Commit: "4e1c9ab", Date: "2026-11-01T10:00:00Z"},
		Getenv: func(k string) string {
			if k == "SCRIPT_SESSION_ID" {
				return session
			}
			return w.env[k]
		}}
	code = Main(context.Background(), a)
	return stdout.String(), stderr.String(), code
}

func (w *tale) must(args ...string) string {
	w.t.Helper()
	out, errs, code := w.run("", "", args...)
	if code != ExitOK {
		w.t.Fatalf("duplex %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// as runs a command as the agent of a session does.
func (w *tale) as(session string, args ...string) {
	w.t.Helper()
	w.now = w.now.Add(5 * time.Second)
	if out, errs, code := w.run(session, "", args...); code != ExitOK {
		w.t.Fatalf("duplex %s in %s: exit %d\n%s%s", strings.Join(args, " "), session, code, out, errs)
	}
}

func (w *tale) clock() time.Time { return w.now }

// at sets the clock: a day of November 2026 and a time.
func (w *tale) at(day int, clock string) {
	w.t.Helper()
	at, err := time.ParseInLocation("15:04", clock, berlin)
	if err != nil {
		w.t.Fatal(err)
	}
	w.now = time.Date(2026, 11, day, at.Hour(), at.Minute(), 0, 0, berlin)
}

// sitting is one session of a made-up agent.
type sitting struct {
	*tale
	id, model, file string
	used            int64 // context
}

func (w *tale) sit(id, model, source string) *sitting {
	w.t.Helper()
	s := &sitting{tale: w, id: id, model: model, file: filepath.Join(w.env["HOME"], id+".jsonl")}
	if err := os.MkdirAll(w.env["HOME"], 0o755); err != nil {
		w.t.Fatal(err)
	}
	s.append(script.Line{Type: script.LineSession, Agent: "script", Version: script.Version, Source: source, Dir: w.dir, Model: model})
	s.hook(script.HookInput{Event: script.HookSessionStart, Source: source})
	return s
}

func (s *sitting) append(l script.Line) {
	s.t.Helper()
	s.calls++
	l.Time, l.SessionID, l.UUID = s.now.UTC(), s.id, fmt.Sprintf("u%d", s.calls)
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(l.Encode())
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *sitting) hook(in script.HookInput) {
	s.t.Helper()
	in.SessionID, in.TranscriptPath, in.Dir, in.Model = s.id, s.file, s.dir, s.model
	b, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, errs, code := s.run(s.id, string(b), "hook", "script"); code != 0 || errs != "" {
		s.t.Fatalf("hook %s: exit %d\n%s", in.Event, code, errs)
	}
	if b, err := os.ReadFile(filepath.Join(s.env["DUPLEX_HOME"], "hook.log")); err == nil {
		s.t.Fatalf("hook %s: %s", in.Event, b)
	}
}

func (s *sitting) prompt(text string) {
	s.t.Helper()
	s.now = s.now.Add(20 * time.Second)
	s.append(script.Line{Type: script.LineUser, PromptID: fmt.Sprintf("p%d", s.calls), Message: &script.Content{Role: script.User,
		Content: []script.Block{{Type: "text", Text: text}}}})
	s.hook(script.HookInput{Event: script.HookPrompt, Prompt: text})
}

// use is one tool call with its result, and the message that asked for it.
func (s *sitting) use(tool string, in script.Input, output string, result script.Outcome) {
	s.t.Helper()
	s.now = s.now.Add(40 * time.Second)
	s.used += 600
	id := fmt.Sprintf("call%d", s.calls)
	usage := script.Usage{Input: 200, CacheWrite: 400, CacheRead: s.used - 600, Output: 90}
	s.append(script.Line{Type: script.LineAssistant, Message: &script.Content{ID: "m" + id, Role: script.Assistant, Model: s.model, StopReason: "tool_use",
		Usage: &usage, Content: []script.Block{{Type: "tool_use", ID: id, Name: tool, Input: &in}}}})
	s.now = s.now.Add(5 * time.Second)
	s.append(script.Line{Type: script.LineUser, Result: result, Millis: 4200, Message: &script.Content{Role: script.User,
		Content: []script.Block{{Type: "tool_result", Of: id, Content: output, Failed: result == script.Failed}}}})
	h := script.HookInput{Event: script.HookAfterTool, ToolName: tool, ToolUseID: id, ToolInput: &in, Millis: 4200}
	if result == script.Failed {
		h.Event, h.Error = script.HookToolFailed, output
	} else if b, err := json.Marshal(script.ToolResponse{Stdout: output}); err == nil {
		h.ToolResponse = b
	}
	s.hook(h)
}

func (s *sitting) read(path string) {
	s.t.Helper()
	s.use(script.Read, script.Input{Path: filepath.Join(s.dir, path)}, "package billing", script.OK)
}

func (s *sitting) edit(path, text string) {
	s.t.Helper()
	s.write(path, text)
	s.use(script.Edit, script.Input{Path: filepath.Join(s.dir, path), Old: "a\n", New: text}, "done", script.OK)
}

func (s *sitting) bash(command, output string, ok bool) {
	s.t.Helper()
	result := script.OK
	if !ok {
		result = script.Failed
	}
	s.use(script.Bash, script.Input{Command: command}, output, result)
}

func (s *sitting) end(reason string) {
	s.t.Helper()
	s.now = s.now.Add(30 * time.Second)
	s.append(script.Line{Type: script.LineEnd, Reason: reason})
	s.hook(script.HookInput{Event: script.HookSessionEnd, Reason: reason})
}

// monday is the first session: half of the work, a decision, an open item.
func (w *tale) monday() {
	w.t.Helper()
	w.at(9, "09:05")
	s := w.sit("s1", "script-small", "startup")
	s.prompt("Move every test of billing to a table test. Never delete a test.")
	s.read("refund_test.go")
	s.read("invoice_test.go")
	s.use(script.Grep, script.Input{Pattern: "func Test"}, "refund_test.go\ninvoice_test.go", script.OK)
	s.edit("refund_test.go", "package billing\n\n// table\n")
	s.bash("go test ./...", "Exit code 1\n--- FAIL: TestRefundRoundsHalfUp (0.00s)\n--- PASS: TestInvoice (0.00s)\nFAIL", false)
	s.edit("refund_test.go", "package billing\n\n// table, rounded\n")
	s.bash("go test ./...", "--- PASS: TestRefundRoundsHalfUp (0.00s)\n--- PASS: TestInvoice (0.00s)\nok\n", true)
	w.as("s1", "decide", "one table a file, named cases", "--why", "the diff stays readable file by file", "--rejected", "one table for the package")
	w.as("s1", "raise", "coverage of invoice_test.go was never measured")
	s.bash("git commit -am 'billing: refund as a table'", "[table-tests 4e1c9ab] billing: refund as a table\n 1 file changed, 2 insertions(+)", true)
	s.end("exit")
}

// tuesday is another model: it takes over, meets a dead end, asks, and crashes. A
// quick question beside it is a guest.
func (w *tale) tuesday() *sitting {
	w.t.Helper()
	w.at(10, "08:30")
	s := w.sit("s2", "script-large", "startup")
	s.prompt("go on")
	s.read("invoice_test.go")
	s.edit("invoice_test.go", "package billing\n\n// table\n")
	s.bash("gofmt -r 'a -> b' -w .", "Exit code 2\nparsing replacement: expected 1 expression", false)
	w.as("s2", "deadend", "rewriting with gofmt -r", "--why", "it cannot turn functions into rows")
	w.as("s2", "raise", "move invoice_test.go, then measure coverage", "--next")
	g := w.sit("s3", "script-small", "startup")
	g.prompt("what does this package do?")
	g.read("refund_test.go")
	g.end("exit")
	return s
}

// masked takes what differs from run to run out of an output.
func (w *tale) masked(s string) string {
	s = strings.ReplaceAll(s, w.short, "k7m2")
	s = strings.ReplaceAll(s, w.dir, "/home/mara/billing")
	s = strings.ReplaceAll(s, filepath.Dir(w.dir), "/home/mara")
	s = regexp.MustCompile(`\b[a-z2-7]{26}\b`).ReplaceAllString(s, "<id>")
	return regexp.MustCompile(`\b[0-9a-f]{40}\b`).ReplaceAllString(s, "<commit>")
}

// golden holds an output against a file of testdata.
func (w *tale) golden(name, got string) {
	w.t.Helper()
	got = w.masked(got)
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if got != string(want) {
		w.t.Errorf("%s differs (write anew with -update):\n%s\nwant:\n%s", name, got, want)
	}
}

func TestReading(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	w.golden("show-begun", w.must("show"))
	w.monday()
	w.at(9, "18:00")
	w.golden("show-ready", w.must("show", w.short))
	w.tuesday()
	w.golden("show-running", w.must("show"))
	w.golden("show-brief", w.must("show", "--brief"))
	w.golden("brief", w.must("brief"))
	w.golden("brief-decisions", w.must("brief", "--section", "decisions"))
	w.at(10, "12:00") // nothing heard of it for hours: it has crashed
	w.golden("show-crashed", w.must("show"))
	w.at(11, "09:00")
	s := w.sit("s4", "script-large", "startup")
	s.prompt("go on, and finish")
	s.edit("invoice_test.go", "package billing\n\n// table, whole\n")
	s.write("done.txt", "done\n")
	w.as("s4", "settle", w.position("raised"), "measured: 84.1 %")
	w.golden("handover", w.must("handover", "--next", "run the checks"))
	s.end("exit")
	w.must("finish")
	w.golden("show-finished", w.must("show"))
	w.golden("log", w.must("log"))
	w.golden("log-full", w.must("log", "--full"))
	w.golden("log-last", w.must("log", "--last", "3"))
	w.golden("log-kind", w.must("log", "--kind", "dead-end", "--kind", "decided"))
	w.golden("log-decided", w.must("log", "--decided"))
	w.golden("log-entry", w.must("log", w.position("step")))
	w.golden("cost", w.must("cost"))
	w.golden("lessons", w.must("lessons"))
	w.golden("verify", w.must("verify"))
}

// position finds the first entry of a kind.
func (w *tale) position(kind string) string {
	w.t.Helper()
	for _, line := range strings.Split(w.must("log", "--json", "--kind", kind), "\n")[1:] {
		var e struct{ Position json.Number }
		if json.Unmarshal([]byte(line), &e) == nil && e.Position != "" {
			return e.Position.String()
		}
	}
	w.t.Fatalf("no entry of kind %q", kind)
	return ""
}
