package job

import (
	"fmt"
	"slices"
)

// The model is a second, smaller account of what is true of jobs, written from the
// words of the contract. It shares nothing with the package: jobs, sessions and
// entries are numbers, words are words, and every rule is said once more, plainly.

// plainWorld is everything there is.
type plainWorld struct {
	jobs  []*plainJob
	known map[plainRecord]bool
	rows  map[plainRow]bool
	bills map[plainMessage]*plainBill
	order []plainMessage
}

// plainRecord is what makes a record one and the same, wherever it is read.
type plainRecord struct {
	agent    string
	session  int
	event    string
	name     string // the provider's
	place    int    // where a nameless one stands
	ordinal  int
	nameless bool
}

// plainMessage is one message of a provider, in whatever files it stands.
type plainMessage struct {
	agent string
	id    int
}

// plainRow is one usage row of a message.
type plainRow struct {
	plainMessage
	input, output, reasoning int64
}

// plainUse is what a usage row says.
type plainUse struct {
	input, output, reasoning int64
	pico                     int64
	unpriced, estimate       bool
}

// plainBill says which job pays for a message, and what.
type plainBill struct {
	job, session int
	use          plainUse
	seated       bool // the session sat at the job when it was billed
}

type plainJob struct {
	unnamed bool
	folders map[int]bool
	seated  map[int]bool // sessions that sat down at it

	holder          int // session, none is 0
	token           int64
	driven          bool
	claimed, beaten int64 // when the holder claimed, and last gave a sign of life

	pause   string
	until   int64
	outcome string

	decisions, items, deadEnds, questions map[int]bool // by entry: still counts
	failing, inFlight                     int          // entries
	view                                  plainView
	pico, tokens, guess, guessed          int64         // reconciled on top of the messages
	corrected                             map[int]int64 // of it, what sessions that sat there were billed
}

// plainView is what a standing is compared with.
type plainView struct {
	Position, Token, Updated              int64
	Holder                                int
	Pause, Outcome                        string
	Decisions, Items, DeadEnds, Questions int
	Steps, Actions, Sessions, Changed     int64
	Late, LateEdits, Guests               int64
	Unknown, Missing                      int64
	Failing, InFlight, SafePoint, Green   int
	Pico, Tokens, Unpriced, Mess          int64
	Estimate, Guessed                     int64
}

// plainEntry is an entry in the model's words. Only the fields its kind has are set.
type plainEntry struct {
	n           int // the entry's number, and an item's name
	kind        string
	at          int64
	session     int
	late, guest bool

	class, result string
	of, item      int // an earlier entry
	action        int64
	reason        string
	until, count  int64
	number        int // of a safe point
	green, budget bool
	token         int64
	driven        bool
	folder        int
	message       plainMessage
	use, guess    plainUse
}

func newPlainWorld() *plainWorld {
	return &plainWorld{known: map[plainRecord]bool{}, rows: map[plainRow]bool{}, bills: map[plainMessage]*plainBill{}}
}

func (w *plainWorld) open(folder int, unnamed bool) {
	w.jobs = append(w.jobs, &plainJob{unnamed: unnamed, folders: map[int]bool{folder: true}, seated: map[int]bool{}, corrected: map[int]int64{},
		decisions: map[int]bool{}, items: map[int]bool{}, deadEnds: map[int]bool{}, questions: map[int]bool{}})
}

func (j *plainJob) over() bool {
	return j.outcome == "passed" || j.outcome == "accepted" || j.outcome == "abandoned"
}

// plainArrival is a session that comes to a folder. Jobs are -1 where there is none.
type plainArrival struct {
	off, carried        bool
	auto                string
	named, before, from int
	folder              int
}

// bind: DUPLEX_JOB; an earlier binding of this session or of the one it came from;
// the one open job of the folder; several: none, and they are named. With no job
// one is opened when the session's context is carried on.
func (w *plainWorld) bind(a plainArrival) string {
	if a.off {
		return "none"
	}
	for _, job := range []int{a.named, a.before, a.from} {
		if job >= 0 {
			return fmt.Sprint("job ", job)
		}
	}
	var open []int
	for i, j := range w.jobs {
		if j.folders[a.folder] && !j.unnamed && !j.over() {
			open = append(open, i)
		}
	}
	switch {
	case len(open) == 1:
		return fmt.Sprint("job ", open[0])
	case len(open) > 1:
		return fmt.Sprint("offer ", open)
	case !a.carried || a.auto == "off":
		return "none"
	case a.auto == "ask":
		return "ask"
	}
	return "open"
}

