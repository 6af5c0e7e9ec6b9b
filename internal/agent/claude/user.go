package claude

import (
	"strconv"
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
	if l.meta || l.side || !fromPerson(l.origin, l.source) {
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

// fromPerson reports whether a row's own account of where it comes from, which
// older versions do not give, allows for a person.
func fromPerson(origin, source raw) bool {
	kind := origin.get("kind").text()
	return (kind == "" || kind == "human") && source.text() != "system"
}

// instruct adds a person's words. The id of the prompt is the one that the hook
// gave for the same words; should it come twice, the row's own id tells them apart.
func (r *reader) instruct(l *line, text string) {
	if text == "" {
		return
	}
	record := l.promptID
	if record == "" || record == r.state.PromptID {
		record = l.uuid
	}
	if l.promptID != "" {
		r.state.PromptID = l.promptID
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

// allText joins the text of a message's content.
func allText(content raw) string {
	var parts []string
	blocks(content, func(b block) {
		if b.kind == "text" {
			parts = append(parts, b.text.text())
		}
	})
	return strings.Join(parts, "\n")
}

// startBytes is how much of a result is looked at for the files it names.
const startBytes = 20_000

// startOfText is the beginning of allText.
func startOfText(content raw) string {
	if content.isString() && len(content) > startBytes {
		// Should the cut fall into an escape, its rest stays as it is.
		return strings.ToValidUTF8(unescaped(content[1:startBytes]), "")
	}
	return allText(content)
}

// queue is what a person typed while the agent worked. When the agent takes it
// in between two calls, newer versions write it as an attachment; older ones
// leave no trace of it but the queue's own.
type queue struct {
	Waiting []string `json:",omitempty"`
	// Taken and Attached were delivered by one of the two traces, and are not to
	// be said again by the other.
	Taken    []string `json:",omitempty"`
	Attached []string `json:",omitempty"`
}

// maxQueue bounds each of the queue's lists.
const maxQueue = 32

func (r *reader) queueOperation(l *line) {
	q := &r.state.Queue
	text := l.content.text()
	switch l.operation.text() {
	case "enqueue":
		q.Waiting = push(q.Waiting, text)
	case "dequeue": // a row of its own follows
		q.next(text)
	case "popAll": // back into the person's hands
		q.Waiting = nil
	case "remove":
		text = q.next(text)
		r.notified(l, text)
		if drop(&q.Attached, text) {
			return
		}
		if w := words(text); w != "" && !strings.HasPrefix(w, `{"task_id":`) {
			q.Taken = push(q.Taken, text)
			r.add(l, agent.Row{Kind: agent.RowInstruction, Text: w})
		}
	}
}

// next takes the text from the queue; older versions do not say which, and mean
// the oldest.
func (q *queue) next(text string) string {
	if text != "" {
		drop(&q.Waiting, text)
		return text
	}
	if len(q.Waiting) == 0 {
		return ""
	}
	text = q.Waiting[0]
	q.Waiting = q.Waiting[1:]
	return text
}

// attachment reads what is put beside a message; only a queued prompt matters.
func (r *reader) attachment(l *line) {
	if l.attachment.get("type").text() != "queued_command" {
		return
	}
	prompt := l.attachment.get("prompt")
	text := allText(prompt)
	r.notified(l, text)
	mode := l.attachment.get("commandMode").text()
	if l.side || l.meta || mode != "" && mode != "prompt" || !fromPerson(l.attachment.get("origin"), nil) {
		return
	}
	w := words(text)
	if w == "" || drop(&r.state.Queue.Taken, text) {
		return
	}
	r.state.Queue.Attached = push(r.state.Queue.Attached, text)
	record := l.attachment.get("source_uuid").text()
	if record == "" {
		record = l.uuid
	}
	r.add(l, agent.Row{Kind: agent.RowInstruction, Record: record, Text: w})
}

func push(list []string, text string) []string {
	if len(list) == maxQueue {
		list = list[1:]
	}
	return append(list, text)
}

func drop(list *[]string, text string) bool {
	for i, t := range *list {
		if t == text {
			*list = append((*list)[:i:i], (*list)[i+1:]...)
			return true
		}
	}
	return false
}

// notified takes word of how a background task ended: the exit code of a command
// that went on after its call had returned, or the end of a sub-agent.
func (r *reader) notified(l *line, text string) {
	if l.side || !strings.HasPrefix(strings.TrimSpace(text), "<task-notification>") {
		return
	}
	status, summary := inTag(text, "status"), inTag(text, "summary")
	if status == "" {
		return
	}
	end := ending{task: inTag(text, "task-id"), call: inTag(text, "tool-use-id"), status: status, output: summary}
	if _, after, ok := strings.Cut(summary, "(exit code "); ok {
		code, _, _ := strings.Cut(after, ")")
		if n, err := strconv.Atoi(code); err == nil {
			end.exit = &n
		}
	}
	if result := inTag(text, "result"); result != "" {
		end.output = result
	}
	r.backgroundEnded(l, end)
}

func inTag(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	inner, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(inner)
}
