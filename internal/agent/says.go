package agent

import "github.com/seed-5777983b/duplex/internal/job"

// Says is a text that stands in one line of a transcript, and whose it is: a
// person's, the agent's, or what a call gave back. Unlike a Row it is read without
// the lines before it.
type Says struct {
	By   job.AuthorKind
	Text string
	At   job.Time // zero when the line has none
}
