package job

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The operations of the simulation: what sessions, persons, clocks and crashes do.

type operation struct {
	weight int
	name   string
	do     func()
}

func (s *sim) operations() []operation {
	return []operation{
		{4, "a session arrives", s.arrive},
		{2, "a session is driven", s.drive},
		{1, "a person opens a job", s.openAnother},
		{2, "a person takes the job for a session", s.take},
		{5, "a hook", s.hook},
		{4, "a beat", s.beat},
		{6, "the clock", s.clock},
		{4, "the lease's edge", s.edge},
		{3, "a process is gone", s.crash},
		{2, "a sweep", s.sweep},
		{2, "a session ends", s.end},
		{14, "a call", s.call},
		{10, "usage", s.spend},
		{20, "a record is delivered", s.redeliver},
		{3, "a copy in another ledger", s.shipped},
		{18, "an act", s.actAsHolder},
		{6, "an act with another token", s.actOtherwise},
		{8, "a person", s.person},
		{6, "an observation", s.remark},
	}
}

func (s *sim) newSession() *simSession {
	n := len(s.sessions) + 1
	x := &simSession{n: n, id: testID(100_000 + n), agent: s.pick("claude", "codex"), name: fmt.Sprint("s", n), host: s.rng.IntN(2),
		folder: s.rng.IntN(3), job: -1, alive: true}
	s.numbers[x.id] = n
	s.sessions = append(s.sessions, x)
	return x
}

// bound is a session that belongs to a job, nil when there is none.
func (s *sim) bound() *simSession {
	return s.session(func(x *simSession) bool { return x.job >= 0 })
}

