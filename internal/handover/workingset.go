package handover

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// workingSet is what the next actions most likely need: what fails, files with
// their symbols, commands with their last result.
func workingSet(l *ledger) *section {
	s := &section{name: WorkingSet, heading: "## Working set\n"}
	m := Moment{l.Standing.Actions, l.Standing.Instruction}
	failing := l.failing(s)
	files, rest := l.files(s, m)
	commands := l.commands(s, m)
	output := l.output(s)
	// The first files and commands come before the many, symbols before the last
	// commands: that is what was needed most.
	s.grant(failing, 1)
	s.grant(files[:min(5, len(files))], 2)
	s.grant(commands[:min(4, len(commands))], 1)
	s.grant(files, 1)
	s.grant(commands[:min(12, len(commands))], 1)
	s.grant(files, 2)
	s.grant(rest, 1)
	s.grant(commands, 2)
	s.grant(output, 1)
	return s
}

// grant gives items room, in order, for their forms up to one.
func (s *section) grant(items []*item, form int) {
	for _, i := range items {
		for n := 1; n <= min(form, len(i.forms)); n++ {
			s.order = append(s.order, grant{i, n})
		}
	}
}

// failing names the tests that fail.
func (l *ledger) failing(s *section) []*item {
	w := l.failingTest()
	if w == nil || w.Tests == nil || len(w.Tests.Failures) == 0 {
		return nil
	}
	names := append([]string(nil), w.Tests.Failures...)
	for i, n := range names {
		names[i] = cut(n, 120)
	}
	return []*item{s.add(&item{Line: l.at(w), forms: lists("failing: ", names, max(0, w.Tests.Failed-len(names)), 5)[:1], stale: l.older(w.Position)})}
}

// files lists files with the symbols that stood in them, and in rest the symbols
// of no listed file.
func (l *ledger) files(s *section, m Moment) (files, rest []*item) {
	in := map[string][]string{}
	var loose []Ranked
	ranked := RankFiles(l.Works, m)
	listed := map[string]bool{}
	for _, r := range ranked {
		listed[r.Name] = true
	}
	for _, r := range RankSymbols(l.Works, m) {
		if listed[r.In] {
			in[r.In] = append(in[r.In], clean(r.Name))
		} else {
			loose = append(loose, r)
		}
	}
	for _, r := range ranked {
		mark := "- "
		switch {
		case r.Edit > 0:
			mark = "M "
		case r.Read > 0:
			mark = "R "
		}
		text := mark + clean(r.Name)
		i := &item{Line: l.at(r.Work), group: 1, forms: []string{text}, stale: l.file(r.Name)}
		if i.stale == "" && r.Edit > 0 && l.undone(r.Position) {
			i.stale = "went back since"
		}
		if symbols := in[r.Name]; len(symbols) > 0 {
			i.forms = append(i.forms, text+": "+strings.Join(symbols, " "))
			delete(in, r.Name)
		}
		files = append(files, s.add(i))
	}
	if len(loose) > 0 {
		i := &item{Line: l.at(loose[0].Work), group: 2}
		var names []string
		for _, r := range loose {
			names = append(names, clean(r.Name))
		}
		i.forms = []string{"symbols: " + strings.Join(names, " ")}
		rest = append(rest, s.add(i))
	}
	return files, rest
}

func (l *ledger) commands(s *section, m Moment) []*item {
	var out []*item
	for _, r := range RankCommands(l.Works, m) {
		text := "`" + clean(r.Name) + "`"
		switch r.Result {
		case job.OK:
			text += " ok"
		case job.Failed:
			text += " FAILED"
		case job.Denied:
			text += " was denied"
		case job.ResultUnknown:
			text += " outcome unknown"
		}
		text += counts(r.Tests)
		if r.Runs > 1 {
			text += " (x" + itoa(int(r.Runs)) + ")"
		}
		i := &item{Line: l.at(r.Work), group: 3, forms: []string{text}}
		if r.Result == job.Failed && r.Failing != "" {
			i.forms = append(i.forms, text+": "+clean(r.Failing))
		}
		if r.Class == job.ClassTest || r.Result == job.Failed {
			i.stale = l.older(r.Position)
		}
		out = append(out, s.add(i))
	}
	return out
}

// output is what the last failure printed: only the lines that say what is wrong.
func (l *ledger) output(s *section) []*item {
	ref := l.Standing.Failure
	if ref == nil {
		return nil
	}
	e := l.byID[ref.ID]
	if e == nil {
		return nil
	}
	p, ok := e.Payload.(*job.Step)
	if !ok || p.Action > 0 && l.Standing.Actions-p.Action > 15 {
		return nil
	}
	var lines []string
	for _, line := range strings.Split(p.Receipt.Text, "\n") {
		line = clean(line)
		for _, word := range []string{"error", "fail", "panic", "expected", "assert"} {
			if strings.Contains(strings.ToLower(line), word) {
				lines = append(lines, cut(line, 200))
				break
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	text := "said: " + strings.Join(lines[max(0, len(lines)-12):], " / ")
	return []*item{s.add(&item{Line: step(*e), group: 4, forms: []string{cut(text, 900)}, stale: l.older(e.Position)})}
}
