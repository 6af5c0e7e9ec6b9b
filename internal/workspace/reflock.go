package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/git"
)

// abandoned is the age from which a lock on one of our refs has no writer any more.
// git holds one for milliseconds. We hold the workspace's lock, which every git that
// we start here shares; the rest is for other work trees and the user's git gc.
const abandoned = time.Minute

// updateRefs has git change refs, all or none. A git that was killed leaves its lock
// beside the ref and would be in the way for ever: one of ours that is abandoned is
// removed, any other is named, with what to do.
func (t *turn) updateRefs(ctx context.Context, commands string) error {
	for {
		_, err := t.user.Feed(ctx, strings.NewReader(commands), "update-ref", "--stdin")
		path := lockInTheWay(err)
		if path == "" {
			return err
		}
		info, look := os.Stat(path)
		if errors.Is(look, fs.ErrNotExist) {
			return err // its writer has ended; who asks again gets through
		}
		if look != nil {
			return errors.Join(err, look)
		}
		switch ours := inside(path, filepath.Join(t.w.CommonDir, "refs", "duplex")); {
		case !ours:
			return fmt.Errorf("%w: %s is there, of a git that works in this repository or was ended: when none does, remove that file, then try again", ErrBusy, path)
		case t.began.Sub(info.ModTime()) < abandoned:
			return fmt.Errorf("%w: %s is there, of a git that still works or was just ended: try again in a minute", ErrBusy, path)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the lock of a git that was ended: %w", err)
		}
	}
}

// lockInTheWay is the file that git names when a lock exists already, else "".
func lockInTheWay(err error) string {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return ""
	}
	_, rest, found := strings.Cut(failed.Stderr, "Unable to create '")
	path, _, ends := strings.Cut(rest, "': File exists")
	if !found || !ends || !strings.HasSuffix(path, ".lock") {
		return ""
	}
	return path
}
