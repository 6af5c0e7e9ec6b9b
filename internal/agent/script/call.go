package script

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// call classifies one tool call as seen from a folder.
func call(u Use, dir string) *agent.Call {
	in := u.Input
	c := &agent.Call{ID: u.ID, Name: u.Name, Changes: true}
	switch u.Name {
	case Bash:
		c.Command = in.Command
		c.Class, c.Title = agent.Classify(in.Command)
		c.Changes = !agent.ReadOnly(in.Command)
		c.Paths = append(agent.ReadsOf(in.Command), agent.EditsOf(in.Command)...)
		c.Symbols = agent.SearchesOf(in.Command)
	case Read:
		c.Title, c.Changes = "read "+near(in.Path, dir), false
		c.Paths = []job.Touch{{Name: in.Path, Role: job.RoleRead}}
	case Edit, Write:
		c.Class, c.Title = job.ClassEdit, "edited "+near(in.Path, dir)
		c.Paths = []job.Touch{{Name: in.Path, Role: job.RoleEdit}}
		c.Symbols = agent.SymbolTouches(in.Old+"\n"+in.New+"\n"+in.Content, job.RoleEdit, in.Path)
		c.Added, c.Removed = agent.LinesChanged(in.Old, in.New+in.Content)
	case Grep, Glob:
		c.Title, c.Changes = "searched for "+agent.OneLine(in.Pattern), false
		if in.In != "" {
			c.Paths = []job.Touch{{Name: in.In, Role: job.RoleSearch}}
		}
		if u.Name == Grep {
			c.Symbols = agent.SymbolTouches(in.Pattern, job.RoleSearch, "")
		}
	case Agent:
		c.Class, c.Title = job.ClassDelegate, "delegated: "+agent.OneLine(cmp.Or(in.Description, in.Prompt))
	case AskUser:
		c.Title, c.Changes = "asked: "+agent.OneLine(in.Question), false
	default:
		c.Class, c.Title = job.ClassOther, u.Name
	}
	c.Title = job.Clip(c.Title, 160)
	return c
}

// near is a path as seen from a folder, when it is below it.
func near(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" {
		return rest
	}
	return path
}

// finish sets what came of a call. A failed command says its exit code in the
// first line of its output, as real agents do; success implies 0.
func finish(c *agent.Call, output string, result Outcome, millis int64) {
	d := &agent.Done{Output: output, Millis: millis, Result: job.Result(result)}
	if c.Name == Bash {
		if code, rest, ok := exitCode(output); ok && result == Failed {
			d.Exit, d.Output = &code, rest
		} else if result == OK {
			zero := 0
			d.Exit = &zero
		}
	}
	if c.Class == job.ClassCommit && result == OK {
		c.Commit = agent.CommitID(output)
	}
	if result == OK || result == Failed {
		c.Paths = append(c.Paths, agent.Mentions(d.Output)...)
		if len(c.Paths) > job.MaxPaths {
			c.Paths = c.Paths[:job.MaxPaths]
		}
	}
	c.Done = d
}

// ExitText is how a command's failure is told to the model.
func ExitText(code int, output string) string {
	return strings.TrimSuffix("Exit code "+strconv.Itoa(code)+"\n"+output, "\n")
}

func exitCode(output string) (code int, rest string, ok bool) {
	line, rest, _ := strings.Cut(output, "\n")
	number, ok := strings.CutPrefix(line, "Exit code ")
	if !ok {
		return 0, output, false
	}
	code, err := strconv.Atoi(number)
	return code, rest, err == nil
}
