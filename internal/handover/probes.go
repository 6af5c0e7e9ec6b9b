package handover

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-5777983b/duplex/internal/job"
)

// The probes about what was said and what comes next.

// as makes the line that a raw entry would give.
func as(section, text string, e job.Entry) *Line {
	return &Line{Section: section, Text: text, By: e.Author, Position: e.Position, Entry: e.ID}
}

// wording of a raw text for a line of a repair, of at most n characters: one
// line, nothing hidden, no tags.
func wording(text string, n int) string {
	var lines []string
	for _, l := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(breaks, r) }) {
		words := strings.Fields(strings.Map(visible, l))
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	r := []rune(strings.Join(lines, " / "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// visible drops what cannot be seen, and takes from a tag its meaning.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == '<':
		return '‹'
	case r == '[':
		return '('
	case invisible(r):
		return -1
	}
	return r
}

// kept is how many bytes of the goal and of the newest instruction are never cut.
func (x *exam) kept() int {
	if x.bound() >= 3000 {
		return 800
	}
	return 200
}

func (x *exam) goal() {
	if x.f.goalText == "" || !x.covers(Goal) {
		return
	}
	want := start(x.f.goalText, x.kept(), inBytes)
	got := ""
	for _, t := range x.in(Goal) {
		if t.position == x.f.goal.Position && !strings.HasPrefix(t.text, "check `") {
			got = t.text
		}
	}
	whole := quotes(got, x.f.goalText) || !x.room(x.f.goalText)
	x.ask(whole && quotes(got, want), "what is the goal", want, got, Repair{Show: as(Goal, wording(x.f.goalText, 1<<16), x.f.goal)})
}

// instruction asks for the person's newest words, and for the ones before when
// those say little.
func (x *exam) instruction() {
	said := x.f.of(true, job.KindInstructed, job.KindAnswered)
	if len(said) == 0 || !x.covers(Instruction) {
		return
	}
	e := said[0]
	text := x.f.texts[e.ID]
	want := start(text, min(x.kept(), 190), inBytes)
	if len(text) > 20 {
		want = start(text, x.kept(), inBytes)
	}
	got, at := "", -1
	for i, t := range x.in(Instruction) {
		if t.position == e.Position {
			got, at = t.text, i
		}
	}
	if strings.HasPrefix(got, "then: ") { // it says little, and stands behind the one before
		want = start(text, 150, inBytes)
	}
	whole := quotes(got, text) || !x.room(text)
	x.ask(bare(text) == "" || at >= 0 && whole && quotes(got, want), "what did the person say last", want, got, Repair{Show: as(Instruction, wording(text, 1<<16), e)})
}

// binding asks for every decision, answer and standing instruction in force, and
// that none is shown which no longer holds.
func (x *exam) binding() {
	if !x.covers(Decisions) {
		return
	}
	shown := x.in(Decisions)
	var instructed, decided []job.Entry
	for _, e := range x.f.of(true, job.KindInstructed, job.KindAnswered) {
		if x.bindingWords(e) != "" && !x.isNewest(e) {
			instructed = append(instructed, e)
		}
	}
	decided = append(decided, x.f.of(true, job.KindDecided)...)
	x.each("what binds", Decisions, shown, instructed, x.bindingWords)
	x.each("what is decided", Decisions, shown, decided, func(e job.Entry) string { return x.f.texts[e.ID] })
	x.none("is anything shown that no longer holds", Decisions, shown, x.f.of(false, job.KindDecided, job.KindInstructed))
}

// isNewest: it stands in the section of its own.
func (x *exam) isNewest(e job.Entry) bool {
	for _, t := range x.in(Instruction) {
		if t.position == e.Position {
			return true
		}
	}
	return false
}

// bindingWords is what of a person's words holds for the rest of the job.
func (x *exam) bindingWords(e job.Entry) string {
	text := x.f.texts[e.ID]
	if e.Kind == job.KindAnswered {
		return text
	}
	if d := job.Directives(text); len(d) > 0 {
		return d[0]
	}
	if p, ok := e.Payload.(*job.Instructed); ok && p.Standing {
		return text
	}
	return ""
}

func (x *exam) deadEnds() {
	if !x.covers(DeadEnds) {
		return
	}
	shown := x.in(DeadEnds)
	x.each("what was tried in vain", DeadEnds, shown, x.f.of(true, job.KindDeadEnd), func(e job.Entry) string { return x.f.texts[e.ID] })
	x.none("is a dead end shown that no longer holds", DeadEnds, shown, x.f.of(false, job.KindDeadEnd))
}

func (x *exam) open() {
	if !x.covers(Open) {
		return
	}
	shown := x.in(Open)
	x.each("what is asked", Open, shown, x.f.of(true, job.KindAsked), func(e job.Entry) string { return x.f.texts[e.ID] })
	x.each("what is open", Open, shown, x.f.of(true, job.KindRaised), func(e job.Entry) string { return x.f.texts[e.ID] })
	x.none("is anything settled shown as open", Open, shown, x.f.of(false, job.KindRaised, job.KindAsked))
}

// each asks for every entry of a list, newest first. One may be missing only
// when it is counted, no room was left for it or one before it, and nothing older
// is shown in its place.
func (x *exam) each(probe, section string, shown []told, entries []job.Entry, text func(job.Entry) string) {
	behind, last := x.behind(section), -1
	at := map[int64][]told{}
	for _, t := range shown {
		at[t.position] = append(at[t.position], t)
	}
	found, known := make([]bool, len(entries)), map[string]bool{}
	for i, e := range entries {
		words := bare(text(e))
		found[i] = words == "" || known[words] // the same words said twice stand once
		for _, t := range at[e.Position] {
			if quotes(t.text, shortOf(text(e))) {
				found[i], known[words] = true, true
				if !strings.HasPrefix(t.text, "next: ") { // which stands first, however old
					last = i
				}
			}
		}
	}
	for i, e := range entries {
		line := as(section, wording(text(e), 80), e)
		fair := behind > 0 && i > last && (x.full[section] || !x.room(wording(text(e), 200)))
		x.ask(found[i] || fair, probe, text(e), "nothing at #"+strconv.FormatInt(e.Position, 10), Repair{Show: line})
		if !found[i] {
			behind--
			x.full[section] = x.full[section] || fair
		}
	}
}

// none asks that no line speaks for an entry that has ended.
func (x *exam) none(probe, section string, shown []told, ended []job.Entry) {
	for _, e := range ended {
		want, got := bare(shortOf(x.f.texts[e.ID])), ""
		for _, t := range shown {
			if t.position == e.Position && want != "" && (quotes(t.text, shortOf(x.f.texts[e.ID])) || t.line.Entry == e.ID) {
				got = t.text
			}
		}
		x.ask(got == "", probe, "nothing of #"+strconv.FormatInt(e.Position, 10), got, Repair{Hide: as(section, got, e)})
	}
}

// next asks for the next action.
func (x *exam) next() {
	if !x.covers(Open) {
		return
	}
	want, e := x.nextAction()
	if x.f.over != nil {
		want = "" // nothing comes after the end
	}
	got := ""
	for _, t := range x.in(Open) {
		if rest, ok := strings.CutPrefix(t.text, "next: "); ok {
			got = rest
			break
		}
	}
	if want == "" {
		x.ask(got == "", "what comes next", "nothing is known", got, Repair{Hide: &Line{Section: Open, Text: "next: " + got}})
		return
	}
	ok := quotes(got, start(want, 40, one)) && quotes(x.p.Next, start(want, 40, one))
	fair := got == "" && x.behind(Open) > 0 && !x.room(wording(want, 80))
	x.ask(ok || fair, "what comes next", want, got, Repair{Show: as(Open, "next: "+wording(want, 200), e)})
}

// over asks whether the job has ended, and how.
func (x *exam) over() {
	if x.f.over == nil || !x.covers(Goal) {
		return
	}
	want := "the job has ended: " + string(x.f.over.Payload.(*job.Finished).Outcome)
	got := ""
	for _, t := range x.in(Goal) {
		if strings.HasPrefix(t.text, want) {
			got = t.text
		}
	}
	x.ask(got != "", "has it ended", want, got, Repair{Show: as(Goal, want, *x.f.over)})
}

// nextAction finds what comes next in the raw entries.
func (x *exam) nextAction() (string, job.Entry) {
	for _, e := range x.f.of(true, job.KindRaised) {
		if p, ok := e.Payload.(*job.Raised); ok && p.Next && bare(p.Text) != "" {
			return p.Text, e
		}
	}
	if e := x.f.handed; e != nil && x.f.next != "" && !x.f.overtaken(e.Position) {
		if p := e.Payload.(*job.HandedOver); bare(p.Next) != "" && !x.f.productive(e.Position) {
			return p.Next, *e
		}
	}
	if e := x.f.seen; e != nil {
		for _, f := range e.Payload.(*job.Seen).Folders {
			for _, left := range f.Left {
				if full := path.Join(f.Path, strings.TrimPrefix(left, f.Path+"/")); !has(x.v.Facts.Missing, full) {
					return path.Base(full), *e
				}
			}
		}
	}
	if e, test := x.f.failing(); test != "" {
		return test, e
	} else if e.ID != "" {
		return e.Payload.(*job.Step).Command, e
	}
	for _, c := range x.f.checks {
		if c.state == job.CheckFailed {
			return c.command, c.entry
		}
	}
	return "", job.Entry{}
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// claim asks that the agent's own words stand once, short, and labelled.
func (x *exam) claim() {
	words := x.v.Claim
	if words == "" && x.f.handed != nil {
		words = x.f.handed.Payload.(*job.HandedOver).Claim
	}
	claims := x.in(Claim)
	x.ask(len(claims) <= 1, "one claim of the agent at most", "1", strconv.Itoa(len(claims)), Repair{})
	for _, t := range claims {
		x.ask(strings.HasPrefix(t.text, "claimed: “") && len([]rune(t.text)) <= 300 && quotes(t.text, shortOf(words)), "the claim is labelled and short", words, t.text, Repair{})
	}
	if head := start(words, 40, one); len(bare(head)) >= 20 && x.covers(Claim) {
		for _, t := range x.told {
			said := t.section == Claim || !quotes(t.text, head) || x.f.says(t.position, head)
			if !said {
				x.ask(false, "no other text of the agent", "nothing", t.text, Repair{Hide: &Line{Section: t.section, Text: t.line.Text}})
			}
		}
	}
}

// says reports whether the entry at a position holds the words itself, in any
// of its fields.
func (f *facts) says(position int64, words string) bool {
	for _, e := range f.entries {
		if e.Position == position {
			all := fmt.Sprintf("%+v", e.Payload)
			if e.ID == f.goal.ID {
				all += " " + f.goalText
			}
			return quotes(all, words) || quotes(strings.Join(strings.Fields(all), " "), words)
		}
	}
	return false
}
