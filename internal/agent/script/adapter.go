package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// Adapter translates the scripted agent, and starts it.
type Adapter struct{}

var _ agent.Driver = Adapter{}

// Name is what the agent is called in the ledger and on the command line.
func (Adapter) Name() string { return "script" }

// Levels are the model's, unless the program was started with another window.
func (Adapter) Levels(model string, env func(string) string) agent.Levels {
	window := Window(model)
	if own, err := strconv.ParseInt(env(EnvWindow), 10, 64); err == nil && own > 0 {
		window = own
	}
	if window == 0 {
		return agent.Levels{}
	}
	return agent.Levels{Window: window, Level: Level(window)}
}

// Sniff looks for the session line that a transcript begins with.
func (Adapter) Sniff(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	l, err := ParseLine(line)
	return err == nil && l.Type == LineSession && l.Agent == "script"
}

// Beside gives the glob pattern of the transcripts of a session's sub-agents,
// whose usage its own transcript does not hold.
func (Adapter) Beside(path string) []string {
	base, ok := strings.CutSuffix(path, ".jsonl")
	if !ok {
		return nil
	}
	return []string{base + "/subagents/agent-*.jsonl"}
}

// MaxContext is the most characters of one hook's context that reach the model;
// of a longer one it gets the beginning only.
const MaxContext = 10_000

// Bounded keeps a distance to MaxContext.
func (Adapter) Bounded() int { return 9_000 }

// Command starts the agent headless. Its own settings (the script above all)
// come in Args.
func (a Adapter) Command(d agent.Drive) (argv, env []string) {
	argv = []string{cmp.Or(d.Program, "duplex"), "agent-script"}
	flag := func(name, value string) {
		if value != "" {
			argv = append(argv, name, value)
		}
	}
	flag("--dir", d.Dir)
	if d.Resume {
		flag("--resume", d.Session)
	} else {
		flag("--session-id", d.Session)
	}
	flag("--model", d.Model)
	flag("--hook", commandLine(a.hook(d.Hook)))
	argv = append(argv, d.Args...)
	flag("--prompt", d.Prompt)
	return argv, nil
}

// hook is the hook's command line, which ends in the agent's name.
func (a Adapter) hook(words []string) []string {
	if n := len(words); n == 0 || words[n-1] == a.Name() {
		return words
	}
	return append(slices.Clone(words), a.Name())
}

// commandLine quotes words for the shell that runs hooks.
func commandLine(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// Streamed line types.
const (
	StreamSystem = "system"
	StreamResult = "result"
)

// StreamLine is one line of what the headless agent prints. User and assistant
// lines are like those of the transcript.
type StreamLine struct {
	Type      string   `json:"type"`
	Subtype   string   `json:"subtype,omitempty"` // system: init, compact_boundary; result: success, error_max_turns, …
	SessionID string   `json:"session_id"`
	AgentID   string   `json:"agent_id,omitempty"`
	Model     string   `json:"model,omitempty"`
	Dir       string   `json:"cwd,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	Message   *Content `json:"message,omitempty"`

	IsError        bool             `json:"is_error,omitempty"`
	TerminalReason string           `json:"terminal_reason,omitempty"`
	Result         string           `json:"result,omitempty"`
	Turns          int              `json:"num_turns,omitempty"`
	Usage          *Usage           `json:"usage,omitempty"`
	ModelUsage     map[string]Usage `json:"model_usage,omitempty"`
	Window         int64            `json:"context_window,omitempty"`
	Resets         int64            `json:"resets_at,omitempty"` // Unix seconds
}

// Why a headless session ended.
const (
	EndCompleted    = "completed"
	EndHookStopped  = "hook_stopped"
	EndBlocked      = "prompt_blocked"
	EndAsked        = "asked"          // it waits for a person's answer
	EndMaxTurns     = "max_turns"      // failed
	EndContextLimit = "blocking_limit" // failed
	EndRateLimit    = "rate_limit"     // failed
	EndAborted      = "aborted"        // failed
)

// Stream reads one line the headless agent prints.
func (Adapter) Stream(line []byte) (agent.Streamed, error) {
	var l StreamLine
	if err := json.Unmarshal(line, &l); err != nil {
		return agent.Streamed{}, fmt.Errorf("read stream line: %w", err)
	}
	s := agent.Streamed{Session: l.SessionID}
	switch l.Type {
	case LineAssistant:
		if l.Message != nil && l.AgentID == "" {
			for _, b := range l.Message.Content {
				s.Text += b.Text
			}
		}
	case StreamResult:
		s.End, s.Reason = ends(l), l.TerminalReason
		if s.End == agent.EndLimit {
			s.Reason = l.Result
			if l.Resets > 0 {
				s.Until = job.At(time.Unix(l.Resets, 0).UTC())
			}
		}
	}
	return s, nil
}

func ends(l StreamLine) agent.End {
	switch l.TerminalReason {
	case EndCompleted:
		return agent.EndDone
	case EndHookStopped, EndBlocked:
		return agent.EndStopped
	case EndAsked:
		return agent.EndAsked
	case EndMaxTurns:
		return agent.EndTurns
	case EndContextLimit:
		return agent.EndFull
	case EndRateLimit:
		return agent.EndLimit
	case EndAborted:
		return agent.EndInterrupted
	}
	return agent.EndFailed
}
