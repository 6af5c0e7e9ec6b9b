package handover

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// sureBytes of the goal and of the newest instruction are never cut: 200 tokens.
// A packet too small for twice that keeps less of them.
const sureBytes = 800

// Build makes the packet. The same view and options give the same bytes.
func Build(v View, o Options) Packet {
	d := drafted(v.index(), o)
	if o.fault != nil {
		o.fault(d)
	}
	return d.packet()
}

func drafted(l *ledger, o Options) *draft {
	d := &draft{
		open: "<duplex-brief job=\"" + strings.Map(plain, short(&l.Standing)) + "\" position=\"" +
			itoa(int(l.Standing.Position)) + "\">\n" + note + "\n",
		close: "</duplex-brief>\n",
	}
	room := o.limit() - d.bytes()
	// Two headings, two authors and a short word after the instruction need room too.
	d.sections = sections(l, min(sureBytes, (room-o.limit()/10-640)/2))
	applyRepairs(d.sections, o.repair)
	if o.Section != "" {
		d.whole(strings.ReplaceAll(strings.ToLower(o.Section), " ", "-"))
		return d
	}
	fit(d.sections, room)
	if line := d.leftOut(-1); line != "" {
		reserve := min(len(line)+40, o.limit()/10)
		fit(d.sections, room-reserve)
		d.left = d.leftOut(reserve - 1)
	}
	return d
}

// short is the name a person calls the job by.
func short(s *job.Standing) string {
	if s.Short != "" {
		return s.Short
	}
	return string(s.Job)
}

// whole keeps one section, with every item in its fullest form.
func (d *draft) whole(name string) {
	s := d.section(name)
	for _, i := range s.items {
		i.got = len(i.forms)
	}
	d.sections = []*section{s}
}

// sections lists what could go across, in the order of the packet. Workspace and
// working set share one share, and what the workspace needs comes first. Lessons
// and the claim live on what the others leave.
func sections(l *ledger, sure int) []*section {
	return []*section{
		goal(l, sure),
		instruction(l, sure),
		decisions(l),
		deadEnds(l),
		open(l),
		done(l),
		workspace(l),
		workingSet(l),
		lessons(l),
		claim(l),
	}
}

func goal(l *ledger, sure int) *section {
	s := &section{name: Goal, heading: "## Goal and acceptance\n", share: 15, sure: sure}
	st := l.Standing
	text := l.Goal
	if text == "" {
		text = st.Goal
	}
	if text = clean(text); text != "" {
		who := Line{By: st.GoalBy, Position: l.GoalAt, Entry: st.GoalEntry}
		for _, kind := range []job.Kind{job.KindOpened, job.KindAmended} {
			if ref := st.Newest[kind]; who.Position == 0 && ref.ID == st.GoalEntry {
				who.Position = ref.Position
			}
		}
		s.add(&item{Line: who, forms: twoForms(opening(text, sure), text), must: always})
	}
	if st.Done() {
		who := Line{By: st.Outcome.By, Position: st.Newest[job.KindFinished].Position, Entry: st.Outcome.Entry}
		ended := "the job has ended: " + string(st.Outcome.Outcome)
		s.add(&item{Line: who, forms: twoForms(ended, ended+because(st.Outcome.Reason)), must: early})
	}
	if st.Unconfirmed {
		s.add(&item{Line: now(), forms: []string{"the goal is the agent's; no person has confirmed it"}})
	} else if st.Unnamed {
		s.add(&item{Line: now(), forms: []string{"the goal is the first instruction of a session for which no job was started"}})
	}
	for _, state := range []job.CheckState{job.CheckFailed, job.CheckCannotRun, "", job.CheckPassed} {
		for _, c := range st.Checks {
			if c.State == state {
				i := s.add(l.check(c))
				if state == job.CheckFailed {
					i.must = early
				}
			}
		}
	}
	for _, stays := range stays(&st) {
		s.add(&item{Line: now(), forms: []string{stays}})
	}
	return s
}

// check is a check with its last result.
func (l *ledger) check(c job.CheckNow) *item {
	i := &item{group: 1}
	var command string
	i.Line, command = l.agreed(c)
	result := "not run yet"
	switch c.State {
	case job.CheckPassed:
		result = "passed"
	case job.CheckFailed:
		result = "FAILED"
	case job.CheckCannotRun:
		result = "cannot run"
	}
	if c.Position > 0 {
		result += " at #" + itoa(int(c.Position))
		i.stale = l.older(c.Position)
	}
	if c.Note != "" {
		result += ", " + clean(c.Note)
	}
	if c.Baseline == job.CheckPassed {
		result += ", green at the start: proves nothing yet"
	}
	i.forms = twoForms("check `"+cut(command, 80)+"` "+result, "check `"+command+"` "+result)
	return i
}