// The clock is in microseconds. A driven session beats; an observed one is waited
// for half an hour by those who cannot see its process.
const (
	plainSecond   = 1_000_000
	plainDriven   = 45 * plainSecond
	plainObserved = 30 * 60 * plainSecond
)

// edge is the moment at which the lease has run out.
func (j *plainJob) edge() int64 {
	length := int64(plainObserved)
	if j.driven {
		length = plainDriven
	}
	return max(j.claimed, j.beaten) + length
}

// held: by a process that is gone, never; by an observed one that lives, always;
// else until it runs out.
func (j *plainJob) held(now int64, life string) bool {
	switch {
	case j.holder == 0 || life == "gone":
		return false
	case life == "live" && !j.driven:
		return true
	}
	return now < j.edge()
}

// claim says what comes of asking for the lease: how it is got, under which token,
// or why not.
func (j *plainJob) claim(session int, take bool, now int64, life string) (string, int64) {
	switch {
	case j.over():
		return "finished", 0
	case j.holder == session:
		return "renewed", j.token
	case j.holder == 0:
		return "free", j.token + 1
	case j.held(now, life) && !take:
		return "held", 0
	case j.held(now, life):
		return "taken", j.token + 1
	case life == "gone":
		return "gone", j.token + 1
	}
	return "expired", j.token + 1
}

// act says whether an act may happen: "" or why not. Persons may; a session needs
// the lease and its current token; Duplex keeps the book between sessions. Once
// the job is over only lessons are written, and a person may only see to its folder.
func (j *plainJob) act(kind, by string, session int, token int64) string {
	current := token > 0 && token == j.token
	book := by == "duplex" && session == 0
	switch {
	case by == "person" && j.over() && slices.Contains([]string{"decided", "raised", "settled", "dead end", "paused", "resumed", "handed over", "checked", "finished"}, kind):
		return "finished"
	case by == "person":
		return ""
	case j.over() && kind != "lesson" && kind != "lease released":
		return "finished"
	case book, j.over() && current, current && j.holder == session:
		return ""
	}
	return "fenced"
}

// replaced: the session held the lease, and another has been given it since.
func (j *plainJob) replaced(session int, token int64) bool {
	return token > 0 && token < j.token && j.holder != session
}

func (j *plainJob) place(now int64, life string) string {
	switch {
	case j.over():
		return "finished"
	case j.pause == "waiting for an answer", j.pause == "budget reached", counting(j.questions) > 0:
		return "needs you"
	case j.held(now, life) && j.pause == "rate limit" && (j.until == 0 || j.until > now):
		return "waiting"
	case j.held(now, life):
		return "running"
	case j.outcome != "":
		return "needs you"
	case j.pause == "rate limit" && j.until > now, j.pause == "waiting for another job":
		return "waiting"
	}
	return "ready to resume"
}

func counting(m map[int]bool) int {
	n := 0
	for _, counts := range m {
		if counts {
			n++
		}
	}
	return n
}

// write adds an entry to a job's ledger.
func (w *plainWorld) write(job int, e plainEntry) {
	j := w.jobs[job]
	v := &j.view
	v.Position++
	v.Updated = max(v.Updated, e.at)
	switch {
	case e.kind == "unknown":
		v.Unknown++
		return
	case e.late:
		v.Late++
	case e.guest:
		v.Guests++
	}
	switch e.kind { // cost moves, whoever spent it
	case "spent":
		w.bill(job, e)
		return
	case "reconciled":
		j.pico, j.tokens = j.pico+e.use.pico, j.tokens+e.use.output
		j.guess, j.guessed = j.guess-e.guess.pico, j.guessed-e.guess.output
		if j.seated[e.session] {
			j.corrected[e.session] += e.use.pico
		}
		return
	case "session started":
		j.seated[e.session] = true
	}
	if e.late || e.guest {
		if e.kind == "step" && e.of == 0 && (e.class == "edit" || e.class == "commit") && (e.result == "ok" || e.result == "unknown") {
			v.LateEdits++
		}
		return
	}
	j.write(e)
}

