// Package claude sees Claude Code through the shape of package agent: it decodes
// and answers its hooks, and reads its transcripts, of every 2.1 version, line
// by line. It is pure: it opens no file and starts no process, and it keeps
// nothing but what the reader's State holds.
//
// The shapes it reads are Claude Code's own and drift with each release, so
// everything is read leniently: an unknown row is counted and passed over, an
// unknown field is not looked at, a field of another type counts as absent.
package claude

import (
	"bytes"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// Adapter translates Claude Code. It has no state.
type Adapter struct{}

var _ agent.Adapter = Adapter{}

// Name is the agent's name in the ledger and on the command line.
func (Adapter) Name() string { return "claude" }

// NewReader gives a reader at the start of a transcript.
func (Adapter) NewReader() agent.Reader { return &reader{} }

// NewSpendReader gives a reader of what a session spent and nothing else: usage,
// totals and compactions. It looks at few of a transcript's bytes.
func (Adapter) NewSpendReader() agent.Reader { return &reader{spend: true} }

// bounded is the most characters we inject at once. Above 10,000 (UTF-16 units
// of one hook's output) Claude Code stores the text in a file and shows the
// model a preview of 2 KB.
const bounded = 9000

// Bounded is the most characters one injected context may have.
func (Adapter) Bounded() int { return bounded }

// sniffLines is how many lines of a file Sniff looks at.
const sniffLines = 20

// Sniff reports whether the first lines of a file are a Claude Code transcript.
// The last line may be cut.
func (Adapter) Sniff(head []byte) bool {
	for range sniffLines {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if own(line) {
			return true
		}
		if !whole {
			return false
		}
		head = rest
	}
	return false
}

// own reports whether a line, cut or not, is one that only Claude Code writes.
func own(line []byte) bool {
	var kind string
	var session, threaded, summary, snapshot bool
	_ = fields(line, func(key []byte, value raw) {
		switch string(key) {
		case "type":
			kind = value.text()
		case "sessionId":
			session = true
		case "parentUuid", "isSidechain":
			threaded = true
		case "leafUuid":
			summary = true
		case "messageId":
			snapshot = true
		}
	})
	switch kind {
	case "user", "assistant", "system", "attachment", "progress":
		return session && threaded
	case "summary":
		return summary
	case "file-history-snapshot", "file-history-delta":
		return snapshot
	case "":
		// The line is cut before its type; it begins as all of these do.
		return threaded && (session || bytes.HasPrefix(line, []byte(`{"parentUuid":`)))
	}
	return session && (kind == "queue-operation" || kind == "cost-state" || passedOver(kind))
}

// passedOver reports whether rows of a type say nothing of a job. They are not
// counted as skipped, which is for what this version does not know.
func passedOver(kind string) bool {
	switch kind {
	case "ai-title", "agent-name", "agent-color", "agent-setting", "custom-title", "last-prompt", "tag", "mode", "permission-mode", "repl-mode",
		"memory-mode", "hybrid-organization", "dev-mods", "tools-used", "atis-latch", "isolation-latch", "session-owner", "host-row", "bridge-session",
		"pr-link", "frame-link", "summary", "derived-from", "continued-in", "observer-ref", "fork-context-ref", "resume-head-vouch", "ended-by-model",
		"history-suppression", "worktree-state", "relocated", "file-history-snapshot", "file-history-delta", "attribution-snapshot", "content-replacement",
		"data-flow-records", "data-flow-incomplete", "data-flow-handover", "artifact-comment-monitor", "artifact-autoreact-ledger",
		"api-request", "api-request-blob", "api-request-shape", "api-request-resumed", "attachment", "progress":
		return true
	}
	return false
}

// Beside gives the glob patterns of the transcripts that belong to the one at
// path: those of its sub-agents, whose usage the main file does not hold. path
// has the separators of the system it is of.
func (Adapter) Beside(path string) []string {
	base, ok := strings.CutSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl")
	if !ok {
		return nil
	}
	sep := "/"
	if strings.Contains(base, `\`) && !strings.Contains(base, "/") {
		sep = `\`
	}
	dir := base + sep + "subagents" + sep
	return []string{dir + "agent-*.jsonl", dir + "workflows" + sep + "*" + sep + "agent-*.jsonl"}
}
