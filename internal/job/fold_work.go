package job

import "strings"

// The rules for steps and the working set.

// Bounds of what one call leaves in the working set.
const (
	MaxPaths   = 32
	MaxSymbols = 64
)

func (f *folding) step(p *Step) error {
	s := f.s
	if p.Of != "" { // later facts about an earlier step
		f.newest(p.Title)
		if p.Result == OK && s.Failure != nil && s.Failure.ID == p.Of {
			s.Failure = nil
		}
		if p.Result != ResultUnknown && s.InFlight != nil && s.InFlight.ID == p.Of {
			s.InFlight = nil
		}
		return nil
	}
	s.Steps++
	if p.Action > 0 {
		s.Actions = max(s.Actions, p.Action)
	}
	ref := f.newest(p.Title)
	switch p.Result {
	case Failed:
		s.Failure = &ref
	case OK:
		if p.Class == ClassTest || p.Class == ClassCommand {
			s.Failure = nil
		}
	case ResultUnknown:
		s.InFlight = &ref
	}
	if p.Class == ClassEdit && p.Result == OK {
		s.Changed++
	}
	sit, err := f.session()
	if err != nil {
		return err
	}
	if sit != nil {
		sit.Steps++
		if p.Result != Denied {
			f.progress(sit, p.Class == ClassEdit || p.Class == ClassCommit)
		}
	}
	if err := f.touches(p.Paths, p.Symbols, sit); err != nil {
		return err
	}
	if p.Command == "" {
		return nil
	}
	return f.command(p)
}

func (f *folding) touched(p *Touched) error {
	if p.Action > 0 {
		f.s.Actions = max(f.s.Actions, p.Action)
	}
	f.mark()
	sit, err := f.session()
	if err != nil {
		return err
	}
	if sit != nil {
		f.progress(sit, false)
	}
	return f.touches(p.Paths, p.Symbols, sit)
}

// progress counts one action towards rediscovery and the first productive step.
func (f *folding) progress(sit *Sitting, productive bool) {
	sit.Actions++
	if productive && sit.Productive == 0 {
		sit.Productive = sit.Actions
		sit.ProductiveAfter = int64(f.e.HappenedAt-sit.Started) / 1000
		sit.ProductiveTokens = sit.Spent.Total()
	}
}

func (f *folding) touches(paths, symbols []Touch, sit *Sitting) error {
	for i, t := range paths {
		if i == MaxPaths {
			break
		}
		if err := f.touch(WorkFile, t, sit); err != nil {
			return err
		}
	}
	for i, t := range symbols {
		if i == MaxSymbols {
			break
		}
		if err := f.touch(WorkSymbol, t, sit); err != nil {
			return err
		}
	}
	return nil
}

func (f *folding) touch(kind WorkKind, t Touch, sit *Sitting) error {
	if t.Name == "" {
		return nil
	}
	w, err := f.work(WorkKey{Kind: kind, Workspace: t.Workspace, Name: t.Name})
	if err != nil {
		return err
	}
	if kind == WorkFile && t.Role == RoleRead && sit != nil && sit.Actions <= RediscoveryWindow &&
		w.Known != "" && w.Known != f.e.Session {
		sit.Rereads++
	}
	if t.Role == RoleRead || t.Role == RoleEdit {
		w.Known = f.e.Session
	}
	w.touch(t.Role, f.s.Actions)
	if t.In != "" {
		w.In = t.In
	}
	return nil
}

// work finds the row under change, or reads it, or begins one. The row's session
// and position become this entry's when the fold ends (stamp), so that until then
// they say who knew the path before.
func (f *folding) work(key WorkKey) (*Work, error) {
	for _, c := range f.changes {
		if c.Work != nil && c.Work.WorkKey == key {
			return c.Work, nil
		}
	}
	row, err := f.rows.Work(key)
	if err != nil {
		return nil, err
	}
	w := Work{WorkKey: key, First: f.s.Actions, Last: f.s.Actions}
	if row != nil {
		w = *row
	}
	f.put(Change{Work: &w})
	return &w, nil
}

// stamp says which entry last moved each row of the working set.
func (f *folding) stamp() {
	for _, c := range f.changes {
		if c.Work != nil {
			c.Work.Session, c.Work.Position = f.e.Session, f.e.Position
		}
	}
}

// command keeps the last result of each distinct command.
func (f *folding) command(p *Step) error {
	w, err := f.work(WorkKey{Kind: WorkCommand, Name: NormalCommand(p.Command)})
	if err != nil {
		return err
	}
	w.advance(f.s.Actions)
	w.Runs++
	w.Class, w.Step, w.Exit, w.Tests = p.Class, f.e.ID, p.Exit, p.Tests
	switch p.Result {
	case Failed:
		w.Fails++
		w.Failing = Clip(firstLine(p.Receipt.Text), 160)
	case OK:
		w.Mended = w.Mended || w.Result == Failed
		w.Failing = ""
	}
	w.Result = p.Result
	return nil
}

// NormalCommand is the form in which two runs are the same command: one line,
// single spaces, at most 220 bytes.
func NormalCommand(c string) string {
	c = strings.Join(strings.Fields(strings.ReplaceAll(c, "\\\n", " ")), " ")
	return Clip(c, 220)
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return s
}
