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
	if l.apiError && !r.spend {
		r.limit(l, allText(content))
	}
	if l.apiError || model == synthetic {
		return
	}
	if model != "" && !l.side {
		r.state.Header.Model = model
		if strings.HasPrefix(l.requested, model+"[") {
			r.state.Header.Model = l.requested // with the size of its context: "…[1m]"
		}
	}
	if r.spend {
		content = nil
	}
	blocks(content, func(b block) {
		switch b.kind {
		case "text":
			if text := strings.TrimSpace(b.text.text()); text != "" {
				r.add(l, agent.Row{Kind: agent.RowSaid, Record: l.uuid, Text: text, Model: model})
			}
		case "tool_use":
			r.called(l, b.id.text(), b.name.text(), b.input)
		}
	})
	r.usage(l, id, model, usage, final)
}

// called opens a call. It gives no row of its own until it has a result, or
// until the file ends without one; a question gives one at once, since it waits.
func (r *reader) called(l *line, id, name string, input raw) {
	if id == "" || name == "" {
		return
	}
	o := openCall{Call: describe(name, input, r.state.Header.Dir), At: l.at, Offset: l.offset, Ordinal: len(r.out), Side: l.side, Message: r.state.Messages}
	o.Call.ID = id
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
		r.unknown(l, 0)
	}
	r.state.Open = append(r.state.Open, o)
}

// lost gives up calls whose results never came: a provider is asked again only
// with every result of the message before, so after two more messages none will.
func (r *reader) lost(l *line) {
	for i := 0; i < len(r.state.Open); {
		if o := r.state.Open[i]; !o.Side && r.state.Messages-o.Message > 2 {
			r.unknown(l, i)
		} else {
			i++
		}
	}
}

// unknown ends an open call without knowing how it ended.
func (r *reader) unknown(l *line, i int) {
	o := r.state.Open[i]
	r.state.Open = append(r.state.Open[:i:i], r.state.Open[i+1:]...)
	o.Call.Done = &agent.Done{Result: job.ResultUnknown}
	r.settled(l, o, "", &structured{})
}

// ended adds the row of a call that has its result, unless the tool is one
// that only keeps the agent's own house.
func (r *reader) ended(l *line, o openCall) {
	if ownHouse(&o.Call) {
		return
	}
	r.add(l, agent.Row{Kind: agent.RowResult, Record: o.Call.ID, Call: &o.Call})
}
