package job

import "math"

// Rows are kept beside the standing so that a question about now is a constant
// number of row reads, however long the ledger is. Apply writes them, and reads
// at most a handful of them, by key.
type Rows interface {
	Item(id ID) (*Item, error)        // nil when there is none
	Work(key WorkKey) (*Work, error)  // nil when there is none
	Spend(key string) (*Spend, error) // nil when there is none
	Sitting(id ID) (*Sitting, error)  // nil when there is none
}

// Change is one row to write: exactly one field is set.
type Change struct {
	Item    *Item
	Work    *Work
	Spend   *Spend
	Sitting *Sitting
}

// ItemState says whether an item still counts.
type ItemState string

// In force: instructions, decisions, dead ends, checks. Open: open items and
// questions. The other three are what ends them.
const (
	InForce      ItemState = "in force"
	Open         ItemState = "open"
	Superseded   ItemState = "superseded"
	ItemSettled  ItemState = "settled"
	ItemAnswered ItemState = "answered"
)

// Item is an instruction, a decision, an open item, a dead end, a question or a
// check: something said once that holds until something else ends it.
type Item struct {
	ID        ID        `json:"id"` // of the entry
	Kind      Kind      `json:"kind"`
	Position  int64     `json:"position"`
	At        Time      `json:"at"`
	Author    Author    `json:"author"`
	Session   ID        `json:"session,omitempty"`
	State     ItemState `json:"state"`
	Text      string    `json:"text"`
	Why       string    `json:"why,omitempty"`
	Rejected  []string  `json:"rejected,omitempty"`
	Options   []string  `json:"options,omitempty"`
	Command   string    `json:"command,omitempty"`
	Standing  bool      `json:"standing,omitempty"`
	Next      bool      `json:"next,omitempty"`
	EndedBy   ID        `json:"ended_by,omitempty"`
	EndedAt   int64     `json:"ended_at,omitempty"` // position
	How       string    `json:"how,omitempty"`      // how it was settled, the answer
	Check     *Check    `json:"check,omitempty"`
	Supersede ID        `json:"supersedes,omitempty"`
}

// WorkKind says what a row of the working set is about.
type WorkKind string

// The working set: files, symbols, commands.
const (
	WorkFile    WorkKind = "file"
	WorkSymbol  WorkKind = "symbol"
	WorkCommand WorkKind = "command"
)

// WorkKey names a row of the working set.
type WorkKey struct {
	Kind      WorkKind `json:"kind"`
	Workspace ID       `json:"workspace,omitempty"`
	Name      string   `json:"name"`
}

// Work is one row of the working set. Sums are decayed: each touch adds one, and
// all fall by e^(-1/h) an action, so ranking needs no re-reading of the ledger.
// They hold as of action Last.
type Work struct {
	WorkKey
	First    int64   `json:"first"`
	Last     int64   `json:"last"`
	Edit     int64   `json:"edit,omitempty"`   // last action that edited it
	Read     int64   `json:"read,omitempty"`   // last action that read it
	Search   int64   `json:"search,omitempty"` // last action that searched for it
	Mention  int64   `json:"result,omitempty"` // last action whose result named it
	Edits    int64   `json:"edits,omitempty"`
	Reads    int64   `json:"reads,omitempty"`
	Searches int64   `json:"searches,omitempty"`
	Mentions int64   `json:"mentions,omitempty"`
	T5       float64 `json:"t5,omitempty"` // reads and edits, h = 5 actions
	T50      float64 `json:"t50,omitempty"`
	T200     float64 `json:"t200,omitempty"`
	E12      float64 `json:"e12,omitempty"` // edits that contained the symbol
	S4       float64 `json:"s4,omitempty"`  // searches for it
	S150     float64 `json:"s150,omitempty"`
	R15      float64 `json:"r15,omitempty"` // results that named it
	In       string  `json:"in,omitempty"`  // the file a symbol last stood in
	Position int64   `json:"position"`
	Session  ID      `json:"session,omitempty"`
	// Known is the session that last read or edited it: who only saw it named does
	// not know what stands in it.
	Known ID `json:"known,omitempty"`
	// Commands only.
	Runs    int64       `json:"runs,omitempty"`
	Fails   int64       `json:"fails,omitempty"`
	Result  Result      `json:"last_result,omitempty"`
	Exit    *int        `json:"exit,omitempty"`
	Tests   *TestCounts `json:"tests,omitempty"`
	Class   Class       `json:"class,omitempty"`
	Step    ID          `json:"step,omitempty"`
	Mended  bool        `json:"mended,omitempty"`  // it failed, and passed later
	Failing string      `json:"failing,omitempty"` // first line of its last failure
}

