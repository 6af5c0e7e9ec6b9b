package claude

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// resulted pairs a result with its call, by id: calls run side by side.
func (r *reader) resulted(l *line, b block) {
	at, id := -1, b.call.text()
	for i := range r.state.Open {
		if r.state.Open[i].Call.ID == id {
			at = i
			break
		}
	}
	if at < 0 {
		return // its call was before the part that was read, or in another file
	}
	o := r.state.Open[at]
	r.state.Open = append(r.state.Open[:at:at], r.state.Open[at+1:]...)

	var text string
	if b.failed || o.Call.Class != "" || quiet(o.Call.Name) {
		text = allText(b.content)
	} else {
		text = startOfText(b.content) // what a read showed is not kept, only what it named
	}
	var did structured
	if o.Call.Name != "Read" { // a whole file, of which nothing is wanted
		did = structuredOf(l.result)
	}
	denial := l.denial.text()
	finish(&o.Call, outcome{text: text, failed: b.failed, denial: denial, did: &did, stopped: b.failed && r.stopped(o.Call.Name, denial, text)})
	if o.Call.Done.Millis == 0 && o.At > 0 && l.at > o.At {
		o.Call.Done.Millis = int64(l.at-o.At) / 1000
	}
	r.settled(l, o, text, &did)
	r.background(o, did.goesOn())
}

// stopped reports whether a call that is said to be refused was stopped while it ran. A
// later part of the text may say so; and where nobody is asked, nobody refuses.
func (r *reader) stopped(tool, denial, text string) bool {
	asks := tool == "AskUserQuestion" || tool == "ExitPlanMode" // a person answers those in any mode
	return strings.Contains(text, "this call was stopped while running") ||
		denial == "user-rejected" && r.state.Mode == "bypassPermissions" && !asks
}

// settled gives the rows that a result stands for.
func (r *reader) settled(l *line, o openCall, text string, did *structured) {
	ok := o.Call.Done.Result == job.OK
	switch {
	case o.Call.Name == "AskUserQuestion" && ok:
		r.answered(l, o, text, did)
	case o.Call.Name == "AskUserQuestion" && o.Call.Done.Result == job.Denied: // else it never came before a person
		for _, question := range o.Questions {
			r.add(l, agent.Row{Kind: agent.RowAnswered, Record: o.Call.ID, Text: "declined to answer", Options: []string{question}})
		}
	case o.Call.Name == "ExitPlanMode" && ok:
		r.approved(l, o, text, did)
	case o.Call.Name == "TaskOutput" && ok:
		r.polled(l, did)
	case ok && !l.side:
		r.tasks(l, o, did)
	}
	r.ended(l, o)
	if !l.side && o.Call.Done.Result == job.Denied && !strings.HasPrefix(o.Call.Name, "mcp__") {
		// A person who refuses a call may say what to do instead.
		if _, said, found := strings.Cut(text, rejectedBecause); found && strings.HasPrefix(text, rejected) {
			if w := words(said); w != "" {
				r.add(l, agent.Row{Kind: agent.RowInstruction, Record: l.uuid, Text: w})
			}
		}
	}
}

// What Claude Code writes as the result of a call that a person refused.
const (
	rejected        = "The user doesn't want to "
	rejectedBecause = "the user said:\n"
)

// noOutput is what the model is told in the place of an output.
const noOutput = "(Bash completed with no output)"

// outcome is what is known of a call's end, from a transcript or a hook.
type outcome struct {
	text    string
	failed  bool
	denial  string // newer versions: why it was not run
	stopped bool   // a person interrupted it
	did     *structured
}

// finish completes a call with what came of it.
func finish(c *agent.Call, o outcome) {
	d := &agent.Done{Result: job.OK}
	c.Done = d
	switch {
	case o.stopped || o.did.interrupted || brokenOff(o):
		d.Result = job.ResultUnknown
	case o.failed && denied(o):
		d.Result = job.Denied
	case o.failed:
		d.Result = job.Failed
	}
	if c.Class != "" || d.Result != job.OK {
		d.Output = strings.TrimSuffix(strings.TrimPrefix(o.text, "<tool_use_error>"), "</tool_use_error>")
		if d.Output == noOutput {
			d.Output = ""
		}
	}
	if shell(c.Name) {
		exitCode(d, o)
	}
	d.Millis = o.did.took()
	switch c.Name {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		if added, removed, ok := patched(o.did.patch); ok && d.Result == job.OK {
			c.Added, c.Removed = added, removed
		} else if d.Result == job.Failed || d.Result == job.Denied {
			c.Added, c.Removed = 0, 0 // what was only meant
		}
		return // that it names its own file says nothing
	}
	if d.Result == job.OK {
		if c.Commit = o.did.commit.text(); c.Commit == "" && shell(c.Name) {
			c.Commit = agent.CommitID(o.text)
		}
	}
	if d.Result == job.OK || d.Result == job.Failed {
		named(c, o)
	}
}

