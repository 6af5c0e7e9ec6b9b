package workspace

import (
	"encoding/json"
	"fmt"
	"os"
)

// state is what the last turn found, so that the next one need not do again
// what did not change. It is a cache: without it everything still works.
type state struct {
	Index     string // stamp of the private index
	UserIndex string // stamp of the user's
	IndexTree string // and its tree
	Ignored   string // stamp of the ignored files that were captured
	Point     SafePoint
	Cover     json.RawMessage // the manifest, without objects
	cover     *manifest
}

// readState reads it, nil when there is none or it cannot be read.
func (w *Workspace) readState() *state {
	data, err := os.ReadFile(w.private("state.json"))
	if err != nil {
		return nil
	}
	var s state
	if json.Unmarshal(data, &s) != nil || s.Point.Ref == "" {
		return nil
	}
	if s.cover, err = decodeManifest(s.Cover); err != nil {
		return nil
	}
	return &s
}

func (w *Workspace) writeState(s *state) (err error) {
	if s.Cover, err = s.cover.encode(); err != nil {
		return fmt.Errorf("write state of safe points: %w", err)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write state of safe points: %w", err)
	}
	return settle(w.private("state.json"), data)
}
