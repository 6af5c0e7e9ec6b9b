package job

import (
	"fmt"
)

// Apply folds one entry into a standing: it gives the standing after it and the
// rows to write with it, in one transaction. Payloads come as Decode gives them.
//
// Apply never refuses an entry for what it says: whether an act may happen is
// asked before it is appended (Claim, Fence). What is in the ledger has happened.
func Apply(s Standing, e Entry, rows Rows) (Standing, []Change, error) {
	if s.Job != "" && e.Job != s.Job {
		return s, nil, fmt.Errorf("%w: entry %s belongs to job %s, not %s", ErrInvalid, e.ID, e.Job, s.Job)
	}
	if e.Position != s.Position+1 {
		return s, nil, fmt.Errorf("%w: entry at position %d after position %d", ErrInvalid, e.Position, s.Position)
	}
	s = s.clone()
	s.Apply, s.Job, s.Position = ApplyVersion, e.Job, e.Position
	s.Updated = max(s.Updated, e.RecordedAt)
	if unknown(e) {
		s.Unknown++
		return s, nil, nil
	}
	s.Counts[e.Kind]++
	f := folding{s: &s, e: e, rows: rows}
	if err := f.fold(); err != nil {
		return s, nil, fmt.Errorf("apply %s at %d: %w", e.Kind, e.Position, err)
	}
	return s, f.changes, nil
}

// unknown reports whether this version has no rule for the entry. What was erased
// has none of the payload by which a later version is told.
func unknown(e Entry) bool {
	switch e.Payload.(type) {
	case Unknown:
		return true
	case Erased:
		return newPayload(e.Kind) == nil
	}
	return false
}

// clone copies what folding changes, so that the caller's standing stays.
func (s Standing) clone() Standing {
	counts, newest := make(map[Kind]int64, len(s.Counts)+1), make(map[Kind]Ref, len(s.Newest)+1)
	for k, v := range s.Counts {
		counts[k] = v
	}
	for k, v := range s.Newest {
		newest[k] = v
	}
	s.Counts, s.Newest = counts, newest
	s.Checks = append([]CheckNow(nil), s.Checks...)
	s.Sitting = append([]Seat(nil), s.Sitting...)
	s.Workspaces = append([]Workspace(nil), s.Workspaces...)
	s.Spend.Models = append([]ModelBill(nil), s.Spend.Models...)
	return s
}

// folding is one call of Apply under way.
type folding struct {
	s       *Standing
	e       Entry
	rows    Rows
	changes []Change
	// sitting is the row of the entry's session, once asked for.
	sitting *Sitting
}

func (f *folding) put(c Change) { f.changes = append(f.changes, c) }

// mark keeps where the newest entry of its kind is.
func (f *folding) mark() { f.s.Newest[f.e.Kind] = Ref{ID: f.e.ID, Position: f.e.Position} }

// newest is mark for what people are shown by itself: it keeps time and text.
func (f *folding) newest(text string) Ref {
	r := Ref{ID: f.e.ID, Position: f.e.Position, At: f.e.HappenedAt, Text: Clip(text, maxLine)}
	f.s.Newest[f.e.Kind] = r
	return r
}

// fold hands the entry to the rule of its kind. A kind without a rule only counts.
func (f *folding) fold() error {
	err := f.dispatch()
	f.stamp()
	if err == nil && f.sitting != nil {
		f.sitting.LastAt = max(f.sitting.LastAt, f.e.HappenedAt)
		f.put(Change{Sitting: f.sitting})
	}
	return err
}

