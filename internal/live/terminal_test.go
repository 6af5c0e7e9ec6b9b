//go:build unix

package live_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// noTmux is the one reason for which stories of interactive sessions are left out.
// Like noClaude it is not for CI.
const noTmux = "no tmux is installed: apt-get install tmux brings it"

// terminal is an interactive Claude Code, as a person sits before it.
type terminal struct {
	w      *world
	socket string
}

// terminal starts Claude Code in a terminal of its own, past the questions that it
// asks a newcomer, and waits for its prompt.
func (w *world) terminal(args ...string) *terminal {
	w.Helper()
	t := w.inTerminal(append([]string{claudeProgram(w), "--dangerously-skip-permissions", "--settings", w.settings()}, args...)...)
	t.sees("bypass permissions on")
	return t
}

// inTerminal starts a program in a terminal in the repository.
func (w *world) inTerminal(argv ...string) *terminal {
	w.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		w.Skip(noTmux)
	}
	known, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{"approved": []string{dummyKey}, "rejected": []string{}},
		"projects":              map[string]any{w.repo: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.write(filepath.Join(w.home, ".claude.json"), string(known))
	t := &terminal{w: w, socket: filepath.Join(w.home, "tmux")}
	line := []string{"-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50", "-c", w.repo, "--"}
	w.Cleanup(func() { _ = t.tmux("kill-server").Run() }) // it may be gone already
	if out, err := t.tmux(append(line, argv...)...).CombinedOutput(); err != nil {
		w.Fatalf("tmux: %v\n%s", err, out)
	}
	return t
}

func (t *terminal) tmux(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", t.socket}, args...)...)
	cmd.Env = t.w.env
	return cmd
}

// types writes a line and sends it, once the agent listens: what is typed into its turn
// waits in a queue, and a key that comes with the text is taken for a part of it.
func (t *terminal) types(text string) {
	t.w.Helper()
	t.until("the agent listens", listens)
	t.keys("-l", text)
	written := func(screen string) bool { line, _ := prompt(screen); return line == text }
	t.until("the prompt has "+text, written)
	t.keys("Enter")
	t.until("that is sent", func(screen string) bool { return !written(screen) })
}

// listens tells a screen on which the agent waits for a person: there is a prompt, and
// no word of something under way.
func listens(screen string) bool {
	for line := range strings.Lines(screen) {
		if strings.HasSuffix(strings.TrimSpace(line), "…") || strings.Contains(line, "esc to interrupt") {
			return false
		}
	}
	_, there := prompt(screen)
	return there
}

// prompt is what stands behind the sign below the rule that ends the conversation: what
// is being typed, or a word of advice in its place.
func prompt(screen string) (line string, there bool) {
	rule := false
	for l := range strings.Lines(screen) {
		l = strings.TrimSpace(l)
		if text, ok := strings.CutPrefix(l, "❯"); ok && rule {
			return strings.TrimSpace(text), true
		}
		rule = strings.HasPrefix(l, "────")
	}
	return "", false
}

func (t *terminal) keys(keys ...string) {
	t.w.Helper()
	if out, err := t.tmux(append([]string{"send-keys"}, keys...)...).CombinedOutput(); err != nil {
		t.w.Fatalf("tmux: %v\n%s", err, out)
	}
}

// screen is what a person sees; empty once the agent has ended.
func (t *terminal) screen() string {
	out, _ := t.tmux("capture-pane", "-p").Output()
	return strings.ReplaceAll(string(out), "\u00a0", " ")
}

// sees waits until something stands on the screen.
func (t *terminal) sees(text string) {
	t.w.Helper()
	t.until("there is "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// loses waits until something stands there no longer.
func (t *terminal) loses(text string) {
	t.w.Helper()
	t.until("there is no more "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// until looks at the screen again and again: it tells nobody that it has changed.
func (t *terminal) until(what string, is func(screen string) bool) {
	t.w.Helper()
	late := time.After(patience)
	for !is(t.screen()) {
		select {
		case <-late:
			t.w.Fatalf("waited %s in vain until %s, on the screen\n%s", patience, what, t.screen())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// leaves ends the agent as a person does.
func (t *terminal) leaves() {
	t.w.Helper()
	t.types("/exit")
	t.w.until("the agent ends", func() bool { return t.tmux("has-session").Run() != nil })
}
