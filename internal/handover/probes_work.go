package handover

import (
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// The probes about results, the workspace, and who said what.

// checks asks for each check's last result; the first failing one is always named.
func (x *exam) checks() {
	if !x.covers(Goal) {
		return
	}
	words := map[job.CheckState]string{job.CheckPassed: "passed", job.CheckFailed: "FAILED", job.CheckCannotRun: "cannot run", "": "not run yet"}
	first := true
	for _, c := range x.f.checks {
		got := ""
		for _, t := range x.in(Goal) {
			if t.position == c.entry.Position && strings.HasPrefix(t.text, "check `") && quotes(t.text, start(c.command, 40, one)) {
				if got == "" || strings.Contains(t.text, "` "+words[c.state]) {
					got = t.text
				}
			}
		}
		fails := c.state == job.CheckFailed
		want := "check `" + wording(c.command, 80) + "` " + words[c.state]
		if c.at > 0 {
			want += " at #" + strconv.FormatInt(c.at, 10)
		}
		fair := got == "" && x.behind(Goal) > 0 && !x.room(want) && !(fails && first)
		right := strings.Contains(got, "` "+words[c.state]) && (c.at == 0 || strings.Contains(got, " at #"+strconv.FormatInt(c.at, 10)))
		x.ask(right || fair, "how did the check end", want, got, Repair{Show: as(Goal, want, c.entry)})
		if fails {
			first = false
		}
	}
}

func (x *exam) failingTest() {
	e, test := x.f.failing()
	if test == "" || !x.covers(WorkingSet) {
		return
	}
	got := false
	for _, t := range x.told {
		got = got || quotes(t.text, start(test, 60, one))
	}
	line := as(WorkingSet, "failing: "+wording(test, 120), e)
	fair := x.behind(WorkingSet) > 0 && !x.room(line.Text)
	x.ask(got || fair, "which test fails", test, "it is not named", Repair{Show: line})
}

func (x *exam) workspace() {
	if !x.covers(Workspace) {
		return
	}
	if e := x.f.safePoint; e != nil {
		number := "safe point " + strconv.Itoa(e.Payload.(*job.SafePoint).Number)
		x.shows("which safe point is the newest", number, *e, func(t string) bool { return wordly(t, number) })
	}
	if e := x.f.inFlight; e != nil {
		p := e.Payload.(*job.Step)
		want := p.Command
		if want == "" {
			want = p.Title
		}
		x.shows("which call has an unknown outcome", "in flight when its session ended, outcome unknown: `"+wording(want, 160)+"`", *e,
			func(t string) bool { return strings.Contains(t, "outcome unknown") && quotes(t, start(want, 60, one)) })
	}
	if e := x.f.back; e != nil {
		p := e.Payload.(*job.WentBack)
		number := "safe point " + strconv.Itoa(p.To)
		x.shows("what was taken back", "went back to "+number, *e, func(t string) bool { return wordly(t, number) && quotes(t, shortOf(p.Why)) })
	}
	x.changed()
}

// wordly: the number ends where it ends, so that 2 is not 23.
func wordly(text, number string) bool {
	_, rest, ok := strings.Cut(text, number)
	return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
}

// shows asks for a line of the workspace at an entry's position.
func (x *exam) shows(probe, want string, e job.Entry, right func(string) bool) {
	got := ""
	for _, t := range x.in(Workspace) {
		if t.position == e.Position && right(t.text) {
			x.asked++
			return
		}
		if t.position == e.Position {
			got = t.text
		}
	}
	line := as(Workspace, want, e)
	x.ask(got == "" && x.behind(Workspace) > 0 && !x.room(line.Text), probe, want, got, Repair{Show: line})
}

// changed asks that every uncommitted path is named or counted.
func (x *exam) changed() {
	var want []string
	more := 0
	switch {
	case x.v.Facts.Looked:
		want, more = x.v.Facts.Dirty, x.v.Facts.More
	case x.f.seen != nil:
		p := x.f.seen.Payload.(*job.Seen)
		if p.Branch == "" && p.Head == "" {
			return // a plain folder
		}
		want, more = p.Changed, p.More
	default:
		return
	}
	got, named := "", 0
	for _, t := range x.in(Workspace) {
		if strings.HasPrefix(t.text, "uncommitted: ") || strings.HasPrefix(t.text, "nothing is uncommitted") {
			got = t.text
		}
	}
	for _, w := range want {
		if quotes(got, w) {
			named++
		}
	}
	rest := 0
	if i := strings.LastIndex(got, "(+"); i >= 0 {
		n, _, _ := strings.Cut(got[i+2:], " more)")
		rest, _ = strconv.Atoi(n)
	}
	all := named+rest >= len(want)+more && (len(want)+more == 0) == strings.HasPrefix(got, "nothing")
	fair := got == "" && x.behind(Workspace) > 0 && !x.room("uncommitted: "+strings.Join(want[:min(len(want), 8)], ", "))
	line := &Line{Section: Workspace, Text: "nothing is uncommitted", By: job.Author{Kind: job.Duplex}}
	if len(want)+more > 0 {
		named := want[:min(len(want), 8)]
		line.Text = "uncommitted: " + wording(strings.Join(named, ", "), 1000)
		if rest := len(want) + more - len(named); rest > 0 {
			line.Text += " (+" + strconv.Itoa(rest) + " more)"
		}
	}
	if e := x.f.seen; e != nil && !x.v.Facts.Looked {
		line.By, line.Position, line.Entry = e.Author, e.Position, e.ID
	}
	x.ask(all || fair, "which files are not committed", strings.Join(want, ", "), got, Repair{Show: line})
}

// stale asks that what the workspace contradicts is marked.
func (x *exam) stale() {
	f := x.v.Facts
	for _, t := range x.told {
		if t.position == 0 {
			continue
		}
		for _, gone := range append(append([]string(nil), f.Missing...), f.Changed...) {
			if names(t, gone) {
				x.ask(t.stale, "is a line marked whose file is gone or changed", "[stale: …]", t.text, Repair{})
			}
		}
		if seen := x.f.seen; f.Looked && seen != nil && t.section == Workspace && strings.Contains(t.text, "branch ") && t.position == seen.Position {
			x.ask(t.stale || f.Branch == seen.Payload.(*job.Seen).Branch, "is a moved branch marked", "[stale: …]", t.text, Repair{})
		}
	}
	n := 0
	for _, t := range x.told {
		if t.stale {
			n++
		}
	}
	x.ask(n == len(x.p.Stale), "the stale lines are counted", strconv.Itoa(n), strconv.Itoa(len(x.p.Stale)), Repair{})
}

// names reports whether a line of the working set is about a path, or a line of
// a folder lists it.
func names(t told, path string) bool {
	if t.section == WorkingSet && len(t.text) > 2 {
		switch t.text[:2] {
		case "M ", "R ", "- ":
			file, _, _ := strings.Cut(t.text[2:], ": ")
			return file == path
		}
	}
	if t.section != Done {
		return false
	}
	_, rest, ok := strings.Cut(t.text, " in ")
	dir, list, found := strings.Cut(rest, ": ")
	if !ok || !found || strings.HasPrefix(t.text, "`") {
		return false
	}
	list, _, _ = strings.Cut(list, " (+")
	for _, file := range strings.Split(list, ", ") {
		if strings.TrimPrefix(dir, "./")+file == path {
			return true
		}
	}
	return false
}

// provenance asks of a line whether the entry at its position was made by the
// author it names and says what the line says.
func (x *exam) provenance(t told) {
	switch {
	case t.section == Lessons:
		for _, l := range x.v.Lessons {
			if quotes(t.text, shortOf(l.Text)) {
				return
			}
		}
		x.ask(false, "where does a lesson come from", "a lesson", t.text, Repair{Hide: &t.line})
		return
	case t.position == 0:
		x.ask(t.who == "duplex", "who says what is now", "duplex", t.who, Repair{Hide: &t.line})
		return
	case t.section == Claim:
		x.ask(t.who != "person" && t.position <= x.v.Standing.Position, "who claims", "an agent", t.who, Repair{})
		return
	}
	if t.line.Entry != "" {
		if e, ok := x.f.byID[t.line.Entry]; ok {
			x.source(t, e)
			return
		}
	}
	for _, e := range x.f.entries {
		if e.Position == t.position {
			x.source(t, e)
			return
		}
	}
	x.ask(!x.f.complete, "where does a line come from", "an entry at #"+strconv.FormatInt(t.position, 10), t.text, Repair{Hide: &t.line})
}

// source holds a line against its entry.
func (x *exam) source(t told, e job.Entry) {
	right := Line{Section: t.section, Text: t.text, By: e.Author, Position: e.Position, Entry: e.ID}
	x.ask(t.position == e.Position, "at which position was it said", strconv.FormatInt(e.Position, 10), strconv.FormatInt(t.position, 10)+": "+t.text, Repair{Hide: &t.line, Show: &right})
	x.ask(t.who == called(e.Author), "who said it", called(e.Author), t.who+": "+t.text, Repair{Hide: &t.line, Show: &right})
	x.ask(vouches(e, t.text), "did that entry say it", x.f.texts[e.ID], t.text, Repair{Hide: &t.line})
}

// called is how a packet names an author: an agent never as one of the others.
func called(a job.Author) string {
	if a.Kind != job.Agent || a.Name == "" {
		return string(a.Kind)
	}
	for _, k := range []job.AuthorKind{job.Person, job.Command, job.File, job.Duplex} {
		if strings.EqualFold(a.Name, string(k)) {
			return "agent"
		}
	}
	return a.Name
}

// vouches reports whether an entry holds what a line says.
func vouches(e job.Entry, line string) bool {
	switch p := e.Payload.(type) {
	case *job.Opened:
		return quotes(line, start(p.Goal, 150, inBytes)) || anyCheck(line, p.Checks)
	case *job.Amended:
		return p.Goal != nil && quotes(line, start(*p.Goal, 150, inBytes)) || anyCheck(line, p.AddChecks)
	case *job.Instructed:
		return saidBy(line, p.Text)
	case *job.Answered:
		return quotes(line, shortOf(p.Text))
	case *job.Asked:
		return quotes(line, shortOf(p.Text))
	case *job.Decided:
		return quotes(line, shortOf(p.Text))
	case *job.Raised:
		return quotes(line, shortOf(p.Text))
	case *job.DeadEnd:
		return quotes(line, shortOf(p.Text))
	case *job.Step:
		return stepSays(p, line)
	case *job.Touched:
		return anyTouch(line, p.Paths) || anyTouch(line, p.Symbols)
	case *job.Seen:
		return seenSays(p, line)
	case *job.SafePoint:
		return wordly(line, "safe point "+strconv.Itoa(p.Number))
	case *job.HandedOver:
		return quotes(line, shortOf(p.Next)) || quotes(line, shortOf(p.Claim))
	case *job.WentBack:
		return wordly(line, "safe point "+strconv.Itoa(p.To))
	case *job.Finished:
		return strings.HasPrefix(line, "the job has ended: "+string(p.Outcome))
	case *job.Paused:
		return strings.Contains(line, string(p.Reason))
	}
	return false
}

// saidBy reports whether every part of a line, cut where it says so, stands in a
// person's words.
func saidBy(line, text string) bool {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "next: "), "then: ")
	for _, part := range strings.Split(line, "…") {
		if !strings.Contains(bare(text), strings.TrimRight(bare(part), "/")) {
			return false
		}
	}
	return true
}

