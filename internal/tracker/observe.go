package tracker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// tailPerHook bounds what one hook reads of a transcript, in bytes; what is
// beyond is read by the next.
const tailPerHook = 4 << 20

// Observe takes in one hook call of an agent: it binds the session, records what
// its hook and transcript say, renews its lease, watches how full its context is
// and answers. It is one transaction; a handover and the looks at the workspace
// that go with it come after, at the few moments that want them.
func (t *Tracker) Observe(ctx context.Context, ad agent.Adapter, ev agent.Event) (Observed, error) {
	return t.observe(ctx, &observing{Tracker: t, ad: ad, ev: ev})
}

// Observed is what came of a hook call: what the agent is told, and what the next
// calls may go by without asking the store.
type Observed struct {
	agent.Answer
	Watch *Watch // nil: ask the store each time
}

// Glance answers a call before a tool by reading alone: a session that was replaced
// is refused. It is done when there is nothing to write.
func (t *Tracker) Glance(ctx context.Context, ad agent.Adapter, ev agent.Event) (a agent.Answer, done bool, err error) {
	if ev.Kind != agent.BeforeTool || ev.Session == "" {
		return agent.Answer{}, false, nil
	}
	o := &observing{Tracker: t, ad: ad, ev: ev}
	done, err = o.glance(ctx)
	return o.answer, done, err
}

func (t *Tracker) observe(ctx context.Context, o *observing) (Observed, error) {
	if o.ev.Session == "" {
		return Observed{}, nil
	}
	if err := o.look(ctx); err != nil {
		return Observed{}, err
	}
	if o.off {
		return Observed{}, nil
	}
	by := Actor{Author: job.Author{Kind: job.Agent, Name: o.ad.Name()}}
	if err := t.write(ctx, by, o.durable(), o.take); err != nil {
		return Observed{}, err
	}
	answer, err := o.after(ctx)
	return Observed{Answer: answer, Watch: o.watch()}, err
}

// observing is one hook call under way.
type observing struct {
	*Tracker
	ad    agent.Adapter
	ev    agent.Event
	row   *store.Session
	place Place
	off   bool
	named job.ID

	rows   []agent.Row
	reader agent.Reader
	next   int64 // transcript offset after the rows
	broken int   // lines that could not be read

	rec      *recorder
	standing job.Standing
	stale    bool
	opened   bool   // a job was opened by itself
	unread   string // why the transcript could not be read
	nudge    bool
	handover string // why a handover is due
	offer    []string
	ask      bool // a job would be opened by itself, if the setting did not say ask
	answer   agent.Answer
	late     []Late   // the calls, when they were spooled
	settings [][]byte // texts of the agent's settings, the strongest first; nil: not read yet
}

// askEvery is how long hooks before and after a tool go without writing to the
// store; a lease is renewed as often. What they heard meanwhile is spooled.
const askEvery = 5 * time.Minute

// durable says which moments must survive a power cut.
func (o *observing) durable() bool {
	switch o.ev.Kind {
	case agent.SessionStart, agent.BeforeCompact, agent.SessionEnd:
		return true
	}
	return false
}

// deaf: the call was spooled. Its agent has gone on, and nothing it is told is heard.
func (o *observing) deaf() bool { return len(o.late) > 0 }