// agreed says where a check comes from, and its command whole. The id of its row
// is that of the entry that brought it, with the check's own behind it.
func (l *ledger) agreed(c job.CheckNow) (Line, string) {
	for _, row := range l.Checks {
		if row.ID == c.Item && row.Check != nil {
			who := said(row)
			entry, _, _ := strings.Cut(string(row.ID), "/")
			who.Entry = job.ID(entry)
			return who, clean(row.Check.Command)
		}
	}
	return now(), clean(c.Command)
}

// stays says what must stay, what must survive, and what may be spent.
func stays(s *job.Standing) []string {
	var out []string
	if len(s.Protect) > 0 {
		out = append(out, lists("protected, not to be changed: ", append([]string(nil), s.Protect...), 0, len(s.Protect))[0])
	}
	if s.KeepTests != nil {
		out = append(out, "every test must survive, as `"+clean(s.KeepTests.List)+"` lists them")
	}
	if b := s.Budget; b != (job.Budget{}) {
		var parts []string
		if b.Pico > 0 {
			parts = append(parts, dollars(s.Spend.Pico)+" of "+dollars(b.Pico))
		}
		if b.Tokens > 0 {
			parts = append(parts, itoa(int(s.Spend.Tokens.Total()))+" of "+itoa(int(b.Tokens))+" tokens")
		}
		if b.Sessions > 0 {
			parts = append(parts, itoa(s.Sessions)+" of "+itoa(b.Sessions)+" sessions")
		}
		if b.Deadline > 0 {
			parts = append(parts, "until "+b.Deadline.Time().Format("2006-01-02 15:04 UTC"))
		}
		out = append(out, "budget: "+strings.Join(parts, ", "))
	}
	return out
}

// dollars writes pico-USD with two decimals.
func dollars(pico int64) string {
	cents := (pico + 5_000_000_000) / 10_000_000_000
	return "$" + itoa(int(cents/100)) + "." + itoa(int(cents/10%10)) + itoa(int(cents%10))
}

// instruction is the newest one, word for word. A short word after it ("yes, do
// it") says little alone, so the one before that says something stands with it.
func instruction(l *ledger, sure int) *section {
	s := &section{name: Instruction, heading: "## Newest instruction\n", share: 15, sure: sure}
	words := l.words()
	for n, i := range words {
		text, whole := clean(i.Text), clean(l.wording(i))
		if text == "" {
			continue
		}
		if n == 0 && content(text) < 3 && len(words) > 1 {
			s.add(&item{Line: said(i), forms: twoForms("then: "+opening(text, 240), "then: "+whole), group: 1, must: always})
			continue
		}
		s.add(&item{Line: said(i), forms: twoForms(label(i)+opening(text, sure), whole), must: always})
		break
	}
	return s
}

// label tells an answer from an instruction where its question has no room.
func label(i job.Item) string {
	if i.Kind == job.KindAnswered {
		return "answer: "
	}
	return ""
}

// words are a person's instructions and answers in force, newest first.
func (l *ledger) words() []job.Item {
	return held(append(append([]job.Item(nil), l.Instructions...), l.Answers...), job.InForce)
}

// wording is an instruction as it stands, an answer with its question.
func (l *ledger) wording(i job.Item) string {
	for _, q := range l.Questions {
		if text := clean(q.Text); q.EndedBy == i.ID && text != "" {
			return "answer to “" + cut(text, 80) + "”: " + i.Text
		}
	}
	return label(i) + i.Text
}

// shortForm is the most characters a decision or a dead end has at first.
const shortForm = 80

// decisions are what binds: instructions that hold for the rest of the job,
// answers, and decisions, each with its reasons when there is room.
func decisions(l *ledger) *section {
	s := &section{name: Decisions, heading: "## Binding instructions and decisions\n", share: 25}
	newest := map[job.ID]bool{}
	for _, i := range instruction(l, sureBytes).items {
		newest[i.Entry] = true
	}
	known := map[string]bool{}
	for _, i := range l.words() {
		text := binding(i)
		if newest[i.ID] || text == "" || known[text] {
			continue
		}
		known[text] = true
		short := cut(label(i)+text, shortForm)
		if i.Kind == job.KindAnswered {
			text = clean(l.wording(i))
		}
		s.add(&item{Line: said(i), forms: twoForms(short, text)})
	}
	for _, i := range held(l.Decisions, job.InForce) {
		text := clean(i.Text)
		s.say(&item{Line: said(i), group: 1, forms: twoForms(cut(text, shortForm), text+reasons(i))}, text)
	}
	return s
}

