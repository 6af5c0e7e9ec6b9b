package handover

import (
	"sort"
	"strings"
	"unicode"

	"github.com/seed-5777983b/duplex/internal/job"
)

// facts is what the raw entries say, read once, front to back. It knows nothing
// of standings and rows: it is the examination's own reading of the ledger.
type facts struct {
	entries  []job.Entry
	byID     map[job.ID]job.Entry
	complete bool // no entry is missing: what is not here is not in the ledger

	goal      job.Entry
	goalText  string
	checks    []checkFact
	texts     map[job.ID]string // what an item says
	live      map[job.ID]bool   // items that still hold, by entry
	ended     map[job.ID]bool
	seen      *job.Entry
	safePoint *job.Entry
	handed    *job.Entry
	back      *job.Entry
	backTo    int64
	inFlight  *job.Entry
	over      *job.Entry // the finish that ended the job
	next      string     // what to do next, as far as it was said and not settled
}

type checkFact struct {
	id, command string
	entry       job.Entry
	state       job.CheckState
	at          int64
}

func read(entries []job.Entry, v View) *facts {
	f := &facts{byID: map[job.ID]job.Entry{}, texts: map[job.ID]string{}, live: map[job.ID]bool{}, ended: map[job.ID]bool{}}
	f.entries = append(f.entries, entries...)
	sort.Slice(f.entries, func(a, b int) bool { return f.entries[a].Position < f.entries[b].Position })
	f.complete = int64(len(f.entries)) >= v.Standing.Position
	points := map[int]int64{}
	for _, e := range f.entries {
		f.byID[e.ID] = e
		if e.Late || e.Guest {
			continue
		}
		f.item(e)
		e := e
		switch p := e.Payload.(type) {
		case *job.Opened:
			f.goal, f.goalText = e, p.Goal
			f.add(e, p.Checks)
		case *job.Amended:
			if p.Goal != nil {
				f.goal, f.goalText = e, *p.Goal
			}
			f.amended(e, p)
		case *job.Checked:
			f.checked(e, p)
		case *job.Seen:
			f.seen = &e
		case *job.SafePoint:
			f.safePoint = &e
			points[p.Number] = e.Position
		case *job.HandedOver:
			f.handed = &e
			if p.Next != "" {
				f.next = p.Next
			}
		case *job.WentBack:
			f.back, f.backTo, f.inFlight = &e, points[p.To], nil
		case *job.Finished:
			if p.Outcome.Ends() {
				f.over = &e
			}
		case *job.TookOver:
			f.inFlight = nil
		case *job.Step:
			switch {
			case p.Of == "" && p.Result == job.ResultUnknown:
				f.inFlight = &e
			case f.inFlight != nil && p.Of == f.inFlight.ID && p.Result != job.ResultUnknown:
				f.inFlight = nil
			}
		}
	}
	return f
}

// item follows what was said once and holds until something ends it.
func (f *facts) item(e job.Entry) {
	switch p := e.Payload.(type) {
	case *job.Instructed:
		f.begin(e, p.Text)
	case *job.Answered:
		f.begin(e, p.Text)
		if q, ok := f.byID[p.Question]; ok && q.Kind == job.KindAsked {
			f.end(p.Question)
		}
	case *job.Asked:
		f.begin(e, p.Text)
	case *job.Decided:
		f.begin(e, p.Text)
		if old, ok := f.byID[p.Supersedes]; ok && old.Kind == job.KindDecided {
			f.end(p.Supersedes)
		}
	case *job.DeadEnd:
		f.begin(e, p.Text)
	case *job.Raised:
		f.begin(e, p.Text)
		if p.Next {
			f.next = p.Text
		}
	case *job.Settled:
		old, ok := f.byID[p.Item]
		if !ok || !f.live[p.Item] || old.Kind == job.KindAsked || old.Kind == job.KindAnswered {
			return
		}
		f.end(p.Item)
		if r, ok := old.Payload.(*job.Raised); ok && r.Next && r.Text == f.next {
			f.next = ""
		}
	}
}

func (f *facts) begin(e job.Entry, text string) { f.live[e.ID], f.texts[e.ID] = true, text }

func (f *facts) end(id job.ID) {
	if f.live[id] {
		delete(f.live, id)
		f.ended[id] = true
	}
}

// of lists the entries of some kinds that hold, or that have ended, newest first.
func (f *facts) of(held bool, kinds ...job.Kind) []job.Entry {
	var out []job.Entry
	for n := len(f.entries) - 1; n >= 0; n-- {
		e := f.entries[n]
		for _, k := range kinds {
			if e.Kind == k && (held && f.live[e.ID] || !held && f.ended[e.ID]) {
				out = append(out, e)
			}
		}
	}
	return out
}

