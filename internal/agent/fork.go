package agent

// Forker is an adapter whose agent says on its command line alone from which session
// a fork comes, at the moment when the fork starts.
type Forker interface {
	// ForkedFrom is the agent's id of that session; empty when the line does not say.
	ForkedFrom(args []string) string
}
