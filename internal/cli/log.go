package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

type logOptions struct {
	job     string
	decided bool
	full    bool
	since   int64
	last    int
	kinds   []string
	entry   int64
}

func (a *App) logCommand() *cobra.Command {
	var o logOptions
	c := &cobra.Command{Use: "log [JOB] [POSITION]", Short: "Read a whole job as one piece of work", GroupID: "look", Args: cobra.MaximumNArgs(2),
		Long: `The whole job in order, over days, sessions, agents and models, as one text. Reads
and costs are folded into the steps they led to; --full unfolds them and shows
receipts. With a position, one entry whole, with its receipt.

Signs: ◆ what is settled or kept · ▼ a handover, or who took over · ✓ ✕ a result.`,
		Example: "  duplex log\n  duplex log k7m2 --last 20\n  duplex log k7m2 --decided\n  duplex log k7m2 1340\n  duplex log k7m2 --kind \"dead end\" --kind decided",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if n, err := strconv.ParseInt(strings.TrimPrefix(strings.ReplaceAll(arg, ",", ""), "#"), 10, 64); err == nil && o.entry == 0 {
					o.entry = n
				} else if o.job == "" {
					o.job = arg
				} else {
					return usagef("%q is no position; write duplex log JOB POSITION", arg)
				}
			}
			return a.log(cmd.Context(), o)
		}}
	f := c.Flags()
	f.BoolVar(&o.decided, "decided", false, "the decisions in force, with why and what was rejected")
	f.Int64Var(&o.since, "since", 0, "from this position on")
	f.StringArrayVar(&o.kinds, "kind", nil, "entries of this kind only, as in \"dead end\" (repeat)")
	f.BoolVar(&o.full, "full", false, "unfold reads, costs and sessions, and show receipts")
	f.IntVar(&o.last, "last", 0, "the last so many")
	f.Int64Var(&o.entry, "entry", 0, "one entry, whole, with its receipt")
	return c
}

func (a *App) log(ctx context.Context, o logOptions) error {
	if _, err := kindsNamed(o.kinds); err != nil {
		return err
	}
	if o.since < 0 || o.last < 0 || o.entry < 0 {
		return usagef("positions and counts begin at 1")
	}
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	id, _, err := a.find(ctx, t, o.job)
	if err != nil {
		return err
	}
	switch {
	case o.entry > 0:
		return a.logEntry(ctx, t, id, o.entry)
	case o.decided:
		return a.logDecided(ctx, t, id, o.full)
	}
	return a.writeLog(ctx, t, id, o)
}

// writeLog writes the job's log, as text or as JSON lines.
func (a *App) writeLog(ctx context.Context, t *tracker.Tracker, id job.ID, o logOptions) error {
	kinds, err := kindsNamed(o.kinds)
	if err != nil {
		return err
	}
	shown, err := t.Show(ctx, id)
	if err != nil {
		return err
	}
	r := tracker.LogRequest{From: o.since, Kinds: kinds}
	if a.asJSON {
		return a.logJSON(ctx, t, shown, r, o.last)
	}
	return a.logText(ctx, t, shown, r, o)
}

// kindsNamed reads --kind; "dead-end" is written by those who mind quotes.
func kindsNamed(names []string) ([]job.Kind, error) {
	var out []job.Kind
	for _, n := range names {
		k := job.Kind(strings.ReplaceAll(n, "-", " "))
		if !slices.Contains(job.Kinds(), k) {
			var all []string
			for _, k := range job.Kinds() {
				all = append(all, string(k))
			}
			return nil, usagef("no kind of entry is called %q; the kinds are %s", n, strings.Join(all, ", "))
		}
		out = append(out, k)
	}
	return out, nil
}

