package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/process"
)

// answer is what a hook said, as far as it is heeded.
type answer struct {
	context string
	deny    string
	block   string // a prompt refused, or a turn that shall go on
	stop    bool
	plain   string // standard output that is not JSON
}

// fire runs the hook for one event and hears its answer. A hook that cannot be
// started, fails, takes too long or talks nonsense has said nothing.
func (s *session) fire(ctx context.Context, in script.HookInput) answer {
	if s.o.Hook == "-" {
		return answer{}
	}
	in.SessionID, in.TranscriptPath, in.Dir = s.id, s.main.path, s.o.Dir
	if in.PromptID == "" {
		in.PromptID = s.prompt
	}
	data, err := json.Marshal(in)
	if err != nil {
		return answer{}
	}
	var out bytes.Buffer
	done := process.Run(ctx, process.Spec{
		Shell: s.o.Hook, Dir: s.o.Dir, Env: s.env, Stdin: bytes.NewReader(data), Stdout: &out,
		Timeout: s.o.HookTimeout,
	})
	switch {
	case done.Started && done.Exit == 2 && in.Event == script.HookBeforeTool:
		return answer{deny: "the hook refused: " + strings.TrimSpace(done.Output)}
	case !done.Passed():
		return answer{}
	}
	return read(in.Event, out.String())
}

// read understands the answer of a hook.
func read(event, stdout string) answer {
	text := strings.TrimSpace(stdout)
	if text == "" {
		return answer{}
	}
	var said script.HookAnswer
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &said) != nil {
		a := answer{plain: text}
		if event == script.HookSessionStart || event == script.HookPrompt {
			a.context = bounded(text)
		}
		return a
	}
	a := answer{stop: said.Continue != nil && !*said.Continue}
	if said.Decision == "block" {
		a.block = said.Reason
		if a.block == "" {
			a.block = "a hook refused this"
		}
	}
	if p := said.Specific; p != nil && p.Event == event {
		a.context = bounded(p.AdditionalContext)
		if p.PermissionDecision == "deny" {
			a.deny = p.PermissionDecisionReason
			if a.deny == "" {
				a.deny = "a hook refused this"
			}
		}
	}
	return a
}

// bounded cuts a context that is too long down to its first 2,000 bytes, as
// Claude Code does.
func bounded(text string) string {
	if len(text) <= script.MaxContext || utf8.RuneCountInString(text) <= script.MaxContext {
		return text
	}
	return strings.ToValidUTF8(text[:2000], "") + "\n[output too long: the rest was left out]"
}
