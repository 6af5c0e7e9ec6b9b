package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// maxStops is how often in a row a Stop hook may keep a turn going.
const maxStops = 8

// turn is how one ended.
type turn struct {
	reason string // one of script.End…
	failed bool
	text   string
	resets int64 // Unix seconds
}

// turn takes one prompt to the end of what the model does about it.
func (s *session) turn(ctx context.Context, prompt string) (turn, error) {
	s.prompts++
	s.prompt = fmt.Sprintf("%s-%d", s.id[:min(8, len(s.id))], s.prompts)
	heard := s.fire(ctx, script.HookInput{Event: script.HookPrompt, Prompt: prompt})
	if heard.block != "" {
		return turn{reason: script.EndBlocked, text: heard.block}, nil
	}
	if err := s.addUser(s.thread, prompt, false); err != nil {
		return turn{}, err
	}
	if err := s.inject(s.thread, script.HookPrompt, heard.context); err != nil {
		return turn{}, err
	}
	end, err := s.loop(ctx, s.thread, s.script.For(s.model))
	if err != nil || ctx.Err() != nil {
		return turn{reason: script.EndAborted, failed: true, text: "The session was told to end."}, err
	}
	return end, nil
}

// loop asks the model and runs what it calls, until it calls nothing more.
func (s *session) loop(ctx context.Context, t *thread, sc *script.Script) (turn, error) {
	stops := 0
	for t.turns = 0; ctx.Err() == nil; {
		if script.Tokens(t.context) >= script.Level(s.window) {
			if sc.Compact == "off" || t.agent != "" {
				return s.stopped(ctx, t, script.Line{Error: "prompt_too_long"}, turn{reason: script.EndContextLimit, failed: true, text: "Prompt is too long"})
			}
			if err := s.compact(ctx, "auto"); err != nil {
				return turn{}, err
			}
			if script.Tokens(t.context) >= script.Level(s.window) {
				return s.stopped(ctx, t, script.Line{Error: "prompt_too_long"}, turn{reason: script.EndContextLimit, failed: true, text: "Prompt is too long after it was compacted"})
			}
		}
		if s.o.Steps > 0 && t.turns >= s.o.Steps {
			return turn{reason: script.EndMaxTurns, failed: true, text: fmt.Sprintf("Reached the bound of %d model calls.", s.o.Steps)}, nil
		}
		t.turns++
		reply := script.Next(t.context, sc)
		if reply.Wait != "" {
			wait(ctx, s.abs(reply.Wait))
			if ctx.Err() != nil {
				break
			}
		}
		if reply.Limit != nil {
			return s.limited(ctx, t, reply)
		}
		said, err := s.say(t, reply)
		if err != nil {
			return turn{}, err
		}
		if reply.Crash && len(said.Uses) == 0 {
			s.o.Kill()
		}
		if len(said.Uses) > 0 {
			end, err := s.calls(ctx, t, said, reply.Crash)
			if err != nil || end != nil {
				return value(end), err
			}
			continue
		}
		if t.agent != "" {
			return turn{reason: script.EndCompleted, text: said.Text}, nil
		}
		heard := s.fire(ctx, script.HookInput{Event: script.HookStop, LastMessage: said.Text, StopHookActive: stops > 0})
		if heard.block == "" || stops == maxStops {
			return turn{reason: script.EndCompleted, text: said.Text}, nil
		}
		stops++
		if err := s.addUser(t, heard.block, false); err != nil {
			return turn{}, err
		}
	}
	return turn{reason: script.EndAborted, failed: true}, nil
}

func value(t *turn) turn {
	if t == nil {
		return turn{}
	}
	return *t
}

// calls runs the tool calls of one message. An end is given when the turn is over.
func (s *session) calls(ctx context.Context, t *thread, said script.Message, crash bool) (*turn, error) {
	for i, u := range said.Uses {
		last := i == len(said.Uses)-1
		heard := s.fire(ctx, s.toolInput(t, script.HookBeforeTool, u))
		d := done{text: heard.deny, result: script.Denied}
		if heard.deny == "" {
			d = s.tool(ctx, u, crash && last)
			after := s.toolInput(t, script.HookAfterTool, u)
			after.Millis = d.millis
			if d.result == script.OK {
				after.ToolResponse, _ = json.Marshal(d.response) // strings only: cannot fail
			} else {
				after.Event, after.Error, after.Interrupted = script.HookToolFailed, d.text, d.aborted
			}
			heard.context, heard.stop = s.after(ctx, after, d, heard.stop)
		}
		if err := s.addResult(t, u, d); err != nil {
			return nil, err
		}
		if err := s.inject(t, script.HookAfterTool, heard.context); err != nil {
			return nil, err
		}
		switch {
		case d.asked:
			return &turn{reason: script.EndAsked, text: u.Input.Question}, nil
		case heard.stop:
			return &turn{reason: script.EndHookStopped, text: d.text}, nil
		}
	}
	return nil, nil
}

// after calls the hook for a call that ran. One that was cut off is told too,
// though the program is about to end.
func (s *session) after(ctx context.Context, in script.HookInput, d done, stop bool) (string, bool) {
	if d.aborted {
		ctx = context.Background()
	}
	heard := s.fire(ctx, in)
	return heard.context, stop || heard.stop
}

func (s *session) toolInput(t *thread, event string, u script.Use) script.HookInput {
	in := script.HookInput{Event: event, ToolName: u.Name, ToolUseID: u.ID, ToolInput: &u.Input, AgentID: t.agent}
	if t.agent != "" {
		in.AgentType = "script"
	}
	return in
}

