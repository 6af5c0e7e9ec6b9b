package job

// Payloads, one struct a kind, in the order of the kinds. Within a payload
// version fields are only added. Text in them has passed redaction before it is
// stored; lengths are bounded by Bound.

// Opened begins a job.
type Opened struct {
	Short string `json:"short"`
	Goal  string `json:"goal"`
	// Unnamed: opened by itself from a session nobody started a job for.
	Unnamed bool `json:"unnamed,omitempty"`
	// Unconfirmed: the goal is the agent's until a person confirms it.
	Unconfirmed bool       `json:"unconfirmed,omitempty"`
	Checks      []Check    `json:"checks,omitempty"`
	Measures    []Measure  `json:"measures,omitempty"`
	Setup       string     `json:"setup,omitempty"`
	Protect     []string   `json:"protect,omitempty"`
	KeepTests   *KeepTests `json:"keep_tests,omitempty"`
	Budget      Budget     `json:"budget,omitzero"`
	Workspace   Workspace  `json:"workspace,omitzero"`
	Parent      ID         `json:"parent,omitempty"`
	OnCrash     string     `json:"on_crash,omitempty"`
	// Repository groups jobs whose lessons concern each other: a digest, no URL.
	Repository string `json:"repository,omitempty"`
}

// Check is one acceptance command. A job holds at most MaxChecks.
type Check struct {
	ID      string   `json:"id"`
	Command string   `json:"command"`
	Quick   bool     `json:"quick,omitempty"`
	Needs   []string `json:"needs,omitempty"`
	Seconds int      `json:"seconds,omitempty"` // time limit
}

// Measure is a number agreed before, sampled during, reported after.
type Measure struct {
	Name    string  `json:"name"`
	Command string  `json:"command,omitempty"`
	Unit    string  `json:"unit,omitempty"`
	Goal    float64 `json:"goal,omitempty"`
}

// KeepTests says which tests must survive: List is the command that prints
// them, or "go" for what is built in.
type KeepTests struct {
	List string `json:"list"`
}

