package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// AdoptRequest makes a tracked job of a session that runs or ended.
type AdoptRequest struct {
	File     string // a file, or the id of a session that its agent kept, or the beginning of one
	Last     bool   // instead: the newest session that worked in Dir
	Dir      string // where the person stands
	Goal     string // empty: the person's first instruction
	Into     job.ID // an open job to adopt it into
	Progress func(done, total int64)
}

// Adopted says what was found in the file.
type Adopted struct {
	Job          job.ID         `json:"job"`
	Short        string         `json:"short"`
	Goal         string         `json:"goal"`
	Agent        string         `json:"agent"`
	AgentSession string         `json:"agent_session"`
	Version      string         `json:"version,omitempty"`
	Entries      int            `json:"entries"`
	Steps        int64          `json:"steps"`
	Spend        job.Bill       `json:"spend"`
	Instructions int64          `json:"instructions"`
	OpenItems    int            `json:"open_items"`
	Broken       int            `json:"broken_lines,omitempty"`
	Skipped      map[string]int `json:"skipped_rows,omitempty"`
	Workspace    string         `json:"workspace,omitempty"`
	Elsewhere    string         `json:"elsewhere,omitempty"` // the folder the session worked in, when it is not here
	File         string         `json:"file"`                // the transcript
	// Origin is the job of the session that this one was forked or resumed from: the
	// same job, when it was still open.
	Origin      job.ID `json:"origin,omitempty"`
	OriginShort string `json:"origin_short,omitempty"`
	Guest       bool   `json:"guest,omitempty"` // another session holds the job
}

// ErrAdopted: the session belongs to a job already.
var ErrAdopted = errors.New("this session belongs to a job already")

// batch bounds how many rows one transaction takes.
const batch = 500

// Adopt reads a transcript from its start and makes a tracked job of it: steps,
// results, cost, instructions, open items and working set, each with the time it
// happened.
func (t *Tracker) Adopt(ctx context.Context, by Actor, r AdoptRequest) (Adopted, error) {
	var err error
	if r.File, err = t.fileOf(ctx, r); err != nil {
		return Adopted{}, err
	}
	if err := transcript.Whole(ctx, r.File); err != nil { // before anything of it is recorded
		return Adopted{}, err
	}
	head, err := transcript.Head(r.File, 64<<10)
	if err != nil {
		return Adopted{}, err
	}
	ad := t.sniff(head)
	if ad == nil {
		return Adopted{}, fmt.Errorf("%w: %s is not a transcript of an agent this version reads (%s)", job.ErrInvalid, r.File, strings.Join(t.agentNames(), ", "))
	}
	k := &adoption{Tracker: t, ad: ad, reader: ad.NewReader(), r: r, by: by}
	k.out.Agent, k.out.File = ad.Name(), r.File
	if err := k.read(ctx); err != nil {
		return k.out, err
	}
	return k.out, k.finish(ctx)
}

// adoption is one adopt under way.
type adoption struct {
	*Tracker
	ad     agent.Adapter
	reader agent.Reader
	r      AdoptRequest
	by     Actor
	out    Adopted
	row    *store.Session
	place  Place
	queue  []agent.Row
}

