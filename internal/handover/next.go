package handover

import (
	"path"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// action is the next action, with who said so.
type action struct {
	Line
	text  string
	stale string
}

// Next is the next action of a view, as one line; empty when the ledger tells none.
func Next(v View) string { return clean(v.index().next().text) }

// next is what to do next: the newest open item that says so, else what the
// handover said while nothing was done since, else the first file left in a
// half-done folder that is still there, else what fails. Of a job that has ended,
// nothing.
func (l *ledger) next() action {
	if l.Standing.Done() {
		return action{}
	}
	for _, i := range held(l.Open, job.Open) {
		if i.Next && clean(i.Text) != "" {
			return action{Line: said(i), text: i.Text}
		}
	}
	if a := l.handedNext(); a.text != "" {
		return a
	}
	if l.Seen != nil {
		for _, f := range l.Seen.Folders {
			for _, file := range f.Left {
				if file = within(f.Path, file); !l.missing[path.Join(f.Path, file)] {
					return action{Line: l.from(job.KindSeen), text: "go on in " + folder(f.Path) + " with " + file}
				}
			}
		}
	}
	return l.fails()
}

// handedNext is the handover's own next action. It no longer holds once work was
// done after it, or once the item it spoke of is settled: then the standing has
// dropped it.
func (l *ledger) handedNext() action {
	if l.Handed == nil || clean(l.Handed.Next) == "" || l.Standing.Next == "" {
		return action{}
	}
	who := l.from(job.KindHandedOver)
	for _, e := range l.Steps { // it spoke of a state that was taken back, with the work before it
		if p, ok := e.Payload.(*job.Step); ok && p.Class == job.ClassEdit && l.undone(e.Position) && e.Position < who.Position && l.undone(who.Position) {
			return action{}
		}
	}
	for _, e := range l.Steps {
		if p, ok := e.Payload.(*job.Step); ok && e.Position > who.Position && !l.undone(e.Position) && p.Result == job.OK &&
			(p.Class == job.ClassEdit || p.Class == job.ClassCommit) {
			return action{}
		}
	}
	return action{Line: who, text: l.Handed.Next}
}

// fails is the newest failing test, else the first failing check.
func (l *ledger) fails() action {
	if w := l.failingTest(); w != nil {
		text := "make `" + w.Name + "` pass"
		if w.Tests != nil && len(w.Tests.Failures) > 0 {
			text = "make " + w.Tests.Failures[0] + " pass: `" + w.Name + "`"
		}
		return action{Line: l.at(w), text: text, stale: l.older(w.Position)}
	}
	for _, c := range l.Standing.Checks {
		if c.State == job.CheckFailed {
			who, command := l.agreed(c)
			return action{Line: who, text: "make the check `" + command + "` pass", stale: l.older(c.Position)}
		}
	}
	return action{}
}

// failingTest is the test command that failed most recently, among the newest
// steps, and has not passed since.
func (l *ledger) failingTest() *job.Work {
	var newest *job.Work
	for i := range l.Works {
		w := &l.Works[i]
		if w.Kind != job.WorkCommand || w.Class != job.ClassTest || w.Result != job.Failed || l.byID[w.Step] == nil {
			continue
		}
		if newest == nil || w.Position > newest.Position || w.Position == newest.Position && w.Name < newest.Name {
			newest = w
		}
	}
	return newest
}

// folder is a folder's path with a slash at its end.
func folder(path string) string {
	if path == "" || path == "." {
		return "./"
	}
	return strings.TrimSuffix(path, "/") + "/"
}

// within is a file's name as seen from its folder.
func within(path, file string) string { return strings.TrimPrefix(file, folder(path)) }
