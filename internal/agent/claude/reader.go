package claude

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// reader reads one transcript. All it knows from one line to the next is in
// state, so that another process can go on where it stopped.
type reader struct {
	spend bool // only what was spent is wanted
	state state
	out   []agent.Row // rows of the line being read
	// usageText is the usage that the last message had as it was written, so that
	// a repeated one is known without reading it.
	usageText []byte
}

// state is what State saves, as JSON. It is saved at every hook, so it holds
// what is open, not what is past.
type state struct {
	Header     agent.Header
	Seen       bool           `json:",omitempty"` // the id of the session it came from was looked for
	Skipped    map[string]int `json:",omitempty"`
	Open       []openCall     `json:",omitempty"` // calls without a result, oldest first
	Background []openCall     `json:",omitempty"` // calls that go on after their result
	Usage      lastUsage      `json:",omitzero"`
	Tasks      []agent.Task   `json:",omitempty"`
	Queue      queue          `json:",omitzero"`
	Compaction compaction     `json:",omitzero"`
	Messages   int            `json:",omitempty"` // of the main chain, so far
	Mode       string         `json:",omitempty"` // who is asked before a call, as the last prompt had it
}

// openCall is a call whose end is still to come.
type openCall struct {
	Call      agent.Call
	At        job.Time `json:",omitempty"`
	Offset    int64
	Ordinal   int      `json:",omitempty"`
	Side      bool     `json:",omitempty"`
	Message   int      `json:",omitempty"` // which message made it
	Task      string   `json:",omitempty"` // the agent's id of a background task
	Questions []string `json:",omitempty"` // asked of the person, until they are answered
	Plan      string   `json:",omitempty"` // shown to the person, until it is approved
}

// Bounds of the state. A call without a result is rare: a crash leaves some.
const (
	maxOpen       = 128
	maxBackground = 64
)

// spendless reports whether rows of a type say nothing of what was spent. The
// row after a compaction is its summary, whose size does.
func (r *reader) spendless(kind string) bool {
	switch kind {
	case "assistant", "system", "cost-state":
		return false
	case "user":
		return r.state.Compaction.ID == ""
	}
	return true
}

// line is one row of the transcript, walked but not decoded.
type line struct {
	kind, subtype, uuid, promptID, request, requested, version, mode string

	at     job.Time
	offset int64

	side, meta, summary, apiError bool

	account

	message, attachment, result, denial, plan, reason, moved raw
	compact, models, errorWord, quota, content, operation    raw
	session, inner, forked, asker, dir, branch               raw
}

// Line gives the rows of one line.
func (r *reader) Line(text []byte, offset int64) ([]agent.Row, error) {
	l := line{offset: offset}
	r.out = nil
	passed := false
	err := walk(text, func(key []byte, value raw) bool {
		l.field(key, value)
		passed = r.spend && string(key) == "type" && r.spendless(l.kind)
		return !passed
	})
	if err != nil {
		return nil, fmt.Errorf("transcript line at byte %d: %w", offset, err)
	}
	if passed {
		return nil, nil
	}
	r.header(&l)
	switch l.kind {
	case "user":
		r.user(&l)
	case "assistant":
		r.assistant(&l)
	case "system":
		r.system(&l)
	case "attachment":
		r.attachment(&l)
	case "queue-operation":
		r.queueOperation(&l)
	case "cost-state":
		r.totals(&l)
	case "relocated":
		if dir := l.moved.text(); dir != "" {
			r.state.Header.Dir = dir
		}
	default:
		if !passedOver(l.kind) {
			r.skip(l.kind)
		}
	}
	return r.out, nil
}

// field takes one top-level field.
func (l *line) field(key []byte, value raw) {
	switch string(key) {
	case "type":
		l.kind = value.text()
	case "subtype":
		l.subtype = value.text()
	case "uuid":
		l.uuid = value.text()
	case "promptId":
		l.promptID = value.text()
	case "permissionMode":
		l.mode = value.text()
	case "requestId":
		l.request = value.text()
	case "requestedModel":
		l.requested = value.text()
	case "version":
		l.version = value.text()
	case "timestamp":
		l.at = parseTime(value)
	case "isSidechain":
		l.side = value.isTrue()
	case "isMeta":
		l.meta = value.isTrue()
	case "isCompactSummary":
		l.summary = value.isTrue()
	case "isApiErrorMessage":
		l.apiError = value.isTrue()
	case "message":
		l.message = value
	case "attachment":
		l.attachment = value
	case "toolUseResult":
		l.result = value
	case "origin":
		l.origin = value
	case "promptSource":
		l.source = value
	case "rowSource":
		l.row = value
	case "turnOrigin":
		l.turn = value
	case "reason":
		l.reason = value
	case "relocatedCwd":
		l.moved = value
	case "toolDenialKind":
		l.denial = value
	case "planContent":
		l.plan = value
	case "compactMetadata":
		l.compact = value
	case "modelUsage":
		l.models = value
	case "error":
		l.errorWord = value
	case "quotaLimits":
		l.quota = value
	case "content":
		l.content = value
	case "operation":
		l.operation = value
	case "sessionId":
		l.session = value
	case "session_id":
		l.inner = value
	case "forkedFrom":
		l.forked = value
	case "requestSessionId":
		l.asker = value
	case "cwd":
		l.dir = value
	case "gitBranch":
		l.branch = value
	}
}

