package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// Session is what Duplex remembers of an agent's session between two hooks, also
// when it belongs to no job. It is no part of a ledger.
type Session struct {
	ID           job.ID      `json:"id"`
	Agent        string      `json:"agent"`
	AgentSession string      `json:"agent_session"`
	Job          job.ID      `json:"job,omitempty"` // empty: none
	Guest        bool        `json:"guest,omitempty"`
	Token        int64       `json:"token,omitempty"`
	Number       int         `json:"number,omitempty"`
	Workspace    job.ID      `json:"workspace,omitempty"`
	Transcript   string      `json:"transcript,omitempty"` // path
	Offset       int64       `json:"offset,omitempty"`     // bytes of it that were read
	Process      job.Process `json:"process,omitzero"`
	Model        string      `json:"model,omitempty"`
	Window       int64       `json:"window,omitempty"`      // tokens
	Level        int64       `json:"level,omitempty"`       // tokens
	ToldWindow   int64       `json:"told_window,omitempty"` // as the agent itself said
	ToldLevel    int64       `json:"told_level,omitempty"`
	Compacted    int64       `json:"compacted,omitempty"` // the context at which the agent last compacted by itself, in tokens
	Asked        string      `json:"asked,omitempty"`     // the model a driven session was started with, in the words of who did
	Context      int64       `json:"context,omitempty"`
	// Nudged, HandedOver: levels done since the last compaction.
	Nudged     int      `json:"nudged,omitempty"`
	HandedOver int      `json:"handed_over,omitempty"`
	Largest    int64    `json:"largest,omitempty"` // largest step, in tokens
	From       job.ID   `json:"from,omitempty"`    // the session it came from
	Driven     bool     `json:"driven,omitempty"`
	LastHook   job.Time `json:"last_hook,omitempty"`
	Renewed    job.Time `json:"renewed,omitempty"` // when it last renewed its lease
	Ended      job.Time `json:"ended,omitempty"`
	Off        bool     `json:"off,omitempty"`
	Adopting   bool     `json:"adopting,omitempty"` // its transcript is being read by Process, or was when that was killed
	// InFlight is the title of a call whose result has not been seen; Said, the
	// agent's last text, in short: a claim.
	InFlight string `json:"in_flight,omitempty"`
	Said     string `json:"said,omitempty"`
	// Setting is what sets its levels, as its process was started: variables of the
	// environment and options of the command line, by name.
	Setting map[string]string `json:"setting,omitempty"`
	// Totals are the agent's own of the session, by model, as it last gave them; Base is
	// what is in them and not in our sums: a parent's total that a fork goes on from, less
	// what was spent before a kill, which the agent forgets.
	Totals map[string]job.Tokens `json:"totals,omitempty"`
	Base   map[string]job.Tokens `json:"base,omitempty"`
	// Beyond is the position up to which estimates are of a process that was killed, so
	// that no total will ever hold what they stand for.
	Beyond int64 `json:"beyond,omitempty"`
	// Trials is what is remembered of commands that failed: JSON.
	Trials json.RawMessage `json:"trials,omitempty"`
	// Reader is what the transcript's reader must remember: JSON.
	Reader json.RawMessage `json:"reader,omitempty"`
}

// SaveSession writes a session's row. agent and agentSession only find the row
// again and are kept as a digest; row is a redacted Session, from which everything
// that is kept is read.
func (t *Tx) SaveSession(agent, agentSession string, row redact.JSON) error {
	var s Session
	data := row.Bytes()
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("session: %w: %v", job.ErrInvalid, err)
	}
	if !s.ID.Valid() {
		return fmt.Errorf("%w: session id %q", job.ErrInvalid, s.ID)
	}
	_, err := t.c.exec(`INSERT INTO session VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET job = excluded.job, process = excluded.process, row = excluded.row`,
		s.ID, lookup(agent, agentSession), s.Job, processKey(s.Process), string(data))
	return err
}

// lookup is the digest a row with free text in its name is found by.
func lookup(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func processKey(p job.Process) string {
	if p.PID == 0 {
		return ""
	}
	return lookup(p.Host, p.Boot, strconv.Itoa(p.PID), p.Start)
}

// Session finds the row of an agent's session, or gives job.ErrNotFound.
func (t *Tx) Session(agent, agentSession string) (*Session, error) {
	return t.session("SELECT row FROM session WHERE key = ?", lookup(agent, agentSession))
}

// SessionByID finds a session by the id it has in ledgers, or gives job.ErrNotFound.
func (t *Tx) SessionByID(id job.ID) (*Session, error) {
	return t.session("SELECT row FROM session WHERE id = ?", id)
}

// SessionByProcess finds the newest session of a process, or gives job.ErrNotFound.
func (t *Tx) SessionByProcess(p job.Process) (*Session, error) {
	key := processKey(p)
	if key == "" {
		return nil, fmt.Errorf("session of no process: %w", job.ErrNotFound)
	}
	return t.session("SELECT row FROM session WHERE process = ? AND process <> '' ORDER BY row ->> 'last_hook' DESC LIMIT 1", key)
}

func (t *Tx) session(sql string, arg any) (*Session, error) {
	list, err := listRows[Session](t.c, "", "a session", sql, arg)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("session: %w", job.ErrNotFound)
	}
	return &list[0], nil
}

// SessionsOf lists the sessions bound to a job, the last heard of first.
func (t *Tx) SessionsOf(id job.ID) ([]Session, error) {
	return listRows[Session](t.c, id, "a session", "SELECT row FROM session WHERE job = ? AND job <> '' ORDER BY row ->> 'last_hook' DESC", id)
}

// Sessions lists all sessions, the last heard of first.
func (t *Tx) Sessions(limit int) ([]Session, error) {
	return listRows[Session](t.c, "", "a session", "SELECT row FROM session ORDER BY row ->> 'last_hook' DESC LIMIT ?", limitOf(limit))
}

// DropSession forgets a session. Its ledger, where it has one, stays.
func (t *Tx) DropSession(id job.ID) error {
	_, err := t.c.exec("DELETE FROM session WHERE id = ?", id)
	return err
}
