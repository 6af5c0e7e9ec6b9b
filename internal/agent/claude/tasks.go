package claude

import (
	"slices"
	"strconv"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// maxTasks bounds the agent's own task list.
const maxTasks = 100

// tasks keeps the agent's own task list, and gives all of it whenever a call
// has changed it. TodoWrite sets the list; newer versions create and update
// single tasks, numbered from 1.
func (r *reader) tasks(l *line, o openCall, did *structured) {
	switch o.Call.Name {
	case "TodoWrite":
		r.state.Tasks = o.Call.Tasks
	case "TaskCreate":
		for _, t := range o.Call.Tasks {
			if t.ID = did.task.get("id").text(); t.ID == "" {
				t.ID = strconv.Itoa(r.highest() + 1)
			}
			r.setTask(t)
		}
	case "TaskUpdate":
		if did.success != nil && !did.success.isTrue() {
			return
		}
		for _, t := range o.Call.Tasks {
			r.setTask(t)
		}
	case "TaskList":
		if did.tasks.isArray() {
			r.state.Tasks = taskList(did.tasks, "subject")
		}
	default:
		return
	}
	r.add(l, agent.Row{Kind: agent.RowTasks, Record: o.Call.ID, Tasks: slices.Clone(r.state.Tasks)})
	r.state.Tasks = slices.DeleteFunc(r.state.Tasks, func(t agent.Task) bool { return t.State == "deleted" })
}

// setTask changes the task with the id, or adds it. Empty fields stay as they were.
func (r *reader) setTask(t agent.Task) {
	i := slices.IndexFunc(r.state.Tasks, func(have agent.Task) bool { return have.ID == t.ID })
	switch {
	case i < 0 && len(r.state.Tasks) < maxTasks:
		if t.State == "" {
			t.State = "pending"
		}
		r.state.Tasks = append(r.state.Tasks, t)
	case i >= 0:
		have := &r.state.Tasks[i]
		if t.Text != "" {
			have.Text = t.Text
		}
		if t.State != "" {
			have.State = t.State
		}
	}
}

func (r *reader) highest() int {
	most := 0
	for _, t := range r.state.Tasks {
		if n, err := strconv.Atoi(t.ID); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// taskList reads a list of tasks whose text is in the named field. Tasks without
// an id are numbered from 1.
func taskList(list raw, text string) []agent.Task {
	var out []agent.Task
	list.elements(func(item raw) {
		if len(out) == maxTasks {
			return
		}
		t := agent.Task{ID: item.get("id").text(), Text: item.get(text).text(), State: taskState(item.get("status").text())}
		if t.ID == "" {
			t.ID = strconv.Itoa(len(out) + 1)
		}
		out = append(out, t)
	})
	return out
}

func taskState(word string) string {
	if word == "in_progress" {
		return "in progress"
	}
	return word
}

// tasksOf reads what a call sets of the task list.
func tasksOf(name string, input raw) []agent.Task {
	switch name {
	case "TodoWrite":
		return taskList(input.get("todos"), "content")
	case "TaskCreate":
		return []agent.Task{{Text: input.get("subject").text(), State: "pending"}}
	case "TaskUpdate":
		id := input.get("taskId").text()
		if id == "" {
			return nil
		}
		return []agent.Task{{ID: id, Text: input.get("subject").text(), State: taskState(input.get("status").text())}}
	}
	return nil
}
