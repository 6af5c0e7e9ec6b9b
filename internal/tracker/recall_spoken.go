package tracker

import (
	"context"

	"github.com/seed-5777983b/duplex/internal/query"
	"github.com/seed-5777983b/duplex/internal/store"
)

// recallTranscripts reads the transcripts of the jobs' sessions where they are.
func (t *Tracker) recallTranscripts(ctx context.Context, r RecallRequest, q query.Query, jobs []store.JobRow, out *Recalled) error {
	return nil
}
