package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// versions of the protocol that are spoken, the newest first. A client that asks for
// another gets the newest, and leaves if it cannot speak that. The probe of the
// version after these, server/discover, is a method that is not there.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Limits of a connection.
const (
	maxCalls = 64               // calls under way at once
	afterEnd = 30 * time.Second // what is under way when the client has gone gets this long
)

// connection is one client.
type connection struct {
	*Server
	tools []tool

	writing sync.Mutex
	out     io.Writer
	gone    context.CancelFunc // nothing can be written any more

	known   sync.Mutex
	calls   map[string]context.CancelFunc // by id
	lastAct <-chan struct{}               // closed when the newest act has ended
	ending  sync.WaitGroup
}

// Serve answers until the client closes in, or ctx ends. The error is nil in both
// cases: who started the server also ends it.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{Server: s, tools: offered(), out: out, gone: cancel, calls: map[string]context.CancelFunc{}}
	defer c.ending.Wait()
	lines := make(chan line)
	go readLines(ctx, in, lines)
	for {
		select {
		case <-ctx.Done():
			return nil
		case l, more := <-lines:
			if !more {
				c.finish()
				return nil
			}
			c.take(ctx, l)
		}
	}
}

// finish lets what is under way end, for a while.
func (c *connection) finish() {
	ended := make(chan struct{})
	go func() { c.ending.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(afterEnd):
		c.gone()
	}
}

// take answers one line.
func (c *connection) take(ctx context.Context, l line) {
	if l.err != nil {
		c.refuse(nil, &fault{notJSON, l.err.Error()})
		return
	}
	m, f := decode(l.bytes)
	switch {
	case f != nil:
		c.refuse(m.ID, f)
	case m.Method == nil: // an answer, to a question that was never asked
	case m.ID == nil:
		c.notice(*m.Method, m.Params)
	default:
		c.request(ctx, m)
	}
}

// notice takes in a notification.
func (c *connection) notice(method string, params json.RawMessage) {
	if method != "notifications/cancelled" {
		return
	}
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.known.Lock()
	defer c.known.Unlock()
	if cancel := c.calls[string(p.ID)]; cancel != nil {
		cancel()
	}
}

func (c *connection) request(ctx context.Context, m incoming) {
	switch *m.Method {
	case "initialize":
		c.answer(m.ID, c.greeting(m.Params))
	case "ping":
		c.answer(m.ID, struct{}{})
	case "tools/list":
		c.answer(m.ID, map[string]any{"tools": c.tools})
	case "tools/call":
		if f := c.call(ctx, m); f != nil {
			c.refuse(m.ID, f)
		}
	default:
		c.refuse(m.ID, &fault{unknownMethod, fmt.Sprintf("there is no method %q here; tools are listed by tools/list and called by tools/call", job.Clip(*m.Method, 100))})
	}
}

// greeting answers initialize.
func (c *connection) greeting(params json.RawMessage) any {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p) // what cannot be read was not said
	if !slices.Contains(versions, p.Version) {
		p.Version = versions[0]
	}
	return map[string]any{
		"protocolVersion": p.Version,
		"capabilities":    map[string]any{"tools": struct{}{}},
		"serverInfo":      map[string]string{"name": "duplex", "title": "Duplex", "version": c.Version},
		"instructions":    instructions,
	}
}

// call begins a call of a tool. Acts go one after the other, in the order they came
// in: what is decided first stands first in the ledger.
func (c *connection) call(ctx context.Context, m incoming) *fault {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Progress json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil || p.Name == "" {
		return &fault{wrongParams, `tools/call takes {"name": TOOL, "arguments": {…}}`}
	}
	i := slices.IndexFunc(c.tools, func(t tool) bool { return t.Name == p.Name })
	if i < 0 {
		if why := personActs[p.Name]; why != "" {
			c.answer(m.ID, c.refused(fmt.Errorf("%s is not offered to agents: %s", p.Name, why)))
			return nil
		}
		return &fault{wrongParams, fmt.Sprintf("there is no tool %q; tools/list lists them", job.Clip(p.Name, 100))}
	}
	ctx, cancel := context.WithCancel(ctx)
	before, ended, f := c.begin(string(m.ID), cancel, c.tools[i].need != Look)
	if f != nil {
		cancel()
		return f
	}
	go func() {
		defer c.end(string(m.ID), cancel, ended)
		if before != nil {
			<-before
		}
		result := c.perform(ctx, &c.tools[i], p.Arguments, c.progress(p.Meta.Progress))
		if ctx.Err() == nil { // else nobody waits for it
			c.answer(m.ID, result)
		}
	}()
	return nil
}

// begin notes a call that is under way; an act waits for before, and closes ended.
func (c *connection) begin(id string, cancel context.CancelFunc, act bool) (before <-chan struct{}, ended chan struct{}, f *fault) {
	c.known.Lock()
	defer c.known.Unlock()
	switch {
	case c.calls[id] != nil:
		return nil, nil, &fault{notARequest, "a call with this id is under way"}
	case len(c.calls) >= maxCalls:
		return nil, nil, &fault{tooBusy, fmt.Sprintf("%d calls are under way; wait for one to end", maxCalls)}
	}
	c.calls[id] = cancel
	c.ending.Add(1)
	ended = make(chan struct{})
	if act {
		before, c.lastAct = c.lastAct, ended
	}
	return before, ended, nil
}

func (c *connection) end(id string, cancel context.CancelFunc, ended chan struct{}) {
	cancel()
	c.known.Lock()
	delete(c.calls, id)
	c.known.Unlock()
	close(ended)
	c.ending.Done()
}

// progress tells the client how far a long call is, where it asked to be told.
func (c *connection) progress(token json.RawMessage) func(redact.Text) {
	if !isID(token) {
		return func(redact.Text) {}
	}
	n := 0
	return func(text redact.Text) {
		n++
		c.write(outgoing{Method: "notifications/progress", Params: map[string]any{"progressToken": token, "progress": n, "message": text}})
	}
}

func (c *connection) answer(id json.RawMessage, result any) {
	c.write(outgoing{ID: id, Result: result})
}

// refuse answers with an error of the protocol; a message whose id cannot be read has
// the id null.
func (c *connection) refuse(id json.RawMessage, f *fault) {
	if id == nil {
		id = json.RawMessage("null")
		fmt.Fprintf(c.Log, "duplex mcp: a line was passed over: %s\n", f.Message)
	}
	c.write(outgoing{ID: id, Error: f})
}

func (c *connection) write(m outgoing) {
	m.Version = "2.0"
	b, err := json.Marshal(m)
	if err != nil { // of our own making
		fmt.Fprintf(c.Log, "duplex mcp: %v\n", err)
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(b, '\n')); err != nil {
		c.gone()
	}
}
