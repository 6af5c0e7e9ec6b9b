package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
)

// JSON-RPC 2.0 as MCP has it on standard input and output: one message a line.

// maxLine is the longest line that is read, in bytes; the longest text that a tool
// takes is a few thousand.
const maxLine = 1 << 20

// errLong stands for a line that was passed over.
var errLong = errors.New("the message is longer than 1 MiB")

// incoming is a request, when it has an id, or a notification.
type incoming struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// outgoing is an answer, or a notification when it has a method.
type outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
}

// fault is an error of the protocol. What a tool cannot do is no fault but its result.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Codes of JSON-RPC.
const (
	notJSON       = -32700
	notARequest   = -32600
	unknownMethod = -32601
	wrongParams   = -32602
	tooBusy       = -32000
)

// decode reads one line. The id is given also for a request that is wrong in itself,
// so that its sender hears of it.
func decode(line []byte) (in incoming, f *fault) {
	if err := json.Unmarshal(line, &in); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) { // JSON, and no message
			if !isID(in.ID) {
				in.ID = nil
			}
			return in, &fault{notARequest, "no JSON-RPC request: one object a line, with jsonrpc, method and, for an answer, id"}
		}
		return incoming{}, &fault{notJSON, "no JSON: one message a line"}
	}
	switch {
	case in.ID != nil && !isID(in.ID):
		in.ID = nil
		return in, &fault{notARequest, "an id is a text or a number"}
	case in.Version != "2.0":
		return in, &fault{notARequest, `jsonrpc is not "2.0"`}
	}
	return in, nil
}

func isID(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// line is one line as it was read.
type line struct {
	bytes []byte
	err   error // errLong
}

// readLines gives every line of r that is not blank, and closes the channel at its
// end. It stops when ctx ends, at the latest with the next line.
func readLines(ctx context.Context, r io.Reader, into chan<- line) {
	defer close(into)
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		l, err := readLine(b)
		if l.err != nil || len(bytes.TrimSpace(l.bytes)) > 0 {
			select {
			case into <- l:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads to the end of a line, and of one that is too long keeps nothing.
func readLine(b *bufio.Reader) (l line, err error) {
	for {
		part, err := b.ReadSlice('\n')
		if l.err == nil && len(l.bytes)+len(part) > maxLine {
			l = line{err: errLong}
		}
		if l.err == nil {
			l.bytes = append(l.bytes, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}
