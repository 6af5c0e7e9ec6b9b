package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// transcript is a file that grows by whole lines.
type transcript struct {
	path string
	file *os.File
}

// errUsed: a session of this id is there already.
var errUsed = errors.New("the session id is already in use: give another, or go on with it by --resume")

func (o *Options) path(session string) string {
	return filepath.Join(o.Home, "sessions", session+".jsonl")
}

// create begins a transcript; no other may be there.
func create(path string) (*transcript, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make folder for transcript: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, errUsed
	}
	if err != nil {
		return nil, fmt.Errorf("create transcript: %w", err)
	}
	return &transcript{path, f}, nil
}

// reopen reads a transcript and goes on behind its last line. A line that a
// crash tore is left behind, ended so that the next one stands alone.
func reopen(path string) (*transcript, []script.Line, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("no session in %s: see the folder for the ids there are", path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read transcript: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", err)
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		if _, err := f.WriteString("\n"); err != nil {
			_ = f.Close()
			return nil, nil, fmt.Errorf("write transcript: %w", err)
		}
	}
	return &transcript{path, f}, parse(data), nil
}

func parse(data []byte) []script.Line {
	var lines []script.Line
	for raw := range bytes.Lines(data) {
		if l, err := script.ParseLine(raw); err == nil {
			lines = append(lines, l)
		}
	}
	return lines
}

// add writes one line by one call, so that lines of two processes never mix.
func (t *transcript) add(l script.Line) error {
	if _, err := t.file.Write(l.Encode()); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

func (t *transcript) close() { _ = t.file.Close() }
