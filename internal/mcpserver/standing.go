package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/cost"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Standing is where a job stands, in short: what an agent asks before it acts. It is
// the object of standing-short/1 in docs/json.md; duplex show --json has all.
type Standing struct {
	Job       job.ID       `json:"job"`
	Short     string       `json:"short"`
	Position  int64        `json:"position"`
	Goal      string       `json:"goal"`
	Place     job.Place    `json:"place"`
	You       string       `json:"you"` // what the caller is to the job, and may do
	Holder    string       `json:"holder,omitempty"`
	Waits     *job.Pause   `json:"waits,omitempty"`
	Outcome   *job.Verdict `json:"outcome,omitempty"`
	Steps     int64        `json:"steps"`
	Sessions  int          `json:"sessions"`
	Spent     string       `json:"spent"`
	Budget    job.Budget   `json:"budget,omitzero"`
	LastStep  *Line        `json:"last_step,omitempty"`
	Failed    *Line        `json:"failed,omitempty"`
	InFlight  *Line        `json:"in_flight,omitempty"`
	SafePoint int          `json:"safe_point,omitempty"`
	Edits     int64        `json:"edits_since"`
	Checks    []CheckLine  `json:"checks,omitempty"`
	Losses    []string     `json:"lost_tests,omitempty"`
	Stays     []string     `json:"stays,omitempty"`
	Next      string       `json:"next,omitempty"`
	Open      []Line       `json:"open,omitempty"`
	Questions []Line       `json:"questions,omitempty"`
	Decisions []Line       `json:"decisions,omitempty"`
	DeadEnds  []Line       `json:"dead_ends,omitempty"`
	Left      []string     `json:"left_out,omitempty"` // how many more, and how to read them
	Notes     []string     `json:"notes,omitempty"`
}

// Line is an entry in short.
type Line struct {
	Position int64  `json:"position"`
	Text     string `json:"text"`
}

// CheckLine is a check as it is, and as it was on day one.
type CheckLine struct {
	ID      string         `json:"id"`
	Command string         `json:"command"`
	State   job.CheckState `json:"state,omitempty"`
	DayOne  job.CheckState `json:"day_one,omitempty"`
	Note    string         `json:"note,omitempty"`
}

func standing(ctx context.Context, c *call, in struct {
	Job string `json:"job,omitempty" says:"the job's short name; without it, the one of this session or folder"`
}) (answer, error) {
	id, err := c.find(ctx, in.Job)
	if err != nil {
		return answer{}, err
	}
	s, err := c.Show(ctx, id)
	if err != nil {
		return answer{}, err
	}
	full := c.inShort(&s, 8, 200)
	return answer{schema: "standing-short/1", text: full.lines(), sizes: []any{full, c.inShort(&s, 5, 120), c.inShort(&s, 2, 80), c.inShort(&s, 0, 60)}}, nil
}

// inShort keeps at most n of each list, the newest first, and of texts so many bytes.
func (c *call) inShort(s *tracker.Shown, n, bytes int) Standing {
	st := &s.Standing
	out := Standing{Job: st.Job, Short: st.Short, Position: st.Position, Goal: job.Clip(s.Goal, 10*bytes/2), Place: s.Place, You: c.you(st),
		Holder: holder(s), Waits: st.Pause, Outcome: st.Outcome, Steps: st.Steps, Sessions: st.Sessions, Spent: spent(s.Spend), Budget: st.Budget,
		LastStep: ref(st.Newest[job.KindStep]), Edits: st.Changed, Next: job.Clip(st.Next, 2*bytes)}
	if st.Failure != nil {
		out.Failed = ref(*st.Failure)
	}
	if st.InFlight != nil {
		out.InFlight = ref(*st.InFlight)
	}
	if st.SafePoint != nil {
		out.SafePoint = st.SafePoint.Number
	}
	for _, k := range st.Checks {
		out.Checks = append(out.Checks, CheckLine{k.ID, job.Clip(k.Command, bytes), k.State, k.Baseline, job.Clip(k.Note, bytes)})
	}
	for _, l := range some(s.Losses, n) {
		if !l.Accepted {
			out.Losses = append(out.Losses, job.Clip(l.Name, bytes)+": "+l.Loss)
		}
	}
	for _, p := range some(st.Protect, n) {
		out.Stays = append(out.Stays, job.Clip(p, bytes))
	}
	if st.KeepTests != nil {
		out.Stays = append(out.Stays, "every test ("+job.Clip(st.KeepTests.List, bytes)+")")
	}
	for _, list := range []struct {
		into    *[]Line
		items   []job.Item
		all     int
		what    string
		section string
	}{
		{&out.Questions, s.Questions, st.Questions, "question", "open"}, {&out.Open, s.Open, st.OpenItems, "open item", "open"},
		{&out.Decisions, s.Decisions, st.InForce, "decision", "decisions"}, {&out.DeadEnds, s.DeadEnds, st.DeadEnds, "dead end", "dead-ends"},
	} {
		for _, i := range some(list.items, n) {
			*list.into = append(*list.into, Line{i.Position, job.Clip(i.Text, bytes)})
		}
		if more := list.all - len(*list.into); more > 0 {
			out.Left = append(out.Left, fmt.Sprintf("%s: brief with section %s", counted(int64(more), "more "+list.what), list.section))
		}
	}
	out.Notes = notes(st)
	return out
}