// Budget bounds a job; zero means unbounded.
type Budget struct {
	Pico     int64 `json:"pico_usd,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
	Sessions int   `json:"sessions,omitempty"`
	Deadline Time  `json:"deadline,omitempty"`
}

// Workspace is a folder where the job's work happens.
type Workspace struct {
	ID     ID     `json:"id"`
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Git    bool   `json:"git,omitempty"`
}

// Amended changes what a job is about. Nil fields stay as they were.
type Amended struct {
	Goal       *string    `json:"goal,omitempty"`
	Named      bool       `json:"named,omitempty"` // an unnamed or unconfirmed job is confirmed
	AddChecks  []Check    `json:"add_checks,omitempty"`
	DropChecks []string   `json:"drop_checks,omitempty"`
	Protect    *[]string  `json:"protect,omitempty"`
	KeepTests  *KeepTests `json:"keep_tests,omitempty"`
	Budget     *Budget    `json:"budget,omitempty"`
	Setup      *string    `json:"setup,omitempty"`
	OnCrash    *string    `json:"on_crash,omitempty"`
	Measures   []Measure  `json:"measures,omitempty"`
	// AcceptTests names tests whose loss a person accepts.
	AcceptTests []string   `json:"accept_tests,omitempty"`
	Workspace   *Workspace `json:"workspace,omitempty"` // added by take
	Why         string     `json:"why,omitempty"`
}

// Moved says the ledger goes on in another store; Head is the old chain's head.
type Moved struct {
	Store ID     `json:"store"`
	Head  string `json:"head"`
	Lost  bool   `json:"lost,omitempty"` // the old key is lost: hashes hold, unsigned
}

// Process is an operating system process, told apart for good.
type Process struct {
	Host  string `json:"host,omitempty"`
	Boot  string `json:"boot,omitempty"`
	PID   int    `json:"pid,omitempty"`
	Start string `json:"start,omitempty"`
}

// SessionStarted: an agent sits down at the job.
type SessionStarted struct {
	Agent        string    `json:"agent"`
	AgentSession string    `json:"agent_session"`
	Number       int       `json:"number"`
	Model        string    `json:"model,omitempty"`
	Source       string    `json:"source,omitempty"` // startup, resume, clear, compact, fork, adopt
	From         ID        `json:"from,omitempty"`   // the session it was resumed, forked or cleared from
	How          string    `json:"how,omitempty"`    // how it was bound
	Driven       bool      `json:"driven,omitempty"`
	Process      Process   `json:"process,omitzero"`
	Window       int64     `json:"window,omitempty"` // tokens
	Level        int64     `json:"level,omitempty"`  // tokens at which the agent compacts or stops
	Workspace    Workspace `json:"workspace,omitzero"`
	Transcript   string    `json:"transcript,omitempty"`
}

// SessionEnded: the sitting is over. Reason is one of ended, cleared, limit,
// crashed, replaced, failed.
type SessionEnded struct {
	Reason   string `json:"reason"`
	Evidence string `json:"evidence,omitempty"`
}

// Linked ties another job to this one.
type Linked struct {
	To        ID     `json:"to"`
	Relation  string `json:"relation"` // child, fork
	SafePoint int    `json:"safe_point,omitempty"`
}

// LeaseTaken gives the job to one session, under a new fencing token.
type LeaseTaken struct {
	Lease
	From ID     `json:"from,omitempty"` // who held it before
	How  string `json:"how"`            // free, expired, gone, renewed, taken
}

// LeaseReleased gives the lease back.
type LeaseReleased struct {
	Why string `json:"why,omitempty"`
}

// Instructed holds a person's words that bind.
type Instructed struct {
	Text string `json:"text"`
	// Standing: binds for the rest of the job, not only for the next steps.
	Standing bool `json:"standing,omitempty"`
}

// Asked holds an agent's question to the person.
type Asked struct {
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
}

// Answered holds a person's answer.
type Answered struct {
	Question ID     `json:"question,omitempty"`
	Text     string `json:"text"`
}

// Result of a call.
type Result string

// What came of a call. Unknown: it was in flight when its session crashed.
const (
	OK            Result = "ok"
	Failed        Result = "failed"
	Denied        Result = "denied"
	ResultUnknown Result = "unknown"
)

// Class of a step.
type Class string

// The classes of meaningful steps.
const (
	ClassCommand  Class = "command"
	ClassEdit     Class = "edit"
	ClassCommit   Class = "commit"
	ClassTest     Class = "test"
	ClassDelegate Class = "delegate"
	ClassOther    Class = "other"
)

// Role a path or symbol had in a call.
type Role string

// The roles of the working set.
const (
	RoleRead   Role = "read"
	RoleEdit   Role = "edit"
	RoleSearch Role = "search"
	RoleResult Role = "result"
)

// Touch is one path or symbol of a call. At most MaxPaths paths and MaxSymbols
// symbols are kept.
type Touch struct {
	Name      string `json:"name"`
	Role      Role   `json:"role"`
	Workspace ID     `json:"workspace,omitempty"`
	// PathB64 holds a path that is not UTF-8; Name then shows it with marks.
	PathB64 string `json:"path_b64,omitempty"`
	// In is the path in which a symbol stood.
	In string `json:"in,omitempty"`
}

// TestCounts are the counts a test runner printed.
type TestCounts struct {
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped,omitempty"`
	Failures []string `json:"failures,omitempty"` // names, at most 20
}

// Receipt is the evidence of a step: its output, inline up to 4 KB, else a blob.
type Receipt struct {
	Text string `json:"text,omitempty"`
	Blob string `json:"blob,omitempty"` // hex SHA-256 of the redacted bytes
	Size int64  `json:"size,omitempty"` // bytes before the cut
}

// Step is a meaningful call with its result.
type Step struct {
	Class   Class       `json:"class"`
	Title   string      `json:"title"`
	Command string      `json:"command,omitempty"`
	Tool    string      `json:"tool,omitempty"`
	Result  Result      `json:"result"`
	Exit    *int        `json:"exit,omitempty"`
	Tests   *TestCounts `json:"tests,omitempty"`
	Receipt Receipt     `json:"receipt,omitzero"`
	Paths   []Touch     `json:"paths,omitempty"`
	Symbols []Touch     `json:"symbols,omitempty"`
	Action  int64       `json:"action,omitempty"`
	Call    string      `json:"call,omitempty"` // the provider's id of the call
	Commit  string      `json:"commit,omitempty"`
	Added   int         `json:"added,omitempty"` // lines
	Removed int         `json:"removed,omitempty"`
	Millis  int64       `json:"millis,omitempty"`
	Agent   string      `json:"agent,omitempty"` // the sub-agent that made the call
	// Of: this entry adds facts (an exit code) to that earlier step.
	Of ID `json:"of,omitempty"`
}

// Touched is a call that is no step: a read or a search.
type Touched struct {
	Tool    string  `json:"tool,omitempty"`
	Title   string  `json:"title,omitempty"`
	Paths   []Touch `json:"paths,omitempty"`
	Symbols []Touch `json:"symbols,omitempty"`
	Action  int64   `json:"action,omitempty"`
	Call    string  `json:"call,omitempty"`
	Failed  bool    `json:"failed,omitempty"`
	Agent   string  `json:"agent,omitempty"`
}

