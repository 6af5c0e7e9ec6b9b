package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// reader turns transcript lines into rows. Its fields are its State.
type reader struct {
	Head    agent.Header    `json:"head"`
	Pending map[string]sent `json:"pending,omitempty"` // by call id
	Unknown map[string]int  `json:"unknown,omitempty"`
}

// sent is a call that waits for its result.
type sent struct {
	Use    Use      `json:"use"`
	Offset int64    `json:"offset"`
	At     job.Time `json:"at,omitempty"`
	Model  string   `json:"model,omitempty"`
	Side   bool     `json:"side,omitempty"`
}

// NewReader reads a transcript from its start, or from where Restore says.
func (Adapter) NewReader() agent.Reader { return &reader{Pending: map[string]sent{}} }

// Header is what the session lines said: the first for where it comes from, the
// newest for its model and folder.
func (r *reader) Header() agent.Header { return r.Head }

// Skipped counts lines of types that are not known.
func (r *reader) Skipped() map[string]int { return maps.Clone(r.Unknown) }

// State is all that reading on from an offset needs.
func (r *reader) State() ([]byte, error) { return json.Marshal(r) }

// Restore goes on from a State.
func (r *reader) Restore(state []byte) error {
	fresh := reader{}
	if err := json.Unmarshal(state, &fresh); err != nil {
		return fmt.Errorf("restore transcript reader: %w", err)
	}
	if fresh.Pending == nil {
		fresh.Pending = map[string]sent{}
	}
	*r = fresh
	return nil
}

// Line gives the rows of one line.
func (r *reader) Line(data []byte, offset int64) ([]agent.Row, error) {
	l, err := ParseLine(data)
	if err != nil {
		return nil, err
	}
	rows := r.rows(l, offset)
	for i := range rows {
		rows[i].Offset, rows[i].Ordinal, rows[i].Side = offset, i, l.AgentID != ""
		rows[i].At = job.At(l.Time)
		if rows[i].Record == "" {
			rows[i].Record = l.UUID
		}
	}
	return rows, nil
}

func (r *reader) rows(l Line, offset int64) []agent.Row {
	switch l.Type {
	case LineSession:
		r.session(l)
	case LineUser:
		return r.user(l)
	case LineAssistant:
		return r.assistant(l, offset)
	case LineBoundary:
		return []agent.Row{{Kind: agent.RowCompacted}}
	case LineTotals:
		return []agent.Row{{Kind: agent.RowTotals, Totals: totals(l.Totals)}}
	case LineEnd:
		return []agent.Row{{Kind: agent.RowEnded, Text: l.Reason}}
	case LineContext: // what a hook said is nobody's words
	default:
		if r.Unknown == nil {
			r.Unknown = map[string]int{}
		}
		r.Unknown[l.Type]++
	}
	return nil
}

func (r *reader) session(l Line) {
	if r.Head.Session == "" {
		r.Head = agent.Header{Session: l.SessionID, From: l.From, Version: l.Version, Started: job.At(l.Time)}
	}
	r.Head.Dir, r.Head.Branch, r.Head.Model = l.Dir, l.Branch, l.Model
}

func (r *reader) user(l Line) []agent.Row {
	if l.Message == nil {
		return nil
	}
	var rows []agent.Row
	for _, b := range l.Message.Content {
		switch {
		case b.Type == "tool_result":
			if row, ok := r.result(l, b); ok {
				rows = append(rows, row)
			}
		case b.Type == "text" && !l.Summary && l.AgentID == "": // the first prompt of a sub-agent is its parent's
			rows = append(rows, agent.Row{Kind: agent.RowInstruction, Text: b.Text, Record: l.PromptID})
		}
	}
	return rows
}

func (r *reader) result(l Line, b Block) (agent.Row, bool) {
	s, ok := r.Pending[b.Of]
	delete(r.Pending, b.Of)
	if !ok { // a copied or torn line: the call stands elsewhere
		return agent.Row{}, false
	}
	result := l.Result
	if result == "" {
		result = OK
	}
	if s.Use.Name == AskUser {
		return agent.Row{Kind: agent.RowAnswered, Text: b.Content, Record: b.Of}, result == OK
	}
	c := call(s.Use, r.Head.Dir)
	finish(c, b.Content, result, l.Millis)
	return agent.Row{Kind: agent.RowResult, Call: c, Text: c.Title, Model: s.Model, Record: b.Of}, true
}

func (r *reader) assistant(l Line, offset int64) []agent.Row {
	m := l.Message
	if m == nil {
		return nil
	}
	var rows []agent.Row
	for _, b := range m.Content {
		switch {
		case l.Error != "":
			row := agent.Row{Kind: agent.RowLimit, Text: l.Error + ": " + b.Text}
			if l.Resets > 0 {
				row.Until = job.At(time.Unix(l.Resets, 0).UTC())
			}
			rows = append(rows, row)
		case b.Type == "text" && b.Text != "":
			rows = append(rows, agent.Row{Kind: agent.RowSaid, Text: b.Text, Model: m.Model})
		case b.Type == "tool_use":
			u := b.use()
			r.Pending[b.ID] = sent{Use: u, Offset: offset, At: job.At(l.Time), Model: m.Model, Side: l.AgentID != ""}
			if u.Name == AskUser {
				rows = append(rows, agent.Row{Kind: agent.RowAsked, Text: u.Input.Question, Options: u.Input.Options, Record: b.ID, Model: m.Model})
			}
		}
	}
	if m.Usage != nil {
		rows = append(rows, r.usage(l, *m.Usage))
	}
	return rows
}

func (r *reader) usage(l Line, u Usage) agent.Row {
	use := &agent.Usage{Message: l.Message.ID, Model: l.Message.Model, Tokens: tokens(u), Final: l.Message.StopReason != ""}
	if l.AgentID == "" {
		use.Context = u.Context()
	} else {
		use.Purpose = "sub-agent"
	}
	return agent.Row{Kind: agent.RowUsage, Usage: use, Model: use.Model, Record: use.Message}
}

// End gives the calls that no result has come for, oldest first.
func (r *reader) End() []agent.Row {
	var rows []agent.Row
	for id, s := range r.Pending {
		rows = append(rows, agent.Row{Kind: agent.RowCall, Offset: s.Offset, At: s.At, Record: id, Side: s.Side, Model: s.Model,
			Call: call(s.Use, r.Head.Dir)})
	}
	slices.SortFunc(rows, func(a, b agent.Row) int {
		if a.Offset != b.Offset {
			return int(a.Offset - b.Offset)
		}
		return strings.Compare(a.Record, b.Record)
	})
	return rows
}

func tokens(u Usage) job.Tokens {
	return job.Tokens{Input: u.Input, CacheWrite5m: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output}
}

func totals(models map[string]Usage) []job.ModelDifference {
	var out []job.ModelDifference
	for _, model := range slices.Sorted(maps.Keys(models)) {
		out = append(out, job.ModelDifference{Model: model, Tokens: tokens(models[model])})
	}
	return out
}
