package job

import (
	"fmt"
	"strings"
	"time"
)

// The operations of the simulation, first part: who comes, holds the lease, loses
// it and goes, under clocks that jump.

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
