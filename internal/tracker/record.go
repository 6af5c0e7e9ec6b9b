package tracker

import (
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/check"
	"github.com/seed-5777983b/duplex/internal/cost"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// recorder turns what an agent's hooks and transcript say into entries of one
// session. Hook and transcript name the same record alike, so whichever comes
// first writes it.
type recorder struct {
	*change
	row   *store.Session
	place Place
	dir   string // the agent's working folder, for relative paths
	home  string
	from  job.TimeSource
	live  bool // rows come from a session under way, so a limit pauses the job
	wrote int
}

// Bounds of what is kept of one output, in bytes.
const (
	inlineReceipt = 4 << 10
	keptOutput    = 64 << 10
	keptText      = 8 << 10
	saidLimit     = 300
)

func (r *recorder) append(p job.Payload, details ...detail) (store.Appended, error) {
	details = append([]detail{in(r.row.ID)}, details...)
	a, err := r.appendKnown(r.row.Job, p, details...)
	if err == nil && !a.Known {
		r.wrote++
	}
	return a, err
}

func (r *recorder) person(p job.Payload, details ...detail) error {
	_, err := r.append(p, append(details, said(job.Author{Kind: job.Person}))...)
	return err
}

// record writes what one transcript row says.
func (r *recorder) record(a agent.Row) error {
	key := func(event string) detail {
		if a.Record != "" {
			return keyed(r.recordKey(event, fmt.Sprint(a.Record, "/", a.Ordinal)))
		}
		return keyed(job.PlaceKey(r.row.Agent, r.row.AgentSession, event, fmt.Sprint(a.Offset), a.Ordinal))
	}
	at := happened(a.At, r.from)
	switch a.Kind {
	case agent.RowInstruction:
		if agent.Ours(a.Text) {
			return nil // a driver's prompt or a brief: nobody's word
		}
		return r.person(&job.Instructed{Text: r.clip(a.Text, keptText), Standing: len(job.Directives(a.Text)) > 0}, key("instructed"), at)
	case agent.RowSaid:
		r.row.Said = r.clip(agent.OneLine(a.Text), saidLimit)
		return nil
	case agent.RowCall:
		r.row.InFlight = a.Call.Title
		return nil
	case agent.RowResult:
		r.row.InFlight = ""
		return r.call(a.Call, at, a.Side)
	case agent.RowUsage:
		return r.usage(a.Usage, at)
	case agent.RowPlan:
		if r.by.Guest {
			return nil
		}
		return soften(r.person(&job.Decided{Text: r.clip(firstLine(a.Text), 300), Why: r.clip(rest(a.Text), 2000)}, key("plan"), at))
	case agent.RowAsked:
		return r.asked(a, key("asked"), at)
	case agent.RowAnswered:
		return r.answered(a, key("answered"), at)
	case agent.RowTasks:
		return r.tasks(a.Tasks, at)
	case agent.RowLimit:
		return r.limit(a, key("limit"), at)
	case agent.RowTotals:
		return r.totals(a, key("totals"), at)
	case agent.RowCompacted:
		compacted(r.row, a.Held)
		return nil
	}
	return nil
}

// recordKey names a record of the provider's. Its long ids are unique by
// themselves, and forks and resumes copy them into files of other sessions, so the
// session is a part of the key only where the id is short.
func (r *recorder) recordKey(event, record string) string {
	session := r.row.AgentSession
	if len(record) >= 20 {
		session = ""
	}
	return job.RecordKey(r.row.Agent, session, job.Kind(event), record)
}

// answered ties an answer to its question, by the question's text.
func (r *recorder) answered(a agent.Row, key, at detail) error {
	p := &job.Answered{Text: r.clip(a.Text, keptText)}
	if len(a.Options) > 0 {
		open, err := r.tx.Items(r.row.Job, job.KindAsked, job.Open, 20, true)
		if err != nil {
			return err
		}
		asked := r.redact.Text(a.Options[0]).String()
		for _, q := range open {
			if q.Text == asked {
				p.Question = q.ID
			}
		}
	}
	return r.person(p, key, at)
}

func (r *recorder) asked(a agent.Row, key, at detail) error {
	_, err := r.append(&job.Asked{Text: r.clip(a.Text, keptText), Options: a.Options}, key, at)
	return err
}

// call writes a call with its result: a step when it is meaningful, else what it
// touched.
func (r *recorder) call(c *agent.Call, at detail, side bool) error {
	if c == nil || c.Done == nil {
		return nil
	}
	key := keyed(r.recordKey("call", c.ID))
	if c.ID == "" {
		key = func(*job.Envelope) {}
	}
	s, err := r.tx.Standing(r.row.Job)
	if err != nil {
		return err
	}
	sub := ""
	if side {
		sub = "sub-agent"
	}
	paths, symbols := r.paths(c.Paths), r.symbols(c.Symbols)
	by := said(job.Author{Kind: job.Command})
	if c.Class == "" {
		a, err := r.append(&job.Touched{Tool: c.Name, Title: r.clip(c.Title, 200), Paths: paths, Symbols: symbols, Action: s.Actions + 1,
			Call: c.ID, Failed: c.Done.Result == job.Failed, Agent: sub}, key, at, by)
		if err == nil && !a.Known {
			return r.notice(c, s.DeadEnds > 0, at)
		}
		return err
	}
	receipt, err := r.receipt(c.Done.Output, c.Done.Result == job.Failed)
	if err != nil {
		return err
	}
	c.Done.Tests = testCounts(c)
	step := &job.Step{Class: c.Class, Title: r.clip(agent.OneLine(c.Title), 200), Command: r.clip(c.Command, keptText), Tool: c.Name,
		Result: c.Done.Result, Exit: c.Done.Exit, Tests: c.Done.Tests, Receipt: receipt, Paths: paths, Symbols: symbols,
		Action: s.Actions + 1, Call: c.ID, Commit: c.Commit, Added: c.Added, Removed: c.Removed, Millis: c.Done.Millis, Agent: sub}
	a, err := r.append(step, key, at, by)
	if err == nil && !a.Known {
		return r.notice(c, s.DeadEnds > 0, at)
	}
	if err != nil || c.Done.Exit == nil && c.Done.Result != job.Failed {
		return err
	}
	return r.laterFacts(a.Entry, step, c, at, by)
}

// laterFacts adds what a second record of a call knows beyond the first: an exit
// code the hook did not have, the end of a background command.
func (r *recorder) laterFacts(known job.Entry, step *job.Step, c *agent.Call, at, by detail) error {
	e, err := r.tx.Entry(known.Job, string(known.ID))
	if err != nil {
		return err
	}
	first, ok := e.Payload.(*job.Step)
	if !ok || first.Exit != nil || first.Result == job.Failed && step.Result == job.Failed {
		return nil
	}
	if first.Result == step.Result && (step.Exit == nil || *step.Exit == 0) {
		return nil // an exit code of 0 says nothing new of what went well
	}
	_, err = r.appendKnown(e.Job, &job.Step{Of: e.ID, Class: first.Class, Title: first.Title, Result: step.Result, Exit: step.Exit, Tests: step.Tests,
		Receipt: step.Receipt, Millis: step.Millis}, in(r.row.ID), keyed(r.recordKey("call ended", c.ID)), at, by)
	return err
}

func testCounts(c *agent.Call) *job.TestCounts {
	if c.Done.Tests != nil {
		return c.Done.Tests
	}
	if c.Class != job.ClassTest && c.Class != job.ClassCommand {
		return nil
	}
	return countsOf(check.ParseCounts(c.Done.Output))
}

func countsOf(n *check.Counts) *job.TestCounts {
	if n == nil {
		return nil
	}
	return &job.TestCounts{Passed: n.Passed, Failed: n.Failed, Skipped: n.Skipped, Failures: n.FirstFailures}
}

// receipt keeps an output: whole up to 4 KB, else as a blob with the lines that
// matter beside it. It is redacted before anything is cut.
func (r *recorder) receipt(output string, failed bool) (job.Receipt, error) {
	return r.change.receipt(output, failed)
}

func (c *change) receipt(output string, failed bool) (job.Receipt, error) {
	if len(output) <= inlineReceipt {
		return job.Receipt{Text: output, Size: int64(len(output))}, nil
	}
	size := int64(len(output))
	clean := c.redact.Text(bounded(output, keptOutput))
	digest, err := c.tx.PutBlob(clean)
	if err != nil {
		return job.Receipt{}, err
	}
	text := lastLines(clean.String(), 12, 1000)
	if failed {
		if f := check.FailingOutput(clean.String(), 12, 1000); f != "" {
			text = f
		}
	}
	return job.Receipt{Text: text, Blob: digest, Size: size}, nil
}

// usage writes what a message cost, priced from the dated table.
func (r *recorder) usage(u *agent.Usage, at detail) error {
	if u == nil || u.Model == "" {
		return nil
	}
	p := &job.Spent{Message: u.Message, Model: u.Model, Tokens: u.Tokens, Estimate: u.Estimate, Purpose: u.Purpose, Context: u.Context}
	e := job.Envelope{HappenedAt: r.now}
	at(&e)
	if pico, price, ok := cost.Price(u.Model, int64(e.HappenedAt), cost.Tokens(u.Tokens)); ok {
		p.Pico, p.Price = &pico, price
	}
	if u.Context > 0 {
		grow(r.row, u.Context)
		modelled(r.row, u.Model)
	}
	key := keyed(job.SpentKey(r.row.Agent, u.Message, u.Tokens))
	if u.Message == "" {
		key = func(*job.Envelope) {}
	} else if elsewhere, err := r.paidBy(u); err != nil {
		return err
	} else if elsewhere != "" {
		// A fork's or a resume's copy of a message that another job has paid for: if
		// it has grown, that job pays the rest.
		_, err := r.appendKnown(elsewhere, p, key, at, in(""), said(job.Author{Kind: job.Agent, Name: r.row.Agent}), func(e *job.Envelope) { e.Token, e.Guest = 0, true })
		return err
	}
	if _, err := r.append(p, key, at, said(job.Author{Kind: job.Agent, Name: r.row.Agent})); err != nil {
		return err
	}
	return r.goesOn(at)
}

// paidBy is the other job that a message was billed to, if any.
func (r *recorder) paidBy(u *agent.Usage) (job.ID, error) {
	old, err := r.tx.Rows(r.row.Job).Spend(job.SpendKey(job.SpentKey(r.row.Agent, u.Message, u.Tokens)))
	if err != nil || old == nil || old.Job == r.row.Job {
		return "", err
	}
	return old.Job, nil
}

// tasks folds an agent's own task list into open items.
func (r *recorder) tasks(tasks []agent.Task, at detail) error {
	if r.by.Guest {
		return nil
	}
	agentSaid := said(job.Author{Kind: job.Agent, Name: r.row.Agent})
	for _, task := range tasks {
		if task.Text == "" && task.ID == "" {
			continue
		}
		name := task.ID
		if name == "" {
			name = task.Text
		}
		raised := job.RecordKey(r.row.Agent, r.row.AgentSession, "task", name) // list numbers: only with the session
		known, err := r.tx.ByKey(raised)
		if err != nil {
			return err
		}
		closed := task.State == "completed" || task.State == "deleted" || task.State == "cancelled"
		if known == "" {
			if closed || task.Text == "" {
				continue
			}
			if _, err := r.append(&job.Raised{Text: r.clip(agent.OneLine(task.Text), 500)}, keyed(raised), at, agentSaid); err != nil {
				return soften(err)
			}
			continue
		}
		if closed {
			end := job.RecordKey(r.row.Agent, r.row.AgentSession, "task ended", name)
			if _, err := r.append(&job.Settled{Item: known, How: task.State}, keyed(end), at, agentSaid); err != nil {
				return soften(err)
			}
		}
	}
	return nil
}

// soften drops the refusal of an act that the agent did not ask for: a replaced
// session's task list is no decision of the job.
func soften(err error) error {
	if _, ok := err.(*refusal); ok {
		return nil
	}
	return err
}

// paths makes an agent's paths relative to the workspace.
func (r *recorder) paths(list []job.Touch) []job.Touch {
	out := make([]job.Touch, 0, min(len(list), job.MaxPaths))
	for _, t := range list[:min(len(list), job.MaxPaths)] {
		t.Name, t.Workspace = r.within(t.Name)
		t.Name = r.clip(t.Name, 512)
		out = append(out, t)
	}
	return out
}

// within names a path the way the ledger does. Of a session whose folder is not
// here, paths are told by the folder it named, on whatever system that was.
func (r *recorder) within(path string) (string, job.ID) {
	if r.place.Workspace != nil {
		return r.place.relative(r.dir, path, r.home)
	}
	path = strings.ReplaceAll(path, "\\", "/")
	if dir := strings.TrimSuffix(strings.ReplaceAll(r.dir, "\\", "/"), "/"); dir != "" {
		if rel, ok := strings.CutPrefix(path, dir+"/"); ok {
			return rel, ""
		}
	}
	return path, ""
}

// symbols names the files they stood in the same way.
func (r *recorder) symbols(list []job.Touch) []job.Touch {
	out := make([]job.Touch, 0, min(len(list), job.MaxSymbols))
	for _, t := range list[:min(len(list), job.MaxSymbols)] {
		if t.In != "" {
			t.In, t.Workspace = r.within(t.In)
		}
		t.Name = r.clip(t.Name, 200)
		out = append(out, t)
	}
	return out
}

// clip cuts a text that is too long, after redaction: half a credential escapes
// every pattern.
func (c *change) clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = c.redact.Text(s).String()
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return strings.TrimSpace(s[:i])
	}
	return s
}

func rest(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return strings.TrimSpace(s[i:])
	}
	return ""
}

// bounded keeps the head and the tail of a long output, cut at line ends.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := s[:n/4], s[len(s)-n*3/4:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	return fmt.Sprintf("%s… %d bytes left out …\n%s", head, len(s)-len(head)-len(tail), tail)
}

func lastLines(s string, lines, bytes int) string {
	s = strings.TrimRight(s, "\n")
	if len(s) > bytes {
		s = s[len(s)-bytes:]
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[i+1:]
		}
	}
	all := strings.Split(s, "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.ToValidUTF8(strings.Join(all, "\n"), "")
}