func (f *folding) dispatch() error {
	s, e := f.s, f.e
	if e.Late || e.Guest {
		return f.aside()
	}
	switch p := e.Payload.(type) {
	case *Opened:
		f.opened(p)
	case *Amended:
		return f.amended(p)
	case *SessionStarted:
		return f.sessionStarted(p)
	case *SessionEnded:
		return f.sessionEnded(p)
	case *LeaseTaken:
		return f.leaseTaken(p)
	case *LeaseReleased:
		s.Lease = nil
		f.mark()
	case *Instructed:
		s.Instruction = s.Actions
		f.newest(p.Text)
		f.put(Change{Item: f.item(Item{State: InForce, Text: p.Text, Standing: p.Standing})})
	case *Asked:
		s.Questions++
		f.newest(p.Text)
		f.put(Change{Item: f.item(Item{State: Open, Text: p.Text, Options: p.Options})})
	case *Answered:
		return f.answered(p)
	case *Step:
		return f.step(p)
	case *Touched:
		return f.touched(p)
	case *Spent:
		return f.spent(p)
	case *Seen:
		f.mark()
	case *Measured:
		f.newest(fmt.Sprintf("%s %g %s", p.Name, p.Value, p.Unit))
	case *Decided:
		return f.decided(p)
	case *Raised:
		s.OpenItems++
		if p.Next {
			s.Next = Clip(p.Text, maxNext)
		}
		f.newest(p.Text)
		f.put(Change{Item: f.item(Item{State: Open, Text: p.Text, Next: p.Next})})
	case *Settled:
		return f.settled(p)
	case *DeadEnd:
		s.DeadEnds++
		f.newest(p.Text)
		f.put(Change{Item: f.item(Item{State: InForce, Text: p.Text, Why: p.Why, Command: p.Command})})
	case *SafePoint:
		f.safePoint(p)
	case *HandedOver:
		return f.handedOver(p)
	case *TookOver:
		return f.tookOver(p)
	case *Paused:
		s.Pause = &Pause{Reason: PauseReason(Clip(string(p.Reason), maxWord)), Evidence: Clip(p.Evidence, maxReason), Since: e.HappenedAt, Until: p.Until, On: p.On.clipped()}
		f.mark()
	case *Resumed:
		s.Pause = nil
		f.mark()
	case *WentBack:
		s.Changed = 0
		s.InFlight, s.Failure = nil, nil
		f.mark()
	case *Checked:
		f.checked(p)
	case *Reconciled:
		f.mark()
		return f.reconciled(p)
	case *Finished:
		s.Outcome = &Verdict{Outcome: Outcome(Clip(string(p.Outcome), maxWord)), Reason: Clip(p.Reason, maxReason), At: e.HappenedAt, Entry: e.ID, By: e.Author}
		if p.Outcome.Ends() {
			s.Lease, s.Pause = nil, nil
		}
		f.mark()
	case *Gap:
		s.Missing += p.Count
		f.mark()
	case *Lesson:
		f.mark()
		f.put(Change{Item: f.item(Item{State: InForce, Text: p.Text, Why: p.Topic})})
	case *Linked, *Moved, *Refused, *Scrubbed, Erased:
		f.mark()
	}
	return nil
}

// aside folds what a guest or a replaced session did: it moves only the cost and
// the warning that the workspace was changed from aside.
func (f *folding) aside() error {
	if f.e.Late {
		f.s.Late++
	} else {
		f.s.Guests++
	}
	switch p := f.e.Payload.(type) {
	case *Spent:
		return f.spent(p)
	case *Reconciled:
		return f.reconciled(p)
	case *Step:
		if p.Of == "" && (p.Class == ClassEdit || p.Class == ClassCommit) && (p.Result == OK || p.Result == ResultUnknown) {
			f.s.LateEdits++
		}
	case *SessionStarted:
		return f.sessionStarted(p)
	case *SessionEnded:
		return f.sessionEnded(p)
	}
	return nil
}

// item makes a row from the entry under way.
func (f *folding) item(i Item) *Item {
	i.ID, i.Kind, i.Position, i.At = f.e.ID, f.e.Kind, f.e.Position, f.e.HappenedAt
	i.Author, i.Session = f.e.Author, f.e.Session
	return &i
}

