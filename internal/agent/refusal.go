package agent

import (
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Refusal is why a provider refused a turn, in a word that agents have in common.
type Refusal string

// The refusals that a job waits for. Others are the agent's to try again.
const (
	RefusedRate   Refusal = "rate_limit"
	RefusedServer Refusal = "server_error" // it cannot answer now, though the agent tried again
	RefusedCredit Refusal = "billing_error"
)

// RefusalOf reads the refusal that a text begins with; empty when it is none.
func RefusalOf(text string) Refusal {
	for _, r := range []Refusal{RefusedRate, RefusedServer, RefusedCredit} {
		if strings.HasPrefix(text, string(r)) {
			return r
		}
	}
	return ""
}

// Resetter is an adapter whose agent tells people when a limit ends.
type Resetter interface {
	// Resets reads when, from what was said at a time, given in the zone of the agent's
	// machine; 0 when it does not say.
	Resets(text string, said time.Time) job.Time
}