// Decayed is a sum as it stands at an action: v as of action last, horizon h.
func Decayed(v float64, last, action int64, h float64) float64 {
	if action <= last || v == 0 {
		return v
	}
	return v * math.Exp(-float64(action-last)/h)
}

// advance brings every sum to an action.
func (w *Work) advance(action int64) {
	if action <= w.Last {
		return
	}
	w.T5 = Decayed(w.T5, w.Last, action, 5)
	w.T50 = Decayed(w.T50, w.Last, action, 50)
	w.T200 = Decayed(w.T200, w.Last, action, 200)
	w.E12 = Decayed(w.E12, w.Last, action, 12)
	w.S4 = Decayed(w.S4, w.Last, action, 4)
	w.S150 = Decayed(w.S150, w.Last, action, 150)
	w.R15 = Decayed(w.R15, w.Last, action, 15)
	w.Last = action
}

// touch counts one use.
func (w *Work) touch(role Role, action int64) {
	w.advance(action)
	switch role {
	case RoleEdit:
		w.Edits, w.Edit = w.Edits+1, action
		w.T5, w.T50, w.T200, w.E12 = w.T5+1, w.T50+1, w.T200+1, w.E12+1
	case RoleRead:
		w.Reads, w.Read = w.Reads+1, action
		w.T5, w.T50, w.T200 = w.T5+1, w.T50+1, w.T200+1
	case RoleSearch:
		w.Searches, w.Search = w.Searches+1, action
		w.S4, w.S150 = w.S4+1, w.S150+1
	case RoleResult:
		w.Mentions, w.Mention = w.Mentions+1, action
		w.R15++
	}
}

// Spend is the last word on what one provider message cost. The key is digested
// from (agent, message id) and holds store-wide, since forks and resumes copy
// rows: a later one replaces the earlier.
type Spend struct {
	Key      string `json:"key"`
	Job      ID     `json:"job"`
	Session  ID     `json:"session,omitempty"`
	At       Time   `json:"at"`
	Position int64  `json:"position"`
	Spent
}

// Sitting is the row of one session.
type Sitting struct {
	ID       ID     `json:"id"`
	Number   int    `json:"number"`
	Started  Time   `json:"started"`
	Ended    Time   `json:"ended,omitempty"`
	Reason   string `json:"reason,omitempty"` // why it ended
	Evidence string `json:"evidence,omitempty"`
	SessionStarted
	Guest      bool   `json:"guest,omitempty"`
	Token      int64  `json:"token,omitempty"` // the newest lease it held
	Steps      int64  `json:"steps,omitempty"`
	Context    int64  `json:"context,omitempty"` // tokens, after its last message
	Peak       int64  `json:"peak,omitempty"`
	Spent      Tokens `json:"spent,omitzero"`
	Pico       int64  `json:"pico_usd,omitempty"`
	Handovers  int    `json:"handovers,omitempty"`
	First      int64  `json:"first"` // position
	LastAt     Time   `json:"last_at,omitempty"`
	TookOverAt int64  `json:"took_over_at,omitempty"` // action number
	// Rediscovery: of the first RediscoveryWindow actions after the takeover,
	// how many re-read what was known.
	Actions          int64 `json:"actions,omitempty"`
	Rereads          int64 `json:"rereads,omitempty"`
	Productive       int64 `json:"productive,omitempty"` // actions until the first edit or commit
	ProductiveAfter  int64 `json:"productive_after_ms,omitempty"`
	ProductiveTokens int64 `json:"productive_tokens,omitempty"`
}

// RediscoveryWindow is how many actions after a takeover are looked at.
const RediscoveryWindow = 10