func anyCheck(line string, checks []job.Check) bool {
	for _, c := range checks {
		if quotes(line, start(c.Command, 40, one)) {
			return true
		}
	}
	return false
}

func anyTouch(line string, touches []job.Touch) bool {
	for _, t := range touches {
		base := t.Name[strings.LastIndexByte(t.Name, '/')+1:]
		if quotes(line, base) && base != "" {
			return true
		}
	}
	return false
}

func stepSays(p *job.Step, line string) bool {
	if anyTouch(line, p.Paths) || anyTouch(line, p.Symbols) {
		return true
	}
	oneLine := strings.Join(strings.Fields(p.Command), " ")
	for _, text := range []string{p.Command, p.Title, oneLine} {
		if bare(text) != "" && quotes(line, start(text, 40, one)) {
			return true
		}
	}
	if p.Tests != nil {
		for _, f := range p.Tests.Failures {
			if quotes(line, start(f, 60, one)) {
				return true
			}
		}
	}
	if words, ok := strings.CutPrefix(line, "said: "); ok {
		words, _, _ = strings.Cut(words, " / ")
		words, _, _ = strings.Cut(words, "…")
		return strings.Contains(bare(p.Receipt.Text), bare(words))
	}
	return false
}

func seenSays(p *job.Seen, line string) bool {
	if strings.HasPrefix(line, "branch ") || strings.HasPrefix(line, "no branch") {
		return p.Branch == "" || quotes(line, p.Branch)
	}
	if strings.HasPrefix(line, "nothing is uncommitted") {
		return len(p.Changed)+p.More == 0
	}
	var known []string
	known = append(known, p.Changed...)
	for _, f := range p.Folders {
		known = append(append(known, f.Left...), f.Done...)
	}
	for _, k := range known {
		if quotes(line, k[strings.LastIndexByte(k, '/')+1:]) {
			return true
		}
	}
	return false
}
