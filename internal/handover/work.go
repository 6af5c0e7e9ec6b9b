package handover

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// done is said from receipts only: what a half-done folder has left and done,
// tests that passed, commits, edited files by folder.
func done(l *ledger) *section {
	s := &section{name: Done, heading: "## Done and left, from receipts\n", share: 5}
	l.folders(s)
	passed := map[string]bool{}
	for n := len(l.Steps) - 1; n >= 0 && len(passed) < 3; n-- {
		e := l.Steps[n]
		p, ok := e.Payload.(*job.Step)
		if !ok || p.Class != job.ClassTest || p.Of != "" {
			continue
		}
		name := job.NormalCommand(p.Command)
		if p.Result == job.OK && !passed[name] && name != "" {
			s.add(&item{Line: step(e), group: 1, forms: []string{"`" + clean(cut(name, 120)) + "` passed" + counts(p.Tests)}, stale: l.older(e.Position)})
		}
		passed[name] = true
	}
	for n := len(l.Steps) - 1; n >= 0; n-- {
		e := l.Steps[n]
		if p, ok := e.Payload.(*job.Step); ok && p.Class == job.ClassCommit && p.Result == job.OK && p.Of == "" {
			s.add(&item{Line: step(e), group: 2, forms: []string{commit(p)}})
		}
	}
	l.edited(s)
	return s
}

func step(e job.Entry) Line { return Line{By: e.Author, Position: e.Position, Entry: e.ID} }

func commit(p *job.Step) string {
	text := cut(clean(p.Title), 120)
	if !strings.Contains(text, "commit") {
		text = "commit " + text
	}
	if id := p.Commit[:min(len(p.Commit), 10)]; id != "" && !strings.Contains(text, id[:min(len(id), 7)]) {
		text += " (" + clean(id) + ")"
	}
	if p.Added+p.Removed > 0 {
		text += " +" + itoa(p.Added) + " −" + itoa(p.Removed)
	}
	return text
}