// named adds the files that a result names.
func named(c *agent.Call, o outcome) {
	var found []job.Touch
	o.did.filenames.elements(func(name raw) {
		found = append(found, job.Touch{Name: name.text(), Role: job.RoleResult})
	})
	if len(found) == 0 && !quiet(c.Name) && o.did.background == nil {
		found = agent.Mentions(o.text)
	}
	c.Paths = append(c.Paths, found...)
	c.Paths = c.Paths[:min(len(c.Paths), job.MaxPaths)]
}

// exitCode sets the exit code of a command: written before the output when it
// failed, implied when it did not, unknown when it goes on in the background or
// its code was only interpreted.
func exitCode(d *agent.Done, o outcome) {
	if rest, ok := strings.CutPrefix(d.Output, "Exit code "); ok && o.failed {
		word, output, _ := strings.Cut(rest, "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(word)); err == nil {
			d.Exit, d.Output = &n, output
		}
		return
	}
	if d.Result == job.OK && o.did.background == nil && !o.did.interpretation.isString() {
		zero := 0
		d.Exit = &zero
	}
}

// brokenOff tells a call that was begun, as far as anybody knows, and whose end
// nobody saw. In words: of a session that was killed; of a turn that was ended, or
// of a call that ran beside one that failed; of a call that a person stopped while
// it ran, which reads like a refusal up to its last lines.
func brokenOff(o outcome) bool {
	if o.denial == "interrupted" || o.denial == "cancelled" {
		return true
	}
	if !o.failed {
		return false
	}
	return begins(o.text, "[Tool call interrupted", "[Tool call did not complete", "[Tool call result not in this copy", "[Agent call interrupted",
		"A safety monitor blocked this turn", "Sibling tool call errored", "<tool_use_error>Sibling tool call errored", "<tool_use_error>Cancelled: parallel tool call") ||
		strings.Contains(o.text, "Correction to the text above: this call was stopped while running, not refused")
}

// denied tells a call that was refused, or never begun, from one that failed. Older
// versions say so in words only.
func denied(o outcome) bool {
	if o.denial != "" {
		return true
	}
	return begins(o.text, rejected, "Permission for this action has been denied", "Permission for this action was denied", "Claude requested permissions to ",
		"PreToolUse:", "Hook PreToolUse:", "User denied permission", "User rejected tool use", "User aborted", "This tool call was refused and did not run",
		"[Tool call skipped", "[Tool call not completed", "<tool_use_error>Blocked: ") ||
		strings.HasPrefix(o.text, "Permission to use ") && strings.Contains(o.text, " denied")
}

func begins(text string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) })
}

// patched counts the lines a patch adds and removes.
func patched(patch raw) (added, removed int, ok bool) {
	patch.elements(func(hunk raw) {
		hunk.get("lines").elements(func(line raw) {
			if len(line) < 2 {
				return
			}
			ok = true
			switch line[1] {
			case '+':
				added++
			case '-':
				removed++
			}
		})
	})
	return added, removed, ok
}

// answered gives the person's answers, one a question.
func (r *reader) answered(l *line, o openCall, text string, did *structured) {
	if !did.answers.isObject() {
		r.add(l, agent.Row{Kind: agent.RowAnswered, Record: o.Call.ID, Text: text})
		return
	}
	said := map[string]string{}
	_ = fields(did.answers, func(key []byte, value raw) {
		question := raw(`"` + string(key) + `"`).text()
		said[question] = value.text()
	})
	_ = fields(did.annotations, func(key []byte, value raw) {
		question := raw(`"` + string(key) + `"`).text()
		if note := value.get("notes").text(); note != "" {
			said[question] = strings.TrimSpace(said[question] + "\n" + note)
		}
	})
	for _, question := range o.Questions {
		if answer := said[question]; answer != "" {
			r.add(l, agent.Row{Kind: agent.RowAnswered, Record: o.Call.ID, Text: answer, Options: []string{question}})
		}
	}
}

// approved gives a plan that the person agreed to.
func (r *reader) approved(l *line, o openCall, text string, did *structured) {
	plan := did.plan.text()
	if plan == "" {
		plan = o.Plan
	}
	if _, after, found := strings.Cut(text, "## Approved Plan:\n"); plan == "" && found {
		plan = after
	}
	if plan != "" {
		r.add(l, agent.Row{Kind: agent.RowPlan, Record: o.Call.ID, Text: plan})
	}
}
