package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Acts of the session that holds the job. Each is one use case of the tracker, which
// also refuses a session that was replaced, and a guest.

// added is the answer of an act that made one entry.
func added(a tracker.Added, err error) (answer, error) {
	return said("added/1", a, "%s #%d %s", a.Short, a.Position, a.Kind), err
}

func decide(ctx context.Context, c *call, in struct {
	Text       string   `json:"text" says:"the decision, so that it can be read alone" most:"2000"`
	Why        string   `json:"why,omitempty" says:"the reason" most:"4000"`
	Rejected   []string `json:"rejected,omitempty" says:"alternatives that were rejected" most:"20"`
	Supersedes name     `json:"supersedes,omitempty" says:"the decision it replaces: its position"`
}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	return added(c.Decide(ctx, c.by, id, in.Text, in.Why, in.Rejected, string(in.Supersedes)))
}

func raise(ctx context.Context, c *call, in struct {
	Text string `json:"text" says:"the open item" most:"2000"`
	Next bool   `json:"next,omitempty" says:"this is what to do next"`
}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	return added(c.Raise(ctx, c.by, id, in.Text, in.Next))
}

func settle(ctx context.Context, c *call, in struct {
	Item name   `json:"item" says:"which: its position, or words of it"`
	How  string `json:"how,omitempty" says:"how it was settled" most:"2000"`
}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	return added(c.Settle(ctx, c.by, id, string(in.Item), in.How))
}

func deadEnd(ctx context.Context, c *call, in struct {
	Text    string `json:"text" says:"what was tried" most:"2000"`
	Why     string `json:"why,omitempty" says:"why it failed" most:"4000"`
	Command string `json:"command,omitempty" says:"the command that failed" most:"2000"`
}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	return added(c.DeadEnd(ctx, c.by, id, in.Text, in.Why, in.Command))
}

func safePoint(ctx context.Context, c *call, in struct {
	Why string `json:"why,omitempty" says:"what it is for, as in: before the codemod" most:"300"`
}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	if in.Why == "" {
		in.Why = "on request"
	}
	k, err := c.Keep(ctx, c.by, id, tracker.KeepRequest{Why: in.Why})
	if err != nil {
		return answer{}, err
	}
	type kept struct {
		SafePoint tracker.Kept `json:"safe_point"`
		More      int          `json:"not_covered_more,omitempty"`
	}
	lines := []string{fmt.Sprintf("safe point %s holds the workspace as it is", k.ID())}
	if k.Reused {
		lines[0] = fmt.Sprintf("nothing changed since safe point %s", k.ID())
	}
	some := k
	some.NotCovered = k.NotCovered[:min(len(k.NotCovered), 10)]
	for _, n := range some.NotCovered {
		lines = append(lines, fmt.Sprintf("not in it: %s (%s)", n.Path, n.Why))
	}
	less := some
	less.NotCovered = nil
	if n := len(k.NotCovered) - len(some.NotCovered); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return answer{schema: "safe-point/1", text: strings.Join(lines, "\n"), sizes: []any{
		kept{some, len(k.NotCovered) - len(some.NotCovered)}, kept{less, len(k.NotCovered)}}}, nil
}

func handOver(ctx context.Context, c *call, in struct {
	Next string `json:"next,omitempty" says:"what the next session does first; without it, told from the ledger" most:"1000"`
}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	b, err := c.HandOver(ctx, c.by, id, tracker.HandOverRequest{Why: "request", Next: in.Next})
	if err != nil {
		return answer{}, err
	}
	behind := 0
	for _, s := range b.Sections {
		behind += s.Behind
	}
	b.Text = "" // its writer knows it; brief gives it
	return said("brief/1", b, "%s handed over at position %d: %d tokens go across, %d lines stay behind (brief with a section reads those)", b.Short, b.Position, b.Tokens, behind), nil
}

func claimFinished(ctx context.Context, c *call, _ struct{}) (answer, error) {
	id, err := c.seat()
	if err != nil {
		return answer{}, err
	}
	v, err := c.Finish(ctx, c.by, id, c.progress)
	if err != nil {
		return answer{}, err
	}
	return verdict(v), nil
}
