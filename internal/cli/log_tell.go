package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// telling turns a ledger into text, entry by entry. What it remembers is bounded:
// the sessions and items named last, and what each session has read and spent
// since its last step.
type telling struct {
	a     *App
	short string
	full  bool
	asked bool // kinds were asked for: nothing of them is folded
	bare  bool // the body of one entry, without its position and time

	seats memory[job.ID, seatIn]
	items memory[job.ID, itemIn]
	loose memory[job.ID, *pending]
	guest map[job.ID]bool // guests with something to tell
	goal  string          // the words that opened the job
	now   job.Time        // of the newest entry
}

type seatIn struct {
	name   string
	number int    // 0: a guest
	work   string // how soon it was at work, where that is known
}

type itemIn struct {
	at   int64
	text string
}

// pending is what a session did since its last line: it is told with the step it
// led to.
type pending struct {
	started  *job.SessionStarted // not told yet
	entry    job.Entry
	handed   bool // handed over, and nothing was done since
	reads    memory[string, bool]
	searches int
	failed   int
	pico     int64
	tokens   int64 // unpriced
	messages memory[string, job.Spent]
}

func (a *App) telling(shown tracker.Shown, o logOptions, asked bool) *telling {
	v := &telling{a: a, short: shown.Standing.Short, full: o.full, asked: asked}
	for _, x := range shown.Sittings {
		seat := seatIn{name: sessionName(x.Agent, x.Model), number: x.Number}
		if x.Guest {
			seat.number = 0
		}
		if x.Productive > 0 {
			seat.work = fmt.Sprintf(", at work after %s", span(time.Duration(x.ProductiveAfter)*time.Millisecond))
		}
		v.seats.put(x.ID, seat)
	}
	for _, list := range [][]job.Item{shown.DeadEnds, shown.Decisions, shown.Open, shown.Questions} {
		for _, i := range list {
			v.items.put(i.ID, itemIn{i.Position, i.Text})
		}
	}
	for _, c := range shown.Children {
		v.items.put(c.Standing.Job, itemIn{0, c.Standing.Short})
	}
	return v
}

// memory is a map that forgets what was put in first.
type memory[K comparable, V any] struct {
	of    map[K]V
	order []K
}

const memorySize = 256

func (m *memory[K, V]) put(k K, v V) {
	if m.of == nil {
		m.of = map[K]V{}
	}
	if _, known := m.of[k]; !known {
		if len(m.order) == memorySize {
			delete(m.of, m.order[0])
			m.order = append(m.order[:0], m.order[1:]...)
		}
		m.order = append(m.order, k)
	}
	m.of[k] = v
}

func (m *memory[K, V]) get(k K) (V, bool) {
	v, ok := m.of[k]
	return v, ok
}

func (v *telling) pending(session job.ID) *pending {
	if p, ok := v.loose.get(session); ok {
		return p
	}
	p := &pending{}
	v.loose.put(session, p)
	return p
}

func (v *telling) seatName(id job.ID) string {
	s, ok := v.seats.get(id)
	switch {
	case !ok:
		return "an earlier session"
	case s.number == 0:
		return "a guest, " + s.name
	}
	return fmt.Sprintf("session %d, %s", s.number, s.name)
}

// told is one line of the log before it is laid out.
type told struct {
	text   string   // begins with its sign, if any
	result string   // to the right: ✓ 14 passed, +41 −38
	cost   string   // at the right edge
	more   []string // lines below, dim
	speech bool     // words that were said: wrapped, not cut
	quiet  bool     // dim as a whole
	loose  bool     // takes what the session spent since its last line
}

// tell gives the block of one entry, or none where it is folded away.
func (v *telling) tell(e job.Entry, out func(block) error) error {
	v.now = e.HappenedAt
	if !v.full && !v.asked && v.fold(e) {
		return nil
	}
	line, ok := v.words(e)
	if !ok {
		return nil
	}
	var b strings.Builder
	v.guests(&b, e)
	p := v.pending(e.Session)
	if p.started != nil && e.Kind != job.KindTookOver && e.Kind != job.KindSafePoint {
		v.lay(&b, p.entry, v.began(p))
	}
	if e.Kind != job.KindSafePoint { // one is taken before a session is told to go on
		p.started = nil
	}
	if line.loose {
		p.handed = e.Kind == job.KindHandedOver
		if r := p.read(edited(e)...); r != "" {
			v.lay(&b, job.Entry{}, told{text: r, quiet: true})
		}
		if line.cost == "" {
			line.cost = p.cost()
		}
		v.clear(p)
	}
	switch {
	case e.Late && e.Kind != job.KindRefused: // a refusal says so itself
		line.text = "late, its session had been replaced: " + line.text // first, as a long title is cut
	case e.Guest && e.Kind != job.KindSessionStarted:
		line.text += " (guest)"
	}
	v.lay(&b, e, line)
	return out(block{v.day(e.HappenedAt), b.String()})
}

