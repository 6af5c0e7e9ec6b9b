// Package mcpserver lets an agent call Duplex over MCP: a process that the agent
// starts, which speaks JSON-RPC on its standard input and output. Each tool is one
// use case of the tracker, with the words and errors of the command that does the
// same. What only a person may do is not offered, and what leads there is refused.
//
// It has no rules about jobs, and no state: every call opens the tracker, finds the
// session it comes from, and closes it, as a command does. So two servers do not
// meet, and a store that is locked or away costs the calls of that time alone.
//
// The protocol is a few methods, written out in wire.go and connection.go rather
// than taken from the official go-sdk, for three measured reasons. The program that
// serves MCP also answers an agent's hooks, and linking the SDK costs every hook about
// 1 ms of processor time before main begins. Its package initialisation panics at a
// malformed MCPGODEBUG, which ends a hook with the exit code that blocks the agent's
// tool. And its transport ends at the first line that is no JSON. The SDK's client
// holds this server to the protocol in the tests.
package mcpserver

import (
	"context"
	"io"
	"os"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

// Need is what a call wants the tracker for.
type Need int

// Look changes nothing and works on a store that cannot be written. Act changes a
// job. Begin may be the first act of all, and makes the store.
const (
	Look Need = iota
	Act
	Begin
)

// Server is what one agent's calls are answered with.
type Server struct {
	Open    func(context.Context, Need) (t *tracker.Tracker, done func() error, err error)
	Dir     string              // the folder the agent works in
	Getenv  func(string) string // of the process that the agent started
	Version string
	Log     io.Writer // what a client should have known better, one line each
}

// folder is where the agent works: what its environment says, where that is there.
func (s *Server) folder() string {
	if dir := s.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return s.Dir
}

// instructions enter the agent's prompt in every session, so they are short: when to
// call which.
const instructions = `Duplex keeps long work one job across contexts, sessions and agents. What the next session needs is handed over by itself; you record what only you know, when it happens:
- decide: a question is settled that later sessions must not open again. raise: something must not be forgotten; with next, it is what to do next. settle: it is done. dead_end: an approach failed.
- safe_point: before a risky change. hand_over: before you stop in the middle.
- standing: who holds the job, its checks, what is open. brief: what a session starts from, or one section of it whole. recall: search what earlier sessions decided, did and said.
- claim_finished: the goal is reached. The job's checks then run outside of you, and decide.
- start: the person wants work carried on and there is no job here. take: to work on the job of another folder or session by its name.
Amending goal or checks, answering, accepting, abandoning, removing a job, taking it from a live session: only the person does that, in a terminal. Ask, do not try.`
