package job

// Auto says what happens to a session that belongs to no job.
type Auto string

// On: a job is opened by itself when its context nears the limit. Ask: one line
// offers it. Off: nothing.
const (
	AutoOn  Auto = "on"
	AutoAsk Auto = "ask"
	AutoOff Auto = "off"
)

// Bound is an earlier binding of a session.
type Bound struct {
	Job     ID
	Session ID // the session's id in the ledger
	Guest   bool
	Token   int64
}

// Arrival is what is known when a session calls for the first time, or again.
type Arrival struct {
	Named   ID     // DUPLEX_JOB, resolved
	Bound   *Bound // of this (agent, session id)
	From    *Bound // of the id it was resumed, forked or cleared from
	Open    []ID   // open named jobs of this workspace
	Auto    Auto
	Carried bool // its context reached the nudge level, was compacted, or resumed
	Off     bool // DUPLEX_OFF=1 or duplex off
}

// Binding says which job a session belongs to.
type Binding struct {
	Job   ID     // empty: none
	Known *Bound // it has been here before
	How   string // named, bound, continued, folder, opened
	// Open: a job is to be opened by itself from the session's transcript.
	Open bool
	// Offer: several jobs are open here, or auto is ask: say so in one line.
	Offer []ID
	Ask   bool
}

// Bind decides by the first rule that holds: a named job, an earlier binding of
// this session, one of the session it came from, the one open job of this
// workspace. With several open jobs it binds to none.
func Bind(a Arrival) Binding {
	switch {
	case a.Off:
		return Binding{}
	case a.Bound != nil && (a.Named == "" || a.Named == a.Bound.Job):
		return Binding{Job: a.Bound.Job, Known: a.Bound, How: "bound"}
	case a.Named != "":
		return Binding{Job: a.Named, How: "named"}
	case a.From != nil:
		return Binding{Job: a.From.Job, How: "continued"}
	case len(a.Open) == 1:
		return Binding{Job: a.Open[0], How: "folder"}
	case len(a.Open) > 1:
		return Binding{Offer: a.Open}
	case !a.Carried:
		return Binding{}
	case a.Auto == AutoOff:
		return Binding{}
	case a.Auto == AutoAsk:
		return Binding{Ask: true}
	}
	return Binding{Open: true, How: "opened"}
}