// logText streams the job as text. However long the ledger, what is held is the
// blocks that --last asks for and one screenful of output.
func (a *App) logText(ctx context.Context, t *tracker.Tracker, shown tracker.Shown, r tracker.LogRequest, o logOptions) error {
	p := a.page()
	for _, l := range wrap(shown.Goal, a.columns(), 0) {
		p.line("%s", a.paint(bold, l))
	}
	s := &shown.Standing
	p.line("%s, opened %s, times %s", s.Short, s.Opened.Time().In(a.zone()).Format("Mon 2 January 2006 15:04"), a.offset())
	out := &blocks{p: p, a: a, last: o.last}
	// The last few blocks lie near the end; the whole is read only when they do not.
	from := r.From
	if o.last > 0 {
		from = max(from, s.Position-int64(50*o.last))
	}
	for {
		v := a.telling(shown, o, len(r.Kinds) > 0)
		r.From = from
		err := t.Log(ctx, s.Job, r, func(e job.Entry) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return v.tell(e, out.add)
		})
		if err == nil {
			err = v.rest(out.add)
		}
		if err != nil {
			return err
		}
		if o.last == 0 || len(out.kept) >= o.last || from <= max(o.since, 1) {
			break
		}
		from, out.kept = o.since, nil
	}
	if err := out.end(); err != nil {
		return err
	}
	p.line("")
	v := &showing{a: a, p: p, Shown: shown}
	for _, l := range wrap(fmt.Sprintf("%s for %s: %s", money(shown.Spend), entries(s.Position), v.stands()), a.columns(), 0) {
		p.line("%s", l)
	}
	return p.flush()
}

// block is what one entry is told in, with the day it belongs to.
type block struct {
	day  string
	text string
}

// blocks writes them in order, with a heading where the day changes, or keeps the
// last few.
type blocks struct {
	p    *page
	a    *App
	day  string
	last int
	kept []block
}

func (b *blocks) add(one block) error {
	if b.last == 0 {
		return b.write(one)
	}
	if len(b.kept) == b.last {
		b.kept = append(b.kept[:0], b.kept[1:]...)
	}
	b.kept = append(b.kept, one)
	return nil
}

func (b *blocks) write(one block) error {
	if one.day != b.day {
		b.day = one.day
		b.p.line("")
		b.p.line("%s", b.a.paint(bold, one.day))
	}
	b.p.buf.WriteString(one.text)
	if b.p.buf.Len() > 32<<10 {
		return b.p.flush()
	}
	return nil
}

func (b *blocks) end() error {
	for _, one := range b.kept {
		if err := b.write(one); err != nil {
			return err
		}
	}
	return nil
}

// logLine is an entry as log --json prints it: one object a line.
type logLine struct {
	job.Envelope
	Payload any `json:"payload"` // null: its content was dropped
}

func lineOf(e job.Entry) logLine {
	if _, erased := e.Payload.(job.Erased); erased {
		return logLine{e.Envelope, nil}
	}
	return logLine{e.Envelope, e.Payload}
}

// logJSON streams entries as JSON lines; the first line names the schema.
func (a *App) logJSON(ctx context.Context, t *tracker.Tracker, shown tracker.Shown, r tracker.LogRequest, last int) error {
	enc := func(v any) ([]byte, error) {
		sealed, err := t.Redact().JSON(v)
		return append(sealed.Bytes(), '\n'), err
	}
	head, err := json.Marshal(shown.Goal)
	if err != nil {
		return err
	}
	s := &shown.Standing
	if _, err := fmt.Fprintf(a.Out, "{\"schema\":\"duplex.log/1\",\"job\":%q,\"short\":%q,\"position\":%d,\"goal\":%s}\n",
		s.Job, s.Short, s.Position, a.clean(string(head))); err != nil {
		return err
	}
	if last > 0 && len(r.Kinds) == 0 {
		r.From = max(r.From, s.Position-int64(last)+1)
	}
	var kept [][]byte
	err = t.Log(ctx, s.Job, r, func(e job.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := enc(lineOf(e))
		if err != nil {
			return err
		}
		if last == 0 {
			_, err := a.Out.Write(b)
			return err
		}
		if len(kept) == last {
			kept = append(kept[:0], kept[1:]...)
		}
		kept = append(kept, b)
		return nil
	})
	for _, b := range kept {
		if err != nil {
			break
		}
		_, err = a.Out.Write(b)
	}
	return err
}

// logDecided lists what is decided, with why; with full what was superseded too.
func (a *App) logDecided(ctx context.Context, t *tracker.Tracker, id job.ID, full bool) error {
	state := job.InForce
	if full {
		state = ""
	}
	items, err := t.Items(ctx, id, job.KindDecided, state)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("decisions/1", map[string]any{"decisions": listed(items)})
	}
	p := a.page()
	for _, d := range items {
		for i, l := range wrap(d.Text, a.columns()-9, 0) {
			p.line("%7s  %s", onlyFirst(i, thousands(d.Position)), l)
		}
		if d.Why != "" {
			a.below(p, "why: "+d.Why)
		}
		for _, r := range d.Rejected {
			a.below(p, "rejected: "+r)
		}
		if d.State != job.InForce && d.How != "" {
			a.below(p, fmt.Sprintf("%s at %s: %s", d.State, thousands(d.EndedAt), d.How))
		}
		a.below(p, whoSaid(d.Author)+", "+a.when(d.At))
	}
	if len(items) == 0 {
		p.line("Nothing is decided. Record a decision: duplex decide \"…\" --why \"…\"")
	}
	return p.flush()
}

