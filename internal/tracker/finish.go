package tracker

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/cost"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Verdict is what a finish, an acceptance or an abandonment said.
type Verdict struct {
	Job     job.ID       `json:"job"`
	Short   string       `json:"short"`
	Goal    string       `json:"goal"`
	Verdict job.Finished `json:"verdict"`
	Run     *CheckRun    `json:"run,omitempty"`
	Lessons []string     `json:"lessons,omitempty"`
	Spend   job.Bill     `json:"spend"`
	Elapsed int64        `json:"elapsed_seconds"`
}

// Finish runs every check in a clean checkout of a final safe point, with the
// protected files as agreed and then as they are, and judges. Anyone may ask for
// it, an agent too: what it says is checked outside the agent.
func (t *Tracker) Finish(ctx context.Context, by Actor, id job.ID, progress func(string)) (Verdict, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return Verdict{}, err
	}
	if s.Done() {
		return Verdict{}, fmt.Errorf("%w: %s on %s", job.ErrFinished, s.Outcome.Outcome, s.Outcome.At.Time().Local().Format("Mon 2 Jan 15:04 -0700"))
	}
	run, err := t.Check(ctx, by, id, CheckRequest{Final: true, Progress: progress})
	if err != nil {
		return Verdict{}, err
	}
	base, err := t.baseline(ctx, id)
	if err != nil {
		return Verdict{}, err
	}
	e := job.Evidence{Results: brief(run.Results), Setup: run.Setup, Keep: s.KeepTests != nil, ListError: run.ListError, Losses: run.Losses, Changed: run.Changed,
		Listed: run.ListError == "" && base != nil && base.hasCases}
	if s.KeepTests != nil && !e.Listed && e.ListError == "" {
		e.ListError = "there is no listing from day one"
	}
	if base != nil {
		e.Baseline = base.green
		e.Worked = len(base.commits) == 0 || base.commits[0].Tree != run.Tree
	}
	f := job.Judge(e)
	f.SafePoint, f.Sealed, f.Claimed = run.SafePoint, "local", by.Author.Kind == job.Agent
	v, err := t.end(ctx, by, id, f)
	v.Run = &run
	return v, err
}

// brief leaves the outputs out: they are in the entry of the run.
func brief(results []job.CheckResult) []job.CheckResult {
	out := append([]job.CheckResult(nil), results...)
	for i := range out {
		out[i].Output = job.Receipt{}
	}
	return out
}

// Accept ends a job by a person's word, with the reason.
func (t *Tracker) Accept(ctx context.Context, by Actor, id job.ID, reason string) (Verdict, error) {
	if err := needText(reason, "the reason (--reason)"); err != nil {
		return Verdict{}, err
	}
	return t.endByPerson(ctx, by, id, job.OutcomeAccepted, reason)
}

// Abandon ends a job by a person's word, without its goal being reached.
func (t *Tracker) Abandon(ctx context.Context, by Actor, id job.ID, reason string) (Verdict, error) {
	return t.endByPerson(ctx, by, id, job.OutcomeAbandoned, reason)
}

func (t *Tracker) endByPerson(ctx context.Context, by Actor, id job.ID, o job.Outcome, reason string) (Verdict, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return Verdict{}, err
	}
	if by.Author.Kind != job.Person {
		return Verdict{}, fmt.Errorf("%w (%w)", ErrNotPerson, job.ErrPersonOnly)
	}
	if s.Done() {
		return Verdict{}, job.ErrFinished
	}
	f := &job.Finished{Outcome: o, Reason: reason, Sealed: "local"}
	if s.SafePoint != nil {
		f.SafePoint = s.SafePoint.Number
	}
	return t.end(ctx, by, id, f)
}

// end writes the outcome and, when it ends the job, what it teaches.
func (t *Tracker) end(ctx context.Context, by Actor, id job.ID, f *job.Finished) (Verdict, error) {
	out := Verdict{Job: id, Verdict: *f}
	err := t.write(ctx, by, true, func(c *change) error {
		s, err := c.tx.Standing(id)
		if err != nil {
			return err
		}
		if s.Done() {
			return job.ErrFinished
		}
		f.Reason = c.clip(f.Reason, 4000)
		book := *c // Duplex keeps this book itself, whoever asked for the finish
		book.by = Actor{Author: job.Author{Kind: job.Duplex}}
		if err := book.settleFailed(id); err != nil {
			return err
		}
		if _, err := c.append(id, f); err != nil {
			return err
		}
		out.Short, out.Goal, out.Spend = s.Short, s.Goal, s.Spend
		out.Elapsed = int64(c.now.Sub(s.Opened).Seconds())
		if !f.Outcome.Ends() {
			_, err := book.append(id, &job.Raised{Text: c.clip(finishFailed+f.Reason, 1000), Next: true})
			return err
		}
		lessons, err := c.draw(id, &s, f.Outcome)
		if err != nil {
			return err
		}
		for _, l := range lessons {
			if _, err := c.append(id, l, said(job.Author{Kind: job.Duplex})); err != nil {
				return err
			}
			out.Lessons = append(out.Lessons, l.Text)
		}
		return nil
	})
	return out, err
}

