package claude

import (
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// background remembers a call that goes on after its result: a command or a
// sub-agent in the background. Its end comes as a notification, or is asked for.
func (r *reader) background(o openCall, task string) {
	if task == "" || o.Side {
		return
	}
	o.Task = task
	o.Call.Done = nil
	if len(r.state.Background) == maxBackground {
		r.state.Background = r.state.Background[1:]
	}
	r.state.Background = append(r.state.Background, o)
}

// ending is word of how a background task ended.
type ending struct {
	task, call, status, output string
	exit                       *int
}

// backgroundEnded gives the call once more, with how it really ended. Whoever
// takes it in knows the call by its id and adds what is new.
func (r *reader) backgroundEnded(l *line, e ending) {
	at := -1
	for i, o := range r.state.Background {
		if e.task != "" && o.Task == e.task || e.call != "" && o.Call.ID == e.call {
			at = i
			break
		}
	}
	if at < 0 {
		return
	}
	o := r.state.Background[at]
	done := &agent.Done{Result: job.OK, Exit: e.exit, Output: e.output}
	switch {
	case e.status == "killed" || e.status == "stopped":
		done.Result = job.ResultUnknown
	case e.status != "completed" || e.exit != nil && *e.exit != 0:
		done.Result = job.Failed
	}
	if o.At > 0 && l.at > o.At {
		done.Millis = int64(l.at-o.At) / 1000
	}
	o.Call.Done = done
	if shell(o.Call.Name) && done.Result == job.OK {
		o.Call.Commit = agent.CommitID(e.output)
	}
	r.state.Background = append(r.state.Background[:at:at], r.state.Background[at+1:]...)
	r.ended(l, o)
}

// polled reads the result of TaskOutput: it may be the end of a background task,
// and unlike the notification it has the output.
func (r *reader) polled(l *line, did *structured) {
	task := did.task
	status := task.get("status").text()
	if status == "" || status == "running" || status == "pending" {
		return
	}
	e := ending{task: task.get("task_id").text(), status: status, output: task.get("output").text()}
	if code := task.get("exitCode"); !code.isNull() {
		n := int(code.number())
		e.exit = &n
	}
	if e.output == "" {
		e.output = strings.TrimSpace(task.get("result").text())
	}
	r.backgroundEnded(l, e)
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
	if _, after, ok := strings.Cut(summary, "exit code "); ok {
		code := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
		if n, err := strconv.Atoi(code); err == nil {
			end.exit = &n
		}
	}
	if result := inTag(text, "result"); result != "" {
		end.output = result
	}
	r.backgroundEnded(l, end)
}
