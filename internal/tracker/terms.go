package tracker

import (
	"context"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
)

// terms are what was agreed about a job, whole: the standing shows them clipped.
type terms struct {
	setup   string
	protect []string
	keep    *job.KeepTests
}

// termsOf reads them from the entries that set them.
func (t *Tracker) termsOf(ctx context.Context, id job.ID) (terms, error) {
	var out terms
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(id, []job.Kind{job.KindOpened, job.KindAmended}, false, 0)
		for _, e := range entries {
			switch p := e.Payload.(type) {
			case *job.Opened:
				out = terms{p.Setup, p.Protect, p.KeepTests}
			case *job.Amended:
				if p.Setup != nil {
					out.setup = *p.Setup
				}
				if p.Protect != nil {
					out.protect = *p.Protect
				}
				if p.KeepTests != nil {
					out.keep = p.KeepTests
				}
			}
		}
		return err
	})
	return out, err
}