func parseTime(value raw) job.Time {
	if !value.isString() {
		return 0
	}
	t, err := time.Parse(time.RFC3339Nano, string(value[1:len(value)-1]))
	if err != nil {
		return 0
	}
	return job.At(t)
}

// header learns of the session what the row says.
func (r *reader) header(l *line) {
	h := &r.state.Header
	if h.Session == "" {
		h.Session = l.session.text()
	}
	if h.Started == 0 {
		h.Started = l.at
	}
	if l.kind != "user" && l.kind != "assistant" && l.kind != "system" && l.kind != "attachment" {
		return
	}
	if h.Dir == "" {
		h.Dir = l.dir.text()
	}
	if l.version != "" {
		h.Version = l.version
	}
	if l.branch.isString() && string(l.branch[1:len(l.branch)-1]) != h.Branch {
		h.Branch = l.branch.text()
	}
	if l.mode != "" {
		r.state.Mode = l.mode
	}
	// A fork or a continued session begins with rows of the one it came from.
	if from := l.forked.get("sessionId").text(); from != "" && h.From == "" && from != h.Session {
		h.From, r.state.Seen = from, true
	}
	if from := l.asker.text(); from != "" && from != h.Session && !l.side {
		h.From, r.state.Seen = from, true // the last one that asked is the nearest
	}
	if l.inner.isString() && !r.state.Seen {
		r.state.Seen = true
		if from := l.inner.text(); from != h.Session {
			h.From = from
		}
	}
}

// add appends a row of this line.
func (r *reader) add(l *line, row agent.Row) {
	row.Offset, row.Ordinal, row.Side = l.offset, len(r.out), l.side
	if row.At == 0 {
		row.At = l.at
	}
	r.out = append(r.out, row)
}

func (r *reader) skip(kind string) {
	if r.state.Skipped == nil {
		r.state.Skipped = map[string]int{}
	}
	if len(r.state.Skipped) < 100 || r.state.Skipped[kind] > 0 {
		r.state.Skipped[job.Clip(kind, 60)]++
	}
}

func (r *reader) system(l *line) {
	switch l.subtype {
	case "compact_boundary":
		r.compacted(l)
	case "stop_hook_summary", "turn_duration", "away_summary", "bridge_status", "cloud_session_status", "informational", "local_command", "api_error",
		"model_fallback", "model_refusal_fallback", "model_refusal_no_fallback", "model_consent_fallback", "per_turn_effort_changed", "permission_retry",
		"scheduled_task_fire", "agents_killed", "memory_saved", "file_snapshot", "task_summary", "post_turn_summary":
		// api_error is a retry under way; when the retries end, a row of its own says so.
	default:
		r.skip("system/" + l.subtype)
	}
}

// End gives the calls still in flight.
func (r *reader) End() []agent.Row {
	var rows []agent.Row
	for _, o := range r.state.Open {
		rows = append(rows, agent.Row{Kind: agent.RowCall, Offset: o.Offset, Ordinal: o.Ordinal, At: o.At,
			Record: o.Call.ID, Call: &o.Call, Side: o.Side})
	}
	return rows
}

// Header is what the lines so far say of the session.
func (r *reader) Header() agent.Header { return r.state.Header }

// Skipped counts rows of types that are not known, by type.
func (r *reader) Skipped() map[string]int { return r.state.Skipped }

// State saves what is known, as JSON.
func (r *reader) State() ([]byte, error) { return json.Marshal(&r.state) }

// Restore goes on from a saved state.
func (r *reader) Restore(saved []byte) error {
	var s state
	if err := json.Unmarshal(saved, &s); err != nil {
		return fmt.Errorf("restore the reader of a transcript: %w", err)
	}
	r.state = s
	return nil
}
