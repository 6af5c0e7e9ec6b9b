package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A disk may be so full that not even the spool has room. That lines were lost is
// counted in a file that has its room beforehand.

const (
	lostFile  = "lost"
	lostWidth = 20 // digits
)

// Reserve makes room for the count of lost lines.
func Reserve(dir string) error {
	path := filepath.Join(dir, lostFile)
	if info, err := os.Stat(path); err == nil && info.Size() == lostWidth {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("reserve room in the spool: %w", err)
	}
	return setLost(path, os.O_CREATE, 0)
}

// Lose counts a line that could not be appended. Two at the same moment may count as
// one. The error says that there was no room for the count.
func Lose(dir string) error {
	n, err := lost(dir)
	if err != nil {
		return err
	}
	return setLost(filepath.Join(dir, lostFile), 0, n+1)
}

// Lost is how many lines were lost since the last Found.
func Lost(dir string) int64 {
	n, _ := lost(dir) // a count that cannot be read says nothing
	return n
}

// Found takes back what Lost has told.
func Found(dir string, told int64) error {
	n, err := lost(dir)
	if err != nil {
		return err
	}
	return setLost(filepath.Join(dir, lostFile), 0, max(n-told, 0))
}

func lost(dir string) (int64, error) {
	f, err := os.Open(filepath.Join(dir, lostFile))
	if err != nil {
		return 0, fmt.Errorf("read how much was lost: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, lostWidth))
	if err != nil {
		return 0, fmt.Errorf("read how much was lost: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("read how much was lost: %q is no count", b)
	}
	return n, nil
}

// setLost writes in place, over bytes that are there: it needs no new room.
func setLost(path string, create int, n int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|create, 0o600)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%*d", lostWidth, n), 0)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("count what was lost: %w", err)
	}
	return nil
}
