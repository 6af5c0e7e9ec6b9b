package handover

import (
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// View is what a handover is built from: the standing, its rows, and a bounded
// number of entries. Everything in it comes from the ledger, but for Facts and
// Claim. Order does not matter: Build sorts what it uses.
type View struct {
	Now      job.Time
	Standing job.Standing
	Goal     string // whole; empty: the standing's clipped one
	GoalAt   int64  // position of Standing.GoalEntry; 0: found among the newest

	Checks       []job.Item // in force
	Instructions []job.Item // in force
	Answers      []job.Item // in force
	Decisions    []job.Item // in force
	DeadEnds     []job.Item // in force
	Open         []job.Item
	Questions    []job.Item // open; answered ones lend their text to the answers
	Lessons      []job.Item // of earlier jobs; their positions belong to other ledgers

	Works    []job.Work
	Sittings []job.Sitting
	// Steps are the newest meaningful steps, some 200.
	Steps []job.Entry
	// Newest holds at least the newest entry of the kinds seen, safe point, handed
	// over and paused: it says who said what the standing only counts.
	Newest []job.Entry

	Seen     *job.Seen // its entry is Standing.Newest[seen]
	Handed   *job.HandedOver
	WentBack *job.Entry
	BackTo   int64 // position of the safe point WentBack names; 0: not known
	Paused   *job.Pause

	Claim string // the agent's last text
	Facts Facts  // what a look at the workspace showed at Now
}

// Facts is what a look at the workspace showed, without running anything.
type Facts struct {
	Looked  bool // false: nobody looked, or there is no git to ask; what git says is empty
	Branch  string
	Head    string
	Dirty   []string // uncommitted paths
	More    int      // uncommitted paths not listed
	Missing []string // paths of the view that are gone
	Changed []string // paths changed since the newest entry by no step of this job
}

// Options bound a packet.
type Options struct {
	Tokens     int // UTF-8 bytes / 4; 0: DefaultTokens
	Characters int // what the agent takes in one piece; 0: DefaultCharacters
	// Section names one section to give whole, unbounded, in place of the packet.
	Section string
	// repair holds what an examination found wrong.
	repair []Repair
	// fault spoils a packet under way: only tests set it.
	fault func(*draft)
}

// Bounds of a packet. Below MinTokens the goal, the newest instruction and the
// marker would not fit; smaller limits are raised to it.
const (
	DefaultTokens     = 2000
	DefaultCharacters = 9000
	MinTokens         = 400
)

// limit is the bound in bytes. Characters are never more than bytes, so a packet
// within it is within the agent's cap too.
func (o Options) limit() int {
	tokens, characters := o.Tokens, o.Characters
	if tokens <= 0 {
		tokens = DefaultTokens
	}
	if characters <= 0 {
		characters = DefaultCharacters
	}
	return max(min(tokens*4, characters), MinTokens*4)
}

// Names of the sections, in the order of the packet.
const (
	Goal        = "goal"
	Instruction = "instruction"
	Decisions   = "decisions"
	DeadEnds    = "dead-ends"
	Open        = "open"
	Done        = "done"
	Workspace   = "workspace"
	WorkingSet  = "working-set"
	Lessons     = "lessons"
	Claim       = "claim"
)

// Sections lists the names that Options.Section takes.
func Sections() []string {
	return []string{Goal, Instruction, Decisions, DeadEnds, Open, Done, Workspace, WorkingSet, Lessons, Claim}
}

// ledger is a view with what is looked up in it again and again.
type ledger struct {
	View
	byID       map[job.ID]*job.Entry
	byPosition map[int64]*job.Entry
	agents     map[job.ID]string
	missing    map[string]bool
	changed    map[string]bool
	lastEdit   int64 // position of the newest edit
}

func (v View) index() *ledger {
	l := &ledger{View: v, byID: map[job.ID]*job.Entry{}, byPosition: map[int64]*job.Entry{}, agents: map[job.ID]string{},
		missing: map[string]bool{}, changed: map[string]bool{}}
	l.Steps = nil
	for _, e := range v.Steps {
		if !e.Late && !e.Guest { // not the job's own work
			l.Steps = append(l.Steps, e)
		}
	}
	slices.SortFunc(l.Steps, func(a, b job.Entry) int { return int(a.Position - b.Position) })
	for _, list := range [][]job.Entry{l.Newest, l.Steps} {
		for i := range list {
			l.byID[list[i].ID], l.byPosition[list[i].Position] = &list[i], &list[i]
		}
	}
	for _, s := range v.Standing.Sitting {
		l.agents[s.ID] = s.Agent
	}
	for _, s := range v.Sittings {
		l.agents[s.ID] = s.Agent
	}
	for _, p := range v.Facts.Missing {
		l.missing[p] = true
	}
	for _, p := range v.Facts.Changed {
		l.changed[p] = true
	}
	for _, e := range l.Steps {
		if p, ok := e.Payload.(*job.Step); ok && p.Class == job.ClassEdit && p.Result == job.OK && !l.undone(e.Position) {
			l.lastEdit = e.Position
		}
	}
	return l
}

// from gives who and where of the newest entry of a kind.
func (l *ledger) from(kind job.Kind) Line {
	ref, ok := l.Standing.Newest[kind]
	if !ok {
		return now()
	}
	return l.of(ref)
}

// of gives who and where of an entry. One that the view does not hold is taken
// for Duplex's own; the examination would say otherwise.
func (l *ledger) of(ref job.Ref) Line {
	by := job.Author{Kind: job.Duplex}
	if e := l.byID[ref.ID]; e != nil {
		by = e.Author
	}
	return Line{By: by, Position: ref.Position, Entry: ref.ID}
}

// at gives who and where of a row of the working set.
func (l *ledger) at(w *job.Work) Line {
	if e := l.byPosition[w.Position]; e != nil {
		return Line{By: e.Author, Position: e.Position, Entry: e.ID}
	}
	if name := l.agents[w.Session]; name != "" {
		return Line{By: job.Author{Kind: job.Agent, Name: name}, Position: w.Position}
	}
	return Line{By: job.Author{Kind: job.Duplex}, Position: w.Position}
}

// now is for what Duplex says at this moment, from no single entry.
func now() Line { return Line{By: job.Author{Kind: job.Duplex}} }

func said(i job.Item) Line { return Line{By: i.Author, Position: i.Position, Entry: i.ID} }

// undone reports whether what happened at a position was taken back by going
// back to a safe point.
func (l *ledger) undone(position int64) bool {
	return l.WentBack != nil && l.BackTo > 0 && position > l.BackTo && position < l.WentBack.Position
}

// older says why a result at a position no longer speaks of the present tree, or
// nothing when it does.
func (l *ledger) older(position int64) string {
	switch {
	case l.undone(position):
		return "went back since"
	case position < l.lastEdit:
		return "files edited since"
	case len(l.Facts.Changed) > 0:
		return "files changed since"
	}
	return ""
}

// file says what the workspace shows against a path, or nothing.
func (l *ledger) file(path string) string {
	switch {
	case l.missing[path]:
		return "gone"
	case l.changed[path]:
		return "changed since"
	}
	return ""
}

// held keeps the items in a state, newest first.
func held(items []job.Item, state job.ItemState) []job.Item {
	var out []job.Item
	for _, i := range items {
		if i.State == state {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b job.Item) int {
		if a.Position != b.Position {
			return int(b.Position - a.Position)
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return out
}