func counts(t *job.TestCounts) string {
	if t == nil || t.Passed+t.Failed+t.Skipped == 0 {
		return ""
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{t.Failed, "failed"}, {t.Passed, "passed"}, {t.Skipped, "skipped"}} {
		if c.n > 0 {
			parts = append(parts, itoa(c.n)+" "+c.what)
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// folders says of each half-done folder which files are left and which are done,
// in lines that a program can read too.
func (l *ledger) folders(s *section) {
	if l.Seen == nil {
		return
	}
	for _, f := range l.Seen.Folders {
		for _, part := range []struct {
			what  string
			names []string
			more  int
		}{{"left in ", f.Left, f.MoreLeft}, {"done in ", f.Done, f.MoreDone}} {
			if len(part.names) == 0 {
				continue
			}
			i := &item{Line: l.from(job.KindSeen)}
			names := make([]string, len(part.names))
			for n, name := range part.names {
				names[n] = within(f.Path, name)
				if say := l.file(path.Join(f.Path, names[n])); say != "" && i.stale == "" {
					i.stale = names[n] + " " + say
				}
			}
			i.stale = clean(i.stale)
			i.forms = lists(part.what+clean(folder(f.Path))+": ", names, part.more, 3)
			s.add(i)
		}
	}
}

// edited groups the files that were edited by their folder, the newest first.
func (l *ledger) edited(s *section) {
	var files []*job.Work
	for i := range l.Works {
		if w := &l.Works[i]; w.Kind == job.WorkFile && w.Edits > 0 && !l.undone(w.Position) {
			files = append(files, w)
		}
	}
	slices.SortFunc(files, func(a, b *job.Work) int {
		if a.Position != b.Position {
			return int(b.Position - a.Position)
		}
		return strings.Compare(a.Name, b.Name)
	})
	var dirs []string
	names, lines := map[string][]string{}, map[string]*item{}
	for _, w := range files {
		dir := folder(path.Dir(w.Name))
		if lines[dir] == nil {
			dirs = append(dirs, dir)
			lines[dir] = &item{Line: l.at(w), group: 3}
		}
		base := path.Base(w.Name)
		if slices.Contains(names[dir], base) {
			continue // the same path in another work tree
		}
		names[dir] = append(names[dir], base)
		if say := l.file(w.Name); say != "" && lines[dir].stale == "" {
			lines[dir].stale = clean(base) + " " + say
		}
	}
	for _, dir := range dirs {
		lines[dir].forms = lists("edited in "+clean(dir)+": ", names[dir], 0, 6)
		s.add(lines[dir])
	}
}

// workspace says where the work stands: branch and head, the safe point, a call
// whose outcome nobody knows, what was taken back, what is not committed. Its
// share is the working set's, which lives on what it leaves.
func workspace(l *ledger) *section {
	s := &section{name: Workspace, heading: "## Workspace\n", share: 20}
	st := l.Standing
	if l.Seen != nil && l.Seen.Branch+l.Seen.Head != "" {
		s.add(&item{Line: l.from(job.KindSeen), forms: []string{place(l.Seen.Branch, l.Seen.Head)}, stale: l.moved()})
	}
	if p := st.SafePoint; p != nil {
		text := "safe point " + itoa(p.Number)
		if p.Green {
			text += ", tests green"
		} else if p.LastGreen > 0 {
			text += ", the last green one is " + itoa(p.LastGreen)
		}
		if st.Changed > 0 {
			text += ", " + several(int(st.Changed), "edit") + " since"
		}
		who := l.from(job.KindSafePoint)
		who.Position = p.Position
		s.add(&item{Line: who, forms: twoForms(text, text+because(p.Why))})
	}
	if ref := st.InFlight; ref != nil && l.inFlight(*ref) {
		text := ref.Text
		if e := l.byID[ref.ID]; e != nil {
			if p, ok := e.Payload.(*job.Step); ok && p.Command != "" {
				text = p.Command
			}
		}
		s.add(&item{Line: l.of(*ref), forms: []string{"in flight when its session ended, outcome unknown: `" + cut(clean(text), 160) + "`"}})
	}
	if e := l.WentBack; e != nil {
		if p, ok := e.Payload.(*job.WentBack); ok {
			s.add(&item{Line: step(*e), forms: l.back(p)})
		}
	}
	l.uncommitted(s)
	if st.LateEdits > 0 {
		s.add(&item{Line: now(), forms: []string{several(int(st.LateEdits), "edit") + " came from sessions that did not hold the lease"}})
	}
	if st.Missing > 0 {
		s.add(&item{Line: now(), forms: []string{several(int(st.Missing), "record") + " of this job could not be read"}})
	}
	return s
}

// inFlight reports whether nobody knows yet what came of a call: no later fact
// says so, and no session has taken over since and seen for itself.
func (l *ledger) inFlight(call job.Ref) bool {
	if l.Standing.Newest[job.KindTookOver].Position > call.Position {
		return false
	}
	for _, e := range l.Steps {
		if p, ok := e.Payload.(*job.Step); ok && p.Of == call.ID && p.Result != job.ResultUnknown {
			return false
		}
	}
	return true
}

func place(branch, head string) string {
	text := "no branch"
	if branch != "" {
		text = "branch " + clean(branch)
	}
	if head != "" {
		text += " at " + clean(head[:min(len(head), 10)])
	}
	return text
}

// moved says that branch or head are no longer what was seen.
func (l *ledger) moved() string {
	f := l.Facts
	if !f.Looked || f.Branch == l.Seen.Branch && sameCommit(f.Head, l.Seen.Head) {
		return ""
	}
	return "now " + place(f.Branch, f.Head)
}

// sameCommit compares ids of which one may be shortened.
func sameCommit(a, b string) bool {
	n := min(len(a), len(b))
	return a == b || n >= 7 && a[:n] == b[:n]
}

func because(why string) string {
	if why = clean(why); why == "" {
		return ""
	}
	return ": " + why
}

// back says what going back took away, and why.
func (l *ledger) back(p *job.WentBack) []string {
	text := "went back to safe point " + itoa(p.To)
	if p.Undone {
		text = "going back was undone, to safe point " + itoa(p.To)
	}
	text += " (" + several(p.Written, "file") + " written, " + itoa(p.Removed) + " removed)" + because(p.Why)
	if p.Undo > 0 {
		text += "; what was there before is safe point " + itoa(p.Undo)
	}
	var taken []string
	for n := len(l.Steps) - 1; n >= 0; n-- {
		e := l.Steps[n]
		if s, ok := e.Payload.(*job.Step); ok && l.undone(e.Position) && s.Class == job.ClassEdit && s.Result == job.OK {
			taken = append(taken, cut(s.Title, 80))
		}
	}
	if len(taken) == 0 {
		return []string{text}
	}
	more := max(0, len(taken)-5)
	return append([]string{text}, lists(text+"; undone: ", taken[:len(taken)-more], more, 5)...)
}

// uncommitted lists the paths that stand in no commit.
func (l *ledger) uncommitted(s *section) {
	who, paths, more := now(), l.Facts.Dirty, l.Facts.More
	if !l.Facts.Looked {
		if l.Seen == nil || l.Seen.Branch+l.Seen.Head == "" { // of a plain folder nothing is ever committed
			return
		}
		who, paths, more = l.from(job.KindSeen), l.Seen.Changed, l.Seen.More
	}
	text := "nothing is uncommitted"
	forms := []string{text}
	if len(paths)+more > 0 {
		forms = lists("uncommitted: ", slices.Clone(paths), more, 8)
	}
	i := &item{Line: who, forms: forms, patient: true}
	if who.Position > 0 {
		for _, p := range paths {
			if say := l.file(p); say != "" {
				i.stale = clean(p) + " " + say
				break
			}
		}
	}
	s.add(i)
}