// finishFailed begins the open item that a failed finish leaves for the next session.
const finishFailed = "the finish did not pass: "

// settleFailed closes what an earlier failed finish left open: this one says more.
func (c *change) settleFailed(id job.ID) error {
	open, err := c.tx.Items(id, job.KindRaised, job.Open, 0, true)
	if err != nil {
		return err
	}
	for _, i := range open {
		if i.Author.Kind == job.Duplex && strings.HasPrefix(i.Text, finishFailed) {
			if _, err := c.append(id, &job.Settled{Item: i.ID, How: "a later finish says more"}); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw takes the first lessons from a job that ended: what led nowhere, commands
// that failed before they passed, and what a kind of step cost.
func (c *change) draw(id job.ID, s *job.Standing, o job.Outcome) ([]*job.Lesson, error) {
	var out []*job.Lesson
	dead, err := c.tx.Items(id, job.KindDeadEnd, job.InForce, 20, true)
	if err != nil {
		return nil, err
	}
	for _, d := range dead {
		text := "dead end: " + agent.OneLine(d.Text)
		if d.Why != "" {
			text += "; " + agent.OneLine(d.Why)
		}
		out = append(out, &job.Lesson{Text: c.clip(text, 300), Topic: "dead end", Repository: s.Repository, From: []job.ID{d.ID}})
	}
	works, err := c.tx.Works(id, job.WorkCommand)
	if err != nil {
		return nil, err
	}
	sort.Slice(works, func(i, j int) bool {
		if works[i].Runs != works[j].Runs {
			return works[i].Runs > works[j].Runs
		}
		return works[i].Name < works[j].Name
	})
	mended := 0
	for _, w := range works {
		if w.Mended && mended < 5 {
			mended++
			out = append(out, &job.Lesson{Text: c.clip(fmt.Sprintf("command: %s failed %d of %d times before it passed", w.Name, w.Fails, w.Runs), 300),
				Topic: "command", Repository: s.Repository, From: []job.ID{w.Step}})
		}
	}
	costs, steps, err := stepCosts(c.tx, id)
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, k := range costs {
		if n := steps[k.Name]; n > 0 && k.Pico > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", k.Name, cost.USD(k.Pico/n)))
		}
	}
	if len(parts) > 0 {
		sort.Strings(parts)
		out = append(out, &job.Lesson{Text: c.clip("cost a step: "+strings.Join(parts, ", "), 300), Topic: "cost", Repository: s.Repository})
	}
	if o == job.OutcomePassed {
		out = append(out, &job.Lesson{Text: c.clip(fmt.Sprintf("worked: %q passed with %s, %s, %s", job.Clip(s.Goal, 120), counted(int64(s.Sessions), "session"), counted(s.Steps, "step"), cost.USD(s.Spend.Pico)), 300),
			Topic: "worked", Repository: s.Repository})
	}
	return out, nil
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// pickLessons takes one of each topic in turn, newest first, so that three of
// them are not all of one kind. Of one finish, what spares work comes before what
// it cost.
func pickLessons(all []job.Item, n int) []job.Item {
	worth := map[string]int{"dead end": 0, "command": 1, "worked": 2, "cost": 3}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].At != all[j].At {
			return all[i].At > all[j].At
		}
		return worth[all[i].Why] < worth[all[j].Why]
	})
	var out []job.Item
	taken := make([]bool, len(all))
	for len(out) < n {
		topics, added := map[string]bool{}, false
		for i, l := range all {
			if taken[i] || topics[l.Why] || len(out) == n {
				continue
			}
			taken[i], topics[l.Why], added = true, true, true
			out = append(out, l)
		}
		if !added {
			break
		}
	}
	return out
}

// Lessons lists what jobs in a folder's repository taught, or all jobs when dir
// is empty.
func (t *Tracker) Lessons(ctx context.Context, dir string) ([]job.Item, error) {
	repository := ""
	if dir != "" {
		p, err := t.Place(dir)
		if err != nil {
			return nil, err
		}
		repository = repositoryOf(p)
	}
	var out []job.Item
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		lessons, err := tx.Lessons(repository, 0)
		for _, l := range lessons {
			out = append(out, l.Item)
		}
		return err
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].At > out[j].At })
	return out, err
}
