package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ID returns the workspace's random id, making it the first time. It is in
// the git dir, so it moves with the folder; that of a plain folder is in the
// state folder, by path. Two processes that ask first at once get the same.
func (w *Workspace) ID() (string, error) {
	path := w.private("id")
	if id, err := readID(path); err == nil {
		return id, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("workspace id: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("workspace id: %w", err)
	}
	// Written elsewhere and linked into place: the file is never seen half
	// written, and the link of the second creator fails.
	draft, err := os.CreateTemp(filepath.Dir(path), "id-*") // 0600
	if err != nil {
		return "", fmt.Errorf("workspace id: %w", err)
	}
	defer os.Remove(draft.Name())
	_, err = draft.WriteString(strings.ToLower(rand.Text()) + "\n")
	if err = errors.Join(err, draft.Close()); err != nil {
		return "", fmt.Errorf("workspace id: %w", err)
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without hard links: the last of two creators wins,
		// and both read what is there afterwards.
		if err := os.Rename(draft.Name(), path); err != nil {
			return "", fmt.Errorf("workspace id: %w", err)
		}
	}
	id, err := readID(path)
	if err != nil {
		return "", fmt.Errorf("workspace id: %w", err)
	}
	return id, nil
}

func readID(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if id == "" || strings.ContainsAny(id, " \n/\\") {
		return "", fmt.Errorf("%s does not hold an id; remove it to get a new one", path)
	}
	return id, nil
}