// say adds what the model replied to context and transcript, one line a block,
// and counts what it used.
func (s *session) say(t *thread, reply script.Reply) (script.Message, error) {
	m := script.Message{Role: script.Assistant, Text: reply.Text, Uses: reply.Uses, Extra: reply.Extra}
	for i := range m.Uses {
		m.Uses[i].ID = s.nextID("call_")
	}
	u := t.usage(m)
	s.spend(t, u)
	t.context = append(t.context, m)
	var blocks []script.Block
	if m.Text != "" {
		blocks = append(blocks, script.Block{Type: "text", Text: m.Text})
	}
	for _, use := range m.Uses {
		blocks = append(blocks, script.Block{Type: "tool_use", ID: use.ID, Name: use.Name, Input: &use.Input})
	}
	id := s.nextID("msg_")
	for i, b := range blocks {
		l := s.line(t, script.LineAssistant)
		l.Extra = reply.Extra
		growing := u
		growing.Output = 1
		l.Message = &script.Content{ID: id, Role: script.Assistant, Model: s.model, Content: []script.Block{b}, Usage: &growing}
		if err := s.printMessage(t, l); err != nil {
			return m, err
		}
		if i == len(blocks)-1 {
			growing.Output = u.Output
			l.Message.StopReason = "end_turn"
			if len(m.Uses) > 0 {
				l.Message.StopReason = "tool_use"
			}
		}
		if err := t.file.add(l); err != nil {
			return m, err
		}
	}
	return m, nil
}

// usage of the call that gave a message: what the provider saw before comes
// from its cache, the newest message is read anew, the rest goes into the cache.
func (t *thread) usage(m script.Message) script.Usage {
	total := script.Tokens(t.context)
	u := script.Usage{CacheRead: min(t.cached, total), Output: max(1, m.Tokens())}
	fresh := total - u.CacheRead
	u.Input = min(fresh, t.context[len(t.context)-1].Tokens())
	u.CacheWrite = fresh - u.Input
	t.cached = u.CacheRead + u.CacheWrite
	return u
}

// limited: the provider refuses until a time, which it may or may not tell.
func (s *session) limited(ctx context.Context, t *thread, reply script.Reply) (turn, error) {
	at := reply.Limit.At
	if reply.Limit.In > 0 {
		at = s.o.Now().Add(reply.Limit.In)
	}
	end := turn{reason: script.EndRateLimit, failed: true, text: "Request rejected (429): this would exceed the rate limit. Try again later."}
	if !at.IsZero() {
		end.resets = at.Unix()
		end.text = "You've hit your limit · resets " + at.UTC().Format(time.RFC3339)
	}
	return s.stopped(ctx, t, script.Line{Error: "rate_limit", Resets: end.resets, Extra: reply.Extra}, end)
}

// stopped writes the line of an error that no model said, and tells the hook.
func (s *session) stopped(ctx context.Context, t *thread, with script.Line, end turn) (turn, error) {
	l := s.line(t, script.LineAssistant)
	l.Error, l.Resets, l.Extra = with.Error, with.Resets, with.Extra
	l.Message = &script.Content{ID: s.nextID("err_"), Role: script.Assistant, Model: "<synthetic>",
		Content: []script.Block{{Type: "text", Text: end.text}}}
	if err := t.file.add(l); err != nil {
		return turn{}, err
	}
	t.context = append(t.context, script.Message{Role: script.Assistant, Text: end.text, Extra: with.Extra})
	if err := s.printMessage(t, l); err != nil {
		return turn{}, err
	}
	if t.agent == "" {
		s.fire(ctx, script.HookInput{Event: script.HookStopFailure, Error: with.Error, LastMessage: end.text})
	}
	return end, nil
}

// compact makes the context small: a summary in its place, and what the hook
// adds after it. Its own call of the model stands in no line, only in the totals.
func (s *session) compact(ctx context.Context, trigger string) error {
	heard := s.fire(ctx, script.HookInput{Event: script.HookBeforeCompact, Trigger: trigger})
	if heard.block != "" {
		return nil
	}
	before := script.Tokens(s.context)
	summary := script.Summary(s.context, heard.plain)
	s.spend(nil, script.Usage{Input: before - min(s.cached, before), CacheRead: min(s.cached, before), Output: (int64(len(summary)) + 3) / 4})
	s.context, s.cached = []script.Message{s.self()}, 0
	l := s.line(s.thread, script.LineBoundary)
	l.Compact = &script.Boundary{Trigger: trigger, Before: before, After: (int64(len(summary)) + 3) / 4}
	if err := s.main.add(l); err != nil {
		return err
	}
	if err := s.addUser(s.thread, summary, true); err != nil {
		return err
	}
	if err := s.print(script.StreamLine{Type: script.StreamSystem, Subtype: script.LineBoundary}); err != nil {
		return err
	}
	if err := s.started(ctx, "compact", ""); err != nil {
		return err
	}
	s.fire(ctx, script.HookInput{Event: script.HookAfterCompact, Trigger: trigger, Summary: summary})
	return nil
}

func (s *session) addUser(t *thread, text string, summary bool) error {
	t.context = append(t.context, script.Message{Role: script.User, Text: text})
	l := s.line(t, script.LineUser)
	l.Summary = summary
	l.Message = &script.Content{Role: script.User, Content: []script.Block{{Type: "text", Text: text}}}
	return t.file.add(l)
}

func (s *session) addResult(t *thread, u script.Use, d done) error {
	t.context = append(t.context, script.Message{Role: script.Tool, Text: d.text, Of: u.ID, Result: d.result})
	l := s.line(t, script.LineUser)
	l.Result, l.Millis = d.result, d.millis
	l.Message = &script.Content{Role: script.User, Content: []script.Block{
		{Type: "tool_result", Of: u.ID, Content: d.text, Failed: d.result != script.OK}}}
	if err := s.printMessage(t, l); err != nil {
		return err
	}
	return t.file.add(l)
}
