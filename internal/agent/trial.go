package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Trials notices, without the agent's help, what its calls showed not to work: a
// command that fails again and again, and what passed in its place; a program that
// is not there; an attempt that was taken back after something failed on it. It is
// a fold over a session's calls, small enough to be saved at every hook, as JSON.
//
// It is careful: that a test fails says nothing, for tests are red while work is
// under way. Only what failed alike with nothing changed between, what cannot work
// as it is written, what was refused again and what was undone counts.
type Trials struct {
	Failed []trial     `json:",omitempty"` // commands that fail, oldest first
	Edited []job.Touch `json:",omitempty"` // edited since the newest check passed
	Red    trial       `json:",omitzero"`  // what failed last on what was edited
}

// trial is a command that failed, and has not passed since.
type trial struct {
	Command  string
	Said     string // what it failed with, in one line
	Times    int    `json:",omitempty"` // alike, one after the other, with nothing changed between
	Refused  int    `json:",omitempty"` // times
	Ago      int    `json:",omitempty"` // calls since
	Hopeless bool   `json:",omitempty"` // it cannot work as it is written
	Told     bool   `json:",omitempty"`
}

// DeadEnd is what was noticed.
type DeadEnd struct {
	Name string // tells one from the others of a job; of a command, the command
	Text string // one line for people
	Why  string
}

// Bounds of what is remembered.
const (
	maxTrials = 12
	maxEdited = 8
	alike     = 3 // times that a command has to fail alike
	refusals  = 2 // times that it has to be refused
	near      = 4 // calls within which another command may have been the way round one that failed
)

// Take takes in one call with its result.
func (t *Trials) Take(c *Call) []DeadEnd {
	if c == nil || c.Done == nil {
		return nil
	}
	for i := range t.Failed {
		t.Failed[i].Ago++
	}
	if c.Command == "" {
		if c.Class == job.ClassEdit && c.Done.Result == job.OK {
			t.edited(c.Paths)
		}
		return nil
	}
	all := stages(c.Command)
	name := tried(all)
	switch {
	case c.Done.Result == job.Failed, c.Done.Result == job.OK && t.stillFails(name, c.Done):
		return t.failed(name, c, all)
	case c.Done.Result == job.OK:
		return t.passed(name, c, all)
	case c.Done.Result == job.Denied:
		return t.refused(name, failure(c.Done.Output))
	}
	return nil
}

// stillFails looks behind an exit code of 0, which may be that of `| tail`.
func (t *Trials) stillFails(name string, d *Done) bool {
	f := t.find(name)
	return d.Tests != nil && d.Tests.Failed > 0 || f != nil && sameFailure(f.Said, failure(d.Output))
}

func (t *Trials) find(name string) *trial {
	i := slices.IndexFunc(t.Failed, func(f trial) bool { return f.Command == name })
	if i < 0 {
		return nil
	}
	return &t.Failed[i]
}

// start is what is known of a command, from now on.
func (t *Trials) start(name string) *trial {
	if f := t.find(name); f != nil {
		return f
	}
	if len(t.Failed) == maxTrials {
		t.Failed = t.Failed[1:]
	}
	t.Failed = append(t.Failed, trial{Command: name})
	return &t.Failed[len(t.Failed)-1]
}

func (t *Trials) edited(paths []job.Touch) {
	for i := range t.Failed {
		t.Failed[i].Times = 0
	}
	for _, p := range paths {
		if p.Role == job.RoleEdit && len(t.Edited) < maxEdited && !slices.Contains(t.Edited, p) {
			t.Edited = append(t.Edited, p)
		}
	}
}