// guests tells what guests looked at, before anything else happens: their end is
// not recorded, and no step of theirs is the job's.
func (v *telling) guests(b *strings.Builder, e job.Entry) {
	for _, id := range v.loose.order {
		if !v.guest[id] || id == e.Session {
			continue
		}
		p := v.pending(id)
		if r := p.read(); r != "" || p.pico > 0 {
			v.lay(b, job.Entry{}, told{text: orNone(r, "answered") + " (guest)", cost: p.cost(), quiet: true})
		}
		v.clear(p)
		delete(v.guest, id)
	}
}

// rest tells what the newest sessions read and spent after their last step.
func (v *telling) rest(out func(block) error) error {
	for _, id := range v.loose.order {
		p := v.loose.of[id]
		var b strings.Builder
		if p.started != nil {
			v.lay(&b, p.entry, v.began(p))
		}
		if r := p.read(); r != "" || p.pico > 0 {
			v.lay(&b, job.Entry{}, told{text: orNone(r, "no step since"), cost: p.cost(), quiet: true})
		}
		if b.Len() > 0 {
			if err := out(block{v.day(v.now), b.String()}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *telling) clear(p *pending) {
	p.reads, p.searches, p.failed, p.pico, p.tokens = memory[string, bool]{}, 0, 0, 0, 0
}

// fold keeps what is told with the next step; it reports whether the entry has no
// line of its own.
func (v *telling) fold(e job.Entry) bool {
	switch p := e.Payload.(type) {
	case *job.Touched:
		v.pendingOf(e).touch(p)
		return true
	case *job.Spent:
		v.pendingOf(e).spend(*p)
		return true
	case *job.Seen:
		return true
	case *job.LeaseTaken:
		return p.How == "free" || p.How == "renewed"
	case *job.LeaseReleased:
		return p.Why != "taken by a person"
	case *job.SessionStarted:
		v.seats.put(e.Session, v.seatOf(e, p))
		q := v.pending(e.Session)
		q.started, q.entry = p, e
		return true
	case *job.SessionEnded:
		return p.Reason != "crashed" && p.Reason != "failed" && p.Reason != "replaced" && v.pending(e.Session).pico == 0
	case *job.HandedOver:
		return p.Why == "end" && v.pending(e.Session).handed
	case *job.Step: // an act by command has an entry of its own
		return p.Of != "" || p.Result == job.OK && strings.HasPrefix(p.Command, "duplex ")
	case *job.Instructed:
		return p.Text == v.goal // it opened the job: told once
	}
	return false
}

func (v *telling) pendingOf(e job.Entry) *pending {
	if e.Guest {
		if v.guest == nil {
			v.guest = map[job.ID]bool{}
		}
		v.guest[e.Session] = true
	}
	return v.pending(e.Session)
}

func (v *telling) seatOf(e job.Entry, p *job.SessionStarted) seatIn {
	seat := seatIn{name: sessionName(p.Agent, p.Model), number: p.Number}
	if e.Guest {
		seat.number = 0
	}
	if known, ok := v.seats.get(e.Session); ok && known.number == p.Number {
		seat.work = known.work
	}
	return seat
}

func (p *pending) touch(t *job.Touched) {
	read := false
	for _, path := range t.Paths {
		if path.Role == job.RoleRead {
			p.reads.put(path.Name, true)
			read = true
		}
	}
	if !read {
		p.searches++
	}
	if t.Failed {
		p.failed++
	}
}

// spend adds what a message cost. A later row of the same message replaces the
// earlier, whichever line that was told in.
func (p *pending) spend(s job.Spent) {
	if old, ok := p.messages.get(s.Message); ok && s.Message != "" {
		p.add(old, -1)
	}
	p.messages.put(s.Message, s)
	p.add(s, 1)
}

func (p *pending) add(s job.Spent, sign int64) {
	if s.Pico == nil {
		p.tokens += sign * s.Tokens.Total()
		return
	}
	p.pico += sign * *s.Pico
}

func (p *pending) cost() string {
	switch {
	case p.pico > 0:
		return cents(p.pico)
	case p.tokens > 0:
		return "unpriced"
	}
	return ""
}

// edited are the files a step changed. That they were read first goes without
// saying.
func edited(e job.Entry) []string {
	s, ok := e.Payload.(*job.Step)
	if !ok {
		return nil
	}
	var out []string
	for _, t := range s.Paths {
		if t.Role == job.RoleEdit {
			out = append(out, t.Name)
		}
	}
	return out
}

// read sums up what was read and searched, but for some files.
func (p *pending) read(but ...string) string {
	var parts []string
	n := len(p.reads.order)
	for _, name := range but {
		if p.reads.of[name] {
			n--
		}
	}
	if n == memorySize {
		parts = append(parts, fmt.Sprintf("read %d files or more", n))
	} else if n > 0 {
		parts = append(parts, "read "+plural(n, "file"))
	}
	switch p.searches {
	case 0:
	case 1:
		parts = append(parts, "searched once")
	case 2:
		parts = append(parts, "searched twice")
	default:
		parts = append(parts, fmt.Sprintf("searched %s times", thousands(int64(p.searches))))
	}
	if p.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of these failed", p.failed))
	}
	return strings.Join(parts, ", ")
}

// began tells a session's begin where no takeover does.
func (v *telling) began(p *pending) told {
	s := p.started
	text := fmt.Sprintf("session %d begins, %s", s.Number, sessionName(s.Agent, s.Model))
	if p.entry.Guest {
		text = sessionName(s.Agent, s.Model) + " sits beside as a guest"
	}
	if s.Source == "adopt" {
		text += ", read from its transcript"
	}
	return told{text: text}
}

func (v *telling) day(t job.Time) string {
	return t.Time().In(v.a.zone()).Format("Monday 2 January 2006")
}

// Layout: position, time, text, result, cost.
const (
	textIndent  = 16
	costWidth   = 9
	resultWidth = 24
)

// lay writes one line, and what belongs below it.
func (v *telling) lay(b *strings.Builder, e job.Entry, l told) {
	a := v.a
	wide, indent := a.columns(), textIndent
	head := strings.Repeat(" ", textIndent)
	switch {
	case v.bare:
		head, indent = "  ", 2
	case e.Position > 0:
		head = a.paint(dim, fmt.Sprintf("%7s  %5s  ", thousands(e.Position), e.HappenedAt.Time().In(a.zone()).Format("15:04")))
	}
	var lines []string
	right := ""
	switch room := wide - indent; {
	case l.speech || v.full:
		most := 6
		if v.full {
			most = 0
		}
		if right = strings.TrimSpace(l.result + "  " + l.cost); right == "" {
			lines = wrap(l.text, room, most)
			break
		}
		lines = wrap(l.text, room-runes(right)-2, most)
		if last := len(lines) - 1; last >= 0 {
			lines[last] = pad(lines[last], room-runes(right)) + v.sign(right)
		}
	case l.result == "" && l.cost == "":
		lines = []string{oneLine(l.text, room)}
	default:
		result := resultWidth
		if wide < 90 {
			result = 16
		}
		text := room - costWidth
		if l.result != "" {
			text -= result
			right = pad(cut(l.result, result-2), result)
		}
		right += fmt.Sprintf("%*s", costWidth, l.cost)
		lines = wrap(l.text, text-2, 2) // a command's second half often says which one it is
		if len(lines) == 0 {
			lines = []string{""}
		}
		lines[0] = pad(lines[0], text) + v.sign(strings.TrimRight(right, " "))
	}
	for i, text := range lines {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		text = strings.TrimRight(text, " ")
		if l.quiet {
			text = a.paint(dim, text)
		} else {
			text = v.sign(text)
		}
		b.WriteString(strings.TrimRight(head+text, " ") + "\n")
	}
	for _, m := range l.more {
		most := 2
		if v.full {
			most = 0
		}
		for _, text := range wrap(m, wide-indent-2, most) {
			b.WriteString(strings.Repeat(" ", indent+2) + a.paint(dim, v.sign(text)) + "\n")
		}
	}
}

func runes(s string) int { return len([]rune(s)) }

// sign colours the sign a piece of text begins with; the word beside it says the
// same.
func (v *telling) sign(s string) string {
	for _, c := range []struct{ sign, colour string }{{"✓", colourOK}, {"✕", colourFail}, {"?", colourAsk}} {
		if rest, ok := strings.CutPrefix(s, c.sign+" "); ok {
			return v.a.paint(c.colour, c.sign) + " " + rest
		}
	}
	return s
}

// named is an item of the ledger that another entry refers to.
func (v *telling) named(id job.ID) string {
	i, ok := v.items.get(id)
	switch {
	case !ok:
		return "an earlier item"
	case i.at == 0:
		return i.text
	}
	return fmt.Sprintf("%s “%s”", thousands(i.at), oneLine(i.text, 60))
}

func (v *telling) keep(e job.Entry, text string) {
	if text != "" {
		v.items.put(e.ID, itemIn{e.Position, text})
	}
}

func counts(list []job.SectionCount) (across, behind string, wentAcross, stayed int) {
	var x, y []string
	for _, s := range list {
		wentAcross, stayed = wentAcross+s.Across, stayed+s.Behind
		if s.Across > 0 {
			x = append(x, fmt.Sprintf("%s%s%d", s.Section, glue, s.Across))
		}
		if s.Behind > 0 {
			y = append(y, fmt.Sprintf("%s%s%d", s.Section, glue, s.Behind))
		}
	}
	return strings.Join(x, ", "), strings.Join(y, ", "), wentAcross, stayed
}
