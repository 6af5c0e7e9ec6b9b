package claude

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// assistant reads a row of the model: text, calls and usage, one block a row in
// most versions.
func (r *reader) assistant(l *line) {
	var id, model string
	var content, usage raw
	final := false
	_ = fields(l.message, func(key []byte, value raw) {
		switch string(key) {
		case "id":
			id = value.text()
		case "model":
			model = value.text()
		case "content":
			content = value
		case "usage":
			usage = value
		case "stop_reason":
			final = value.isString()
		}
	})
	if l.apiError {
		r.limit(l, allText(content))
		return
	}
	if model == synthetic {
		return
	}
	if model != "" && !l.side {
		r.state.Header.Model = model
	}
	content.elements(func(block raw) {
		switch block.get("type").text() {
		case "text":
			if text := strings.TrimSpace(block.get("text").text()); text != "" {
				r.add(l, agent.Row{Kind: agent.RowSaid, Record: l.uuid, Text: text, Model: model})
			}
		case "tool_use":
			r.called(l, block)
		}
	})
	r.usage(l, id, model, usage, final)
}

// called opens a call. It gives no row of its own until it has a result, or
// until the file ends without one; a question gives one at once, since it waits.
func (r *reader) called(l *line, block raw) {
	name, input := block.get("name").text(), block.get("input")
	o := openCall{Call: describe(name, input, r.state.Header.Dir), At: l.at, Offset: l.offset, Ordinal: len(r.out), Side: l.side}
	o.Call.ID = block.get("id").text()
	if o.Call.ID == "" || name == "" {
		return
	}
	switch name {
	case "AskUserQuestion":
		input.get("questions").elements(func(q raw) {
			text := q.get("question").text()
			var options []string
			q.get("options").elements(func(option raw) {
				options = append(options, option.get("label").text())
			})
			o.Questions = append(o.Questions, text)
			r.add(l, agent.Row{Kind: agent.RowAsked, Record: o.Call.ID, Text: text, Options: options})
		})
	case "ExitPlanMode":
		o.Plan = input.get("plan").text()
	}
	if len(r.state.Open) == maxOpen {
		lost := r.state.Open[0]
		r.state.Open = r.state.Open[1:]
		lost.Call.Done = &agent.Done{Result: job.ResultUnknown}
		r.resulted(l, lost)
	}
	r.state.Open = append(r.state.Open, o)
}

// resulted adds the row of a call that has its result, unless the tool is one
// that only keeps the agent's own house.
func (r *reader) resulted(l *line, o openCall) {
	if quiet(o.Call.Name) && (o.Call.Done.Result == job.OK || o.Call.Name != "ExitPlanMode") {
		return
	}
	r.add(l, agent.Row{Kind: agent.RowResult, Record: o.Call.ID, Call: &o.Call})
}
