package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// tool is one tool as tools/list shows it.
type tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations hints           `json:"annotations"`

	need Need
	run  func(context.Context, *call, json.RawMessage) (answer, error)
}

// hints tell a client what it may allow without asking a person.
type hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"` // it runs commands, as checks do
}

// offered lists every tool.
func offered() []tool {
	return []tool{
		of("standing", "Where a job stands", Look, "Where a job stands now: who holds it, its checks, what is open, what failed, what comes next, and what you may do. Without a job: the one of this session or folder.", standing),
		of("brief", "What a session starts from", Look, "What the next session would start from: goal, instructions, decisions, dead ends, open items, what is done, working set. With section, that part whole.", brief),
		of("recall", "Search what was said, decided and done", Look, "Search what earlier sessions decided, did and said: the ledger, and the transcripts where they are.", recall),
		of("decide", "Settle a question", Act, "Record a decision that holds for the rest of the job, so that no later session opens the question again.", decide),
		of("raise", "Open an item", Act, "Record what must not be forgotten. With next, it is what to do next.", raise),
		of("settle", "Close an item", Act, "Close an open item that is done, or end a decision or a dead end that no longer holds.", settle),
		of("dead_end", "Record a dead end", Act, "Record what was tried and failed, so that no later session tries it again.", deadEnd),
		of("safe_point", "Keep the workspace", Act, "Keep the whole workspace as it is now, untracked files too, so that it can be gone back to. Branch, index and files are not touched.", safePoint),
		of("hand_over", "Hand over", Act, "Write the handover now. Duplex does this by itself near the limit of a context; call it before you stop in the middle.", handOver),
		commands(of("claim_finished", "Claim that the goal is reached", Act, "Claim that the goal is reached. The checks then run in a clean checkout with the protected files as agreed, and decide; a test that is gone fails it. May take as long as the checks.", claimFinished)),
		commands(of("start", "Begin a job", Begin, "Begin a job in this folder, when the person wants work carried on and none is open. The goal counts as yours until the person confirms it. Each check is a command that must pass at the end; it runs once now.", start)),
		of("take", "Work on a job", Begin, "Bind this session to a job, as its holder, and get its brief. A job that a live session holds cannot be taken here.", take),
	}
}

func commands(t tool) tool {
	t.Annotations.OpenWorld = true
	return t
}

// of makes a tool whose arguments are the fields of In.
func of[In any](name, title string, need Need, about string, run func(context.Context, *call, In) (answer, error)) tool {
	return tool{Name: name, Title: title, Description: about, InputSchema: schemaOf[In](), Annotations: hints{ReadOnly: need == Look}, need: need,
		run: func(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
			in, err := read[In](name, raw)
			if err != nil {
				return answer{}, err
			}
			return run(ctx, c, in)
		}}
}

// call is one call of a tool: the tracker it opened, and who makes it.
type call struct {
	*Server
	*tracker.Tracker
	by  tracker.Actor
	say func(redact.Text) // how far it is
}

// progress passes on how far a long use case is.
func (c *call) progress(text string) { c.say(c.Redact().Text(text)) }

// result is what tools/call answers. Text is for people, Structured for programs; an
// agent may be shown either.
type result struct {
	Content    []content   `json:"content"`
	Structured redact.JSON `json:"structuredContent,omitzero"`
	IsError    bool        `json:"isError,omitempty"`
}

type content struct {
	Type string      `json:"type"`
	Text redact.Text `json:"text"`
}

// perform runs a tool. Whatever goes wrong is its result, for the agent to act on.
func (s *Server) perform(ctx context.Context, t *tool, raw json.RawMessage, say func(redact.Text)) (out result) {
	defer func() {
		if p := recover(); p != nil {
			out = s.refused(fmt.Errorf("a fault of duplex: %v; the work can go on without it", p))
		}
	}()
	if err := ctx.Err(); err != nil { // cancelled while it waited for its turn
		return s.refused(err)
	}
	tr, done, err := s.Open(ctx, t.need)
	if err != nil {
		return s.refused(err)
	}
	defer func() {
		if err := done(); err != nil {
			fmt.Fprintf(s.Log, "duplex mcp: %v\n", err)
		}
	}()
	c := &call{Server: s, Tracker: tr, say: say}
	if c.by, err = c.caller(ctx, t.need != Look); err != nil {
		return refusedBy(tr.Redact(), err)
	}
	a, err := t.run(ctx, c, raw)
	if err != nil {
		return refusedBy(tr.Redact(), err)
	}
	return a.sealed(tr.Redact())
}

// caller is the session that calls. One whose hooks never called is introduced by its
// first act, when the environment names it.
func (c *call) caller(ctx context.Context, act bool) (tracker.Actor, error) {
	by, err := c.AgentActor(ctx, c.folder())
	if err != nil || by.Session != "" || !act {
		return by, err
	}
	if c.Getenv("DUPLEX_OFF") == "1" {
		return by, errOff
	}
	if by, err = c.Introduce(ctx, c.folder(), os.Getppid()); err != nil || by.Session != "" {
		return by, err
	}
	return by, errNoSession
}

// seat is the job an act is about: the one the calling session sits at.
func (c *call) seat() (job.ID, error) {
	if c.by.Job == "" {
		return "", errNoSeat
	}
	return c.by.Job, nil
}

// find is the job that a look is about.
func (c *call) find(ctx context.Context, name string) (job.ID, error) {
	id, err := c.Find(ctx, c.by, name, c.folder())
	if errors.Is(err, tracker.ErrNoJobHere) {
		return "", c.elsewhere(ctx, err)
	}
	return id, err
}
