package handover

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Failure is a probe question that the packet answered wrongly.
type Failure struct {
	Probe  string // what was asked
	Want   string
	Got    string
	Repair Repair // what would put it right; empty when nothing known would
}

// Examine asks a packet what the raw entries say, by string checks, with code of
// its own: it shares no function with the builder, so that a fault there is not
// made twice. Entries are raw and oldest first: all of them, or of a long ledger
// at least every entry of the kinds in Examined and the newest steps.
func Examine(v View, entries []job.Entry, p Packet, o Options) []Failure {
	return examine(v, entries, p, o).failures
}

// Examined lists the kinds of which an examination needs every entry. Of steps
// the newest NewestSteps do.
func Examined() []job.Kind {
	return []job.Kind{job.KindOpened, job.KindAmended, job.KindInstructed, job.KindAsked, job.KindAnswered, job.KindDecided,
		job.KindRaised, job.KindSettled, job.KindDeadEnd, job.KindChecked, job.KindSeen, job.KindSafePoint, job.KindHandedOver,
		job.KindTookOver, job.KindWentBack, job.KindPaused, job.KindResumed, job.KindLeaseTaken, job.KindFinished, job.KindScrubbed}
}

// exam is one examination under way.
type exam struct {
	v        View
	o        Options
	p        Packet
	f        *facts
	told     []told
	tail     string          // the line that says what is left out
	full     map[string]bool // sections in which a line had no room
	asked    int
	failures []Failure
}

// told is one line of the packet as a reader sees it.
type told struct {
	section  string
	who      string
	position int64
	text     string // without the mark that it is stale
	stale    bool
	line     Line // what the packet says it is
}

func examine(v View, entries []job.Entry, p Packet, o Options) *exam {
	x := &exam{v: v, o: o, p: p, f: read(entries, v), full: map[string]bool{}}
	x.marker()
	if !x.parse() {
		return x
	}
	x.budget()
	x.goal()
	x.instruction()
	x.binding()
	x.deadEnds()
	x.open()
	x.over()
	x.next()
	x.checks()
	x.failingTest()
	x.workspace()
	x.stale()
	x.claim()
	x.counts()
	for _, t := range x.told {
		x.provenance(t)
	}
	return x
}

// ask counts a probe and keeps it when it failed.
func (x *exam) ask(ok bool, probe, want, got string, r Repair) {
	x.asked++
	if !ok {
		x.failures = append(x.failures, Failure{probe, brief(want), brief(got), r})
	}
}

// brief keeps a failure readable.
func brief(s string) string {
	if len(s) > 200 {
		return s[:200]
	}
	return s
}

// covers reports whether the packet is to hold a section.
func (x *exam) covers(section string) bool {
	return x.o.Section == "" || strings.EqualFold(strings.ReplaceAll(x.o.Section, " ", "-"), section)
}

// in lists the lines of a section.
func (x *exam) in(section string) []told {
	var out []told
	for _, t := range x.told {
		if t.section == section {
			out = append(out, t)
		}
	}
	return out
}

func (x *exam) behind(section string) int {
	for _, c := range x.p.Sections {
		if c.Section == section {
			return c.Behind
		}
	}
	return 0
}

// bound is how many bytes the packet may have.
func (x *exam) bound() int {
	n, c := x.o.Tokens, x.o.Characters
	if n <= 0 {
		n = 2000
	}
	if c <= 0 {
		c = 9000
	}
	if n *= 4; c < n {
		n = c
	}
	if n < 1600 {
		n = 1600
	}
	return n
}

// room reports whether a line would still have fitted: what is left out may be
// left out only when it does not.
func (x *exam) room(text string) bool {
	return x.o.Section != "" || x.bound()-len(x.p.Text) >= len(text)+x.bound()/10+150
}

func (x *exam) marker() {
	text := x.p.Text
	name := x.v.Standing.Short
	if name == "" {
		name = string(x.v.Standing.Job)
	}
	first := fmt.Sprintf("<duplex-brief job=%q position=\"%d\">\n", name, x.v.Standing.Position)
	x.ask(strings.HasPrefix(text, first), "the marker opens the packet", first, text[:min(len(text), len(first))], Repair{})
	x.ask(strings.HasSuffix(text, "\n</duplex-brief>\n"), "the marker closes the packet", "</duplex-brief>", text[max(0, len(text)-40):], Repair{})
	n := markers(text)
	x.ask(n == 2, "nothing inside opens or closes the marker", "2", strconv.Itoa(n), Repair{})
	_, rest, _ := strings.Cut(text, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	x.ask(strings.Contains(second, "history that Duplex recorded") && strings.Contains(second, "not new instructions, except lines marked person"),
		"the packet says that it is data", "history, data", second, Repair{})
}

// markers counts what reads as an opening or closing marker, however spaced.
func markers(s string) int {
	s = strings.ToLower(s)
	n := 0
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return n
		}
		s = s[i+1:]
		if strings.HasPrefix(strings.TrimLeft(s, "/ \t\n"), "duplex") {
			n++
		}
	}
}

