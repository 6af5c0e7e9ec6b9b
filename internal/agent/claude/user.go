package claude

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// user reads a row in the person's place: their words, results of calls, and
// much that is neither.
func (r *reader) user(l *line) {
	content := l.message.get("content")
	if l.summary {
		r.summarised(l, allText(content))
	}
	if l.summary || r.spend {
		return
	}
	var said []string
	blocks(content, func(b block) {
		switch b.kind {
		case "tool_result":
			r.resulted(l, b)
		case "text":
			said = append(said, b.text.text())
		}
	})
	for _, text := range said {
		r.notified(l, text)
	}
	if l.meta || l.side || !fromPerson(l.account) {
		return
	}
	var own []string
	for _, text := range said {
		if w := words(text); w != "" {
			own = append(own, w)
		}
	}
	text := strings.Join(own, "\n")
	if plan := l.plan.text(); plan != "" && text != "" {
		r.planned(l, plan, text)
		return
	}
	r.instruct(l, text)
}

// fromPerson reports whether a row's own account of where it comes from allows for
// a person. Older versions give none, newer ones several: the harness and hooks
// write rows too, and turns begin by a schedule, a notification or another agent.
func fromPerson(a account) bool {
	switch a.origin.get("kind").text() {
	case "", "human":
	default:
		return false
	}
	switch a.row.text() {
	case "harness", "hook":
		return false
	}
	switch a.turn.text() {
	case "", "human", "sdk", "unknown":
	default:
		return false
	}
	return a.source.text() != "system"
}

// account is what a row says of where it comes from.
type account struct{ origin, source, row, turn raw }

// instruct adds a person's words, under the row's own id: forks and resumes copy it,
// while the id of the prompt becomes the fork's.
func (r *reader) instruct(l *line, text string) {
	if text == "" {
		return
	}
	record := l.uuid
	if record == "" {
		record = l.promptID
	}
	r.add(l, agent.Row{Kind: agent.RowInstruction, Record: record, Text: text})
}

// planned: a person accepted a plan, and Claude Code began anew with it in the
// person's place. The plan is the agent's, so only its title is an instruction.
func (r *reader) planned(l *line, plan, text string) {
	lead, _, found := strings.Cut(text, strings.TrimSpace(plan))
	if found {
		r.instruct(l, strings.TrimSpace(lead)+" "+planTitle(plan))
	} else {
		r.instruct(l, text)
	}
	r.add(l, agent.Row{Kind: agent.RowPlan, Record: l.uuid, Text: plan})
}

func planTitle(plan string) string {
	for line := range strings.Lines(plan) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return line
		}
	}
	return ""
}