func ref(r job.Ref) *Line {
	if r.ID == "" {
		return nil
	}
	return &Line{r.Position, r.Text}
}

func spent(b job.Bill) string {
	s := cost.USD(b.Pico)
	if b.Unpriced > 0 {
		s += fmt.Sprintf(" and %d tokens unpriced", b.Unpriced)
	}
	return s
}

func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// you says what the caller is to the job.
func (c *call) you(s *job.Standing) string {
	switch {
	case s.Done():
		return "the job has ended: you may look"
	case c.by.Session == "":
		return "no session of yours is known here: you may look"
	case c.by.Job != s.Job:
		return fmt.Sprintf("your session sits at another job or none: you may look; take %s to work on it", s.Short)
	case c.by.Guest:
		return "a guest: you may look; another session holds it"
	case s.Lease != nil && s.Lease.Session == c.by.Session:
		return fmt.Sprintf("you hold it, under token %d", s.Lease.Token)
	case job.Stale(s, c.by.Session, c.by.Token):
		return "you were replaced: you may look, and change nothing"
	}
	return fmt.Sprintf("your session sits at it and nobody holds it: take %s to act", s.Short)
}

func holder(s *tracker.Shown) string {
	l := s.Standing.Lease
	if l == nil || s.Place != job.PlaceRunning && s.Place != job.PlaceNeedsYou {
		return ""
	}
	for _, x := range s.Sittings {
		if x.ID == l.Session {
			return strings.TrimSpace(fmt.Sprintf("session %d, %s %s", x.Number, x.Agent, x.Model))
		}
	}
	return "a session"
}

// notes are what is not as it should be.
func notes(s *job.Standing) []string {
	var out []string
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(s.Unnamed, "opened by itself and unnamed; the person names it: duplex amend %s --goal \"…\"", s.Short)
	add(s.Unconfirmed && !s.Unnamed, "the goal is an agent's until the person confirms it: duplex amend %s --goal \"…\"", s.Short)
	add(len(s.Checks) == 0, "no checks: a finish will be unverified")
	add(s.LateEdits > 0, "%s by a session that was replaced changed the workspace: look at it first", counted(s.LateEdits, "edit"))
	add(s.Missing > 0, "%s could not be recorded: duplex log %s --kind gap", counted(s.Missing, "thing"), s.Short)
	return out
}

// lines is the same for people.
func (s Standing) lines() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s at position %d: %s", s.Short, s.Position, s.Goal)
	line("%s, %s in %s, %s; %s", s.Place, counted(s.Steps, "step"), counted(int64(s.Sessions), "session"), s.Spent, s.You)
	if s.Holder != "" {
		line("held by %s", s.Holder)
	}
	if s.Waits != nil {
		line("%s: %s", s.Waits.Reason, s.Waits.Evidence)
	}
	if s.Outcome != nil {
		line("outcome: %s %s", s.Outcome.Outcome, s.Outcome.Reason)
	}
	for _, k := range s.Checks {
		state := k.State
		if state == "" {
			state = "not run"
		}
		line("check %s  %s  %s", k.ID, k.Command, state)
	}
	for _, l := range s.Losses {
		line("lost test: %s", l)
	}
	if len(s.Stays) > 0 {
		line("stays: %s", strings.Join(s.Stays, ", "))
	}
	for _, one := range []struct {
		what string
		*Line
	}{{"last step", s.LastStep}, {"failed", s.Failed}, {"outcome unknown", s.InFlight}} {
		if one.Line != nil {
			line("%s: #%d %s", one.what, one.Position, one.Text)
		}
	}
	line("safe point %d, %s since", s.SafePoint, counted(s.Edits, "edit"))
	for _, list := range []struct {
		what  string
		lines []Line
	}{{"asked", s.Questions}, {"open", s.Open}, {"decided", s.Decisions}, {"dead end", s.DeadEnds}} {
		for _, l := range list.lines {
			line("%s: #%d %s", list.what, l.Position, l.Text)
		}
	}
	for _, l := range append(s.Left, s.Notes...) {
		line("%s", l)
	}
	if s.Next != "" {
		line("next: %s", s.Next)
	}
	return strings.TrimRight(b.String(), "\n")
}