// Tokens of one message, by kind, disjoint; Reasoning is a part of Output.
type Tokens struct {
	Input        int64 `json:"input,omitempty"`
	CacheWrite5m int64 `json:"cache_write_5m,omitempty"`
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"`
	CacheRead    int64 `json:"cache_read,omitempty"`
	Output       int64 `json:"output,omitempty"`
	Reasoning    int64 `json:"reasoning,omitempty"`
}

// Total is every token once.
func (t Tokens) Total() int64 {
	return t.Input + t.CacheWrite5m + t.CacheWrite1h + t.CacheRead + t.Output
}

// Plus adds two counts.
func (t Tokens) Plus(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.CacheWrite5m + u.CacheWrite5m, t.CacheWrite1h + u.CacheWrite1h,
		t.CacheRead + u.CacheRead, t.Output + u.Output, t.Reasoning + u.Reasoning}
}

// Minus subtracts.
func (t Tokens) Minus(u Tokens) Tokens {
	return Tokens{t.Input - u.Input, t.CacheWrite5m - u.CacheWrite5m, t.CacheWrite1h - u.CacheWrite1h,
		t.CacheRead - u.CacheRead, t.Output - u.Output, t.Reasoning - u.Reasoning}
}

// Spent is what one message of a provider cost.
type Spent struct {
	Message  string `json:"message"` // the provider's id, digested with the agent's name in Key
	Model    string `json:"model"`
	Tokens   Tokens `json:"tokens"`
	Pico     *int64 `json:"pico_usd,omitempty"` // null when unpriced
	Price    string `json:"price,omitempty"`
	Estimate bool   `json:"estimate,omitempty"`
	Purpose  string `json:"purpose,omitempty"` // compaction, sub-agent
	Class    Class  `json:"class,omitempty"`   // of the step it led to
	Context  int64  `json:"context,omitempty"` // tokens in the context after it
}

// Seen is a checkpoint of the workspace, taken when a handover is written.
type Seen struct {
	Branch  string   `json:"branch,omitempty"`
	Head    string   `json:"head,omitempty"`
	Changed []string `json:"changed,omitempty"` // uncommitted paths, at most 50
	More    int      `json:"more,omitempty"`    // uncommitted paths not listed
	Folders []Folder `json:"folders,omitempty"` // half-done ones, at most 8
}

// Folder is one in which some of the like files are done and some are left.
type Folder struct {
	Path     string   `json:"path"`
	Done     []string `json:"done"`
	Left     []string `json:"left"`
	MoreLeft int      `json:"more_left,omitempty"`
	MoreDone int      `json:"more_done,omitempty"`
}

// Measured is a sample of an agreed measure.
type Measured struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Decided settles a question for the rest of the job.
type Decided struct {
	Text       string   `json:"text"`
	Why        string   `json:"why,omitempty"`
	Rejected   []string `json:"rejected,omitempty"`
	Supersedes ID       `json:"supersedes,omitempty"`
}

// Raised opens an item.
type Raised struct {
	Text string `json:"text"`
	Next bool   `json:"next,omitempty"` // this is what to do next
}

// Settled closes an open item.
type Settled struct {
	Item ID     `json:"item"`
	How  string `json:"how,omitempty"`
}