// binding is what of an instruction binds for the rest of the job: the sentences
// that say so, or all of it when it is standing and none does.
func binding(i job.Item) string {
	if i.Kind == job.KindAnswered {
		return clean(i.Text)
	}
	if d := job.Directives(i.Text); len(d) > 0 {
		return clean(strings.Join(d, " … "))
	}
	if i.Standing {
		return clean(i.Text)
	}
	return ""
}

func reasons(i job.Item) string {
	var s string
	if why := clean(i.Why); why != "" {
		s += "; why: " + why
	}
	if len(i.Rejected) > 0 {
		s += "; rejected: " + clean(strings.Join(i.Rejected, "; "))
	}
	if command := clean(i.Command); command != "" {
		s += "; with `" + command + "`"
	}
	return s
}

func deadEnds(l *ledger) *section {
	s := &section{name: DeadEnds, heading: "## Dead ends, not to be tried again\n", share: 8}
	for _, i := range held(l.DeadEnds, job.InForce) {
		text := clean(i.Text)
		s.say(&item{Line: said(i), forms: twoForms(cut(text, shortForm), text+reasons(i))}, text)
	}
	return s
}

// nextLabel begins the line of the next action.
const nextLabel = "next: "

// open begins with the next action.
func open(l *ledger) *section {
	s := &section{name: Open, heading: "## Open items and next action\n", share: 12}
	next := l.next()
	if next.text != "" {
		text := clean(next.text)
		s.add(&item{Line: next.Line, forms: twoForms(nextLabel+cut(text, shortForm), nextLabel+text), stale: next.stale, must: early})
	}
	if p := l.Paused; p != nil {
		text := "paused: " + string(p.Reason)
		if p.Until > 0 {
			text += " until " + p.Until.Time().Format("2006-01-02 15:04 UTC")
		}
		evidence := clean(p.Evidence)
		whole := text
		if evidence != "" {
			whole += ", " + evidence
		}
		s.add(&item{Line: l.from(job.KindPaused), forms: twoForms(text, whole)})
	}
	for _, q := range held(l.Questions, job.Open) {
		text := clean(q.Text)
		asked := "asked, no answer yet: " + text
		whole := asked
		if options := clean(strings.Join(q.Options, " | ")); options != "" {
			whole += " (" + options + ")"
		}
		s.say(&item{Line: said(q), forms: twoForms(cut(asked, 200), whole)}, text)
	}
	for _, i := range held(l.Open, job.Open) {
		if i.ID == next.Entry {
			continue
		}
		text := clean(i.Text)
		s.say(&item{Line: said(i), forms: twoForms(cut(text, 200), text)}, text)
	}
	return s
}

func lessons(l *ledger) *section {
	s := &section{name: Lessons, heading: "## Lessons of earlier jobs\n"}
	for _, i := range l.Lessons {
		text := clean(i.Text)
		s.say(&item{Line: Line{By: i.Author, Entry: i.ID}, forms: twoForms(cut(text, 200), text)}, text)
	}
	return s
}

// claim is the only text of the agent about its own work, and labelled as such.
func claim(l *ledger) *section {
	s := &section{name: Claim, heading: "## Claimed by the agent, not checked\n"}
	text, who := l.Claim, Line{By: job.Author{Kind: job.Agent}, Position: l.Standing.Position}
	if n := len(l.Standing.Sitting); n > 0 {
		who.By.Name = l.Standing.Sitting[n-1].Agent
	}
	if l.Handed != nil && (text == "" || text == l.Handed.Claim) {
		text, who.Position = l.Handed.Claim, l.from(job.KindHandedOver).Position
		if e := l.byPosition[who.Position]; e != nil {
			who.By.Name = l.agents[e.Session]
		}
	}
	if text = clean(text); text != "" {
		s.add(&item{Line: who, forms: []string{"claimed: “" + cut(text, 285) + "”"}})
	}
	return s
}

// twoForms drops the short form where it says all.
func twoForms(short, whole string) []string {
	if short == whole {
		return []string{whole}
	}
	return []string{short, whole}
}
