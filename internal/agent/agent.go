// Package agent is the shape every agent is seen through: what one hook call
// says (Event), what we may answer (Answer), what one transcript row says (Row),
// and the adapter that translates. It is pure; the adapters in agent/<name> are
// pure too. Who opens files and starts processes is a floor above.
package agent

import "github.com/seed-5777983b/duplex/internal/job"

// EventKind is the moment a hook is called at, in the field's common words.
type EventKind string

// The moments. An adapter maps its agent's own names onto these.
const (
	SessionStart  EventKind = "session start"
	Prompt        EventKind = "prompt"      // the person (or a driver) said something
	BeforeTool    EventKind = "before tool" // a tool is about to run
	AfterTool     EventKind = "after tool"  // a tool ran, or failed
	BeforeCompact EventKind = "before compact"
	AfterCompact  EventKind = "after compact"
	TurnEnd       EventKind = "turn end"
	TurnFailed    EventKind = "turn failed" // an API error or a limit ended the turn
	SubagentStart EventKind = "sub-agent start"
	SubagentEnd   EventKind = "sub-agent end"
	SessionEnd    EventKind = "session end"
	OtherEvent    EventKind = "other"
)

// Event is what one hook call says. Fields an agent does not give stay empty.
type Event struct {
	Kind       EventKind
	Name       string // the agent's own name of the event
	Session    string // the agent's id of the session
	Source     string // session start: startup, resume, clear, compact, fork
	From       string // the agent's id of the session this one came from
	Transcript string // path
	Dir        string // working folder
	Model      string
	PromptID   string
	Prompt     string
	Tool       *Call
	Reason     string   // session end: the agent's word; turn failed: a Refusal first, where it is one
	Message    string   // turn failed: what the API said; turn end: the last text
	Trigger    string   // compaction: auto or manual
	Until      job.Time // a limit's reset time, when known
	Looping    bool     // the turn was already continued by a hook: answer nothing
	Subagent   string   // id of the sub-agent the event is about
	Context    int64    // tokens in the context, when the event says so
	PID        int      // the agent's process, when its environment says so
}

// Call is one tool call, classified.
type Call struct {
	ID             string    // the provider's id
	Name           string    // the agent's tool name
	Class          job.Class // of a step; empty for reads and searches
	Changes        bool      // it may change something: denied to a stale actor
	Title          string    // one line for people: "go test ./...", "edited a.go"
	Command        string
	Paths          []job.Touch // names as the agent gave them, not yet made relative
	Symbols        []job.Touch
	Commit         string
	Added, Removed int // lines
	// Tasks is the agent's own task list, when the call set it.
	Tasks []Task
	// Done is set once the call has a result.
	Done *Done
}

// Done is what came of a call.
type Done struct {
	Result job.Result
	Exit   *int
	Output string // whole, as given; the tracker bounds and redacts it
	Millis int64
	Tests  *job.TestCounts
}

// Task is one item of an agent's own task list.
type Task struct {
	ID    string
	Text  string
	State string // pending, in progress, completed, deleted
}

// Answer is what a hook says back to its agent.
type Answer struct {
	Context string // added to what the model sees
	Deny    string // before tool: refused, with this reason
	EndTurn bool   // and the turn ends
	Block   string // prompt: refused before any model call
	Steer   string // before compact: instructions for the agent's own summary
}

// Output is an encoded Answer.
type Output struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// RowKind says what a transcript row is about.
type RowKind string

// The rows that matter; all others are skipped and counted by the reader.
const (
	RowInstruction RowKind = "instruction" // a person's words
	RowSaid        RowKind = "said"        // the agent's text
	RowCall        RowKind = "call"        // a tool call without its result yet
	RowResult      RowKind = "result"      // a call with its result
	RowUsage       RowKind = "usage"
	RowCompacted   RowKind = "compacted" // a compaction boundary
	RowLimit       RowKind = "limit"     // an API error or a rate limit; its text begins with a Refusal, where it is one
	RowTotals      RowKind = "totals"    // the agent's own totals per model
	RowAsked       RowKind = "asked"     // a question to the person
	RowAnswered    RowKind = "answered"
	RowPlan        RowKind = "plan" // a plan the person approved
	RowTasks       RowKind = "tasks"
	RowEnded       RowKind = "ended"
)

// Row is what a transcript says in one place.
type Row struct {
	Kind    RowKind
	Offset  int64    // bytes from the start of the file to its line
	Ordinal int      // among the rows of the same line
	At      job.Time // zero when the row has none
	Record  string   // the provider's id of the record, when it has one
	Text    string
	Call    *Call
	Usage   *Usage
	Model   string
	Options []string
	Tasks   []Task
	Totals  []job.ModelDifference // the agent's own totals per model
	Until   job.Time
	Held    int64 // compacted, by the agent itself: tokens that the context held
	Side    bool  // of a sub-agent
}