func (f *folding) opened(p *Opened) {
	s := f.s
	s.Short, s.Opened = Clip(p.Short, 40), f.e.HappenedAt
	s.Goal, s.GoalEntry, s.GoalBy = Clip(p.Goal, maxGoal), f.e.ID, f.e.Author
	s.Unnamed, s.Unconfirmed, s.Parent = p.Unnamed, p.Unconfirmed, p.Parent.clipped()
	s.Repository, s.Setup, s.OnCrash = Clip(p.Repository, 64), Clip(p.Setup, maxCommand), Clip(p.OnCrash, 16)
	s.Protect, s.KeepTests, s.Budget = clipList(p.Protect), p.KeepTests.clipped(), p.Budget
	if p.Workspace.ID != "" {
		s.addWorkspace(p.Workspace)
	}
	for _, c := range p.Checks {
		f.addCheck(c)
	}
	f.mark()
}

func clipList(list []string) []string {
	var out []string
	for i, v := range list {
		if i == 10 {
			break
		}
		out = append(out, Clip(v, 80))
	}
	return out
}

func (k *KeepTests) clipped() *KeepTests {
	if k == nil {
		return nil
	}
	return &KeepTests{List: Clip(k.List, maxCommand)}
}

func (s *Standing) addWorkspace(w Workspace) {
	w.ID, w.Path, w.Branch = w.ID.clipped(), Clip(w.Path, 120), Clip(w.Branch, 48)
	for i := range s.Workspaces {
		if s.Workspaces[i].ID == w.ID {
			s.Workspaces[i] = w
			return
		}
	}
	if len(s.Workspaces) < maxWorkspaces {
		s.Workspaces = append(s.Workspaces, w)
	}
}

// addCheck keeps the check as an item and shows it in the standing. The item's
// id is the entry's, so several checks of one entry are told apart by their own.
func (f *folding) addCheck(c Check) {
	if len(f.s.Checks) >= MaxChecks {
		return
	}
	id := CheckItem(f.e.ID, c.ID)
	i := f.item(Item{State: InForce, Text: c.Command, Check: &c})
	i.ID, i.Kind = id, KindChecked
	f.put(Change{Item: i})
	f.s.Checks = append(f.s.Checks, CheckNow{ID: Clip(c.ID, 16), Command: Clip(c.Command, maxLine), Quick: c.Quick, Item: id})
}

// CheckItem names the row of a check: the entry that brought it, and its own id.
func CheckItem(entry ID, check string) ID { return entry + "/" + ID(Clip(check, 16)) }

func (f *folding) amended(p *Amended) error {
	s := f.s
	if p.Goal != nil {
		s.Goal, s.GoalEntry, s.GoalBy = Clip(*p.Goal, maxGoal), f.e.ID, f.e.Author
	}
	if p.Named {
		s.Unnamed, s.Unconfirmed = false, false
	}
	for _, id := range p.DropChecks {
		for i, c := range s.Checks {
			if c.ID != id {
				continue
			}
			row, err := f.rows.Item(c.Item)
			if err != nil {
				return err
			}
			if row != nil {
				f.end(row, Superseded, p.Why)
			}
			s.Checks = append(s.Checks[:i], s.Checks[i+1:]...)
			break
		}
	}
	for _, c := range p.AddChecks {
		f.addCheck(c)
	}
	if p.Protect != nil {
		s.Protect = clipList(*p.Protect)
	}
	if p.KeepTests != nil {
		s.KeepTests = p.KeepTests.clipped()
	}
	if p.Budget != nil {
		s.Budget = *p.Budget
		if s.Pause != nil && s.Pause.Reason == PauseBudget {
			s.Pause = nil
		}
	}
	if p.Setup != nil {
		s.Setup = Clip(*p.Setup, maxCommand)
	}
	if p.OnCrash != nil {
		s.OnCrash = Clip(*p.OnCrash, 16)
	}
	if p.Workspace != nil {
		s.addWorkspace(*p.Workspace)
	}
	f.mark()
	return nil
}

