package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-5777983b/duplex/internal/install"
	"github.com/seed-5777983b/duplex/internal/tracker"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// Hooks die without a word: settings are written over, a plugin is lost, the agent
// changes. What tells is a transcript that moves while no hook is heard.

// silence is how long a transcript may move on after the last hook: a session without a
// job is heard of every five minutes, and the agent's last rows come after its last hook.
const silence = 10 * time.Minute

// lately is how many transcripts are held against what hooks told.
const lately = 20

// unheard is what the newest transcripts show of hooks that died.
type unheard struct {
	looked   int               // transcripts that could have been heard of
	sessions []install.Session // those that moved without hooks, the newest first
	newest   bool              // the newest of all is among them
}

// unheard holds the newest transcripts against the sessions that hooks told of.
func (a *App) unheard(ctx context.Context, h install.Home, found []install.Setup) (unheard, error) {
	var u unheard
	since := a.Now().Add(-recently)
	for _, f := range found {
		if f.At.After(since) {
			since = f.At
		}
	}
	recent, err := h.Recent(since, lately)
	if err != nil || len(recent) == 0 {
		return u, err
	}
	var ids []string
	for _, s := range recent {
		ids = append(ids, s.ID)
	}
	known := map[string]tracker.Heard{}
	if a.tracker != nil { // else there is no store, and nothing was ever heard
		if known, err = a.tracker.Heard(ctx, "claude", ids); err != nil {
			return u, err
		}
	}
	for _, s := range recent {
		was, ok := known[s.ID]
		if !ok && begun(s).Before(since) {
			continue // it began before it could be heard
		}
		u.looked++
		if was.Off || ok && s.Moved.Sub(was.Last.Time()) < silence {
			continue
		}
		u.newest = u.newest || u.looked == 1
		u.sessions = append(u.sessions, s)
	}
	return u, nil
}

// examineSessions tells of hooks that died.
func (a *App) examineSessions(ctx context.Context, d *diagnosis, h install.Home, found []install.Found) {
	r := finding{Agent: "claude", About: "sessions", State: isOK}
	var setups []install.Setup
	for _, f := range found {
		setups = append(setups, f.Setup)
	}
	u, err := a.unheard(ctx, h, setups)
	n := len(u.sessions)
	switch {
	case err != nil:
		r.State, r.Says, r.Do = isBroken, "transcripts cannot be held against what hooks told: "+err.Error(), "See what the commands say: duplex"
	case u.looked == 0:
		r.State, r.Says = isNote, "none moved since it was set up: nothing to tell by yet"
	case u.newest:
		r.State = isBroken
		r.Says = fmt.Sprintf("%s of %d moved without our hooks, the newest too: %s", plural(n, "transcript"), u.looked, a.shortPath(u.sessions[0].Path))
		r.Do = "Start a session and look here again. It may have been started with --bare, --setting-sources or DUPLEX_OFF=1. What it did: duplex adopt " + a.shortPath(u.sessions[0].Path)
	case n > 0:
		r.State = isNote
		r.Says = fmt.Sprintf("%s of %d moved without our hooks, newer ones did not: %s", plural(n, "transcript"), u.looked, a.shortPath(u.sessions[0].Path))
		r.Do = "What it did: duplex adopt " + a.shortPath(u.sessions[0].Path)
	default:
		r.Says = fmt.Sprintf("%s moved lately, and hooks told of each", plural(u.looked, "transcript"))
	}
	d.add(r)
}

// warnUnheard tells, where jobs are listed, of hooks that are set up and died. It is
// silent about anything else that is wrong: doctor is for that.
func (a *App) warnUnheard(ctx context.Context, p *page) {
	h, err := a.installHome()
	if err != nil {
		return
	}
	setups, err := h.Setups()
	if err != nil || len(setups) == 0 {
		return
	}
	if u, err := a.unheard(ctx, h, setups); err == nil && u.newest {
		p.line("")
		p.line("Claude Code's newest session was not recorded, though it is set up: duplex doctor")
	}
}

// begun is when a session began, as its transcript tells; the zero time when it does not.
func begun(s install.Session) time.Time {
	reader := adapter("claude").NewReader()
	_, err := transcript.Lines(s.Path, 0, 64<<10, func(line []byte, offset int64) error {
		_, _ = reader.Line(line, offset) // a row that cannot be read has no time
		return nil
	})
	if at := reader.Header().Started; err == nil && at != 0 {
		return at.Time()
	}
	return time.Time{}
}
