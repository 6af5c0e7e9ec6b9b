package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// TestMain lets the test binary be the agent and its hook as well: processes
// are what this package is about.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "test-hook" {
		os.Exit(hookMain(os.Args[2]))
	}
	if os.Getenv("SCRIPTED_TEST") == "agent" {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ(), nil))
	}
	os.Exit(m.Run())
}

// hookMain writes down what it was told and answers with the file
// <dir>/<event>[.<tool>] if there is one; a file ".once" is used up.
func hookMain(dir string) int {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	var in script.HookInput
	if json.Unmarshal(data, &in) != nil {
		return 1
	}
	f, err := os.OpenFile(filepath.Join(dir, "log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	defer f.Close()
	if _, err := f.Write(append(data, '\n')); err != nil {
		return 1
	}
	for _, name := range []string{in.Event + "." + in.Source, in.Event + "." + in.ToolName, in.Event} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			fmt.Print(string(text))
			return 0
		}
		if text, err := os.ReadFile(filepath.Join(dir, name+".once")); err == nil {
			_ = os.Remove(filepath.Join(dir, name+".once"))
			fmt.Print(string(text))
			return 0
		}
	}
	return 0
}

// stage is a folder to work in, with a hook that writes down what it is told.
type stage struct {
	t               testing.TB
	work, home, dir string // dir: the hook's
	out             bytes.Buffer
	now             time.Time
}

func newStage(t testing.TB) *stage {
	t.Helper()
	root := t.TempDir()
	s := &stage{t: t, work: filepath.Join(root, "work"), home: filepath.Join(root, "home"), dir: filepath.Join(root, "hook"),
		now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	for _, d := range []string{s.work, s.dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *stage) write(dir, name, text string) {
	s.t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) file(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.work, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// items fills the folder with files to rewrite.
func (s *stage) items(n int) {
	for i := range n {
		s.write(s.work, fmt.Sprintf("t/%02d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 20)+"old end\n")
	}
}

const moves = `"work": {"item": "t/\\d+\\.txt", "find": "ls t/*.txt", "replace": [{"match": "old", "with": "new"}], "final": ["ls -d t"]}, "end": "All moved."`

func (s *stage) options(scriptText string) Options {
	s.t.Helper()
	s.write(s.dir, "script.json", scriptText)
	return Options{
		Script: filepath.Join(s.dir, "script.json"), Session: "s1", Prompts: []string{"Move the files."}, Dir: s.work, Home: s.home,
		Hook: "'" + os.Args[0] + "' test-hook '" + s.dir + "'", Stdout: &s.out, Stderr: &s.out, HookTimeout: 30 * time.Second,
		Now: func() time.Time { s.now = s.now.Add(time.Millisecond); return s.now },
	}
}

// run runs the agent in this process and gives its exit code and last result.
func (s *stage) run(o Options) (int, script.StreamLine) {
	s.t.Helper()
	s.out.Reset()
	code := Run(s.t.Context(), o)
	var last script.StreamLine
	for line := range bytes.Lines(s.out.Bytes()) {
		var l script.StreamLine
		if err := json.Unmarshal(line, &l); err != nil {
			continue
		}
		if l.Type == script.StreamResult {
			last = l
		}
	}
	return code, last
}

// hooks lists what the hook was told.
func (s *stage) hooks() []script.HookInput {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "log.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	var all []script.HookInput
	for line := range bytes.Lines(data) {
		var in script.HookInput
		if err := json.Unmarshal(line, &in); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, in)
	}
	return all
}

func (s *stage) events() string {
	var names []string
	for _, in := range s.hooks() {
		name := in.Event
		switch {
		case in.Source != "":
			name += "(" + in.Source + ")"
		case in.Reason != "":
			name += "(" + in.Reason + ")"
		case in.Error != "" && in.ToolName == "":
			name += "(" + in.Error + ")"
		case in.ToolName != "":
			name += "(" + in.ToolName + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func (s *stage) lines(session string) []script.Line {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.home, "sessions", session+".jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	return parse(data)
}

// rows reads a transcript through the adapter, as everything above does.
func (s *stage) rows(path string) ([]agent.Row, agent.Reader) {
	s.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	r := script.Adapter{}.NewReader()
	var rows []agent.Row
	offset := int64(0)
	for line := range bytes.Lines(data) {
		got, err := r.Line(bytes.TrimSuffix(line, []byte("\n")), offset)
		if err != nil {
			s.t.Errorf("line at %d: %v", offset, err)
		}
		rows = append(rows, got...)
		offset += int64(len(line))
	}
	return append(rows, r.End()...), r
}

func (s *stage) path(session string) string {
	return filepath.Join(s.home, "sessions", session+".jsonl")
}

// process starts the agent as a process of its own.
func (s *stage) process(o Options, env ...string) *exec.Cmd {
	args := []string{"--script", o.Script, "--dir", o.Dir, "--home", o.Home, "--hook", o.Hook, "--hook-timeout", "30s"}
	if o.Resume != "" {
		args = append(args, "--resume", o.Resume)
	} else {
		args = append(args, "--session-id", o.Session)
	}
	for _, p := range o.Prompts {
		args = append(args, "--prompt", p)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "SCRIPTED_TEST=agent"), env...)
	cmd.Stdout, cmd.Stderr = &s.out, &s.out
	return cmd
}
