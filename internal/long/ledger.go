package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// fill makes a store with one job of so many entries, as a long session leaves
// them, and so many sessions that belong to no job. The job is of the bench's
// repository, so that a command run there finds it.
func (b *bench) fill(ctx context.Context, name string, entries, sessions int) (home string, err error) {
	home = b.home(name)
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	s, err := store.Open(ctx, home, store.Options{Create: true})
	if err != nil {
		return home, err
	}
	defer s.Close()
	w, err := workspace.Find(b.repo, home)
	if err != nil {
		return home, err
	}
	ws, err := w.ID()
	if err != nil {
		return home, err
	}
	r := redact.New(s.MarkerKey(), nil)
	id, session := newID(), newID()
	clock := job.At(time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC))
	n := 0
	add := func(tx *store.Tx, p job.Payload) error {
		clock += 1_000_000
		sealed, err := r.JSON(p)
		if err != nil {
			return err
		}
		key := job.RecordKey("claude", "filled", p.Kind(), fmt.Sprint(n))
		if spent, ok := p.(*job.Spent); ok {
			key = job.SpentKey("claude", spent.Message, spent.Tokens)
		}
		_, err = tx.Append(job.Envelope{Job: id, Key: key, ID: job.NewEntryID(clock, random()), Kind: p.Kind(), V: 1, RecordedAt: clock, HappenedAt: clock, TimeSource: job.FromHook,
			Session: session, Author: job.Author{Kind: job.Command}, Token: 1}, sealed)
		n++
		return err
	}
	err = s.Write(ctx, false, func(tx *store.Tx) error {
		short, err := tx.TakeShort(id)
		if err != nil {
			return err
		}
		if err := add(tx, &job.Opened{Short: short, Goal: "Move every file of a large repository", Workspace: job.Workspace{ID: job.ID(ws), Path: b.repo, Git: true}}); err != nil {
			return err
		}
		return add(tx, &job.SessionStarted{Agent: "claude", AgentSession: "filled", Number: 1, Model: "claude-opus-4-5"})
	})
	for err == nil && n < entries {
		err = s.Write(ctx, false, func(tx *store.Tx) error {
			for range min(1000, entries-n) {
				if err := add(tx, entryAt(n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for from := 0; err == nil && from < sessions; from += 500 {
		err = s.Write(ctx, false, func(tx *store.Tx) error {
			for i := from; i < min(from+500, sessions); i++ {
				row := store.Session{ID: newID(), Agent: "claude", AgentSession: fmt.Sprintf("other-%d", i), Transcript: fmt.Sprintf("/home/me/.claude/projects/p/%d.jsonl", i)}
				sealed, err := r.JSON(row)
				if err != nil {
					return err
				}
				if err := tx.SaveSession(row.Agent, row.AgentSession, sealed); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return home, err
}

// entryAt is what a long ledger holds at a place: mostly steps, reads and spend,
// now and then something that is kept for good.
func entryAt(n int) job.Payload {
	price := int64(12_345_678)
	action := int64(n)
	file := func(i int) string { return fmt.Sprintf("src/part%02d/file%03d.go", i%40, i%300) }
	switch {
	case n%500 == 0:
		return &job.Decided{Text: fmt.Sprintf("keep helper %d as it is", n), Why: "others use it"}
	case n%333 == 0:
		return &job.Raised{Text: fmt.Sprintf("look at file %d again", n)}
	case n%4 == 0:
		return &job.Spent{Message: fmt.Sprint("msg_", n), Model: "claude-opus-4-5", Tokens: job.Tokens{Input: 10, CacheRead: 90_000, Output: 300}, Pico: &price, Context: 90_000}
	case n%4 == 1:
		return &job.Touched{Tool: "Read", Title: "read " + file(n), Action: action, Paths: []job.Touch{{Name: file(n), Role: job.RoleRead}}}
	case n%4 == 2:
		return &job.Step{Class: job.ClassEdit, Title: "edited " + file(n), Result: job.OK, Action: action, Paths: []job.Touch{{Name: file(n), Role: job.RoleEdit}},
			Symbols: []job.Touch{{Name: fmt.Sprintf("handlePart%d", n%200), Role: job.RoleEdit, In: file(n)}}, Added: 4, Removed: 2}
	}
	return &job.Step{Class: job.ClassTest, Title: "go test ./src/...", Command: "go test ./src/...", Result: job.OK, Action: action,
		Tests: &job.TestCounts{Passed: 12}, Receipt: job.Receipt{Text: strings.Repeat("ok  \texample.test/src\t0.01s\n", 10)}}
}

func newID() job.ID { return job.NewID(random()) }

func random() [16]byte {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return b
}

// call is one hook call of Claude Code with 16 KB of output, and a transcript whose
// tail grows by 64 KB before each.
type call struct {
	b          *bench
	home       string
	transcript string
	n          int
}

func (b *bench) calls(home string) (*call, error) {
	c := &call{b: b, home: home, transcript: filepath.Join(home, "transcript.jsonl")}
	return c, os.WriteFile(c.transcript, nil, 0o600)
}

// grow adds 64 KB of transcript: four messages with their tool results.
func (c *call) grow() error {
	f, err := os.OpenFile(c.transcript, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	row := func(v any) {
		b, _ := json.Marshal(v)
		_, _ = f.Write(append(b, '\n'))
	}
	type object = map[string]any
	for i := range 4 {
		id := fmt.Sprintf("%06d%02d", c.n, i)
		common := object{"sessionId": "11111111-2222-4333-8444-555555555501", "cwd": c.b.repo, "version": "2.1.332", "timestamp": "2026-11-30T10:00:00.000Z"}
		with := func(more object) object {
			for k, v := range common {
				more[k] = v
			}
			return more
		}
		usage := object{"input_tokens": 12, "cache_read_input_tokens": 61_000, "cache_creation_input_tokens": 900, "output_tokens": 240 + i}
		row(with(object{"type": "assistant", "uuid": "u-" + id, "message": object{"id": "msg_" + id, "model": "claude-opus-4-5", "role": "assistant", "usage": usage,
			"content": []object{{"type": "text", "text": strings.Repeat("Now the next part of the parser. ", 12)}}}}))
		row(with(object{"type": "assistant", "uuid": "v-" + id, "message": object{"id": "msg_" + id, "model": "claude-opus-4-5", "role": "assistant", "usage": usage,
			"content": []object{{"type": "tool_use", "id": "toolu_tail_" + id, "name": "Read", "input": object{"file_path": c.b.repo + "/a.go"}}}}}))
		row(with(object{"type": "user", "uuid": "w-" + id, "message": object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "toolu_tail_" + id,
			"content": text(14 << 10)}}}}))
	}
	return nil
}

func text(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%4d\tfunc (p *parser) part%d(in []byte) (int, error) { return p.next(in, %d) } // see docs/part.md\n", i, i, i*7)
	}
	return b.String()[:n]
}

// event is one hook event as JSON.
func (c *call) event(name string, more map[string]any) []byte {
	e := map[string]any{"session_id": "11111111-2222-4333-8444-555555555501", "transcript_path": c.transcript, "cwd": c.b.repo, "hook_event_name": name}
	for k, v := range more {
		e[k] = v
	}
	b, _ := json.Marshal(e)
	return b
}

func (c *call) start(ctx context.Context) error {
	_, err := c.b.run(ctx, c.home, c.event("SessionStart", map[string]any{"source": "startup"}), c.b.duplex, "hook", "claude")
	return err
}

// step is the hook after a command.
func (c *call) step(ctx context.Context) (cost, error) {
	c.n++
	if err := c.grow(); err != nil {
		return cost{}, err
	}
	return c.b.run(ctx, c.home, c.event("PostToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprintf("toolu_%016d", c.n), "duration_ms": 41,
		"tool_input": map[string]any{"command": "go test ./..."}, "tool_response": map[string]any{"stdout": fmt.Sprintf("run %d\n", c.n) + text(16<<10), "stderr": "", "interrupted": false}}),
		c.b.duplex, "hook", "claude")
}
