package claude

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

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
		if l.reason.isString() {
			return // newer versions: what was delivered is attached, with its author
		}
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
	if l.side || l.meta || mode != "" && mode != "prompt" || !fromPerson(account{origin: l.attachment.get("origin"), row: l.attachment.get("rowSource")}) {
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
