package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// ErrBusy says that another process works on the safe points of this
// workspace and did not end within the wait.
var ErrBusy = errors.New("the safe points of this workspace are in use")

// lockWait is how long a second process waits for the first: longer than a
// safe point takes, shorter than a person does.
const lockWait = 10 * time.Second

// errHeld is what tryLock returns when somebody else has the lock.
var errHeld = errors.New("lock is held")

// lock takes the workspace's lock. It is the kernel's, on an open file, so a
// killed process leaves none behind; the git processes we start inherit the
// file, so the lock lasts until the last of them has ended too.
func (w *Workspace) lock(ctx context.Context, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(w.private("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock workspace: %w", err)
	}
	deadline := time.Now().Add(wait)
	for {
		err := tryLock(f)
		if err == nil {
			break
		}
		if !errors.Is(err, errHeld) {
			f.Close()
			return nil, fmt.Errorf("lock workspace: %w", err)
		}
		if time.Now().After(deadline) {
			holder, _ := io.ReadAll(io.LimitReader(f, 64))
			f.Close()
			return nil, fmt.Errorf("%w by process %s for more than %s: wait for it, or end it, then try again",
				ErrBusy, strings.TrimSpace(string(holder)), wait)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock workspace: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	// The number is for the message above only: failing to write it is no
	// reason to fail.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(fmt.Sprintf("%d\n", os.Getpid())), 0)
	}
	return f, nil
}
