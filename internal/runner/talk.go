package runner

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// talk is our side of a conversation with an agent: its standard input.
type talk struct {
	agent agent.Talker
	mu    sync.Mutex
	in    *os.File // nil: hung up
	timer *time.Timer
	over  bool
}

// newTalk gives the conversation and the end of the pipe that is the agent's. What
// is said waits in the pipe, so that nobody is kept by an agent that does not listen.
func newTalk(t agent.Talker) (*talk, *os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("open a pipe to the agent: %w", err)
	}
	return &talk{agent: t, in: write}, read, nil
}

// say says whole lines. To an agent that has gone nothing can be said, and its end
// tells us.
func (t *talk) say(lines []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != nil {
		_, _ = t.in.Write(lines)
	}
}

// after calls do when the agent has been at rest for a while and is not gone. Neither
// of the two may say anything to it.
func (t *talk) after(wait time.Duration, rests func() bool, do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arm(wait, rests, do)
}

func (t *talk) arm(wait time.Duration, rests func() bool, do func()) {
	if t.over {
		return
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = time.AfterFunc(wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.over:
		case rests():
			do()
		default:
			t.arm(wait, rests, do)
		}
	})
}

// hangUp ends the conversation: the agent ends when it has nothing more to do.
func (t *talk) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != nil {
		_ = t.in.Close()
		t.in = nil
	}
}

// close hangs up on an agent that has gone; nothing is done any more when it returns.
func (t *talk) close() {
	t.hangUp()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// lineWriter hands on whole lines.
type lineWriter struct {
	buf  bytes.Buffer
	each func([]byte)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf.Write(p)
	for {
		i := bytes.IndexByte(w.buf.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		w.each(bytes.TrimSpace(w.buf.Next(i + 1)))
	}
}

func (w *lineWriter) flush() {
	if w.buf.Len() > 0 {
		w.each(bytes.TrimSpace(w.buf.Bytes()))
	}
}
