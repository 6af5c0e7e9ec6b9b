package process

import (
	"sync"
	"unicode/utf8"
)

// tail keeps the last bytes written to it. Two streams may write at once.
type tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte // at most twice the limit, so that moving is rare
	lost  int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-t.limit):]...)
	t.lost += int64(max(0, len(p)-t.limit))
	if len(t.buf) > 2*t.limit {
		t.drop(len(t.buf) - t.limit)
	}
	return len(p), nil
}

func (t *tail) drop(n int) {
	t.lost += int64(n)
	t.buf = t.buf[:copy(t.buf, t.buf[n:])]
}

// text returns what was kept, and how many bytes before it were not. It never
// begins in the middle of a character.
func (t *tail) text() (string, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(max(0, len(t.buf)-t.limit))
	for n := 0; t.lost > 0 && n < utf8.UTFMax && len(t.buf) > 0 && !utf8.RuneStart(t.buf[0]); n++ {
		t.drop(1)
	}
	return string(t.buf), t.lost
}