// Usage is what one message of the provider used.
type Usage struct {
	Message  string // id
	Model    string
	Tokens   job.Tokens
	Context  int64 // tokens in the context after it; 0 for sub-agents
	Purpose  string
	Estimate bool
	Final    bool // the last row of its message is known to be this one
}

// Header is what a transcript says about its session as a whole.
type Header struct {
	Session string
	From    string
	Dir     string
	Branch  string
	Model   string
	Version string
	Started job.Time
}

// Reader turns transcript lines into rows, in order. It is fed whole lines with
// their offsets; what it must remember between two calls (calls without a
// result, the header) goes through State, so that reading can go on from an
// offset in another process.
type Reader interface {
	// Line gives the rows of one line. A line that cannot be read gives an
	// error and costs that line only.
	Line(line []byte, offset int64) ([]Row, error)
	// End gives what only the end of the file shows: calls still in flight.
	End() []Row
	Header() Header
	// Skipped counts rows of types the reader does not know, by type.
	Skipped() map[string]int
	State() ([]byte, error)
	Restore(state []byte) error
}

// Levels are the sizes of a context, in tokens.
type Levels struct {
	Window int64 // the model's whole context window; 0 unknown
	Level  int64 // where this agent, version and setting compacts or stops
}

// Drive says how to start an agent, headless or for a person.
type Drive struct {
	Program string // path of the agent's program, empty for the default
	Dir     string
	Session string // the agent's session id to use or to resume
	Resume  bool
	Model   string
	Prompt  string
	Args    []string // the agent's own settings, as configured
	Hook    []string // the hook command line to fire
	Server  []string // the command line of our MCP server; none when empty
	Mode    string   // the agent's own word for what it may do unasked; empty: as it is configured
	Allow   []string // command lines that it may run unasked
}

// Adapter translates one agent.
type Adapter interface {
	Name() string
	// DecodeHook reads one hook call. env looks up the hook's environment.
	DecodeHook(stdin []byte, env func(string) string) (Event, error)
	EncodeAnswer(e Event, a Answer) Output
	NewReader() Reader
	// Levels are for a model and what is set. env looks up a variable of the agent's
	// environment; where a name begins with -- an option of its command line, where it
	// begins with . a value of its settings files.
	Levels(model string, env func(string) string) Levels
	// Sniff reports whether the first lines of a file are this agent's transcript.
	Sniff(head []byte) bool
	// Bounded is the most characters one injected context may have.
	Bounded() int
}

// DrivenEnv names, in the environment of an agent that Duplex started, the session
// that was given its hooks with it. Hooks that a person has set up see it too, and
// leave that session to ours: each call would be recorded twice otherwise.
const DrivenEnv = "DUPLEX_DRIVEN"

// Driven is the argument by which our hooks are told from those a person set up.
const Driven = "--driven"

// Driver is an adapter that can start its agent headless.
type Driver interface {
	Adapter
	// Command gives the command line, and what its environment has beside ours: a
	// name without = is taken out of it.
	Command(d Drive) (argv []string, env []string)
	// Stream reads one line the headless agent prints.
	Stream(line []byte) (Streamed, error)
}

// Talker is a driver whose agent is spoken to on its standard input while it
// works, in whole lines. It ends when that is closed.
type Talker interface {
	Driver
	// Begin is what is said first, with the prompt in it.
	Begin(d Drive) []byte
	// Interrupt ends the turn under way, and what it runs.
	Interrupt() []byte
	// Measure asks for the levels of the context, which a later line tells.
	Measure() []byte
}

// Host is a driver whose agent a person can talk to, in a terminal.
type Host interface {
	Driver
	Interactive(d Drive) (argv []string, env []string)
}

// End says why a headless agent's turn ended, in words common to all agents.
type End string

// The ends of a turn.
const (
	EndDone        End = "done"        // the agent says that it is
	EndAsked       End = "asked"       // it waits for a person's answer
	EndStopped     End = "stopped"     // a hook ended it
	EndInterrupted End = "interrupted" // we did
	EndFull        End = "full"        // the context has no room
	EndTurns       End = "turns"       // its own limit of turns, or of money
	EndLimit       End = "limit"       // a rate limit
	EndOverloaded  End = "overloaded"  // the provider cannot answer now, though the agent tried again
	EndCredit      End = "credit"      // the account has none left
	EndRefused     End = "refused"     // credentials, or a model that there is not
	EndFailed      End = "failed"      // anything else
)

// Streamed is what one line of a headless agent's output says.
type Streamed struct {
	Session string
	Text    string   // what the agent said, for progress
	Calls   int      // calls of tools that the line begins
	Results int      // calls that it ends: when none is left, the turn can be ended without loss
	Context int64    // tokens in the context
	Levels  Levels   // an answer to Measure
	Denied  string   // a call that the agent's own rules refused
	Trouble string   // the provider did not answer and is asked again: why
	Busy    bool     // sub-agents work on beside the turn, whose end is then not the last
	Idle    bool     // they no longer do
	End     End      // the turn is over
	Reason  string   // of the end: the agent's words for it
	Until   job.Time // when a limit that refuses us ends
}
