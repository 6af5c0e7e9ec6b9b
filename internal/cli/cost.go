package cli

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) costCommand() *cobra.Command {
	return &cobra.Command{Use: "cost [JOB]", Short: "What a job cost, by session, model, day and step kind", GroupID: "look", Args: oneJob,
		Long: `What a job cost: each provider message once, whichever files, forks and resumes
repeat it, priced by the table of its day. Models without a price are unpriced and
left out of sums. In a folder without a job: all jobs.`,
		Example: "  duplex cost\n  duplex cost k7m2\n  duplex cost --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.cost(cmd.Context(), first(args)) }}
}

// bill is what cost prints as JSON.
type bill struct {
	Job      job.ID           `json:"job"`
	Short    string           `json:"short"`
	Goal     string           `json:"goal"`
	Total    job.Bill         `json:"total"`
	Children *job.Bill        `json:"with_children,omitempty"` // the total with what child jobs spent
	By       []tracker.CostOf `json:"by"`
	Sessions []seatName       `json:"sessions"`
}

// seatName says whose a session was.
type seatName struct {
	ID     job.ID `json:"id"`
	Number int    `json:"number"`
	Agent  string `json:"agent"`
	Model  string `json:"model,omitempty"`
	Guest  bool   `json:"guest,omitempty"`
}

func (a *App) cost(ctx context.Context, name string) error {
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	id, _, err := a.find(ctx, t, name)
	if name == "" && errors.Is(err, tracker.ErrNoJobHere) {
		return a.costOfAll(ctx, t)
	}
	if err != nil {
		return err
	}
	shown, err := t.Show(ctx, id)
	if err != nil {
		return err
	}
	total, by, err := t.Costs(ctx, id)
	if err != nil {
		return err
	}
	s := &shown.Standing
	b := bill{Job: id, Short: s.Short, Goal: shown.Goal, Total: total, By: by}
	if len(shown.Children) > 0 {
		b.Children = &shown.Spend
	}
	for _, x := range shown.Sittings {
		b.Sessions = append(b.Sessions, seatName{x.ID, x.Number, x.Agent, x.Model, x.Guest})
	}
	if a.asJSON {
		b.Sessions = listed(b.Sessions)
		for i := range b.By {
			b.By[i].Rows = listed(b.By[i].Rows)
		}
		return a.showJSON("cost/1", b)
	}
	p := a.page()
	p.line("%s", a.paint(bold, oneLine(shown.Goal, a.columns())))
	p.line("%s: %s; %s; days of %s", s.Short, a.budgetLine(s, total), plural(int(total.Messages), "message"), a.offset())
	if b.Children != nil {
		p.line("with its child jobs %s", money(*b.Children))
	}
	a.tokens(p, total)
	for _, part := range by {
		a.costTable(p, part, &b)
	}
	return p.flush()
}

// tokens shows how many of each kind, and what an estimate or a missing price
// leaves open.
func (a *App) tokens(p *page, total job.Bill) {
	t := total.Tokens
	p.line("")
	p.fact("tokens", "%s", thousands(t.Total()))
	for _, k := range []struct {
		name string
		n    int64
	}{{"input", t.Input}, {"cache write, 5 min", t.CacheWrite5m}, {"cache write, 1 h", t.CacheWrite1h}, {"cache read", t.CacheRead}, {"output", t.Output}} {
		if k.n == 0 {
			continue
		}
		note := ""
		if k.name == "output" && t.Reasoning > 0 {
			note = fmt.Sprintf(", of which %s reasoning", thousands(t.Reasoning))
		}
		p.line("%s%s%15s%s", strings.Repeat(" ", factIndent), pad(k.name, 20), thousands(k.n), note)
	}
	if total.Estimate != 0 {
		p.fact("estimate", "%s is estimated until the agent's own total is known", usd(total.Estimate))
	}
	if total.Unpriced > 0 {
		p.fact("unpriced", "%s tokens of a model without a price; sums leave them out. Give one: duplex config prices FILE", thousands(total.Unpriced))
	}
	if total.DeadEnds > 0 {
		p.fact("dead ends", "%s led nowhere", usd(total.DeadEnds))
	}
}

var costTitles = map[store.CostBy]string{store.BySession: "By session", store.ByAgent: "By agent", store.ByModel: "By model",
	store.ByDay: "By day", store.ByClass: "By step kind", store.ByPurpose: "By purpose", store.ByJob: "By job"}

// costTable is one side of a bill: the name, how many messages, tokens in and out,
// and the amount.
func (a *App) costTable(p *page, part tracker.CostOf, b *bill) {
	if len(part.Rows) == 0 || part.By == store.ByClass && len(part.Rows) == 1 && part.Rows[0].Name == "" {
		return // nothing is known of it
	}
	rows := make([]costRow, 0, len(part.Rows))
	for _, r := range part.Rows {
		rows = append(rows, costRow{a.costName(part.By, r.Name, b), sessionNumber(part.By, r.Name, b), r})
	}
	if part.By != store.ByDay { // days come in order
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].before(rows[j]) })
	}
	a.costRows(p, costTitles[part.By], rows)
}

type costRow struct {
	name  string
	order int // of a session
	store.CostRow
}

// before puts sessions in the order they began, and all else by amount.
func (r costRow) before(o costRow) bool {
	switch {
	case r.order != o.order:
		return r.order < o.order
	case r.Pico != o.Pico:
		return r.Pico > o.Pico
	}
	return r.name < o.name
}

