package job

import "encoding/json"

// ApplyVersion names the rules by which Apply folds. A snapshot folded with
// another version is folded again from the ledger.
const ApplyVersion = 2

// Bounds of a standing, so that its snapshot stays below SnapshotLimit.
const (
	SnapshotLimit = 16 << 10 // bytes of JSON
	MaxChecks     = 10
	maxSessions   = 5
	maxModels     = 5
	maxWorkspaces = 4

	// Bytes of JSON a text of it takes at most.
	maxWord    = 24
	maxModel   = 40
	maxLine    = 90
	maxReason  = 200
	maxNext    = 240
	maxCommand = 300
	maxGoal    = 500
)

// Standing is where a job stands: a fold of its ledger, bounded whatever the
// ledger's length. Decisions, open items, dead ends, instructions, sessions,
// spend and the working set are rows of their own (Rows); here are their counts.
type Standing struct {
	Apply    int    `json:"apply"`
	Job      ID     `json:"job"`
	Short    string `json:"short"`
	Position int64  `json:"position"`
	Opened   Time   `json:"opened"`
	Updated  Time   `json:"updated"`

	Goal        string      `json:"goal"` // clipped; the whole is in the entry
	GoalEntry   ID          `json:"goal_entry,omitempty"`
	GoalBy      Author      `json:"goal_by"`
	Unnamed     bool        `json:"unnamed,omitempty"`
	Unconfirmed bool        `json:"unconfirmed,omitempty"`
	Parent      ID          `json:"parent,omitempty"`
	Repository  string      `json:"repository,omitempty"`
	Setup       string      `json:"setup,omitempty"`
	OnCrash     string      `json:"on_crash,omitempty"`
	Protect     []string    `json:"protect,omitempty"`
	KeepTests   *KeepTests  `json:"keep_tests,omitempty"`
	Budget      Budget      `json:"budget,omitzero"`
	Workspaces  []Workspace `json:"workspaces,omitempty"`
	Checks      []CheckNow  `json:"checks,omitempty"`

	Lease    *Lease   `json:"lease,omitempty"`
	Token    int64    `json:"token"` // the newest fencing token given out
	Pause    *Pause   `json:"pause,omitempty"`
	Outcome  *Verdict `json:"outcome,omitempty"`
	Sessions int      `json:"sessions"`
	Sitting  []Seat   `json:"sitting,omitempty"` // the newest sessions, oldest first
	Spend    Bill     `json:"spend"`

	Actions     int64          `json:"actions"`
	Steps       int64          `json:"steps"`
	Instruction int64          `json:"instruction_action,omitempty"` // action number at the newest instruction
	Counts      map[Kind]int64 `json:"counts"`
	InForce     int            `json:"decisions_in_force"`
	OpenItems   int            `json:"open_items"`
	DeadEnds    int            `json:"dead_ends"`
	Questions   int            `json:"questions"`
	Late        int64          `json:"late,omitempty"`
	LateEdits   int64          `json:"late_edits,omitempty"` // the workspace warning
	Guests      int64          `json:"guests,omitempty"`
	Unknown     int64          `json:"unknown,omitempty"`
	Missing     int64          `json:"missing,omitempty"` // what gaps say is missing

	Newest    map[Kind]Ref  `json:"newest"`
	Failure   *Ref          `json:"failure,omitempty"` // the last failed step, until a later success
	SafePoint *SafePointNow `json:"safe_point,omitempty"`
	Handover  *HandoverNow  `json:"handover,omitempty"`
	InFlight  *Ref          `json:"in_flight,omitempty"` // a call whose outcome is unknown, until it is known or told to the next session
	Next      string        `json:"next,omitempty"`
	Changed   int64         `json:"changed"` // edit steps since the last safe point
}

// Ref points at an entry. Time and text are kept of what is shown by itself.
type Ref struct {
	ID       ID     `json:"id"`
	Position int64  `json:"position"`
	At       Time   `json:"at,omitempty"`
	Text     string `json:"text,omitempty"`
}

// CheckNow is a check with its last result.
type CheckNow struct {
	ID       string     `json:"id"`
	Command  string     `json:"command"` // clipped; the whole is in the Item
	Quick    bool       `json:"quick,omitempty"`
	Item     ID         `json:"item"`
	State    CheckState `json:"state,omitempty"` // empty: not run yet
	At       Time       `json:"at,omitempty"`
	Position int64      `json:"position,omitempty"`
	Baseline CheckState `json:"baseline,omitempty"`
	Note     string     `json:"note,omitempty"`
}

// Pause says why the job waits.
type Pause struct {
	Reason   PauseReason `json:"reason"`
	Evidence string      `json:"evidence,omitempty"`
	Since    Time        `json:"since"`
	Until    Time        `json:"until,omitempty"`
	On       ID          `json:"on,omitempty"`
}

// Verdict is the newest outcome.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	At      Time    `json:"at"`
	Entry   ID      `json:"entry"`
	By      Author  `json:"by"`
}

