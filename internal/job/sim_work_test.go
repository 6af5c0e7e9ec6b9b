package job

import (
	"fmt"
	"slices"
	"time"
)

// The operations of the simulation, second part: what sessions do at a job, what
// is recorded of it, and what persons say.

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
		guess := plainUse{output: int64(s.rng.IntN(5)), pico: int64(s.rng.IntN(300))}
		s.observe(x, &Reconciled{Models: []ModelDifference{{Model: s.pick("small", "large"), Tokens: Tokens{Output: use.output}, Pico: &use.pico,
			Guessed: Tokens{Output: guess.output}, GuessedPico: guess.pico}}}, plainEntry{use: use, guess: guess}, "")
	case 3:
		s.observe(x, &Seen{Branch: "main"}, plainEntry{}, "")
	case 4:
		s.observe(x, &Measured{Name: "files", Value: 3}, plainEntry{}, "")
	default:
		s.observe(x, &Asked{Text: "go on?"}, plainEntry{}, "")
	}
}