func (t *Trials) failed(name string, c *Call, all []stage) []DeadEnd {
	var out []DeadEnd
	if program := missing(c.Done, all); program != "" {
		if f := t.start(program); !f.Told {
			f.Told = true
			out = append(out, DeadEnd{Name: program, Text: quote(program) + " is not there: command not found"})
		}
		return out
	}
	if name == "" {
		return nil // a look that found nothing
	}
	f, said := t.start(name), failure(c.Done.Output)
	f.Times++
	if !sameFailure(f.Said, said) {
		f.Times = 1
	}
	f.Said, f.Ago, f.Hopeless = said, 0, hopeless().MatchString(said)
	if len(t.Edited) > 0 {
		t.Red = *f
	}
	if f.Told || said == "" || f.Times < alike && !(f.Hopeless && f.Times > 1) {
		return nil
	}
	f.Told = true
	return []DeadEnd{{Name: name, Text: quote(name) + " fails: " + said, Why: fmt.Sprintf("%d times alike, with nothing changed between", f.Times)}}
}

// refused: a call was not run, by a rule or by a person's word.
func (t *Trials) refused(name, said string) []DeadEnd {
	if name == "" {
		return nil
	}
	f := t.start(name)
	f.Said, f.Ago, f.Hopeless, f.Refused = said, 0, false, f.Refused+1
	if f.Told || f.Refused < refusals {
		return nil
	}
	f.Told = true
	return []DeadEnd{{Name: name, Text: quote(name) + " is refused: " + said, Why: fmt.Sprintf("%d times", f.Refused)}}
}

// Works lists the names of the dead ends that a call, by passing, shows to be none
// any more: its command, and the programs it starts.
func Works(c *Call) []string {
	if c == nil || c.Done == nil || c.Done.Result != job.OK || c.Command == "" || strings.Contains(c.Command, "|") {
		return nil // what failed in a pipe, or was caught, passes too
	}
	all := stages(c.Command)
	var names []string
	if name := tried(all); name != "" {
		names = append(names, name)
	}
	for _, s := range all {
		if program := s.first(); program != "" && !slices.Contains(names, program) && len(names) < 8 {
			names = append(names, program)
		}
	}
	return names
}

// passed: a command works, and may be the way round one that did not.
func (t *Trials) passed(name string, c *Call, all []stage) []DeadEnd {
	var out []DeadEnd
	works := append(Works(c), name)
	t.Failed = slices.DeleteFunc(t.Failed, func(f trial) bool { return slices.Contains(works, f.Command) })
	if name == "" {
		return nil
	}
	if t.Red.Command == name {
		t.Red, t.Edited = trial{}, nil
	}
	for i := range t.Failed {
		if f := &t.Failed[i]; f.Hopeless && !f.Told && f.Ago <= near && instead(f.Command, all) {
			f.Told = true
			out = append(out, DeadEnd{Name: f.Command, Text: quote(f.Command) + " does not work here: " + f.Said, Why: quote(typed(c.Command)) + " does"})
		}
	}
	if back := takesBack(all); len(back) > 0 {
		return append(out, t.undone(back)...)
	}
	if files := touches(all, editsOf); len(files) > 0 {
		t.edited(files)
	}
	return out
}

// undone: what was edited was taken back, after something had failed on it. "." is
// all of it.
func (t *Trials) undone(paths []string) []DeadEnd {
	var names []string
	t.Edited = slices.DeleteFunc(t.Edited, func(p job.Touch) bool {
		back := slices.ContainsFunc(paths, func(path string) bool {
			path = strings.TrimPrefix(path, "./")
			return path == "." || p.Name == path || strings.HasSuffix(p.Name, "/"+path)
		})
		if back {
			names = append(names, base(p.Name))
		}
		return back
	})
	red := t.Red
	if red.Said == "" || len(names) == 0 {
		return nil
	}
	t.Red = trial{}
	text := "what was changed in " + strings.Join(names[:min(4, len(names))], ", ") + " was taken back: " + quote(red.Command) + " failed with " + red.Said
	return []DeadEnd{{Name: text, Text: text}}
}

func quote(command string) string { return "`" + job.Clip(command, 120) + "`" }

