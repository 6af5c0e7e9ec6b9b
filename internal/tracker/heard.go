package tracker

import (
	"context"
	"errors"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// Heard is what hooks have told of one session of an agent.
type Heard struct {
	Last job.Time // of the last hook; zero: none ever came
	Off  bool     // a person wants the session left alone
}

// Heard asks for sessions by the agent's own ids. Those that are not in the answer are
// not known at all.
func (t *Tracker) Heard(ctx context.Context, agent string, sessions []string) (map[string]Heard, error) {
	known := map[string]Heard{}
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		for _, id := range sessions {
			row, err := tx.Session(agent, id)
			if errors.Is(err, job.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			known[id] = Heard{Last: row.LastHook, Off: row.Off}
		}
		return nil
	})
	return known, err
}
