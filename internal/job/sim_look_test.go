package job

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// How the simulation holds the package against the model.

// look holds every job that moved, and one more, against the model.
func (s *sim) look() {
	s.dirty[s.rng.IntN(len(s.jobs))] = true
	for _, j := range slices.Sorted(maps.Keys(s.dirty)) {
		s.compare(j)
		if s.one(20) {
			s.foldAgain(j)
		}
	}
	clear(s.dirty)
	var messages int64
	for _, job := range s.jobs {
		messages += job.mem.Now.Spend.Messages
	}
	if messages != int64(len(s.truth.bills)) {
		s.fail("the jobs pay for %d messages, want %d, each once", messages, len(s.truth.bills))
	}
}

func (s *sim) compare(j int) {
	job := s.jobs[j]
	now := &job.mem.Now
	if got, want := s.view(now), s.truth.stand(j); got != want {
		s.fail("job %d stands otherwise:%s", j, differences(got, want))
	}
	life := s.life(j, 0)
	working := now.Lease != nil && s.held(now.Lease, s.now, job.renewed, life)
	if got, want := string(now.Place(s.now, working)), s.truth.jobs[j].place(int64(s.now), string(life)); got != want {
		s.fail("job %d is listed as %s, want %s", j, got, want)
	}
	if l := now.Lease; l != nil {
		if l.Session != job.holder && job.holder != "" && l.Token <= job.token {
			s.fail("the lease of job %d went on under token %d after %d", j, l.Token, job.token)
		}
		job.holder, job.token = l.Session, l.Token
	}
	var pico int64
	for _, m := range now.Spend.Models {
		pico += m.Pico
	}
	if pico != now.Spend.Pico {
		s.fail("the models of job %d sum to %d, the bill is %d", j, pico, now.Spend.Pico)
	}
	b, err := now.Encode()
	if err != nil || len(b) > SnapshotLimit {
		s.fail("the snapshot of job %d: %d bytes, %v", j, len(b), err)
	}
	s.largest = max(s.largest, len(b))
	if s.one(20) { // as a store does: the next entry is folded onto what was read
		read, ok, err := DecodeStanding(b)
		if err != nil || !ok {
			s.fail("read the snapshot of job %d: %v, %v", j, ok, err)
		}
		*now = read
		s.met["reread"]++
	}
}

func (s *sim) view(now *Standing) plainView {
	v := plainView{Position: now.Position, Token: now.Token, Updated: int64(now.Updated), Decisions: now.InForce, Items: now.OpenItems,
		DeadEnds: now.DeadEnds, Questions: now.Questions, Steps: now.Steps, Actions: now.Actions, Sessions: int64(now.Sessions),
		Changed: now.Changed, Late: now.Late, LateEdits: now.LateEdits, Guests: now.Guests, Unknown: now.Unknown, Missing: now.Missing,
		Pico: now.Spend.Pico, Tokens: now.Spend.Tokens.Total(), Estimate: now.Spend.Estimate, Guessed: now.Spend.Guessed.Total(), Unpriced: now.Spend.Unpriced, Mess: now.Spend.Messages}
	if now.Lease != nil {
		v.Holder = s.numbers[now.Lease.Session]
	}
	if now.Pause != nil {
		v.Pause = string(now.Pause.Reason)
	}
	if now.Outcome != nil {
		v.Outcome = string(now.Outcome.Outcome)
	}
	if now.Failure != nil {
		v.Failing = s.numbers[now.Failure.ID]
	}
	if now.InFlight != nil {
		v.InFlight = s.numbers[now.InFlight.ID]
	}
	if now.SafePoint != nil {
		v.SafePoint, v.Green = now.SafePoint.Number, now.SafePoint.LastGreen
	}
	return v
}

// differences lists the fields in which two views differ.
func differences(got, want plainView) string {
	var out strings.Builder
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if g.Field(i).Interface() != w.Field(i).Interface() {
			fmt.Fprintf(&out, " %s is %v, want %v;", g.Type().Field(i).Name, g.Field(i), w.Field(i))
		}
	}
	return out.String()
}

// foldAgain folds a job's ledger from its first entry and holds standing and rows
// against those that were kept along the way, and these against the model.
func (s *sim) foldAgain(j int) {
	s.met["refolded"]++
	job, fresh := s.jobs[j], NewMemory()
	for key, row := range s.spends {
		if row.Job != job.id {
			fresh.Spends[key] = row
		}
	}
	for _, e := range job.ledger {
		if err := s.refold(fresh, e); err != nil {
			s.fail("fold job %d again: %v", j, err)
		}
	}
	got, _ := fresh.Now.Encode()
	want, _ := job.mem.Now.Encode()
	if string(got) != string(want) {
		s.fail("job %d folded again stands otherwise:\n  %s\n  %s", j, got, want)
	}
	for _, rows := range []struct {
		name      string
		got, kept any
	}{{"items", fresh.Items, job.mem.Items}, {"working set", fresh.Works, job.mem.Works}, {"sessions", fresh.Sittings, job.mem.Sittings}, {"spends", fresh.Spends, job.mem.Spends}} {
		if !reflect.DeepEqual(rows.got, rows.kept) {
			s.fail("the %s of job %d folded again differ from those kept", rows.name, j)
		}
	}
	now := job.mem.Now
	for _, c := range []struct {
		kind  Kind
		state ItemState
		count int
	}{{KindDecided, InForce, now.InForce}, {KindRaised, Open, now.OpenItems}, {KindDeadEnd, InForce, now.DeadEnds}, {KindAsked, Open, now.Questions}} {
		if rows := len(job.mem.ItemsOf(c.kind, c.state)); rows != c.count {
			s.fail("job %d has %d rows of %s, and counts %d", j, rows, c.kind, c.count)
		}
	}
	for id, row := range job.mem.Sittings {
		if want := s.truth.spent(j, s.numbers[id]); row.Pico != want {
			s.fail("session %d spent %d at job %d, want %d", s.numbers[id], row.Pico, j, want)
		}
	}
}