// glance reads where the session stands; enough: there is nothing to write.
func (o *observing) glance(ctx context.Context) (enough bool, err error) {
	err = o.store.Read(ctx, func(tx *store.Tx) error {
		row, err := tx.Session(o.ad.Name(), o.ev.Session)
		if errors.Is(err, job.ErrNotFound) || err == nil && row.Job == "" {
			return nil
		}
		if err != nil {
			return err
		}
		o.row = row
		o.standing, err = tx.Standing(row.Job)
		if errors.Is(err, job.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		o.stale = job.Stale(&o.standing, row.ID, row.Token)
		enough = o.stale || o.Now().Sub(row.LastHook) < askEvery
		o.refuse()
		return nil
	})
	return enough, err
}

// look reads what is known of the session and the tail of its transcript, before
// the store's one writer is asked for.
func (o *observing) look(ctx context.Context) error {
	err := o.store.Read(ctx, func(tx *store.Tx) error {
		row, err := tx.Session(o.ad.Name(), o.ev.Session)
		if err != nil && !errors.Is(err, job.ErrNotFound) {
			return err
		}
		o.row = row
		if name := o.getenv("DUPLEX_JOB"); name != "" {
			if o.named, err = tx.Resolve(name); err != nil && !errors.Is(err, job.ErrNotFound) && !errors.Is(err, job.ErrAmbiguous) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if o.getenv("DUPLEX_OFF") == "1" || o.row != nil && o.row.Off {
		o.off = true
		return nil
	}
	if o.ev.Dir != "" {
		if o.place, err = o.Place(o.ev.Dir); err != nil {
			o.place = Place{} // a folder that cannot be a workspace still has sessions
		}
	}
	if o.ev.Kind == agent.SessionStart && o.place.Workspace != nil {
		// Who arrives after a crash is told of it, so it is recorded first.
		if _, err := o.sweep(ctx, o.place.ID); err != nil {
			return err
		}
	}
	if err := o.cleared(ctx); err != nil {
		return err
	}
	if f, ok := o.ad.(agent.Forker); ok && o.ev.Source == "fork" && o.ev.From == "" {
		o.ev.From = f.ForkedFrom(commandLine(o.ev.PID))
	}
	if err := o.tail(); err != nil {
		// The file is the agent's. What the hook itself says is recorded all the same,
		// and the session gets its brief.
		o.reader, o.rows, o.unread = nil, nil, err.Error()
		return nil
	}
	if o.ev.Kind != agent.SubagentEnd || o.ev.Subagent == "" {
		return nil
	}
	return o.beside(o.ev.Subagent)
}

// tail reads the transcript from where the last call left it.
func (o *observing) tail() error {
	path := o.ev.Transcript
	if path == "" && o.row != nil {
		path = o.row.Transcript
	}
	if path == "" {
		return nil
	}
	o.reader = o.ad.NewReader()
	var from int64
	if o.row != nil && o.row.Transcript == path {
		from = o.row.Offset
		if len(o.row.Reader) > 0 {
			if err := o.reader.Restore(o.row.Reader); err != nil {
				return fmt.Errorf("transcript state: %w", err)
			}
		}
	}
	take := func(line []byte, offset int64) error {
		rows, err := o.reader.Line(line, offset)
		if err != nil {
			o.broken++
			return nil
		}
		o.rows = append(o.rows, rows...)
		return nil
	}
	var err error
	o.next, err = transcript.Lines(path, from, tailPerHook, take)
	if errors.Is(err, transcript.ErrRewritten) { // another file under this name: from its start; keys keep what is known once
		o.reader, o.rows = o.ad.NewReader(), nil
		o.next, err = transcript.Lines(path, 0, tailPerHook, take)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // not written yet at a session's first moment
	}
	return err
}

// take is the transaction of one hook call.
func (o *observing) take(c *change) error {
	if err := o.arrive(c); err != nil {
		return err
	}
	if o.row.Job == "" {
		o.unbound()
	} else if err := o.recordAll(c); err != nil {
		return err
	}
	o.measure()
	o.level()
	if o.row.Job == "" && (o.nudge || o.handover != "") && !o.opened {
		if err := o.carry(c); err != nil {
			return err
		}
		o.ask = o.set.Auto == job.AutoAsk && len(o.offer) == 0
	}
	o.row.LastHook = c.now
	if o.row.Job != "" {
		if err := o.keepLease(c); err != nil {
			return err
		}
		if err := o.moment(c); err != nil {
			return err
		}
	}
	return o.save(c)
}

func (o *observing) save(c *change) error {
	if o.reader != nil {
		o.row.Offset = o.next
		if o.row.Job != "" {
			state, err := o.reader.State()
			if err != nil {
				return fmt.Errorf("transcript state: %w", err)
			}
			o.row.Reader = state
		}
	}
	return c.saveSession(o.row)
}

// saveSession writes a session's row through the funnel: a transcript's path and
// a reader's state hold an agent's text.
func (c *change) saveSession(row *store.Session) error {
	sealed, err := c.redact.JSON(row)
	if err != nil {
		return err
	}
	return c.tx.SaveSession(row.Agent, row.AgentSession, sealed)
}

// arrive finds or makes the session's row and binds it.
func (o *observing) arrive(c *change) error {
	// As it is now, within the transaction: another hook may have made it meanwhile.
	row, err := c.tx.Session(o.ad.Name(), o.ev.Session)
	switch {
	case err == nil:
		o.row = row
	case !errors.Is(err, job.ErrNotFound):
		return err
	case o.row == nil:
		o.row = &store.Session{ID: newID(), Agent: o.ad.Name(), AgentSession: o.ev.Session, Transcript: o.ev.Transcript}
	}
	if o.ev.Transcript != "" && o.row.Transcript != o.ev.Transcript {
		o.row.Transcript, o.row.Offset, o.row.Reader = o.ev.Transcript, 0, nil
	}
	if o.place.Workspace != nil && (o.row.Workspace == "" || o.ev.Kind == agent.SessionStart) {
		o.row.Workspace = o.place.ID
	}
	if o.ev.Model != "" {
		o.row.Model = o.ev.Model
	}
	if o.ev.PID > 0 && o.row.Process.PID != o.ev.PID {
		if ident, err := process.Of(o.ev.PID); err == nil {
			o.row.Process, o.row.Setting, o.row.Compacted = processOf(ident), nil, 0
		}
	}
	if o.ev.Kind == agent.SessionStart {
		o.row.Ended, o.row.Setting = 0, nil
		if o.ev.Source != "compact" { // it may be set otherwise than when it compacted
			o.row.Compacted = 0
		}
	}
	o.measure()
	return o.bind(c)
}

// measure sets the session's levels by its model, which may be known only from its
// first answer, and change.
func (o *observing) measure() {
	if o.reader != nil {
		if full := o.reader.Header().Model; full != o.row.Model && sameModel(full, o.row.Model) {
			o.row.Model = full
		}
	}
	o.row.Window, o.row.Level = levelsOf(o.row, o.ad.Levels(o.row.Model, o.setting))
}

// bind decides which job the session belongs to, and sits it down there.
func (o *observing) bind(c *change) error {
	parent, err := o.parent(c)
	if err != nil {
		return err
	}
	var a job.Arrival
	a.Named, a.Auto = o.named, o.set.Auto
	a.Carried = o.ev.Kind == agent.BeforeCompact || o.ev.Kind == agent.SessionStart && (o.ev.Source == "resume" || o.ev.Source == "compact")
	if o.row.Job != "" {
		s, err := c.tx.Standing(o.row.Job)
		switch {
		case errors.Is(err, job.ErrNotFound), err == nil && s.Done() && (o.ev.Kind == agent.Prompt || o.ev.Kind == agent.SessionStart):
			if err := o.recorder(c).settle(); err != nil {
				return err
			}
			o.row.Job, o.row.Guest, o.row.Token = "", false, 0 // it ended, or was removed: what comes is something new
		case err != nil:
			return err
		default:
			a.Bound = &job.Bound{Job: o.row.Job, Session: o.row.ID, Guest: o.row.Guest, Token: o.row.Token}
		}
	}
	if a.Bound == nil {
		a.From = c.bindingOf(parent)
		if o.place.Workspace != nil {
			off, err := c.tx.Off(o.place.ID)
			if err != nil {
				return err
			}
			a.Off = off
			open, err := c.tx.OpenJobsOf(o.place.ID)
			if err != nil {
				return err
			}
			for _, j := range open {
				a.Open = append(a.Open, j.ID)
				o.offer = append(o.offer, j.Short)
			}
		}
	}
	b := job.Bind(a)
	switch {
	case b.Known != nil && b.Job == o.row.Job:
		return o.know(c)
	case b.Job != "":
		return o.sit(c, b.Job, b.How)
	case b.Open && a.Carried:
		return o.carry(c)
	case b.Ask:
		o.ask = true
	}
	if len(b.Offer) == 0 {
		o.offer = nil
	}
	return nil
}

// cleared reads what the agent wrote of the session before a /clear after that had said
// goodbye. Its totals come last, by the time of the next session's start or a little
// later, so one of the next prompts or the end finds them.
func (o *observing) cleared(ctx context.Context) error {
	var row *store.Session
	err := o.store.Read(ctx, func(tx *store.Tx) (err error) {
		switch {
		case o.ev.Kind == agent.SessionStart && o.ev.Source == "clear":
			if ident, err := process.Of(o.ev.PID); err == nil {
				row, err = tx.SessionByProcess(processOf(ident))
				return err
			}
		case o.row != nil && o.row.From != "" && (o.ev.Kind == agent.Prompt || o.ev.Kind == agent.SessionEnd):
			row, err = tx.SessionByID(o.row.From)
		}
		return err
	})
	if errors.Is(err, job.ErrNotFound) || row == nil || row.Job == "" || row.Ended == 0 || row.AgentSession == o.ev.Session {
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(row.Transcript); err != nil || info.Size() == row.Offset {
		return nil
	}
	return o.catchUp(ctx, Actor{Author: job.Author{Kind: job.Duplex}, Session: row.ID, Token: row.Token, Job: row.Job, Workspace: row.Workspace, Guest: row.Guest}, row)
}

// bindingOf is the binding of the session that another was resumed, forked or cleared
// from; nil when it has none that holds.
func (c *change) bindingOf(row *store.Session) *job.Bound {
	if row == nil || row.Job == "" {
		return nil
	}
	if s, err := c.tx.Standing(row.Job); err != nil || s.Done() {
		return nil
	}
	return &job.Bound{Job: row.Job, Session: row.ID, Guest: row.Guest, Token: row.Token}
}

// parent finds the session this one comes from, as its start or its transcript
// says, and links the two; nil when there is none that is known.
func (o *observing) parent(c *change) (*store.Session, error) {
	from := o.ev.From
	if from == "" && o.reader != nil && o.row.From == "" {
		from = o.reader.Header().From
	}
	var row *store.Session
	var err error
	switch {
	case from != "":
		row, err = c.tx.Session(o.row.Agent, from)
	case o.ev.Source == "clear" && o.row.Process.PID != 0:
		row, err = c.tx.SessionByProcess(o.row.Process)
	}
	if errors.Is(err, job.ErrNotFound) || row == nil || row.ID == o.row.ID {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if o.row.From == "" {
		o.row.From = row.ID
		if o.ev.Source != "clear" {
			o.row.Base = maps.Clone(row.Totals) // a fork's totals begin with its parent's
		}
	}
	return row, nil
}

// commandLine is what was typed to start the agent that called us.
func commandLine(pid int) []string {
	for _, p := range process.Ancestors(os.Getpid()) {
		if p.PID == pid {
			return p.Args
		}
	}
	return nil
}

// sit makes the session one of the job's, as its holder when the lease is free,
// as a guest when another has it.
func (o *observing) sit(c *change, id job.ID, how string) error {
	return o.sitAs(c, id, how, o.ev.Source)
}

func (o *observing) sitAs(c *change, id job.ID, how, source string) error {
	s, err := c.tx.Standing(id)
	if err != nil {
		return err
	}
	o.row.Job, o.row.Number, o.row.Guest, o.row.Token = id, s.Sessions+1, false, 0
	lease, err := c.claim(&s, o.asking(false))
	switch {
	case errors.Is(err, job.ErrHeld):
		o.row.Guest = true
	case errors.Is(err, job.ErrFinished):
	case err != nil:
		return err
	}
	c.by.Session, c.by.Workspace, c.by.Guest = o.row.ID, o.row.Workspace, o.row.Guest
	started := &job.SessionStarted{Agent: o.row.Agent, AgentSession: o.row.AgentSession, Number: o.row.Number, Model: o.row.Model,
		Source: source, From: o.row.From, How: how, Driven: o.row.Driven, Process: o.row.Process, Window: o.row.Window,
		Level: o.row.Level, Transcript: o.row.Transcript}
	if o.place.Workspace != nil {
		started.Workspace = o.place.workspace()
	}
	if _, err := c.append(id, started); err != nil {
		return err
	}
	if lease != nil {
		if _, err := c.append(id, lease); err != nil {
			return err
		}
		o.row.Token, c.by.Token = lease.Token, lease.Token
	}
	return o.know(c)
}

func (o *observing) asking(take bool) job.Asking {
	return job.Asking{Session: o.row.ID, Driven: o.row.Driven, Process: o.row.Process, Take: take}
}

// know loads the standing of the session's job.
func (o *observing) know(c *change) error {
	s, err := c.tx.Standing(o.row.Job)
	if err != nil {
		return err
	}
	o.standing = s
	c.by.Session, c.by.Workspace, c.by.Guest, c.by.Token = o.row.ID, o.row.Workspace, o.row.Guest, o.row.Token
	o.stale = job.Stale(&s, o.row.ID, o.row.Token)
	return nil
}

// unbound watches a session that belongs to no job: only how full it is.
func (o *observing) unbound() {
	for _, r := range o.rows {
		switch {
		case r.Kind == agent.RowUsage && r.Usage != nil && r.Usage.Context > 0:
			grow(o.row, r.Usage.Context)
			modelled(o.row, r.Usage.Model)
		case r.Kind == agent.RowCompacted:
			compacted(o.row, r.Held)
		}
	}
}

// recordAll writes the transcript's new rows, then the call the hook is about.
func (o *observing) recordAll(c *change) error {
	o.rec = o.recorder(c)
	final := lastUsage(o.rows)
	for i, r := range o.rows {
		if r.Kind == agent.RowUsage && r.Usage != nil && r.Usage.Message != "" && final[r.Usage.Message] != i {
			continue // a row of the same message that has grown since
		}
		if err := o.rec.record(r); err != nil {
			return err
		}
	}
	if o.broken > 0 {
		if _, err := o.rec.append(&job.Gap{What: "transcript lines that could not be read", Count: int64(o.broken), Source: o.row.Agent}); err != nil {
			return err
		}
	}
	if o.unread != "" { // told once, not at every call
		once := keyed(job.RecordKey(o.row.Agent, o.row.AgentSession, job.KindGap, c.clip(o.unread, 500)))
		if _, err := o.rec.append(&job.Gap{What: c.clip("the transcript: "+o.unread, 500), Count: 1, Source: o.row.Agent}, once); err != nil {
			return err
		}
	}
	if o.ev.Context > 0 {
		o.row.Context = o.ev.Context
	}
	if o.ev.Kind != agent.AfterTool {
		return nil
	}
	o.row.InFlight = ""
	if !o.deaf() {
		return o.rec.call(o.ev.Tool, happened(0, job.FromHook), o.ev.Subagent != "")
	}
	for _, l := range o.late {
		if err := o.rec.call(l.Event.Tool, happened(job.At(l.At), job.FromHook), l.Event.Subagent != ""); err != nil {
			return err
		}
	}
	return nil
}

// lastUsage is where each message's last row stands: an agent writes one for every
// block of a message, and the last one counts.
func lastUsage(rows []agent.Row) map[string]int {
	final := map[string]int{}
	for i, r := range rows {
		if r.Kind == agent.RowUsage && r.Usage != nil {
			final[r.Usage.Message] = i
		}
	}
	return final
}

func (o *observing) recorder(c *change) *recorder {
	home, _ := os.UserHomeDir()
	return &recorder{change: c, row: o.row, place: o.place, dir: o.ev.Dir, home: home, from: job.FromTranscript, live: true}
}

// carry opens a job by itself from the session's transcript, so that a person who
// never typed duplex start is carried past the limit all the same.
func (o *observing) carry(c *change) error {
	if o.set.Auto != job.AutoOn || o.row.Transcript == "" {
		return nil
	}
	off := false
	if o.place.Workspace != nil {
		var err error
		if off, err = c.tx.Off(o.place.ID); err != nil {
			return err
		}
	}
	if off || len(o.offer) > 0 {
		return nil
	}
	rows, reader, next, err := ReadRows(o.ad, o.row.Transcript, 0, 0)
	if err != nil || len(rows) == 0 {
		return err
	}
	goal := ""
	for _, r := range rows {
		if r.Kind == agent.RowInstruction && !agent.Ours(r.Text) {
			goal = r.Text
			break
		}
	}
	if goal == "" {
		return nil
	}
	id, err := c.open(&job.Opened{Goal: c.clip(goal, keptText), Unnamed: true, Workspace: o.workspace()}, said(job.Author{Kind: job.Duplex}))
	if err != nil {
		return err
	}
	o.opened = true
	if err := o.sitAs(c, id, "opened", "startup"); err != nil {
		return err
	}
	o.rows, o.reader, o.next = rows, reader, next
	if err := o.beside(""); err != nil {
		return err
	}
	return o.recordAll(c)
}

func (o *observing) workspace() job.Workspace {
	if o.place.Workspace == nil {
		return job.Workspace{}
	}
	return o.place.workspace()
}

// ReadRows reads a transcript on from an offset with a reader that begins anew, so that
// calls open across two readings are nothing to it. Lines that cannot be read are passed
// over; a file that is not there yet has none. limit as for transcript.Lines.
func ReadRows(ad agent.Adapter, path string, from, limit int64) (rows []agent.Row, reader agent.Reader, next int64, err error) {
	reader = ad.NewReader()
	next, err = transcript.Lines(path, from, limit, func(line []byte, offset int64) error {
		got, err := reader.Line(line, offset)
		if err == nil {
			rows = append(rows, got...)
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return rows, reader, next, err
}
