package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/all"
	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// Hooks die without a word: settings are written over, a plugin is lost, the agent
// changes. What tells is a transcript that moves while no hook is heard.

// silence is how long a transcript may move on after the last hook: a session without a
// job is heard of every five minutes, and the agent's last rows come after its last hook.
const silence = 10 * time.Minute

// lately is how many transcripts are held against what hooks told.
const lately = 20

// examineSessions holds the newest transcripts against the sessions that were heard of.
func (a *App) examineSessions(ctx context.Context, d *diagnosis, h install.Home, found []install.Found) {
	since := a.Now().Add(-recently)
	for _, f := range found {
		if f.At.After(since) {
			since = f.At
		}
	}
	recent, err := h.Recent(since, lately)
	if err != nil {
		d.add(finding{Agent: "claude", About: "sessions", State: isNote, Says: "transcripts cannot be looked at: " + err.Error()})
		return
	}
	var ids []string
	for _, s := range recent {
		ids = append(ids, s.ID)
	}
	known, err := a.tracker.Heard(ctx, "claude", ids)
	if err != nil {
		d.add(finding{Agent: "claude", About: "sessions", State: isBroken, Says: err.Error(), Do: "duplex verify"})
		return
	}
	var unheard []install.Session
	newest := false
	looked := 0
	for _, s := range recent {
		was, ok := known[s.ID]
		if !ok && begun(s).Before(since) {
			continue // it began before it could be heard
		}
		looked++
		if was.Off || ok && s.Moved.Sub(was.Last.Time()) < silence {
			continue
		}
		newest = newest || looked == 1
		unheard = append(unheard, s)
	}
	r := finding{Agent: "claude", About: "sessions", State: isOK, Says: fmt.Sprintf("%s moved lately, and hooks told of each", plural(looked, "transcript"))}
	switch {
	case looked == 0:
		r.State, r.Says = isNote, "none moved since it was set up: nothing to tell by yet"
	case newest:
		r.State = isBroken
		r.Says = fmt.Sprintf("%s of %d moved without our hooks, the newest too: %s", plural(len(unheard), "transcript"), looked, a.shortPath(unheard[0].Path))
		r.Do = "Start a session and look here again. It may have been started with --bare, --setting-sources or DUPLEX_OFF=1. What it did: duplex adopt " + a.shortPath(unheard[0].Path)
	case len(unheard) > 0:
		r.State = isNote
		r.Says = fmt.Sprintf("%s of %d moved without our hooks, newer ones did not: %s", plural(len(unheard), "transcript"), looked, a.shortPath(unheard[0].Path))
		r.Do = "What it did: duplex adopt " + a.shortPath(unheard[0].Path)
	}
	d.add(r)
}

// begun is when a session began, as its transcript tells; the zero time when it does not.
func begun(s install.Session) time.Time {
	for _, ad := range all.Adapters() {
		if ad.Name() != "claude" {
			continue
		}
		reader := ad.NewReader()
		var at job.Time
		_, err := transcript.Lines(s.Path, 0, 64<<10, func(line []byte, offset int64) error {
			_, _ = reader.Line(line, offset) // a row that cannot be read has no time
			at = reader.Header().Started
			return nil
		})
		if err == nil && at != 0 {
			return at.Time()
		}
	}
	return time.Time{}
}