// session picks one of those that fit, often a late one.
func (s *sim) session(fits func(*simSession) bool) *simSession {
	var list []*simSession
	for _, x := range s.sessions {
		if fits(x) {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if s.one(2) {
		list = list[max(0, len(list)-4):]
	}
	return list[s.rng.IntN(len(list))]
}

// holding is a session that holds a lease, if any does.
func (s *sim) holding() *simSession {
	for _, j := range s.rng.Perm(len(s.jobs)) {
		if l := s.jobs[j].mem.Now.Lease; l != nil {
			if x := s.sessions[s.numbers[l.Session]-1]; x.job == j {
				return x
			}
		}
	}
	return s.bound()
}

func (s *sim) openAnother() {
	if len(s.jobs) < 6 {
		s.openJob(s.rng.IntN(3), false)
	}
}

// arrive starts a session in a folder, or one that was here before, or a fork.
func (s *sim) arrive() {
	var x, from *simSession
	switch before := s.bound(); {
	case before != nil && s.one(4):
		x = before
		x.alive = true
	case before != nil && s.one(3):
		from = before
		x = s.newSession()
		for _, r := range from.log { // a fork's file begins with its parent's rows
			if r.event == "usage" {
				x.log = append(x.log, r)
			}
		}
	default:
		x = s.newSession()
	}
	a := Arrival{Off: s.one(30), Carried: s.one(2), Auto: Auto(s.pick("on", "on", "on", "ask", "off"))}
	p := plainArrival{off: a.Off, carried: a.Carried, auto: string(a.Auto), named: -1, before: -1, from: -1, folder: x.folder}
	if s.one(6) {
		p.named = s.rng.IntN(len(s.jobs))
		a.Named = s.jobs[p.named].id
	}
	if x.job >= 0 && s.truth.jobs[x.job].over() { // what comes after the end is something new
		x.job, x.guest, x.token = -1, false, 0
	}
	if x.job >= 0 {
		p.before = x.job
		a.Bound = &Bound{Job: s.jobs[x.job].id, Session: x.id, Guest: x.guest, Token: x.token}
	}
	if from != nil && from.job >= 0 && !s.truth.jobs[from.job].over() {
		p.from = from.job
		a.From = &Bound{Job: s.jobs[from.job].id, Session: from.id}
	}
	for _, job := range s.jobs { // as a store lists the open jobs of a folder
		now := &job.mem.Now
		for _, w := range now.Workspaces {
			if w.ID == s.workspace(x.folder).ID && !now.Done() && !now.Unnamed {
				a.Open = append(a.Open, job.id)
			}
		}
	}
	b := s.bind(a)
	if got, want := s.wordFor(b), s.truth.bind(p); got != want {
		s.fail("session %d in folder %d binds: %s, want %s (%+v)", x.n, x.folder, got, want, p)
	}
	s.met[strings.Fields(s.wordFor(b))[0]]++
	s.say("session %d in folder %d: %s", x.n, x.folder, s.wordFor(b))
	switch {
	case b.Known != nil && s.jobNumber(b.Job) == x.job:
		s.renew(x)
	case b.Job != "":
		s.sit(x, s.jobNumber(b.Job), false)
	case b.Open && len(s.jobs) < 8:
		s.sit(x, s.openJob(x.folder, true), false)
	}
}

func (s *sim) jobNumber(id ID) int {
	for j, job := range s.jobs {
		if job.id == id {
			return j
		}
	}
	return -1
}

// wordFor says a binding in the model's words.
func (s *sim) wordFor(b Binding) string {
	var offer []int
	for _, id := range b.Offer {
		offer = append(offer, s.jobNumber(id))
	}
	switch {
	case b.Job != "":
		return fmt.Sprint("job ", s.jobNumber(b.Job))
	case b.Offer != nil:
		return fmt.Sprint("offer ", offer)
	case b.Ask:
		return "ask"
	case b.Open:
		return "open"
	}
	return "none"
}

// sit makes a session one of the job's: its holder, or a guest beside it.
func (s *sim) sit(x *simSession, j int, take bool) {
	x.job, x.guest, x.token = j, false, 0
	l, how := s.claimFor(x, take)
	x.guest = how == "held"
	s.observe(x, &SessionStarted{Agent: x.agent, AgentSession: x.name, Number: x.n, Driven: x.driven, Workspace: s.workspace(x.folder)}, plainEntry{folder: x.folder}, "")
	s.give(x, l)
}

// drive starts a session under a runner, which does not sit down beside another.
func (s *sim) drive() {
	x := s.newSession()
	x.driven, x.job = true, s.rng.IntN(len(s.jobs))
	l, _ := s.claimFor(x, false)
	if l == nil {
		x.job = -1
		return
	}
	s.observe(x, &SessionStarted{Agent: x.agent, AgentSession: x.name, Number: x.n, Driven: true, Workspace: s.workspace(x.folder)}, plainEntry{folder: x.folder}, "")
	s.give(x, l)
}

// take is a person's --take: the old process is ended, or frozen and wakes later.
func (s *sim) take() {
	if len(s.sessions) == 0 {
		return
	}
	x, j := s.sessions[s.rng.IntN(len(s.sessions))], s.rng.IntN(len(s.jobs))
	if x.driven || s.truth.jobs[j].over() {
		return
	}
	x.alive = true
	if l := s.jobs[j].mem.Now.Lease; l != nil {
		if old := s.sessions[s.numbers[l.Session]-1]; old != x && s.one(2) {
			old.alive = false
		}
	}
	s.sit(x, j, true)
}

// renew is what each hook does for a session that knows its job.
func (s *sim) renew(x *simSession) {
	job := s.jobs[x.job]
	stale := s.stale(&job.mem.Now, x.id, x.token)
	if stale {
		s.met["denied"]++
	}
	if want := s.truth.jobs[x.job].replaced(x.n, x.token); stale != want {
		s.fail("session %d under token %d is denied at job %d: %v, want %v", x.n, x.token, x.job, stale, want)
	}
	switch l := job.mem.Now.Lease; {
	case stale || x.guest || x.driven || job.mem.Now.Done():
	case l != nil && l.Session == x.id:
		s.sign(x)
	default:
		l, _ := s.claimFor(x, false)
		s.give(x, l)
	}
}

// sign writes the holder's sign of life.
func (s *sim) sign(x *simSession) {
	job, t := s.jobs[x.job], s.truth.jobs[x.job]
	job.renewed = max(job.renewed, s.now)
	t.beaten = max(t.beaten, int64(s.now))
	s.dirty[x.job] = true
	s.say("session %d at job %d", x.n, x.job)
}

func (s *sim) hook() {
	if x := s.session(func(x *simSession) bool { return x.job >= 0 && x.alive }); x != nil {
		s.renew(x)
	}
}

func (s *sim) beat() {
	if x := s.holding(); x != nil && x.alive && s.truth.jobs[x.job].holder == x.n {
		s.sign(x)
	}
}

func (s *sim) clock() {
	before := s.now
	switch n := s.rng.IntN(20); {
	case n < 11:
		s.now = s.now.Add(time.Duration(s.rng.IntN(20_000)) * time.Millisecond)
	case n < 15:
		s.now = s.now.Add(time.Duration(s.rng.IntN(50)) * time.Minute)
	case n < 17:
		s.now = s.now.Add(time.Duration(s.rng.IntN(72)) * time.Hour)
	case n < 19:
		s.now = s.now.Add(-time.Duration(s.rng.IntN(600)) * time.Second)
	default:
		s.now = s.now.Add(-time.Duration(s.rng.IntN(48)) * time.Hour)
	}
	s.say("by %s", s.now.Sub(before))
}

// edge goes to the microsecond at which a lease runs out, or one beside it, and
// lets somebody else ask.
func (s *sim) edge() {
	j := s.rng.IntN(len(s.jobs))
	t := s.truth.jobs[j]
	if t.holder == 0 || Time(t.edge()) < s.now {
		return
	}
	s.now = Time(t.edge() + int64(s.rng.IntN(3)) - 1)
	s.met["edge"]++
	s.say("of job %d", j)
	s.compare(j)
	x := s.newSession()
	x.job = j
	if !t.driven || s.one(2) {
		x.host = 1 - s.sessions[t.holder-1].host
	}
	s.sit(x, j, false)
}

func (s *sim) crash() {
	if x := s.holding(); x != nil {
		x.alive = false
		s.dirty[x.job] = true
		s.say("session %d", x.n)
	}
}

// sweep records the crash of a holder: a call in flight, its end, the pause.
func (s *sim) sweep() {
	for _, j := range s.rng.Perm(len(s.jobs)) {
		job := s.jobs[j]
		l, life := job.mem.Now.Lease, s.life(j, 0)
		if l != nil && life != Live && !s.held(l, s.now, job.renewed, life) {
			s.met["swept"]++
			s.crashed(j, l)
			return
		}
	}
}

func (s *sim) crashed(j int, l *Lease) {
	job := s.jobs[j]
	x := *s.sessions[s.numbers[l.Session]-1]
	x.job, x.token, x.guest = j, job.mem.Now.Token, false // what the lease says of it
	if s.one(2) {
		s.observe(&x, &Step{Class: ClassOther, Title: "in flight", Result: ResultUnknown, Action: job.mem.Now.Actions + 1},
			plainEntry{class: "other", result: "unknown", action: s.truth.jobs[j].view.Actions + 1}, "")
	}
	s.leave(&x, "crashed")
	s.book(j, Duplex, &Paused{Reason: PauseCrashed}, plainEntry{reason: "crashed"})
}

func (s *sim) end() {
	if x := s.holding(); x != nil {
		s.leave(x, "ended")
	}
}

// leave ends a session, which gives back what it holds.
func (s *sim) leave(x *simSession, why string) {
	s.observe(x, &SessionEnded{Reason: why}, plainEntry{}, "")
	if t := s.truth.jobs[x.job]; t.holder == x.n && !t.over() {
		s.act(x, Author{Kind: Duplex}, x.token, &LeaseReleased{Why: why}, plainEntry{})
	}
}

// call puts a row into a session's transcript, often two that share a name or a
// place; the hook may tell of it at once.
func (s *sim) call() {
	x := s.bound()
	if x == nil {
		return
	}
	r := simRecord{event: s.pick("call", "call", "call", "read", "instructed", "asked"), place: len(x.log) / 2, path: s.pick("a.go", "b.go", "c.go"),
		class:  Class(s.pick("command", "edit", "commit", "test", "delegate", "other")),
		result: Result(s.pick("ok", "ok", "ok", "failed", "denied", "unknown"))}
	if !s.one(3) {
		r.name = fmt.Sprint("r", len(x.log)/2)
	}
	x.log = append(x.log, r)
	if s.one(2) { // the same row of the transcript says a second thing
		switch {
		case r.name == "":
			r.ordinal++
		case r.event == "instructed":
			r.event = "asked"
		default:
			r.event = "instructed"
		}
		x.log = append(x.log, r)
	}
	if s.one(2) {
		s.deliver(x, r)
	}
}

// spend puts a usage row into a transcript: a new message's, or one that grew.
func (s *sim) spend() {
	x := s.bound()
	if x == nil {
		return
	}
	var m *simMessage
	for _, r := range x.log {
		if r.message != nil && s.one(3) {
			m = r.message
		}
	}
	var use plainUse
	if m == nil || s.one(3) {
		m = &simMessage{plainMessage{agent: x.agent}, s.pick("small", "large", "home-made"), plainUse{}}
		for _, other := range s.messages { // agents number theirs alike
			if other.agent == m.agent {
				m.id++
			}
		}
		s.messages = append(s.messages, m)
		use = plainUse{input: 100 * (1 + int64(s.rng.IntN(4))), output: 1, estimate: s.one(8)}
		m.last = use
		if use.estimate {
			use.input += 5000 // more than the count will say
		}
	} else {
		m.last.output += 1 + int64(s.rng.IntN(500))
		m.last.reasoning = m.last.output / 2
		m.last.estimate = false
		use = m.last
	}
	use.unpriced = m.model == "home-made"
	if !use.unpriced {
		use.pico = 3*use.input + 15*use.output
	}
	r := simRecord{event: "usage", message: m, use: use}
	x.log = append(x.log, r)
	if s.one(2) {
		s.deliver(x, r)
	}
}

// redeliver reads on in a transcript, or any row of it once more.
func (s *sim) redeliver() {
	x := s.session(func(x *simSession) bool { return x.job >= 0 && len(x.log) > 0 })
	if x == nil {
		return
	}
	if x.read < len(x.log) && s.one(2) {
		x.read++
		s.deliver(x, x.log[x.read-1])
		return
	}
	s.deliver(x, x.log[s.rng.IntN(len(x.log))])
}

// deliver records a row, unless its key is known.
func (s *sim) deliver(x *simSession, r simRecord) {
	if r.event == "usage" {
		s.usage(x, r)
		return
	}
	rec := plainRecord{agent: x.agent, session: x.n, event: r.event, name: r.name}
	key := s.recordKey(x.agent, x.name, Kind(r.event), r.name)
	if r.name == "" {
		rec.nameless, rec.place, rec.ordinal = true, r.place, r.ordinal
		key = s.placeKey(x.agent, x.name, r.event, fmt.Sprint(r.place), r.ordinal)
	}
	known := s.truth.known[rec]
	if s.keys[key] != known {
		s.fail("the record %+v is known: %v, want %v", rec, s.keys[key], known)
	}
	if known {
		return
	}
	s.truth.known[rec] = true
	job, t := s.jobs[x.job], s.truth.jobs[x.job]
	paths := []Touch{{Name: r.path, Role: RoleRead, Workspace: s.workspace(x.folder).ID}}
	switch r.event {
	case "call":
		p := &Step{Class: r.class, Title: "a call", Command: "go test ./" + r.path, Result: r.result, Action: job.mem.Now.Actions + 1, Paths: paths}
		e := plainEntry{class: string(r.class), result: string(r.result), action: t.view.Actions + 1}
		if s.one(6) {
			e.of = s.item(x.job, KindStep)
			p.Of = testID(1000 + e.of)
		}
		s.observe(x, p, e, key)
	case "read":
		s.observe(x, &Touched{Title: "a read", Action: job.mem.Now.Actions + 1, Paths: paths}, plainEntry{action: t.view.Actions + 1}, key)
	case "instructed":
		s.observe(x, &Instructed{Text: "keep the names"}, plainEntry{}, key)
	case "asked":
		s.observe(x, &Asked{Text: "which one?"}, plainEntry{}, key)
	}
}

// usage records a usage row in the ledger of the job that pays for its message:
// all rows of a message belong in one ledger, wherever a fork carried it.
func (s *sim) usage(x *simSession, r simRecord) {
	row := plainRow{r.message.plainMessage, r.use.input, r.use.output, r.use.reasoning}
	p, key := s.spent(x, r)
	if s.keys[key] != s.truth.rows[row] {
		s.fail("the row %+v is known: %v, want %v", row, s.keys[key], s.truth.rows[row])
	}
	if s.keys[key] {
		return
	}
	s.truth.rows[row] = true
	e := plainEntry{session: x.n, message: r.message.plainMessage, use: r.use}
	if paid := s.spends[SpendKey(key)]; paid != nil && paid.Job != s.jobs[x.job].id {
		s.met["routed"]++
		s.append(s.jobNumber(paid.Job), Envelope{Session: x.id, Author: x.author(), Guest: true, Key: key}, p, e)
		return
	}
	s.observe(x, p, e, key)
}

func (s *sim) spent(x *simSession, r simRecord) (*Spent, string) {
	tokens := Tokens{Input: r.use.input, Output: r.use.output, Reasoning: r.use.reasoning}
	p := &Spent{Message: fmt.Sprint("m", r.message.id), Model: r.message.model, Tokens: tokens, Estimate: r.use.estimate, Context: tokens.Total()}
	if !r.use.unpriced {
		p.Pico = &r.use.pico
	}
	return p, s.spentKey(r.message.agent, x.name, p.Message, tokens)
}

// shipped is a row that another store took in for another job before the two
// came together: the job that pays already goes on paying.
func (s *sim) shipped() {
	x, j := s.bound(), s.rng.IntN(len(s.jobs))
	if x == nil || len(x.log) == 0 {
		return
	}
	r := x.log[s.rng.IntN(len(x.log))]
	if r.message == nil || s.truth.bills[r.message.plainMessage] == nil || s.truth.bills[r.message.plainMessage].job == j {
		return
	}
	p, key := s.spent(x, r)
	if s.keys[key] {
		s.met["shipped"]++
		s.append(j, Envelope{Session: x.id, Author: x.author(), Key: key}, p, plainEntry{session: x.n, message: r.message.plainMessage, use: r.use})
	}
}

// item names an entry of the job that may be referred to: mostly one of the kind
// that is meant, often the one referred to last, now and then another job's or none.
func (s *sim) item(j int, meant ...Kind) int {
	if s.one(10) {
		j = s.rng.IntN(len(s.jobs))
	}
	job := s.jobs[j]
	if job.target > 0 && s.one(4) {
		return job.target
	}
	items := job.items
	if !s.one(5) {
		items = slices.DeleteFunc(slices.Clone(items), func(i simItem) bool { return !slices.Contains(meant, i.kind) })
	}
	if len(items) == 0 {
		return 900_000
	}
	job.target = items[s.rng.IntN(len(items))].n
	return job.target
}

// anAct makes an act at random.
func (s *sim) anAct(j int) (Payload, plainEntry) {
	job := s.jobs[j]
	switch n := s.rng.IntN(30); {
	case n < 4:
		return &Decided{Text: "table tests"}, plainEntry{}
	case n < 7:
		of := s.item(j, KindDecided)
		return &Decided{Text: "subtests", Supersedes: testID(1000 + of)}, plainEntry{item: of}
	case n < 10:
		return &Raised{Text: "a hook to move", Next: s.one(2)}, plainEntry{}
	case n < 12:
		return &DeadEnd{Text: "a shim"}, plainEntry{}
	case n < 17:
		of := s.item(j, KindRaised, KindDeadEnd, KindDecided)
		return &Settled{Item: testID(1000 + of), How: "done"}, plainEntry{item: of}
	case n < 19:
		job.points++
		green := s.one(3)
		return &SafePoint{Number: job.points, Why: "on request", Green: green}, plainEntry{number: job.points, green: green}
	case n < 20:
		return &WentBack{To: 1}, plainEntry{}
	case n < 21:
		return &HandedOver{Why: "level"}, plainEntry{}
	case n < 22:
		return &TookOver{How: "startup"}, plainEntry{}
	case n < 24:
		why := s.pick("context limit", "rate limit", "crashed", "waiting for an answer", "budget reached", "stalled", "waiting for another job", "by hand")
		until := s.now.Add(time.Hour)
		return &Paused{Reason: PauseReason(why), Until: until}, plainEntry{reason: why, until: int64(until)}
	case n < 25:
		return &Resumed{Why: "by hand"}, plainEntry{}
	case n < 26:
		return &Amended{Budget: &Budget{Pico: 1}}, plainEntry{budget: true}
	case n < 28:
		state := CheckState(s.pick("passed", "failed", "cannot run"))
		number := max(0, job.points-s.rng.IntN(2))
		return &Checked{Results: []CheckResult{{ID: "c1", State: state}}, SafePoint: number}, plainEntry{number: number, green: state == CheckPassed}
	case n < 29:
		return &Lesson{Text: "a dead end"}, plainEntry{}
	}
	outcome := s.pick("failed", "failed", "unverified", "unverified", "passed", "accepted", "abandoned")
	return &Finished{Outcome: Outcome(outcome)}, plainEntry{reason: outcome}
}

func (s *sim) actAsHolder() {
	if x := s.holding(); x != nil {
		p, e := s.anAct(x.job)
		s.act(x, x.author(), x.token, p, e)
	}
}

// actOtherwise acts with a token that is old, another's, none, or from nowhere.
func (s *sim) actOtherwise() {
	x := s.bound()
	if x == nil {
		return
	}
	y := *x // it may have held another job's lease since
	token := []int64{0, s.jobs[x.job].mem.Now.Token, s.jobs[x.job].mem.Now.Token + 1}[s.rng.IntN(3)]
	if len(x.past) > 0 && !s.one(3) {
		old := x.past[s.rng.IntN(len(x.past))]
		y.job, token = old.job, old.token
		y.token, y.guest = old.token, false
	}
	p, e := s.anAct(y.job)
	s.act(&y, y.author(), token, p, e)
}

func (s *sim) person() {
	j := s.rng.IntN(len(s.jobs))
	switch n := s.rng.IntN(20); {
	case n < 8:
		of := s.item(j, KindAsked)
		s.book(j, Person, &Answered{Question: testID(1000 + of), Text: "the second"}, plainEntry{item: of})
	case n < 9:
		s.book(j, Person, &LeaseReleased{Why: "taken by a person"}, plainEntry{})
	case n < 10 && !s.truth.jobs[j].over():
		s.book(j, Person, &Finished{Outcome: OutcomeAccepted, Reason: "good"}, plainEntry{reason: "accepted"})
	case n < 12:
		s.book(j, Duplex, &Lesson{Text: "a command"}, plainEntry{})
	default:
		p, e := s.anAct(j)
		if _, ends := p.(*Finished); !ends {
			s.book(j, Person, p, e)
		}
	}
}

// remark is an observation that no transcript repeats.
func (s *sim) remark() {
	x := s.bound()
	if x == nil {
		return
	}
	switch s.rng.IntN(6) {
	case 0:
		s.observe(x, &Gap{What: "lines", Count: 3}, plainEntry{count: 3}, "")
	case 1:
		// What a later version wrote is kept, and not asked about.
		s.append(x.job, Envelope{Session: x.id, Author: x.author()}, Unknown{As: "dreamt", Raw: []byte(`{"of":"sheep"}`)}, plainEntry{kind: "unknown"})
	case 2:
		use := plainUse{output: int64(s.rng.IntN(9)), pico: int64(s.rng.IntN(900)) - 200}
		s.observe(x, &Reconciled{Models: []ModelDifference{{Model: s.pick("small", "large"), Tokens: Tokens{Output: use.output}, Pico: use.pico}}}, plainEntry{use: use}, "")
	case 3:
		s.observe(x, &Seen{Branch: "main"}, plainEntry{}, "")
	case 4:
		s.observe(x, &Measured{Name: "files", Value: 3}, plainEntry{}, "")
	default:
		s.observe(x, &Asked{Text: "go on?"}, plainEntry{}, "")
	}
}
