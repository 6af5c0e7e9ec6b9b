package claude

import (
	"bytes"
	"fmt"
	"math"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// lastUsage is the newest message with its usage. A message is written as one
// row a content block, each with the usage so far; rows of one message stand
// together, so that one is enough to know.
type lastUsage struct {
	Message string
	Tokens  job.Tokens
	Final   bool `json:",omitempty"`
}

// synthetic is the model of rows that Claude Code writes in an agent's name:
// errors, and answers that were never asked of a provider.
const synthetic = "<synthetic>"

// usage gives a row when a message is new or its usage has changed. Whoever
// adds up keeps the last row of a message.
func (r *reader) usage(l *line, id, model string, usage raw, final bool) {
	if id == "" || model == "" || model == synthetic || !usage.isObject() {
		return
	}
	if last := &r.state.Usage; id == last.Message && final == last.Final && bytes.Equal(usage, r.usageText) {
		return
	}
	r.usageText = append(r.usageText[:0], usage...)
	u, others := tokensOf(usage)
	now := lastUsage{Message: id, Tokens: u.tokens, Final: final}
	if now == r.state.Usage {
		return
	}
	if id != r.state.Usage.Message && !l.side {
		r.state.Messages++
		r.lost(l)
	}
	r.state.Usage = now
	row := &agent.Usage{Message: id, Model: model, Tokens: u.tokens, Final: final}
	if l.side {
		row.Purpose = "sub-agent"
	} else {
		row.Context = u.context
	}
	r.add(l, agent.Row{Kind: agent.RowUsage, Record: id, Model: model, Usage: row})
	for i, o := range others {
		if o.model == "" {
			o.model = model
		}
		other := fmt.Sprintf("%s/%s/%d", id, o.kind, i+1)
		r.add(l, agent.Row{Kind: agent.RowUsage, Record: other, Model: o.model,
			Usage: &agent.Usage{Message: other, Model: o.model, Tokens: o.tokens, Purpose: o.purpose(), Final: final}})
	}
}

// used is what one call of the provider used.
type used struct {
	kind, model string
	tokens      job.Tokens
	written     int64 // cache writes, of either time to live
	context     int64
}

func (u used) purpose() string {
	if u.kind == "advisor_message" {
		return "advisor"
	}
	return u.kind
}

// tokensOf reads a usage, and of its iterations the calls of other models, which
// the usage itself does not contain.
func tokensOf(usage raw) (u used, others []used) {
	u = oneUsage(usage)
	var own []used
	usage.get("iterations").elements(func(value raw) {
		if it := oneUsage(value); it.kind == "" || it.kind == "message" {
			own = append(own, it)
		} else {
			others = append(others, it)
		}
	})
	if len(own) == 0 {
		return u, others
	}
	// A message of several calls adds up what it read, so that only the last call
	// tells the size of the context, and only all of them how it was cached.
	u.context = own[len(own)-1].context
	var short, long int64
	for _, it := range own {
		short, long = short+it.tokens.CacheWrite5m, long+it.tokens.CacheWrite1h
	}
	if short+long == u.written {
		u.tokens.CacheWrite5m, u.tokens.CacheWrite1h = short, long
	}
	return u, others
}

func oneUsage(usage raw) (u used) {
	var short, long int64
	u.written = -1
	_ = fields(usage, func(key []byte, value raw) {
		switch string(key) {
		case "type":
			u.kind = value.text()
		case "model":
			u.model = value.text()
		case "input_tokens":
			u.tokens.Input = count(value)
		case "output_tokens":
			u.tokens.Output = count(value)
		case "cache_read_input_tokens":
			u.tokens.CacheRead = count(value)
		case "cache_creation_input_tokens":
			u.written = count(value)
		case "cache_creation":
			short = count(value.get("ephemeral_5m_input_tokens"))
			long = count(value.get("ephemeral_1h_input_tokens"))
		case "output_tokens_details":
			u.tokens.Reasoning = count(value.get("thinking_tokens"))
		}
	})
	if u.written < 0 {
		u.written = short + long
	}
	u.tokens.CacheWrite5m, u.tokens.CacheWrite1h = split(u.written, long)
	u.tokens.Reasoning = min(u.tokens.Reasoning, u.tokens.Output)
	u.context = u.tokens.Total()
	return u
}

// split divides the cache writes by their time to live. The total is what is
// billed; the parts do not always add up to it, and what they leave is taken to
// be of the shorter time, the default.
func split(written, long int64) (int64, int64) {
	long = min(long, written)
	return written - long, long
}

// count is a number of tokens; what cannot be one is none.
func count(value raw) int64 { return max(0, min(value.number(), 1<<40)) }

// totals gives the agent's own totals: of the whole session, its resumes and
// sub-agents and compactions included. A fork's begin with its parent's.
func (r *reader) totals(l *line) {
	var totals []job.ModelDifference
	_ = fields(l.models, func(key []byte, value raw) {
		// Messages name their model without the size of its context.
		d := job.ModelDifference{Model: plain(raw(`"` + string(key) + `"`).text())}
		var written, short, long int64
		_ = fields(value, func(key []byte, value raw) {
			switch string(key) {
			case "inputTokens":
				d.Tokens.Input = count(value)
			case "outputTokens":
				d.Tokens.Output = count(value)
			case "thinkingTokens":
				d.Tokens.Reasoning = count(value)
			case "cacheReadInputTokens":
				d.Tokens.CacheRead = count(value)
			case "cacheCreationInputTokens":
				written = count(value)
			case "cacheCreationEphemeral5mInputTokens":
				short = count(value)
			case "cacheCreationEphemeral1hInputTokens":
				long = count(value)
			case "costUSD":
				pico := int64(math.Round(max(0, min(value.float(), 1e6)) * 1e12))
				d.Pico = &pico
			}
		})
		d.Tokens.CacheWrite5m, d.Tokens.CacheWrite1h = split(max(written, short+long), long)
		totals = add(totals, d)
	})
	if len(totals) > 0 {
		r.add(l, agent.Row{Kind: agent.RowTotals, Totals: totals})
	}
}

// add puts the totals of one model to those of the others.
func add(totals []job.ModelDifference, d job.ModelDifference) []job.ModelDifference {
	for i := range totals {
		if t := &totals[i]; t.Model == d.Model {
			t.Tokens = t.Tokens.Plus(d.Tokens)
			if t.Pico != nil && d.Pico != nil {
				*t.Pico += *d.Pico
			} else {
				t.Pico = nil
			}
			return totals
		}
	}
	return append(totals, d)
}

// compaction is one whose summary is still to come.
type compaction struct {
	ID     string
	Before int64 // tokens in the context when it began
	After  int64 `json:",omitempty"`
}

// compacted marks where the context was replaced by a summary. The call that
// wrote the summary is in no row, so it is estimated: the context read from the
// cache once more.
func (r *reader) compacted(l *line) {
	c := compaction{ID: "compaction/" + l.uuid, Before: count(l.compact.get("preTokens")), After: count(l.compact.get("postTokens"))}
	row := agent.Row{Kind: agent.RowCompacted, Record: l.uuid, Text: l.compact.get("trigger").text(), Model: r.state.Header.Model}
	if row.Text == "auto" {
		row.Held = c.Before
	}
	r.add(l, row)
	r.state.Compaction = c
	r.estimate(l, c, 0)
}

func (r *reader) estimate(l *line, c compaction, written int64) {
	model := plain(r.state.Header.Model)
	if c.Before == 0 || model == "" {
		return
	}
	r.add(l, agent.Row{Kind: agent.RowUsage, Record: c.ID, Model: model, Usage: &agent.Usage{
		Message: c.ID, Model: model, Purpose: "compaction", Estimate: true, Context: c.After,
		Tokens: job.Tokens{CacheRead: c.Before, Output: written}}})
}

// summarised takes the summary itself: its size is what the compaction wrote.
func (r *reader) summarised(l *line, text string) {
	if c := r.state.Compaction; c.ID != "" {
		r.state.Compaction = compaction{}
		r.estimate(l, c, int64(len(text)+3)/4)
	}
}