// DeadEnd was tried and failed; it is not to be tried again.
type DeadEnd struct {
	Text    string `json:"text"`
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`
}

// SafePoint is a state of all workspaces that can be gone back to.
type SafePoint struct {
	Number     int        `json:"number"`
	Why        string     `json:"why"`
	Commits    []Snapshot `json:"commits"`
	NotCovered int        `json:"not_covered,omitempty"`
	Green      bool       `json:"green,omitempty"` // checks passed on it
}

// Snapshot is the commit that holds one workspace.
type Snapshot struct {
	Workspace ID     `json:"workspace"`
	Commit    string `json:"commit"`
	Tree      string `json:"tree,omitempty"`
	Head      string `json:"head,omitempty"`
	Branch    string `json:"branch,omitempty"`
}

// SectionCount says how much of a section went across and how much stayed.
type SectionCount struct {
	Section string `json:"section"`
	Across  int    `json:"across"`
	Behind  int    `json:"behind,omitempty"`
}

// HandedOver is what a leaving session leaves.
type HandedOver struct {
	Why      string         `json:"why"` // level, compaction, end, crash, request
	Level    float64        `json:"level,omitempty"`
	Fill     float64        `json:"fill,omitempty"`
	Next     string         `json:"next,omitempty"`
	Claim    string         `json:"claim,omitempty"` // the agent's own words, labelled as a claim
	Tokens   int            `json:"tokens"`
	Sections []SectionCount `json:"sections,omitempty"`
	Probes   int            `json:"probes,omitempty"`   // probe questions asked
	Repaired int            `json:"repaired,omitempty"` // of which a repair was needed
}

// TookOver: an arriving session was given the brief.
type TookOver struct {
	From     ID             `json:"from,omitempty"`
	Handover ID             `json:"handover,omitempty"`
	How      string         `json:"how"` // startup, resume, clear, compact, fork
	Tokens   int            `json:"tokens"`
	Sections []SectionCount `json:"sections,omitempty"`
	Stale    []string       `json:"stale,omitempty"` // lines that the workspace contradicts
	Empty    bool           `json:"empty,omitempty"` // no brief was given
}

// PauseReason says why a job waits.
type PauseReason string

// The pause reasons.
const (
	PauseContext  PauseReason = "context limit"
	PauseRate     PauseReason = "rate limit"
	PauseCrashed  PauseReason = "crashed"
	PauseAnswer   PauseReason = "waiting for an answer"
	PauseBudget   PauseReason = "budget reached"
	PauseStalled  PauseReason = "stalled"
	PauseOtherJob PauseReason = "waiting for another job"
	PauseHand     PauseReason = "by hand"
)

// Paused: the job waits, with the evidence why.
type Paused struct {
	Reason   PauseReason `json:"reason"`
	Evidence string      `json:"evidence,omitempty"`
	Until    Time        `json:"until,omitempty"` // rate limit; zero: time unknown
	On       ID          `json:"on,omitempty"`    // another job, or a question
}

// Resumed ends a pause.
type Resumed struct {
	Why string `json:"why,omitempty"`
}

// WentBack: the workspaces are again as at a safe point.
type WentBack struct {
	To      int    `json:"to"`
	Undo    int    `json:"undo"` // the safe point that holds what was there before
	Written int    `json:"written"`
	Removed int    `json:"removed"`
	Aside   int    `json:"aside,omitempty"`
	Why     string `json:"why,omitempty"`
	Undone  bool   `json:"undone,omitempty"` // this undid an earlier one
}

// CheckState is what came of one check.
type CheckState string

// A check that did not run is not a pass.
const (
	CheckPassed    CheckState = "passed"
	CheckFailed    CheckState = "failed"
	CheckCannotRun CheckState = "cannot run"
)

// CheckResult is one check's result.
type CheckResult struct {
	ID      string      `json:"id"`
	Command string      `json:"command,omitempty"`
	State   CheckState  `json:"state"`
	Exit    int         `json:"exit,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Millis  int64       `json:"millis,omitempty"`
	Tests   *TestCounts `json:"tests,omitempty"`
	Output  Receipt     `json:"output,omitzero"`
	// Agent: the result with the agent's own version of the protected files,
	// where that differs.
	Agent CheckState `json:"agent,omitempty"`
}

// TestLoss is one test that did not survive.
type TestLoss struct {
	Name     string `json:"name"`
	Suite    string `json:"suite,omitempty"`
	Loss     string `json:"loss"` // missing, newly skipped, emptied
	Accepted bool   `json:"accepted,omitempty"`
}

// Checked holds one run of the checks.
type Checked struct {
	Where     string            `json:"where"` // clean checkout, workspace
	Baseline  bool              `json:"baseline,omitempty"`
	Quick     bool              `json:"quick,omitempty"`
	Setup     *CheckResult      `json:"setup,omitempty"`
	Results   []CheckResult     `json:"results"`
	Tests     int               `json:"tests,omitempty"`    // tests listed
	Inventory Receipt           `json:"inventory,omitzero"` // the listing itself
	ListError string            `json:"list_error,omitempty"`
	Losses    []TestLoss        `json:"losses,omitempty"`
	Protected map[string]string `json:"protected,omitempty"` // path to content id, at the baseline
	Changed   []string          `json:"changed,omitempty"`   // protected files that differ
	SafePoint int               `json:"safe_point,omitempty"`
	Tree      string            `json:"tree,omitempty"`
}

// ModelDifference is what the agent's own total says beyond our sum.
type ModelDifference struct {
	Model  string `json:"model"`
	Tokens Tokens `json:"tokens"`
	Pico   *int64 `json:"pico_usd,omitempty"` // null when unpriced
	// Guessed is what our sum held of estimates, which the total puts a count in place of.
	Guessed     Tokens `json:"estimate_tokens,omitzero"`
	GuessedPico int64  `json:"estimate_pico_usd,omitempty"`
}