// read streams the file; rows are written in batches, so memory stays flat.
func (k *adoption) read(ctx context.Context) error {
	total := int64(0)
	if info, err := os.Stat(k.r.File); err == nil && !strings.HasSuffix(k.r.File, ".gz") {
		total = info.Size() // of a packed file the unpacked size is not known
	}
	next, err := transcript.Lines(k.r.File, 0, 0, func(line []byte, offset int64) error {
		rows, err := k.reader.Line(line, offset)
		if err != nil {
			k.out.Broken++
			return nil
		}
		k.queue = append(k.queue, rows...)
		if k.r.Progress != nil {
			k.r.Progress(offset, total)
		}
		if len(k.queue) >= batch && k.ready() {
			return k.flush(ctx)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	k.queue = append(k.queue, k.reader.End()...)
	if err := k.flush(ctx); err != nil {
		return err
	}
	k.row.Offset = next
	return k.beside(ctx)
}

// beside reads the sub-agents' own files, whose cost is not in the main one.
func (k *adoption) beside(ctx context.Context) error {
	broken, err := beside(k.ad, k.r.File, "", func(r agent.Row) error {
		k.queue = append(k.queue, r)
		if len(k.queue) < batch {
			return nil
		}
		return k.flush(ctx)
	})
	k.out.Broken += broken
	if err != nil {
		return err
	}
	return k.flush(ctx)
}

// ready: the goal and the folder are known, so the job can be opened.
func (k *adoption) ready() bool { return k.row != nil || k.goal() != "" || len(k.queue) > 20*batch }

func (k *adoption) goal() string {
	if k.r.Goal != "" {
		return k.r.Goal
	}
	for _, r := range k.queue {
		if r.Kind == agent.RowInstruction && !agent.Ours(r.Text) {
			return r.Text
		}
	}
	return ""
}

func (k *adoption) flush(ctx context.Context) error {
	return k.write(ctx, Actor{Author: job.Author{Kind: job.Agent, Name: k.ad.Name()}}, false, func(c *change) error {
		if k.row == nil {
			if err := k.open(c); err != nil {
				return err
			}
		}
		c.by.Session, c.by.Workspace, c.by.Token, c.by.Guest = k.row.ID, k.row.Workspace, k.row.Token, k.row.Guest
		home, _ := os.UserHomeDir()
		rec := &recorder{change: c, row: k.row, place: k.place, dir: k.reader.Header().Dir, home: home, from: job.FromTranscript}
		for _, r := range k.queue {
			if err := rec.record(r); err != nil {
				return err
			}
		}
		k.out.Entries += rec.wrote
		k.queue = k.queue[:0]
		return nil
	})
}

// open finds or begins the job and sits the session down at it.
func (k *adoption) open(c *change) error {
	h := k.reader.Header()
	if h.Session == "" {
		h.Session = filepath.Base(k.r.File)
	}
	k.out.AgentSession, k.out.Version = h.Session, h.Version
	k.row = &store.Session{ID: newID(), Agent: k.ad.Name(), AgentSession: h.Session}
	old, err := c.tx.Session(k.ad.Name(), h.Session)
	switch {
	case errors.Is(err, job.ErrNotFound):
	case err != nil:
		return err
	case old.Job != "":
		k.row = nil // it is another adoption's
		s, err := c.tx.Standing(old.Job)
		if err != nil {
			return err
		}
		if !old.Adopting || liveness(old.Process) == job.Live {
			return fmt.Errorf("%w: %s; see duplex show %s", ErrAdopted, s.Short, s.Short)
		}
		return k.goOn(c, old, &s)
	default: // its hooks were heard, and no job was begun
		k.row.ID = old.ID
	}
	k.place = k.where(h.Dir)
	k.row.Model = h.Model
	if path, err := filepath.Abs(k.r.File); err == nil {
		k.row.Transcript = path
	}
	if k.place.Workspace != nil {
		k.row.Workspace = k.place.ID
		k.out.Workspace = k.place.Top
	}
	if k.row.Job, err = k.job(c, h); err != nil {
		k.row = nil
		return err
	}
	return k.sit(c, h)
}

// job is the one the session belongs to: the one that was named, the open one of the
// session it came from, or a new one.
func (k *adoption) job(c *change, h agent.Header) (job.ID, error) {
	origin, err := k.origin(c, h)
	if err != nil {
		return "", err
	}
	if k.r.Into != "" {
		return k.r.Into, nil
	}
	if origin != nil && !origin.Done() && k.r.Goal == "" {
		return origin.Job, nil
	}
	goal := k.goal()
	if goal == "" {
		return "", fmt.Errorf("%w: no person's instruction stands in %s; say the goal: duplex adopt %s --goal \"…\"", job.ErrInvalid, k.r.File, k.r.File)
	}
	k.out.Goal = goal
	opened := &job.Opened{Goal: c.clip(goal, keptText)}
	if k.place.Workspace != nil {
		opened.Workspace, opened.Repository = k.place.workspace(), repositoryOf(k.place)
	}
	id, err := c.open(opened, happened(h.Started, job.FromTranscript), said(job.Author{Kind: job.Person}))
	if err != nil || origin == nil {
		return id, err
	}
	book := *c // the link is Duplex's to write, in whatever session
	book.by = Actor{Author: job.Author{Kind: job.Duplex}}
	_, err = book.append(id, &job.Linked{To: origin.Job, Relation: "fork"})
	return id, err
}

// origin is where the job of the session stands that this one was forked or resumed
// from, nil when that is not tracked.
func (k *adoption) origin(c *change, h agent.Header) (*job.Standing, error) {
	if h.From == "" {
		return nil, nil
	}
	from, err := c.tx.Session(k.ad.Name(), h.From)
	if errors.Is(err, job.ErrNotFound) || err == nil && from.Job == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := c.tx.Standing(from.Job)
	if errors.Is(err, job.ErrNotFound) { // it was removed
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k.row.From, k.out.Origin, k.out.OriginShort = from.ID, s.Job, s.Short
	return &s, nil
}

// sit makes the session one of its job's: with the lease, or as a guest where another
// session holds a job that this one only came from.
func (k *adoption) sit(c *change, h agent.Header) error {
	id := k.row.Job
	s, err := c.tx.Standing(id)
	if err != nil {
		return err
	}
	k.out.Job = id
	if k.out.Goal == "" {
		k.out.Goal = s.Goal
	}
	k.row.Number, k.row.Process, k.row.Adopting = s.Sessions+1, processOf(process.Self()), true
	lease, err := c.claim(&s, job.Asking{Session: k.row.ID, Process: k.row.Process})
	switch {
	case errors.Is(err, job.ErrHeld) && k.r.Into == "":
		k.row.Guest, k.out.Guest = true, true
	case err != nil:
		return err
	}
	c.by.Session, c.by.Workspace, c.by.Guest = k.row.ID, k.row.Workspace, k.row.Guest
	start := &job.SessionStarted{Agent: k.row.Agent, AgentSession: h.Session, Number: k.row.Number, Model: h.Model, Source: "adopt", How: "adopted",
		From: k.row.From, Transcript: k.row.Transcript}
	if k.place.Workspace != nil {
		start.Workspace = k.place.workspace()
	}
	if _, err := c.append(id, start, happened(h.Started, job.FromTranscript)); err != nil {
		return err
	}
	if lease != nil {
		if _, err := c.append(id, lease); err != nil {
			return err
		}
		k.row.Token = lease.Token
	}
	return c.saveSession(k.row)
}

// goOn takes up an adoption whose process ended in the middle. The file is read
// from its start: what was recorded is known by its key.
func (k *adoption) goOn(c *change, old *store.Session, s *job.Standing) error {
	k.row, k.place = old, k.where(k.reader.Header().Dir)
	if k.place.Workspace != nil {
		k.out.Workspace = k.place.Top
	}
	old.Process, old.Ended, old.Offset, old.Reader = processOf(process.Self()), 0, 0, nil
	lease, err := c.claim(s, job.Asking{Session: old.ID, Process: old.Process})
	if err != nil {
		return err
	}
	c.by.Session, c.by.Workspace = old.ID, old.Workspace
	if _, err := c.append(old.Job, lease); err != nil {
		return err
	}
	old.Token = lease.Token
	k.out.Job, k.out.Goal = old.Job, s.Goal
	return c.saveSession(old)
}

// where is the session's own folder when it is here, else the person's.
func (k *adoption) where(dir string) Place {
	if dir != "" {
		if p, err := k.Place(dir); err == nil {
			return p
		}
		k.out.Elsewhere = dir
		return Place{}
	}
	p, _ := k.Place(k.r.Dir)
	return p
}

// finish hands over and lets the job wait for its next session.
func (k *adoption) finish(ctx context.Context) error {
	by := Actor{Author: job.Author{Kind: job.Agent, Name: k.ad.Name()}, Session: k.row.ID, Token: k.row.Token, Job: k.row.Job, Workspace: k.row.Workspace,
		Guest: k.row.Guest}
	if k.place.Workspace != nil && !k.row.Guest {
		if _, err := k.Keep(ctx, by, k.row.Job, KeepRequest{Why: "adopted", Quiet: true}); err != nil {
			if err := k.gap(ctx, by, k.row.Job, "a safe point at adoption: "+err.Error()); err != nil {
				return err
			}
		}
	}
	if !k.row.Guest {
		if _, err := k.HandOver(ctx, by, k.row.Job, HandOverRequest{Why: "adopted", Claim: k.row.Said}); err != nil {
			return err
		}
	}
	k.out.Skipped = k.reader.Skipped()
	err := k.write(ctx, by, true, func(c *change) error {
		if k.out.Broken > 0 {
			if _, err := c.append(k.row.Job, &job.Gap{What: "transcript lines that could not be read", Count: int64(k.out.Broken), Source: k.row.Agent}); err != nil {
				return err
			}
		}
		k.row.Ended, k.row.Adopting, k.row.Process = c.now, false, job.Process{}
		if err := c.saveSession(k.row); err != nil {
			return err
		}
		return c.sessionEnded(k.row.Job, EndRequest{Reason: "ended", Evidence: "adopted from its transcript", Pause: true})
	})
	if err != nil {
		return err
	}
	s, err := k.Standing(ctx, k.row.Job)
	k.out.Short, k.out.Steps, k.out.Spend, k.out.OpenItems, k.out.Instructions = s.Short, s.Steps, s.Spend, s.OpenItems, s.Counts[job.KindInstructed]
	return err
}

// catchUp reads what a session's transcript says beyond what its hooks recorded.
func (t *Tracker) catchUp(ctx context.Context, by Actor, row *store.Session) error {
	ad := t.Agent(row.Agent)
	if ad == nil || row.Transcript == "" {
		return nil
	}
	o := &observing{Tracker: t, ad: ad, row: row, ev: agent.Event{Kind: agent.OtherEvent, Session: row.AgentSession, Transcript: row.Transcript}}
	if row.Workspace != "" {
		s, err := t.Standing(ctx, row.Job)
		if err != nil {
			return err
		}
		if w, ok := workspaceOf(&s, row.Workspace); ok {
			if p, err := t.placeOf(w); err == nil {
				o.place, o.ev.Dir = p, p.Top
			}
		}
	}
	if err := o.tail(); err != nil { // one file must not stand in the way of every command
		return errors.Join(ctx.Err(), t.gap(ctx, by, row.Job, "the rest of the session's transcript: "+err.Error()))
	}
	return t.write(ctx, by, false, func(c *change) error {
		if err := o.recordAll(c); err != nil {
			return err
		}
		if o.reader != nil { // a call without a result was in flight
			for _, r := range o.reader.End() {
				if r.Kind == agent.RowCall && r.Call != nil {
					row.InFlight = c.clip(agent.OneLine(r.Call.Title), 200)
				}
			}
		}
		return o.save(c)
	})
}