// write adds what the holder, a person or Duplex did.
func (j *plainJob) write(e plainEntry) {
	v := &j.view
	switch e.kind {
	case "session started":
		v.Sessions++
		j.folders[e.folder] = true
	case "lease taken":
		if j.holder != e.session {
			j.beaten = 0
		}
		j.holder, j.token, j.driven, j.claimed = e.session, e.token, e.driven, e.at
		if j.pause != "waiting for an answer" && j.pause != "budget reached" {
			j.pause = ""
		}
	case "lease released":
		j.holder = 0
	case "step":
		j.step(e)
	case "touched":
		v.Actions = e.action
	case "decided":
		j.decisions[e.n] = true
		delete(j.decisions, e.item)
	case "raised":
		j.items[e.n] = true
	case "dead end":
		j.deadEnds[e.n] = true
	case "settled":
		delete(j.items, e.item)
		delete(j.decisions, e.item)
		delete(j.deadEnds, e.item)
	case "asked":
		j.questions[e.n] = true
	case "answered":
		delete(j.questions, e.item)
		if j.pause == "waiting for an answer" {
			j.pause = ""
		}
	case "safe point":
		v.SafePoint, v.Changed = e.number, 0
		if e.green {
			v.Green = e.number
		}
	case "checked":
		if e.green && e.number == v.SafePoint && e.number > 0 {
			v.Green = e.number
		}
	case "went back":
		v.Changed, j.failing, j.inFlight = 0, 0, 0
	case "took over":
		j.inFlight = 0
	case "paused":
		j.pause, j.until = e.reason, e.until
	case "resumed":
		j.pause = ""
	case "amended":
		if e.budget && j.pause == "budget reached" {
			j.pause = ""
		}
	case "finished":
		j.outcome = e.reason
		if j.over() {
			j.holder, j.pause = 0, ""
		}
	case "gap":
		v.Missing += e.count
	}
}

func (j *plainJob) step(e plainEntry) {
	v := &j.view
	if e.of > 0 { // a later fact
		if e.result == "ok" && j.failing == e.of {
			j.failing = 0
		}
		if e.result != "unknown" && j.inFlight == e.of {
			j.inFlight = 0
		}
		return
	}
	v.Steps++
	v.Actions = e.action
	switch {
	case e.result == "failed":
		j.failing = e.n
	case e.result == "unknown":
		j.inFlight = e.n
	case e.result == "ok" && (e.class == "test" || e.class == "command"):
		j.failing = 0
	case e.result == "ok" && e.class == "edit":
		v.Changed++
	}
}

// bill: the first job that hears of a message pays for it, by its last row. Rows
// of a message only grow, and a count replaces an estimate.
func (w *plainWorld) bill(job int, e plainEntry) {
	b := w.bills[e.message]
	switch {
	case b == nil:
		b = &plainBill{job: job}
		w.bills[e.message] = b
		w.order = append(w.order, e.message)
	case b.job != job, !b.use.estimate && e.use.estimate:
		return
	case b.use.estimate == e.use.estimate && e.use.input+e.use.output < b.use.input+b.use.output:
		return
	}
	b.use, b.session, b.seated = e.use, e.session, w.jobs[job].seated[e.session]
}

// stand is the view of a job as it is now.
func (w *plainWorld) stand(job int) plainView {
	j := w.jobs[job]
	v := j.view
	v.Token, v.Holder, v.Pause, v.Outcome = j.token, j.holder, j.pause, j.outcome
	v.Decisions, v.Items = counting(j.decisions), counting(j.items)
	v.DeadEnds, v.Questions = counting(j.deadEnds), counting(j.questions)
	v.Failing, v.InFlight = j.failing, j.inFlight
	v.Pico, v.Tokens, v.Estimate, v.Guessed = j.pico, j.tokens, j.guess, j.guessed
	for _, m := range w.order {
		b := w.bills[m]
		if b.job != job {
			continue
		}
		tokens := b.use.input + b.use.output
		v.Mess++
		v.Tokens += tokens
		v.Pico += b.use.pico
		if b.use.unpriced {
			v.Unpriced += tokens
		}
		if b.use.estimate {
			v.Estimate += b.use.pico
			v.Guessed += tokens
		}
	}
	return v
}

// spent is what one session cost a job.
func (w *plainWorld) spent(job, session int) (pico int64) {
	pico = w.jobs[job].corrected[session]
	for _, b := range w.bills {
		if b.job == job && b.session == session && b.seated {
			pico += b.use.pico
		}
	}
	return pico
}
