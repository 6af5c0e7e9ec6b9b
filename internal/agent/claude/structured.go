package claude

import "strings"

// structured is the result of a tool in the tool's own form, beside the text
// that the model is given: a transcript's toolUseResult, a hook's tool_response.
// It is walked once, since it may hold a whole file.
type structured struct {
	interrupted, async bool

	status, background, agentID, taskID   raw
	millis, totalMillis, interpretation   raw
	patch, filenames, commit              raw
	answers, annotations, plan            raw
	task, tasks, success                  raw
	stdout, stderr, content, file, result raw
	whole                                 raw
}

func structuredOf(value raw) (s structured) {
	s.whole = value
	_ = fields(value, func(key []byte, value raw) {
		switch string(key) {
		case "interrupted":
			s.interrupted = value.isTrue()
		case "isAsync":
			s.async = value.isTrue()
		case "status":
			s.status = value
		case "backgroundTaskId":
			s.background = value
		case "agentId":
			s.agentID = value
		case "taskId":
			s.taskID = value
		case "durationMs":
			s.millis = value
		case "totalDurationMs":
			s.totalMillis = value
		case "returnCodeInterpretation":
			s.interpretation = value
		case "structuredPatch":
			s.patch = value
		case "filenames":
			s.filenames = value
		case "gitOperation":
			s.commit = value.get("commit").get("sha")
		case "answers":
			s.answers = value
		case "annotations":
			s.annotations = value
		case "plan":
			s.plan = value
		case "task":
			s.task = value
		case "tasks":
			s.tasks = value
		case "success":
			s.success = value
		case "stdout":
			s.stdout = value
		case "stderr":
			s.stderr = value
		case "content":
			s.content = value
		case "file":
			s.file = value
		case "result":
			s.result = value
		}
	})
	return s
}

// took is how long the tool ran by its own account, 0 when it gives none.
func (s *structured) took() int64 {
	if s.totalMillis != nil {
		return s.totalMillis.number()
	}
	return s.millis.number()
}

// goesOn is the agent's id of what goes on in the background after the call,
// empty when nothing does.
func (s *structured) goesOn() string {
	if s.background.isString() {
		return s.background.text()
	}
	if !s.async && s.status.text() != "async_launched" {
		return ""
	}
	if id := s.agentID.text(); id != "" {
		return id
	}
	return s.taskID.text()
}

// output is the text of the result, as far as the structure holds one.
func (s *structured) output() string {
	switch {
	case !s.whole.isObject():
		return allText(s.whole)
	case s.stdout != nil || s.stderr != nil:
		out := strings.TrimRight(s.stdout.text(), "\n")
		if warned := strings.TrimRight(s.stderr.text(), "\n"); warned != "" {
			out = strings.TrimPrefix(out+"\n"+warned, "\n")
		}
		return out
	case s.patch != nil: // what an edit wrote is no output
		return ""
	case s.content != nil:
		return allText(s.content)
	case s.file != nil:
		return startOfText(s.file.get("content"))
	}
	return s.result.text()
}
