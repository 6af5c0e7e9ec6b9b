package play

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
)

// Anthropic Messages: what a turn is on that wire, whole or as a stream of events.

// sse is one event of a stream.
type sse struct {
	Name string
	Data any
}

type object = map[string]any

// anthropic is a turn as a message, and as the events that tell it piece by piece.
// The stream is told at its beginning that one token came out, as the real one is.
func anthropic(t Turn, model string) (message object, events []sse) {
	if model == "" {
		model = "fake"
	}
	used := t.Usage.anthropic()
	begin := object{"id": newID("msg_"), "type": "message", "role": "assistant", "model": model, "content": []object{},
		"stop_reason": nil, "stop_sequence": nil, "usage": used(1)}
	events = append(events, sse{"message_start", object{"type": "message_start", "message": begin}})

	blocks := []object{}
	add := func(empty, whole object, deltas ...object) {
		i := len(blocks)
		blocks = append(blocks, whole)
		events = append(events, sse{"content_block_start", object{"type": "content_block_start", "index": i, "content_block": empty}})
		for _, d := range deltas {
			events = append(events, sse{"content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d}})
		}
		events = append(events, sse{"content_block_stop", object{"type": "content_block_stop", "index": i}})
	}
	const signature = "c2ln"
	if t.Thinking != "" {
		add(object{"type": "thinking", "thinking": "", "signature": ""},
			object{"type": "thinking", "thinking": t.Thinking, "signature": signature},
			object{"type": "thinking_delta", "thinking": t.Thinking}, object{"type": "signature_delta", "signature": signature})
	}
	if t.Text != "" {
		add(object{"type": "text", "text": ""}, object{"type": "text", "text": t.Text}, object{"type": "text_delta", "text": t.Text})
	}
	for _, tool := range t.Tools {
		id, input := newID("toolu_"), tool.Input
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		add(object{"type": "tool_use", "id": id, "name": tool.Name, "input": object{}},
			object{"type": "tool_use", "id": id, "name": tool.Name, "input": input},
			object{"type": "input_json_delta", "partial_json": compact(input)})
	}

	stop := t.Stop
	switch {
	case stop != "":
	case len(t.Tools) > 0:
		stop = "tool_use"
	default:
		stop = "end_turn"
	}
	end := used(t.Usage.out())
	events = append(events,
		sse{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": end}},
		sse{"message_stop", object{"type": "message_stop"}})
	message = object{"id": begin["id"], "type": "message", "role": "assistant", "model": model, "content": blocks,
		"stop_reason": stop, "stop_sequence": nil, "usage": end}
	return message, events
}

// anthropic gives the usage on the wire, once it is known how much came out.
func (u Usage) anthropic() func(out int) object {
	in := u.In
	if u == (Usage{}) {
		in = 10
	}
	return func(out int) object {
		used := object{"input_tokens": in, "cache_creation_input_tokens": u.CacheWrite + u.CacheHour,
			"cache_read_input_tokens": u.CacheRead, "output_tokens": out, "service_tier": "standard"}
		if u.CacheHour > 0 {
			used["cache_creation"] = object{"ephemeral_5m_input_tokens": u.CacheWrite, "ephemeral_1h_input_tokens": u.CacheHour}
		}
		return used
	}
}

func (u Usage) out() int {
	if u == (Usage{}) {
		return 5
	}
	return u.Out
}

// plainError is the body of an HTTP error that the script gives none for.
func plainError(kind, message string) object {
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}

func compact(b json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return string(b) // the script means to send what is no JSON
	}
	return out.String()
}

func newID(prefix string) string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails, or ends the program
	return prefix + hex.EncodeToString(b[:])
}
