package job

// Fill is how full a session's context is, in tokens, and what was done about it
// since its last compaction.
type Fill struct {
	Context    int64 `json:"context,omitempty"` // of the last message; 0 not known
	Level      int64 `json:"level,omitempty"`   // where the agent compacts or stops; 0 not known
	Largest    int64 `json:"largest,omitempty"` // the most that one step added
	Nudged     bool  `json:"nudged,omitempty"`
	HandedOver bool  `json:"handed_over,omitempty"`
}

// Grow takes in the context that a message was sent with. 0 says nothing.
func (f *Fill) Grow(context int64) {
	if context <= 0 {
		return
	}
	if f.Context > 0 {
		f.Largest = max(f.Largest, context-f.Context)
	}
	f.Context = context
}

// Share is the used share of the level; 0 when either is not known.
func (f Fill) Share() float64 {
	if f.Level <= 0 || f.Context <= 0 {
		return 0
	}
	return float64(f.Context) / float64(f.Level)
}

// Due says whether the agent is to be nudged and whether a handover is to be
// written, each once a compaction. nudge and handover are shares of the level; a
// handover is due too when less than twice the largest step is left.
func (f Fill) Due(nudge, handover float64) (nudgeDue, handoverDue bool) {
	share := f.Share()
	if share == 0 {
		return false, false
	}
	short := f.Largest > 0 && f.Level-f.Context < 2*f.Largest
	return !f.Nudged && share >= nudge, !f.HandedOver && (share >= handover || short)
}