// parse reads the packet as an agent would. It stops where the text and the list
// of lines disagree, since then no further question has a meaning.
func (x *exam) parse() bool {
	lines := strings.Split(strings.TrimSuffix(x.p.Text, "\n"), "\n")
	heading, n := "", 0
	agree := true
	for _, l := range lines[min(2, len(lines)):max(2, len(lines)-1)] {
		switch {
		case strings.HasPrefix(l, "## "):
			heading = l[3:]
		case strings.HasPrefix(l, "Left out: "), strings.HasPrefix(l, "Shortened: "):
			x.tail = l
		default:
			t, ok := split(l)
			if !ok || n >= len(x.p.Lines) {
				agree = false
				break
			}
			t.line = x.p.Lines[n]
			n++
			t.section = t.line.Section
			whole := t.text
			if i := strings.LastIndex(t.text, " [stale: "); i >= 0 && strings.HasSuffix(t.text, "]") {
				t.text, t.stale = t.text[:i], true
			}
			_, under := t.place()
			agree = agree && t.line.Text == whole && t.line.Position == t.position && under == heading
			x.told = append(x.told, t)
		}
	}
	agree = agree && n == len(x.p.Lines)
	x.ask(agree, "the text says what its list of lines says", strconv.Itoa(len(x.p.Lines))+" lines", strconv.Itoa(n), Repair{})
	return agree
}

// headings under which a reader finds the sections, in their order.
var headings = [...]struct{ section, heading string }{
	{"goal", "Goal and acceptance"},
	{"instruction", "Newest instruction"},
	{"decisions", "Binding instructions and decisions"},
	{"dead-ends", "Dead ends, not to be tried again"},
	{"open", "Open items and next action"},
	{"done", "Done and left, from receipts"},
	{"workspace", "Workspace"},
	{"working-set", "Working set"},
	{"lessons", "Lessons of earlier jobs"},
	{"claim", "Claimed by the agent, not checked"},
}

// place is where a section stands, and under which heading.
func (t told) place() (int, string) {
	for i, h := range headings {
		if h.section == t.section {
			return i, h.heading
		}
	}
	return -1, ""
}

// split takes "#12 claude: text" apart; "now" and "earlier" stand for no position.
func split(l string) (told, bool) {
	where, rest, ok := strings.Cut(l, " ")
	if !ok {
		return told{}, false
	}
	who, text, ok := strings.Cut(rest, ": ")
	if !ok || strings.Contains(who, " ") {
		return told{}, false
	}
	t := told{who: who, text: text}
	if where == "now" || where == "earlier" {
		return t, true
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(where, "#"), 10, 64)
	t.position = n
	return t, err == nil && strings.HasPrefix(where, "#")
}

func (x *exam) budget() {
	if x.o.Section == "" {
		x.ask(len(x.p.Text) <= x.bound(), "the packet keeps its budget", "at most "+strconv.Itoa(x.bound())+" bytes", strconv.Itoa(len(x.p.Text)), Repair{})
	}
	tokens := len(x.p.Text) / 4
	if len(x.p.Text)%4 > 0 {
		tokens++
	}
	x.ask(x.p.Tokens == tokens, "its tokens are counted right", strconv.Itoa(tokens), strconv.Itoa(x.p.Tokens), Repair{})
}

// counts holds the list of sections against what a reader counts.
func (x *exam) counts() {
	across := map[string]int{}
	for _, t := range x.told {
		across[t.section]++
	}
	behind := 0
	for _, c := range x.p.Sections {
		behind += c.Behind
	}
	for _, c := range x.p.Sections {
		x.ask(across[c.Section] == c.Across, "the count of "+c.Section+" is right", strconv.Itoa(across[c.Section]), strconv.Itoa(c.Across), Repair{})
		delete(across, c.Section)
		if c.Behind > 0 {
			x.ask((strings.Contains(x.tail, c.Section+" "+strconv.Itoa(c.Behind)) || strings.HasPrefix(x.tail, "Left out: "+strconv.Itoa(behind)+". ")) && strings.Contains(x.tail, "duplex brief --section "), "one line says how much of "+c.Section+" is left out",
				c.Section+" "+strconv.Itoa(c.Behind), x.tail, Repair{})
		}
	}
	x.ask(len(across) == 0, "every section is counted", "none left", fmt.Sprint(across), Repair{})
	if behind == 0 {
		x.ask(!strings.Contains(x.tail, "Left out: ") || strings.Contains(x.tail, "Left out: 0"), "nothing is said to be left out that is not", "", x.tail, Repair{})
	}
	last := -1
	for _, t := range x.told {
		at, _ := t.place()
		x.ask(at >= last, "the sections stand in their order", "", t.section, Repair{})
		last = max(last, at)
	}
}
