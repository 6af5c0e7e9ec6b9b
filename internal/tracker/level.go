package tracker

import (
	"os"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/store"
)

// How full a session's context is, and what is due for it.

// Watch is what a hook after a tool goes by while it leaves the store alone: it
// spools its call, reads on in the transcript how full the context is, and asks
// the store when something is due. It is written down beside the store, holds
// nothing of an agent's text, and may be lost at any time.
type Watch struct {
	Bound    bool     `json:"bound,omitempty"`  // the session sits at a job, so its calls are recorded
	Since    job.Time `json:"since"`            // when the store was last asked
	Offset   int64    `json:"offset,omitempty"` // up to here the transcript was read for its level, in bytes
	Taken    int64    `json:"taken,omitempty"`  // up to here it was taken in
	Model    string   `json:"model,omitempty"`  // by which the level was set
	Fill     job.Fill `json:"fill"`
	Nudge    float64  `json:"nudge"`
	Handover float64  `json:"handover"`
}

// backlog is how much of a transcript hooks leave to be taken in later, in bytes.
const backlog = 2 << 20

// Read takes in what the transcript says on. ask: the store has to be asked now,
// for something is due.
func (w *Watch) Read(rows []agent.Row, next int64, now job.Time) (ask bool) {
	w.Offset = next
	for _, r := range rows {
		switch r.Kind {
		case agent.RowUsage:
			if r.Usage == nil || r.Usage.Context == 0 {
				continue
			}
			if w.Fill.Grow(r.Usage.Context); !sameModel(w.Model, r.Usage.Model) {
				return true // another level holds
			}
		case agent.RowCompacted, agent.RowLimit:
			return true
		}
	}
	nudge, handover := w.Fill.Due(w.Nudge, w.Handover)
	return nudge || handover || now < w.Since || now.Sub(w.Since) >= askEvery
}

// Full reports whether so much was left that somebody should take it in.
func (w *Watch) Full() bool { return w.Bound && w.Offset-w.Taken >= backlog }

// watch is nil for a session that somebody waits for: its runner counts every step.
func (o *observing) watch() *Watch {
	if o.row == nil || o.row.Driven || o.row.Off {
		return nil
	}
	w := &Watch{Bound: o.row.Job != "", Since: o.Now(), Offset: o.row.Offset, Taken: o.row.Offset, Model: o.row.Model, Fill: o.fillOf(),
		Nudge: o.set.Nudge, Handover: o.set.Handover}
	if o.stale || o.row.Guest {
		w.Fill.Level = 0 // nothing is ever due
	}
	return w
}

// Redactor is the funnel of a store that is not opened; known are values known to
// be credentials. The error says that there is no such store.
func Redactor(dir string, known []string) (*redact.Redactor, error) {
	key, err := store.MarkerKey(dir)
	if err != nil {
		return nil, err
	}
	return redact.New(key, known), nil
}

// setting looks up what sets the agent's levels. It is as it was when the agent was
// started, and a call that was spooled comes without it, so it is remembered.
func (o *observing) setting(name string) string {
	value, known := o.row.Setting[name]
	switch {
	case o.deaf():
		return value
	case strings.HasPrefix(name, "."):
		value = o.fileSetting(name) // files may have changed meanwhile
	case known:
		return value
	case strings.HasPrefix(name, "--"):
		value = option(commandLine(o.ev.PID), name)
	default:
		value = o.getenv(name)
	}
	if value == "" {
		delete(o.row.Setting, name)
		return ""
	}
	if o.row.Setting == nil {
		o.row.Setting = map[string]string{}
	}
	o.row.Setting[name] = value
	return value
}

// fileSetting is what the agent's settings files say of a name: the strongest that
// says something.
func (o *observing) fileSetting(name string) string {
	ad, ok := o.ad.(agent.Settled)
	if !ok {
		return ""
	}
	if o.settings == nil {
		home := o.getenv("HOME")
		if home == "" {
			home = o.getenv("USERPROFILE")
		}
		o.settings = [][]byte{}
		for _, place := range ad.Settings(home, o.ev.Dir, commandLine(o.ev.PID), o.getenv) {
			text := []byte(place)
			if !strings.HasPrefix(place, "{") {
				info, err := os.Stat(place)
				if err != nil || !info.Mode().IsRegular() || info.Size() > settingsMost {
					continue
				}
				if text, err = os.ReadFile(place); err != nil {
					continue
				}
			}
			o.settings = append(o.settings, text)
		}
	}
	for _, text := range o.settings {
		if value := ad.Setting(text, name); value != "" {
			return value
		}
	}
	return ""
}

// settingsMost is how large a settings file may be, in bytes; people's have a few
// hundred.
const settingsMost = 1 << 20

// option is the last value that a command line gives an option.
func option(line []string, name string) (value string) {
	for i, arg := range line {
		if v, ok := strings.CutPrefix(arg, name+"="); ok {
			value = v
		} else if arg == name && i+1 < len(line) {
			value = line[i+1]
		}
	}
	return value
}

// compacted begins a context anew.
func compacted(row *store.Session, held int64) {
	row.Nudged, row.HandedOver, row.Context = 0, 0, 0
	if held > 0 {
		row.Compacted = held
	}
}

// sameModel reports whether a message's model is the session's, which may say more:
// "sonnet[1m]" is a sonnet with a large context.
func sameModel(session, message string) bool {
	return session == message || strings.HasPrefix(session, message+"[")
}

// modelled sets the session's model by a message's. What was learned of another's
// levels is forgotten.
func modelled(row *store.Session, model string) {
	if model != "" && !sameModel(row.Model, model) {
		row.Model, row.Compacted = model, 0
	}
}

func (o *observing) fillOf() job.Fill { return fillOf(o.row) }

func fillOf(row *store.Session) job.Fill {
	return job.Fill{Context: row.Context, Level: row.Level, Largest: row.Largest, Nudged: row.Nudged > 0, HandedOver: row.HandedOver > 0}
}

func grow(row *store.Session, context int64) {
	f := fillOf(row)
	f.Grow(context)
	row.Context, row.Largest = f.Context, f.Largest
}

// level decides whether the agent is nudged or a handover is due. A nudge that
// nobody would hear waits, and so does a handover while calls of the past are
// taken in: the session's next hook sees to it.
func (o *observing) level() {
	if o.stale || o.row.Guest || o.deaf() {
		return
	}
	nudge, handover := o.fillOf().Due(o.set.Nudge, o.set.Handover)
	if nudge && o.canHear() {
		o.row.Nudged, o.nudge = 1, true
	}
	if handover {
		o.row.HandedOver, o.handover = 1, "level"
	}
}