// Seat is one of the newest sessions, in short.
type Seat struct {
	ID      ID     `json:"id"`
	Number  int    `json:"number"`
	Agent   string `json:"agent"`
	Model   string `json:"model,omitempty"`
	Started Time   `json:"started"`
	Ended   Time   `json:"ended,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Context int64  `json:"context,omitempty"`
	Level   int64  `json:"level,omitempty"`
	Guest   bool   `json:"guest,omitempty"`
}

// Bill sums what a job has cost. Pico leaves out what is unpriced.
type Bill struct {
	Pico     int64       `json:"pico_usd"`
	Estimate int64       `json:"estimate_pico_usd,omitempty"` // the part of Pico that is an estimate
	Tokens   Tokens      `json:"tokens"`
	Guessed  Tokens      `json:"estimate_tokens,omitzero"` // the part of Tokens that is one
	Unpriced int64       `json:"unpriced_tokens,omitempty"`
	Messages int64       `json:"messages"`
	Models   []ModelBill `json:"models,omitempty"` // the first seen; later ones sum in "other"
	DeadEnds int64       `json:"dead_ends_pico_usd,omitempty"`
}

// ModelBill is one model's part of a bill.
type ModelBill struct {
	Model  string `json:"model"`
	Pico   int64  `json:"pico_usd"`
	Tokens Tokens `json:"tokens"`
}

// SafePointNow is the newest safe point; of its commits only their names.
type SafePointNow struct {
	Number    int        `json:"number"`
	Position  int64      `json:"position"`
	At        Time       `json:"at"`
	Why       string     `json:"why"`
	Green     bool       `json:"green,omitempty"`
	Commits   []Snapshot `json:"commits"`
	LastGreen int        `json:"last_green,omitempty"`
}

// HandoverNow is the newest handover.
type HandoverNow struct {
	Entry    ID      `json:"entry"`
	Position int64   `json:"position"`
	At       Time    `json:"at"`
	Session  ID      `json:"session,omitempty"`
	Fill     float64 `json:"fill,omitempty"`
	Why      string  `json:"why"`
}

// Done reports whether the job has ended.
func (s *Standing) Done() bool { return s.Outcome != nil && s.Outcome.Outcome.Ends() }

// Place is the group a job is listed in.
type Place string

// The places, in the order people are shown them.
const (
	PlaceNeedsYou Place = "needs you"
	PlaceRunning  Place = "running"
	PlaceReady    Place = "ready to resume"
	PlaceWaiting  Place = "waiting"
	PlaceFinished Place = "finished"
)

// Place says where the job is listed at a moment. Working: its lease is held by
// a live session (see Lease.Held), which can do nothing while a limit lasts.
func (s *Standing) Place(now Time, working bool) Place {
	limited := s.Pause != nil && s.Pause.Reason == PauseRate && (s.Pause.Until > now || s.Pause.Until == 0 && working)
	switch {
	case s.Done():
		return PlaceFinished
	case s.Pause != nil && (s.Pause.Reason == PauseAnswer || s.Pause.Reason == PauseBudget),
		s.Questions > 0:
		return PlaceNeedsYou
	case limited && working:
		return PlaceWaiting
	case working:
		return PlaceRunning
	case s.Outcome != nil: // a finish that did not end the job, and nobody works on it
		return PlaceNeedsYou
	case limited, s.Pause != nil && s.Pause.Reason == PauseOtherJob:
		return PlaceWaiting
	}
	return PlaceReady
}

// Seat returns a session among the newest, nil when it is older.
func (s *Standing) Seat(id ID) *Seat {
	for i := range s.Sitting {
		if s.Sitting[i].ID == id {
			return &s.Sitting[i]
		}
	}
	return nil
}

// Clip cuts text to at most n bytes of its JSON form, at a rune, marking the cut
// with an ellipsis. Titles end in "…".
func Clip(s string, n int) string {
	if len(s)*6 <= n || jsonLen(s) <= n {
		return s
	}
	n -= len("…")
	used := 0
	for i, r := range s {
		used += runeJSON(r)
		if used > n {
			return s[:i] + "…"
		}
	}
	return s
}

func jsonLen(s string) int {
	n := 0
	for _, r := range s {
		n += runeJSON(r)
	}
	return n
}

// runeJSON is how many bytes encoding/json writes for a rune, at most.
func runeJSON(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t':
		return 2
	case r < 0x20, r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == 0xFFFD, r == 0x7f:
		return 6
	case r < 0x80:
		return 1
	case r < 0x800:
		return 2
	case r < 0x10000:
		return 3
	}
	return 4
}

// Encode writes the snapshot.
func (s *Standing) Encode() ([]byte, error) { return json.Marshal(s) }

// DecodeStanding reads a snapshot; ok is false when it was folded with other
// rules and must be folded again.
func DecodeStanding(data []byte) (s Standing, ok bool, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return Standing{}, false, err
	}
	return s, s.Apply == ApplyVersion, nil
}