// PurposeReconciled is the purpose of what a Reconciled adds to the costs: no message's own.
const PurposeReconciled = "reconciled"

// Reconciled carries the difference to the agent's own totals; it rewrites nothing.
type Reconciled struct {
	Source string            `json:"source"`
	Models []ModelDifference `json:"models"`
}

// Outcome of a finish.
type Outcome string

// Failed and unverified leave the job open; the other three end it.
const (
	OutcomePassed     Outcome = "passed"
	OutcomeFailed     Outcome = "failed"
	OutcomeUnverified Outcome = "unverified"
	OutcomeAccepted   Outcome = "accepted"
	OutcomeAbandoned  Outcome = "abandoned"
)

// Ends reports whether the outcome ends the job.
func (o Outcome) Ends() bool {
	return o == OutcomePassed || o == OutcomeAccepted || o == OutcomeAbandoned
}

// Finished is the verdict on a job.
type Finished struct {
	Outcome       Outcome       `json:"outcome"`
	Reason        string        `json:"reason,omitempty"`
	Results       []CheckResult `json:"results,omitempty"`
	Losses        []TestLoss    `json:"losses,omitempty"`
	ChecksChanged []string      `json:"checks_changed,omitempty"`
	SafePoint     int           `json:"safe_point,omitempty"`
	Sealed        string        `json:"sealed"` // local, separate
	Claimed       bool          `json:"claimed,omitempty"`
}

// Lesson is what an outcome teaches later work.
type Lesson struct {
	Text       string `json:"text"`
	Topic      string `json:"topic"` // dead end, command, cost, worked
	Repository string `json:"repository,omitempty"`
	From       []ID   `json:"from,omitempty"` // entries it was drawn from
}

// Refused records an act that came with an old token.
type Refused struct {
	Act     Kind   `json:"act"`
	Token   int64  `json:"token"`
	Current int64  `json:"current"`
	What    string `json:"what,omitempty"`
}

// Gap says what could not be recorded.
type Gap struct {
	What   string `json:"what"`
	Count  int64  `json:"count"`
	Source string `json:"source,omitempty"`
	From   int64  `json:"from,omitempty"` // first position or offset missing
	To     int64  `json:"to,omitempty"`
}

// Scrubbed lists entries whose content was dropped.
type Scrubbed struct {
	Entries []ID   `json:"entries"`
	Why     string `json:"why,omitempty"`
}

func (*Opened) Kind() Kind         { return KindOpened }
func (*Amended) Kind() Kind        { return KindAmended }
func (*Moved) Kind() Kind          { return KindMoved }
func (*SessionStarted) Kind() Kind { return KindSessionStarted }
func (*SessionEnded) Kind() Kind   { return KindSessionEnded }
func (*Linked) Kind() Kind         { return KindLinked }
func (*LeaseTaken) Kind() Kind     { return KindLeaseTaken }
func (*LeaseReleased) Kind() Kind  { return KindLeaseReleased }
func (*Instructed) Kind() Kind     { return KindInstructed }
func (*Asked) Kind() Kind          { return KindAsked }
func (*Answered) Kind() Kind       { return KindAnswered }
func (*Step) Kind() Kind           { return KindStep }
func (*Touched) Kind() Kind        { return KindTouched }
func (*Spent) Kind() Kind          { return KindSpent }
func (*Seen) Kind() Kind           { return KindSeen }
func (*Measured) Kind() Kind       { return KindMeasured }
func (*Decided) Kind() Kind        { return KindDecided }
func (*Raised) Kind() Kind         { return KindRaised }
func (*Settled) Kind() Kind        { return KindSettled }
func (*DeadEnd) Kind() Kind        { return KindDeadEnd }
func (*SafePoint) Kind() Kind      { return KindSafePoint }
func (*HandedOver) Kind() Kind     { return KindHandedOver }
func (*TookOver) Kind() Kind       { return KindTookOver }
func (*Paused) Kind() Kind         { return KindPaused }
func (*Resumed) Kind() Kind        { return KindResumed }
func (*WentBack) Kind() Kind       { return KindWentBack }
func (*Checked) Kind() Kind        { return KindChecked }
func (*Reconciled) Kind() Kind     { return KindReconciled }
func (*Finished) Kind() Kind       { return KindFinished }
func (*Lesson) Kind() Kind         { return KindLesson }
func (*Refused) Kind() Kind        { return KindRefused }
func (*Gap) Kind() Kind            { return KindGap }
func (*Scrubbed) Kind() Kind       { return KindScrubbed }
