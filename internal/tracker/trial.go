package tracker

import (
	"encoding/json"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// notice records as dead ends what a session's calls showed not to work, and ends
// those that work by now, if the job has any. No agent's word is needed for it.
func (r *recorder) notice(c *agent.Call, dead bool, at detail) error {
	if r.by.Guest || c.Command == "" && c.Class != job.ClassEdit {
		return nil
	}
	var trials agent.Trials
	if len(r.row.Trials) > 0 && json.Unmarshal(r.row.Trials, &trials) != nil {
		trials = agent.Trials{} // another version's: it begins anew
	}
	found := trials.Take(c)
	saved, err := json.Marshal(trials)
	if err != nil {
		return fmt.Errorf("trials of a session: %w", err)
	}
	r.row.Trials = saved
	by := said(job.Author{Kind: job.Command})
	for _, d := range found {
		p := &job.DeadEnd{Text: r.clip(d.Text, 500), Why: r.clip(d.Why, 500)} // the command stands in the text
		if _, err := r.append(p, keyed(r.deadEnd(d.Name)), at, by); err != nil {
			return soften(err)
		}
	}
	if !dead {
		return nil
	}
	return r.works(agent.Works(c), at)
}

// deadEnd is the key of a dead end, the same in every session of the job.
func (r *recorder) deadEnd(name string) string {
	return job.RecordKey(r.row.Agent, "", job.KindDeadEnd, string(r.row.Job)+"/"+name)
}

// works ends the dead ends of names that passed, of whichever session they were.
func (r *recorder) works(names []string, at detail) error {
	for _, name := range names {
		known, err := r.tx.ByKey(r.deadEnd(name))
		if err != nil {
			return err
		}
		if known == "" {
			continue
		}
		end := job.RecordKey(r.row.Agent, "", job.KindSettled, string(known))
		if _, err := r.append(&job.Settled{Item: known, How: "it works by now"}, keyed(end), at, said(job.Author{Kind: job.Command})); err != nil {
			return soften(err)
		}
	}
	return nil
}