func (a *App) costRows(p *page, title string, rows []costRow) {
	width := max(min(a.columns()-62, 50), 22)
	p.line("")
	p.line("%s%s", a.paint(bold, pad(title, width)), a.paint(dim, fmt.Sprintf("%9s%14s%14s%12s%13s", "messages", "input", "cached", "output", "USD")))
	for _, r := range rows {
		t := r.Tokens
		p.line("%s%9s%14s%14s%12s%13s", pad(fit(r.name, width-2), width), messages(r.Messages), thousands(t.Input+t.CacheWrite5m+t.CacheWrite1h),
			thousands(t.CacheRead), thousands(t.Output), amount(r.CostRow))
	}
}

func messages(n int64) string {
	if n == 0 {
		return "" // a standing counts them by job only
	}
	return thousands(n)
}

// fit shortens a name that keeps its blanks.
func fit(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ") + "…"
	}
	return s
}

// amount marks what is an estimate, and says unpriced instead of a guess.
func amount(r store.CostRow) string {
	if r.Pico == 0 && r.Unpriced > 0 {
		return "unpriced"
	}
	mark := ""
	if r.Unpriced > 0 {
		mark = ">" // more than this: a part has no price
	}
	if r.Estimate != 0 {
		mark += "~"
	}
	return mark + cents(r.Pico)
}

// cents is an amount with two decimals that does not call a little nothing.
func cents(pico int64) string {
	if s := usd(pico); pico <= 0 || s != "$0.00" {
		return s
	}
	return "<$0.01"
}

// costName is what a row is called.
func (a *App) costName(by store.CostBy, name string, b *bill) string {
	switch by {
	case store.BySession:
		for _, s := range b.Sessions {
			switch {
			case string(s.ID) != name:
			case s.Guest:
				return "    " + sessionName(s.Agent, s.Model) + ", a guest"
			default:
				return fmt.Sprintf("%2d  %s", s.Number, sessionName(s.Agent, s.Model))
			}
		}
		return "    " + orNone(name, "outside a session")
	case store.ByAgent:
		return agentTitle(name)
	case store.ByClass:
		return orNone(name, "no step")
	case store.ByDay:
		if day, err := time.Parse(time.DateOnly, name); err == nil {
			return day.Format("Mon 2 Jan 2006")
		}
	}
	return orNone(name, "unknown")
}

const guestsLast = 1 << 30

func sessionNumber(by store.CostBy, name string, b *bill) int {
	if by == store.BySession {
		for _, s := range b.Sessions {
			switch {
			case string(s.ID) != name:
			case s.Guest:
				return guestsLast
			default:
				return s.Number
			}
		}
	}
	return 0
}

// jobCost is one job in the bill of all.
type jobCost struct {
	Job   job.ID   `json:"job"`
	Short string   `json:"short"`
	Goal  string   `json:"goal"`
	Total job.Bill `json:"total"`
}

// costOfAll sums every job; what a child spent is in the child's row only.
func (a *App) costOfAll(ctx context.Context, t *tracker.Tracker) error {
	jobs, err := t.Jobs(ctx, tracker.JobsRequest{All: true})
	if err != nil {
		return err
	}
	var total job.Bill
	models := map[string]*store.CostRow{}
	list := make([]jobCost, 0, len(jobs))
	for _, j := range jobs {
		s := j.Standing
		list = append(list, jobCost{s.Job, s.Short, s.Goal, s.Spend})
		total.Pico, total.Estimate = total.Pico+s.Spend.Pico, total.Estimate+s.Spend.Estimate
		total.Tokens, total.Unpriced = total.Tokens.Plus(s.Spend.Tokens), total.Unpriced+s.Spend.Unpriced
		total.Messages, total.DeadEnds = total.Messages+s.Spend.Messages, total.DeadEnds+s.Spend.DeadEnds
		for _, m := range s.Spend.Models {
			if models[m.Model] == nil {
				models[m.Model] = &store.CostRow{Name: m.Model}
			}
			models[m.Model].Pico += m.Pico
			models[m.Model].Tokens = models[m.Model].Tokens.Plus(m.Tokens)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Total.Pico > list[j].Total.Pico })
	if a.asJSON {
		return a.showJSON("costs/1", map[string]any{"total": total, "jobs": list})
	}
	p := a.page()
	if len(list) == 0 {
		p.line("No jobs, so nothing is spent. Start one: duplex start \"GOAL\" --check \"COMMAND\"")
		return p.flush()
	}
	p.line("%s in %s: %s", plural(len(list), "job"), plural(int(total.Messages), "message"), money(total))
	a.tokens(p, total)
	var rows []costRow
	for _, j := range list {
		rows = append(rows, costRow{name: pad(j.Short, 8) + oneLine(j.Goal, 60), CostRow: rowOf(j.Total)})
	}
	a.costRows(p, "By job", rows)
	rows = nil
	for _, m := range models {
		rows = append(rows, costRow{name: m.Name, CostRow: *m})
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].before(rows[j]) })
	a.costRows(p, "By model", rows)
	return p.flush()
}

func rowOf(b job.Bill) store.CostRow {
	return store.CostRow{Pico: b.Pico, Estimate: b.Estimate, Tokens: b.Tokens, Unpriced: b.Unpriced, Messages: b.Messages}
}