// below adds what belongs to the line with a position.
func (a *App) below(p *page, text string) {
	for _, l := range wrap(text, a.columns()-11, 0) {
		p.line("           %s", a.paint(dim, l))
	}
}

func whoSaid(by job.Author) string {
	if by.Kind == job.Agent {
		return agentTitle(by.Name)
	}
	return string(by.Kind)
}

// logEntry shows one entry whole.
func (a *App) logEntry(ctx context.Context, t *tracker.Tracker, id job.ID, position int64) error {
	var entry *job.Entry
	err := t.Log(ctx, id, tracker.LogRequest{From: position, To: position}, func(e job.Entry) error {
		entry = &e
		return nil
	})
	if err != nil {
		return err
	}
	shown, err := t.Show(ctx, id)
	if err != nil {
		return err
	}
	if entry == nil {
		return fmt.Errorf("%w: %s has no entry %s, its last is %s", job.ErrNotFound, shown.Standing.Short, thousands(position), thousands(shown.Standing.Position))
	}
	receipts, err := a.receipts(ctx, t, entry)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.showJSON("entry/1", map[string]any{"entry": lineOf(*entry), "receipts": listed(receipts)})
	}
	v := a.telling(shown, logOptions{full: true}, true)
	v.bare = true
	p := a.page()
	p.line("%s at position %s: %s by %s", shown.Standing.Short, thousands(position), entry.Kind, whoSaid(entry.Author))
	p.fact("happened", "%s, told by %s", a.long(entry.HappenedAt), entry.TimeSource)
	if entry.RecordedAt != entry.HappenedAt {
		p.fact("recorded", "%s", a.long(entry.RecordedAt))
	}
	if entry.Session != "" {
		p.fact("session", "%s%s", v.seatName(entry.Session), tokenWord(entry.Token))
	}
	if entry.Late {
		p.fact("late", "its session had been replaced")
	}
	if entry.Guest {
		p.fact("guest", "its session did not hold the job")
	}
	p.fact("id", "%s", entry.ID)
	p.line("")
	if err := v.tell(*entry, func(b block) error { p.buf.WriteString(b.text); return nil }); err != nil {
		return err
	}
	if err := v.rest(func(b block) error { p.buf.WriteString(b.text); return nil }); err != nil {
		return err
	}
	for _, r := range receipts {
		p.line("")
		p.line("receipt%s, %s bytes", nameOfReceipt(r), thousands(r.Size))
		for _, l := range strings.Split(strings.TrimRight(tame(r.Text), "\n"), "\n") {
			p.line("  %s", l)
		}
	}
	return p.flush()
}

func nameOfReceipt(r entryReceipt) string {
	if r.Of == "" {
		return ""
	}
	return " of " + r.Of
}

func tokenWord(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", token %d", n)
}

// long is a time with its day and offset.
func (a *App) long(t job.Time) string {
	return t.Time().In(a.zone()).Format("Mon 2 Jan 2006 15:04:05 -07:00")
}

// entryReceipt is the evidence of an entry, whole.
type entryReceipt struct {
	Of   string `json:"of,omitempty"` // the check it belongs to
	Size int64  `json:"size"`         // bytes before it was cut
	Text string `json:"text"`
}

func (a *App) receipts(ctx context.Context, t *tracker.Tracker, e *job.Entry) ([]entryReceipt, error) {
	var out []entryReceipt
	add := func(of string, r job.Receipt) error {
		if r.Text == "" && r.Blob == "" {
			return nil
		}
		text, err := t.Receipt(ctx, r)
		out = append(out, entryReceipt{Of: of, Size: max(r.Size, int64(len(text))), Text: string(text)})
		return err
	}
	switch p := e.Payload.(type) {
	case *job.Step:
		err := add("", p.Receipt)
		return out, err
	case *job.Checked:
		all := p.Results
		if p.Setup != nil {
			all = append([]job.CheckResult{*p.Setup}, all...)
		}
		for _, r := range all {
			if err := add(r.ID, r.Output); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}
