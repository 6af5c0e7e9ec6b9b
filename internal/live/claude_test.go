//go:build unix

package live_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// run is one process of Claude Code without a person: its stream of JSON lines.
type run struct {
	w     *world
	cmd   *exec.Cmd
	stdin io.WriteCloser // of a two-way run
	err   bytes.Buffer
	ended chan struct{}

	mu    sync.Mutex
	lines []streamed
	more  chan struct{} // closed when a line came, or the stream ended
	over  bool
}

// streamed is one line of the stream.
type streamed struct {
	Type, Subtype string
	SessionID     string `json:"session_id"`
	Model         string
	Result        string
	IsError       bool   `json:"is_error"`
	Terminal      string `json:"terminal_reason"`
	NumTurns      int    `json:"num_turns"`
	ModelUsage    map[string]modelUsage
	TotalCostUSD  float64 `json:"total_cost_usd"`
	Raw           json.RawMessage
}

// modelUsage is Claude Code's own total of a model.
type modelUsage struct {
	InputTokens              int64
	OutputTokens             int64
	CacheReadInputTokens     int64
	CacheCreationInputTokens int64
	CacheCreation1h          int64 `json:"cacheCreationEphemeral1hInputTokens"`
	CostUSD                  float64
	ContextWindow            int64
}

// hookEvents are those that Duplex wants to hear of.
var hookEvents = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "PostCompact",
	"SubagentStop", "Stop", "StopFailure", "SessionEnd"}

// settings writes a settings file with Duplex's hooks and returns its path.
func (w *world) settings() string {
	w.Helper()
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type group struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []hook `json:"hooks"`
	}
	hooks := map[string][]group{}
	for _, e := range hookEvents {
		hooks[e] = []group{{Hooks: []hook{{Type: "command", Command: program + " hook claude", Timeout: 30}}}}
	}
	b, err := json.MarshalIndent(map[string]any{"hooks": hooks}, "", " ")
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(w.home, "hooks.json")
	w.write(file, string(b))
	return file
}

// claude starts a run with one prompt, in the repository.
func (w *world) claude(prompt string, args ...string) *run {
	w.Helper()
	return w.claudeIn(w.repo, prompt, args...)
}

func (w *world) claudeIn(dir, prompt string, args ...string) *run {
	w.Helper()
	return w.launch(dir, false, append([]string{"-p", prompt}, args...))
}

// converse starts a two-way run: the test says what the person says, line by line.
func (w *world) converse(args ...string) *run {
	w.Helper()
	return w.launch(w.repo, true, append([]string{"-p", "--input-format", "stream-json"}, args...))
}

func (w *world) launch(dir string, twoWay bool, args []string) *run {
	w.Helper()
	args = append(args, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--settings", w.settings())
	r := &run{w: w, ended: make(chan struct{}), more: make(chan struct{})}
	r.cmd = exec.Command(claudeProgram(w), args...)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = dir, w.env, &r.err
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if twoWay {
		var err error
		if r.stdin, err = r.cmd.StdinPipe(); err != nil {
			w.Fatal(err)
		}
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	go r.follow(out)
	w.Cleanup(func() { // before the folders go
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.ended
	})
	return r
}

// follow reads the stream to its end and waits for the process.
func (r *run) follow(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			s := streamed{}
			_ = json.Unmarshal(line, &s) // what it cannot be is told by what a story misses
			s.Raw = line
			r.mu.Lock()
			r.lines = append(r.lines, s)
			close(r.more)
			r.more = make(chan struct{})
			r.mu.Unlock()
		}
		if err != nil {
			break
		}
	}
	_ = r.cmd.Wait() // how it ended is in ProcessState
	r.mu.Lock()
	r.over = true
	close(r.more)
	r.more = make(chan struct{})
	r.mu.Unlock()
	close(r.ended)
}

// wait waits for a line of the stream.
func (r *run) wait(what string, is func(streamed) bool) streamed {
	r.w.Helper()
	late := time.After(patience)
	for seen := 0; ; {
		r.mu.Lock()
		lines, more, over := r.lines, r.more, r.over
		r.mu.Unlock()
		for ; seen < len(lines); seen++ {
			if is(lines[seen]) {
				return lines[seen]
			}
		}
		if over {
			r.w.Fatalf("Claude Code ended without %s\n%s", what, r.printed())
		}
		select {
		case <-more:
		case <-late:
			r.w.Fatalf("waited %s in vain for %s\n%s", patience, what, r.printed())
		}
	}
}

// end waits for the process and returns its exit code; -1 when a signal ended it.
func (r *run) end() int {
	r.w.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.w.Fatalf("Claude Code does not end\n%s", r.printed())
	}
	return r.cmd.ProcessState.ExitCode()
}

// done waits for a run to end well, and returns its last result.
func (r *run) done() streamed {
	r.w.Helper()
	if code := r.end(); code != 0 {
		r.w.Fatalf("Claude Code ended with %d\n%s", code, r.printed())
	}
	results := r.results()
	if len(results) == 0 {
		r.w.Fatalf("Claude Code gave no result\n%s", r.printed())
	}
	return results[len(results)-1]
}

func (r *run) results() []streamed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []streamed
	for _, l := range r.lines {
		if l.Type == "result" {
			all = append(all, l)
		}
	}
	return all
}

// session is the id that Claude Code gave the session.
func (r *run) session() string {
	r.w.Helper()
	return r.wait("its first line", func(s streamed) bool { return s.Type == "system" && s.Subtype == "init" }).SessionID
}

// say sends a person's words to a two-way run and waits for the turn's result.
func (r *run) say(text string) streamed {
	r.w.Helper()
	before := len(r.results())
	r.send(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	var result streamed
	r.wait("the turn's result", func(streamed) bool {
		if all := r.results(); len(all) > before {
			result = all[len(all)-1]
			return true
		}
		return false
	})
	return result
}

func (r *run) send(line any) {
	r.w.Helper()
	b, err := json.Marshal(line)
	if err != nil {
		r.w.Fatal(err)
	}
	if _, err := r.stdin.Write(append(b, '\n')); err != nil {
		r.w.Fatalf("Claude Code does not listen: %v\n%s", err, r.printed())
	}
}

// leave closes the conversation, as a program that drives does, and returns the exit code.
func (r *run) leave() int {
	r.w.Helper()
	if err := r.stdin.Close(); err != nil {
		r.w.Fatal(err)
	}
	return r.end()
}

// kill9 ends the agent, and only the agent, at once.
func (r *run) kill9() {
	r.w.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.w.Fatal(err)
	}
	<-r.ended
}

// printed is what the run has printed, shortened, for a test that fails.
func (r *run) printed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, l := range r.lines {
		text := string(l.Raw)
		if len(text) > 400 {
			text = text[:400] + "…\n"
		}
		b.WriteString(text)
	}
	return b.String() + r.err.String()
}
