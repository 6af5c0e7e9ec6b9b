//go:build unix

package live_test

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// compacts tells the request by which the agent has its own context summarised.
func compacts(r play.Request) bool {
	return strings.Contains(r.Last("user"), "CRITICAL: Respond with TEXT ONLY")
}

// summarises answers such requests.
func summarises(summary string) play.Rule {
	return play.Rule{When: compacts, Turn: play.Turn{Text: "<summary>" + summary + "</summary>", Usage: play.Usage{In: 9000, Out: 50}}}
}
