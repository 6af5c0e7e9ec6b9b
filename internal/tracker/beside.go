package tracker

import (
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// beside reads the transcripts of a session's sub-agents, which stand in files of
// their own: all of them, or the one whose id is given. Only what they used and
// did is handed on, marked as theirs: their context is not the session's, and
// what they were asked is nobody's instruction. It returns how many lines could
// not be read.
func beside(ad agent.Adapter, path, id string, each func(agent.Row) error) (broken int, err error) {
	with, ok := ad.(interface{ Beside(path string) []string })
	if !ok || path == "" {
		return 0, nil
	}
	for _, pattern := range with.Beside(path) {
		files, err := transcript.Find(pattern)
		if err != nil {
			return broken, err
		}
		for _, f := range files {
			if !strings.Contains(filepath.Base(f), id) {
				continue
			}
			reader := ad.NewReader()
			_, err := transcript.Lines(f, 0, 0, func(line []byte, offset int64) error {
				rows, err := reader.Line(line, offset)
				if err != nil {
					broken++
					return nil
				}
				for _, r := range rows {
					if r, ok := aside(r); ok {
						if err := each(r); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				return broken, err
			}
		}
	}
	return broken, nil
}

// aside marks a row as a sub-agent's; ok is false for one that says neither what
// was used nor what was done.
func aside(r agent.Row) (_ agent.Row, ok bool) {
	r.Side = true
	switch r.Kind {
	case agent.RowUsage:
		u := *r.Usage
		u.Context = 0
		r.Usage = &u
		return r, true
	case agent.RowResult:
		return r, true
	}
	return r, false
}

// beside reads what a sub-agent that has ended used: no other file says it.
func (o *observing) beside(id string) error {
	broken, err := beside(o.ad, o.ev.Transcript, id, func(r agent.Row) error {
		if r.Kind == agent.RowUsage {
			o.rows = append(o.rows, r)
		}
		return nil
	})
	o.broken += broken
	return err
}