func (f *facts) add(e job.Entry, checks []job.Check) {
	for _, c := range checks {
		if len(f.checks) < job.MaxChecks {
			f.checks = append(f.checks, checkFact{id: c.ID, command: c.Command, entry: e})
		}
	}
}

func (f *facts) amended(e job.Entry, p *job.Amended) {
	for _, id := range p.DropChecks {
		for i, c := range f.checks {
			if c.id == id {
				f.checks = append(f.checks[:i:i], f.checks[i+1:]...)
				break
			}
		}
	}
	f.add(e, p.AddChecks)
}

func (f *facts) checked(e job.Entry, p *job.Checked) {
	for _, r := range p.Results {
		for i := range f.checks {
			if f.checks[i].id == r.ID {
				f.checks[i].state, f.checks[i].at = r.State, e.Position
			}
		}
	}
}

// takenBack reports whether going back to a safe point undid what happened there.
func (f *facts) takenBack(position int64) bool {
	return f.back != nil && f.backTo > 0 && f.backTo < position && position < f.back.Position
}

// productive reports whether files were changed or committed after a position.
func (f *facts) productive(after int64) bool {
	for _, e := range f.entries {
		p, ok := e.Payload.(*job.Step)
		if ok && e.Position > after && !e.Late && !e.Guest && p.Result == job.OK && !f.takenBack(e.Position) && (p.Class == job.ClassEdit || p.Class == job.ClassCommit) {
			return true
		}
	}
	return false
}

// failing is the newest test run, of the newest steps, whose command has not
// passed since, and the first test it names.
func (f *facts) failing() (e job.Entry, test string) {
	settled := map[string]bool{}
	for n, steps := len(f.entries)-1, 0; n >= 0 && steps < NewestSteps; n-- {
		e := f.entries[n]
		p, ok := e.Payload.(*job.Step)
		if ok {
			steps++
		}
		if !ok || p.Of != "" || p.Command == "" || e.Late || e.Guest {
			continue
		}
		command := strings.Join(strings.Fields(p.Command), " ")
		if settled[command] {
			continue
		}
		settled[command] = true
		if p.Class == job.ClassTest && p.Result == job.Failed {
			if p.Tests != nil && len(p.Tests.Failures) > 0 {
				test = p.Tests.Failures[0]
			}
			return e, test
		}
	}
	return job.Entry{}, ""
}

// breaks are the characters that end a line.
const breaks = "\n\v\f\r\u0085\u2028\u2029"

// bare is a text without what a line of a packet may change: space, line breaks,
// terminal colours, invisible characters, disarmed marks.
func bare(s string) string {
	var b strings.Builder
	broken := false // a line break since the last character
	colour := 0     // 1: after an escape character, 2: inside its sequence
	for _, r := range s {
		if colour > 0 {
			switch {
			case colour == 1 && r == '[':
				colour = 2
				continue
			case colour == 2 && r >= ' ' && r <= '?':
				continue
			case colour == 2 && r >= '@' && r <= '~':
				colour = 0
				continue
			}
			colour = 0
		}
		switch {
		case r == 0x1b:
			colour = 1
		case strings.ContainsRune(breaks, r):
			broken = true
		case invisible(r):
		default:
			if broken && b.Len() > 0 {
				b.WriteByte('/')
			}
			broken = false
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("&lt;", "<", "‹", "<", "[", "(").Replace(b.String())
}

func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// start is so much of a text that what a packet keeps of it, n characters or
// bytes, holds all of it bare. A line break is written as three, a disarmed tag
// as four.
func start(s string, n int, size func(rune) int) string {
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			n -= 3
		case r == '<':
			n -= 4
		default:
			n -= size(r)
		}
		if n < 0 {
			if amp := strings.LastIndexByte(s[:i], '&'); amp >= i-3 && amp >= 0 {
				return s[:amp] // not within "&lt;"
			}
			return s[:i]
		}
	}
	return s
}

func one(rune) int { return 1 }

func inBytes(r rune) int { return len(string(r)) }

// shortOf is what a short form shows of a text at the least.
func shortOf(text string) string { return start(text, 55, one) }

// quotes reports whether a line says the beginning of a text.
func quotes(line, text string) bool {
	return strings.Contains(bare(line), strings.TrimRight(bare(text), "/"))
}

// overtaken: what an entry said of the work was taken back, with an edit that came
// before it.
func (f *facts) overtaken(position int64) bool {
	if !f.takenBack(position) {
		return false
	}
	for _, e := range f.entries {
		p, ok := e.Payload.(*job.Step)
		if ok && p.Class == job.ClassEdit && !e.Late && !e.Guest && e.Position < position && f.takenBack(e.Position) {
			return true
		}
	}
	return false
}