// tried is a command line without what only stands around it: the folder it moved
// to, what its output was cut with. A line that only looks tries nothing.
func tried(all []stage) string {
	var parts []string
	for _, s := range all {
		if len(s.words) > 0 && s.effect() > reads {
			parts = append(parts, strings.Join(s.words, " "))
		}
	}
	return job.Clip(OneLine(strings.Join(parts, " && ")), 300)
}

// typed is a command line as it was written, up to where its output goes.
func typed(command string) string {
	title := commandTitle(command)
	for _, cut := range []string{" 2>", " >", " |", " &>"} {
		title, _, _ = strings.Cut(title, cut)
	}
	return title
}

// takesBack are the paths that a line sets back to what was committed. A stash is
// not among them: most are brought out again.
func takesBack(all []stage) []string {
	var out []string
	for _, s := range all {
		if s.name() != "git" {
			continue
		}
		verb, rest := s.git()
		switch i := slices.Index(rest, "--"); {
		case verb == "reset" && slices.Contains(rest, "--hard"):
			out = append(out, ".")
		case verb == "checkout" && i >= 0:
			out = append(out, rest[i+1:]...)
		case verb == "checkout" && slices.Equal(rest, []string{"."}):
			out = append(out, ".")
		case verb == "restore" && (!slices.Contains(rest, "--staged") || slices.Contains(rest, "--worktree")):
			out = append(out, stage{words: append([]string{verb}, rest...)}.operands("s", "--source")...)
		}
	}
	return out
}

// instead reports whether a line that passed does what a failed one was to do: both
// run tests, one is the other called through something, or they share the program
// and its verb, or all that it was told.
func instead(failed string, all []stage) bool {
	old := stages(failed)
	if len(old) == 0 {
		return false
	}
	was := old[len(old)-1]
	for _, is := range all {
		if len(is.words) == 0 || is.effect() <= reads {
			continue
		}
		before, after := strings.Join(was.words, " "), strings.Join(is.words, " ")
		switch {
		case was.runsTests() && is.runsTests(),
			strings.HasSuffix(before, " "+after), strings.HasSuffix(after, " "+before):
			return true
		case len(was.words) > 1 && len(is.words) > 1 &&
			(was.name() == is.name() && was.words[1] == is.words[1] || slices.Equal(was.words[1:], is.words[1:])):
			return true
		}
	}
	return false
}

// missing is the program of a line that was not found.
func missing(d *Done, all []stage) string {
	if d.Exit == nil || *d.Exit != 127 {
		return ""
	}
	for _, s := range all {
		program := s.name()
		for _, said := range []string{"command not found: " + program, program + ": command not found", program + ": not found"} {
			if program != "" && strings.Contains(d.Output, said) {
				return program
			}
		}
	}
	return ""
}

var (
	hopeless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)not recognized as|unknown (json )?(option|flag|command|argument|subcommand|field)|unrecognized (option|argument|subcommand)|invalid (option|choice)` +
			`|missing script|no such (option|command|subcommand)|no module named|unexpected argument|is not a (\w+ )?command|no rule to make target|no task \S+ found|flag provided but not defined`)
	})
	failureLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)error|fail|fatal|panic|not found|denied|cannot|can't|unable|no such|unknown|unrecognized|invalid|missing|refused|undefined|timed? ?out`)
	})
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]") })
	digits  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })
)

// failureBytes is how much of an output is looked at for what failed.
const failureBytes = 16 << 10

// failure is the first line of an output that says what failed, or else its last.
func failure(output string) string {
	output = escapes().ReplaceAllString(strings.ToValidUTF8(output[:min(len(output), failureBytes)], ""), "")
	last := ""
	for line := range strings.Lines(output) {
		if line = OneLine(line); line == "" {
			continue
		}
		if failureLine().MatchString(line) {
			return job.Clip(line, 160)
		}
		last = line
	}
	return job.Clip(last, 160)
}

// sameFailure compares two failures but for their numbers: times, lines, ports.
func sameFailure(a, b string) bool {
	return a != "" && digits().ReplaceAllString(a, "#") == digits().ReplaceAllString(b, "#")
}