// end writes a row's end.
func (f *folding) end(row *Item, state ItemState, how string) {
	r := *row
	r.State, r.EndedBy, r.EndedAt, r.How = state, f.e.ID, f.e.Position, how
	f.put(Change{Item: &r})
}

func (f *folding) decided(p *Decided) error {
	f.s.InForce++
	f.newest(p.Text)
	f.put(Change{Item: f.item(Item{State: InForce, Text: p.Text, Why: p.Why, Rejected: p.Rejected, Supersede: p.Supersedes})})
	if p.Supersedes == "" {
		return nil
	}
	old, err := f.rows.Item(p.Supersedes)
	if err != nil || old == nil || old.State != InForce || old.Kind != KindDecided {
		return err
	}
	f.s.InForce--
	f.end(old, Superseded, p.Text)
	return nil
}

func (f *folding) settled(p *Settled) error {
	f.mark()
	row, err := f.rows.Item(p.Item)
	if err != nil || row == nil {
		return err
	}
	switch {
	case row.Kind == KindRaised && row.State == Open:
		f.s.OpenItems--
		if row.Next && Clip(row.Text, maxNext) == f.s.Next {
			f.s.Next = ""
		}
		f.end(row, ItemSettled, p.How)
	case row.Kind == KindDeadEnd && row.State == InForce:
		f.s.DeadEnds--
		f.end(row, ItemSettled, p.How)
	case row.Kind == KindInstructed && row.State == InForce:
		f.end(row, ItemSettled, p.How)
	case row.Kind == KindDecided && row.State == InForce:
		f.s.InForce--
		f.end(row, ItemSettled, p.How)
	}
	return nil
}

func (f *folding) answered(p *Answered) error {
	f.newest(p.Text)
	f.s.Instruction = f.s.Actions
	f.put(Change{Item: f.item(Item{State: InForce, Text: p.Text})})
	if f.s.Pause != nil && f.s.Pause.Reason == PauseAnswer {
		f.s.Pause = nil
	}
	if p.Question == "" {
		return nil
	}
	q, err := f.rows.Item(p.Question)
	if err != nil || q == nil || q.Kind != KindAsked || q.State != Open {
		return err
	}
	f.s.Questions--
	f.end(q, ItemAnswered, p.Text)
	return nil
}

func (f *folding) safePoint(p *SafePoint) {
	n := &SafePointNow{Number: p.Number, Position: f.e.Position, At: f.e.HappenedAt, Why: Clip(p.Why, maxLine), Green: p.Green}
	for i, c := range p.Commits {
		if i == maxWorkspaces {
			break
		}
		n.Commits = append(n.Commits, Snapshot{Workspace: c.Workspace.clipped(), Commit: Clip(c.Commit, 64)})
	}
	if f.s.SafePoint != nil {
		n.LastGreen = f.s.SafePoint.LastGreen
	}
	if p.Green {
		n.LastGreen = p.Number
	}
	f.s.SafePoint, f.s.Changed = n, 0
	f.mark()
}

func (f *folding) checked(p *Checked) {
	passed := len(p.Results) > 0
	for _, r := range p.Results {
		passed = passed && r.State == CheckPassed
		for i := range f.s.Checks {
			c := &f.s.Checks[i]
			if c.ID != r.ID {
				continue
			}
			c.State, c.At, c.Position, c.Note = CheckState(Clip(string(r.State), maxWord)), f.e.HappenedAt, f.e.Position, Clip(r.Reason, 40)
			if p.Baseline {
				c.Baseline = c.State
			}
		}
	}
	if passed && f.s.SafePoint != nil && p.SafePoint == f.s.SafePoint.Number {
		sp := *f.s.SafePoint
		sp.Green, sp.LastGreen = true, sp.Number
		f.s.SafePoint = &sp
	}
	f.mark()
}
