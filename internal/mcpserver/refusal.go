package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// What is refused, with the reason and what to do instead.

// personActs are the acts of a person, under the names that agents try.
var personActs = map[string]string{
	"accept":   "a person accepts a job by their word. Ask them; in a terminal it is: duplex accept JOB --reason \"…\"",
	"amend":    "goal, checks, what is protected and the budget were agreed with the person, and only the person changes them. Ask them; in a terminal it is: duplex amend JOB",
	"instruct": "only a person's words bind. What you found out is a decision: decide",
	"answer":   "a question to the person is answered by the person. Ask them; in a terminal it is: duplex answer JOB \"…\"",
	"abandon":  "a person ends a job whose goal is not reached. Ask them; in a terminal it is: duplex abandon JOB",
	"remove":   "a person erases a job. Ask them; in a terminal it is: duplex remove JOB",
	"off":      "a person decides whether Duplex follows this folder. Ask them; in a terminal it is: duplex off",
	"on":       "a person decides whether Duplex follows this folder. Ask them; in a terminal it is: duplex on",
	"restore":  "going back replaces files. Say what is wrong, and which safe point was the last good one; in a terminal it is: duplex restore",
}

// personArguments are the same as arguments of tools.
var personArguments = map[string]string{
	"take":        "a job is taken from a live session by a person alone, in a terminal: duplex take JOB --take",
	"force":       "only a person may force, in a terminal. Say what is in the way",
	"large":       "a safe point beyond the limits of size and count wants a person's word, in a terminal: duplex safepoint create --large",
	"confirm":     "confirming is the person's, in a terminal",
	"accept":      personActs["accept"],
	"accept_test": "the loss of a test is accepted by a person alone, by the test's name: duplex amend JOB --accept-test \"…\"",
	"budget":      personActs["amend"],
	"usd":         personActs["amend"],
}

var (
	errNoSession = errors.New("no session of yours is known here, so you may look and not act: no hook of it has called. The person sets them up: duplex setup")
	errOff       = errors.New("the person has switched Duplex off for this session (DUPLEX_OFF=1): record nothing, and go on without")
	errNoSeat    = errors.New("this session sits at no job: begin one with start, when the person wants this work carried on, or take one by its name; standing names those that are open")
)

// next says what an agent does after an error of that kind: the first that matches.
var next = []struct {
	err  error
	says string
}{
	{context.Canceled, "The call was cancelled; what was recorded stays."},
	{job.ErrHeld, "Replacing a live session is a person's act. Until it ends you may look: standing, brief, recall."},
	{job.ErrFenced, "Change nothing more of this job. standing says who has it now; tell the person."},
	{job.ErrFinished, "There is nothing left to record on it. Tell the person how it ended."},
	{tracker.ErrNotPerson, "Ask the person."},
	{job.ErrPersonOnly, "Ask the person."},
	{tracker.ErrNoJobHere, "To look at one: standing with its name. Begin one with start only when the person wants this work carried on."},
	{job.ErrAmbiguous, "Name one, as standing shows them."},
	{job.ErrNotFound, "standing and brief show what there is, with its position."},
	{store.ErrBusy, "What you do is not lost: hooks keep it. Go on, and call again later."},
	{store.ErrMissing, storeAway}, {store.ErrNewer, storeAway}, {store.ErrDamaged, storeAway}, {store.ErrFull, storeAway}, {store.ErrReadOnly, storeAway},
}

const storeAway = "Go on with the work; hooks keep what they see. Tell the person: duplex verify says what is wrong."

// refused is an error before there is a tracker.
func (s *Server) refused(err error) result { return refusedBy(redact.New(nil, nil), err) }

// refusedBy is an error as the result of a tool.
func refusedBy(r *redact.Redactor, err error) result {
	said := err.Error()
	for _, kind := range []error{job.ErrNotFound, job.ErrInvalid} { // what follows says it better
		said = strings.TrimPrefix(said, kind.Error()+": ")
	}
	for _, n := range next {
		if errors.Is(err, n.err) {
			said += "\n" + n.says
			break
		}
	}
	text, _ := cut(said, 0, limit)
	return result{Content: []content{{"text", r.Text(text)}}, IsError: true}
}

// elsewhere adds the jobs that are open in other folders to the error that none is here.
func (c *call) elsewhere(ctx context.Context, err error) error {
	rows, bad := c.Jobs(ctx, tracker.JobsRequest{})
	if bad != nil {
		return err
	}
	said := err.Error()
	n := 0
	for _, r := range rows {
		if r.Place == job.PlaceFinished {
			continue
		}
		if n++; n <= 8 {
			said += fmt.Sprintf("\n%s  %s: %s", r.Standing.Short, r.Place, job.Clip(r.Standing.Goal, 100))
		}
	}
	if n > 8 {
		said += fmt.Sprintf("\nand %d more", n-8)
	}
	return sayingSo{err, said}
}

// sayingSo is an error with other words.
type sayingSo struct {
	error
	said string
}

func (s sayingSo) Error() string { return s.said }
func (s sayingSo) Unwrap() error { return s.error }
