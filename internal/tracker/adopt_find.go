package tracker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/transcript"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// Candidate is a session that its agent kept a transcript of, and that could be
// adopted.
type Candidate struct {
	Agent        string   `json:"agent"`
	AgentSession string   `json:"agent_session"`
	File         string   `json:"file"`
	Dir          string   `json:"dir,omitempty"` // where it worked
	At           job.Time `json:"at"`            // it was last written to
	Bytes        int64    `json:"bytes"`
	First        string   `json:"first,omitempty"` // the person's first instruction, clipped
	Job          job.ID   `json:"job,omitempty"`   // the job it is tracked by already
	Short        string   `json:"short,omitempty"`
}

// keeper is an adapter that knows where its agent keeps transcripts.
type keeper interface {
	// Keeps gives patterns of the transcripts of sessions in a folder (empty: any) or
	// below it; they may match others too.
	Keeps(home, dir string, env func(string) string) []string
	// SessionOf is the id of the session whose transcript is at a path, empty for none.
	SessionOf(path string) string
}

// Bounds of a look into transcripts for who they are of.
const (
	headsMost  = 200     // transcripts
	headMost   = 2 << 20 // bytes of each
	firstShown = 200     // bytes of an instruction
)

// Candidates lists the sessions that worked in a folder's workspace, the newest
// first, at most so many. Nothing is written, not even an id for the folder.
func (t *Tracker) Candidates(ctx context.Context, dir string, most int) ([]Candidate, error) {
	w, err := workspace.Find(dir, t.dir)
	if err != nil {
		return nil, err
	}
	all, err := t.keptIn(w.Top)
	if err != nil {
		return nil, err
	}
	var out []Candidate
	for i, k := range all {
		if i == headsMost || len(out) == most {
			break
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if c, ok := t.candidate(k, w.Top); ok {
			out = append(out, c)
		}
	}
	return out, t.store.Read(ctx, func(tx *store.Tx) error {
		for i := range out {
			if err := trackedBy(tx, &out[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func trackedBy(tx *store.Tx, c *Candidate) error {
	row, err := tx.Session(c.Agent, c.AgentSession)
	if errors.Is(err, job.ErrNotFound) || err == nil && row.Job == "" {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := tx.Standing(row.Job)
	if errors.Is(err, job.ErrNotFound) {
		return nil
	}
	c.Job, c.Short = row.Job, s.Short
	return err
}

// keptFile is a transcript where its agent keeps it.
type keptFile struct {
	ad      agent.Adapter
	session string
	path    string
	at      job.Time
	size    int64
}

// keptIn finds what may be transcripts of sessions in a folder, or in any, the newest
// first.
func (t *Tracker) keptIn(dir string) ([]keptFile, error) {
	home := t.getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // without one, only what the environment names is found
	}
	var out []keptFile
	for _, ad := range t.agents {
		k, ok := ad.(keeper)
		if !ok {
			continue
		}
		for _, pattern := range k.Keeps(home, dir, t.getenv) {
			files, err := transcript.Find(pattern)
			if err != nil {
				return nil, err
			}
			for _, path := range files {
				info, err := os.Stat(path)
				if id := k.SessionOf(path); id != "" && err == nil && info.Mode().IsRegular() {
					out = append(out, keptFile{ad, id, path, job.At(info.ModTime()), info.Size()})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b keptFile) int { return cmp.Compare(b.at, a.at) })
	return out, nil
}

// candidate looks into a transcript; ok is false when its session worked elsewhere.
func (t *Tracker) candidate(k keptFile, top string) (c Candidate, ok bool) {
	reader := k.ad.NewReader()
	first := ""
	_, err := transcript.Lines(k.path, 0, headMost, func(line []byte, offset int64) error {
		rows, _ := reader.Line(line, offset)
		for _, r := range rows {
			if first == "" && r.Kind == agent.RowInstruction && !agent.Ours(r.Text) {
				first = r.Text
			}
		}
		if first != "" && reader.Header().Dir != "" {
			return transcript.ErrStop
		}
		return nil
	})
	h := reader.Header()
	if err != nil || !t.within(h.Dir, top) {
		return c, false
	}
	if h.Session == "" {
		h.Session = k.session
	}
	first = job.Clip(agent.OneLine(t.redact.Text(first).String()), firstShown)
	return Candidate{Agent: k.ad.Name(), AgentSession: h.Session, File: k.path, Dir: h.Dir, At: k.at, Bytes: k.size, First: first}, true
}

// within reports whether a folder belongs to the workspace at top. One that is gone
// is told by its name, as is one that is no repository of its own.
func (t *Tracker) within(dir, top string) bool {
	if dir == "" {
		return false
	}
	if w, err := workspace.Find(dir, t.dir); err == nil && (w.Git || w.Top == top) {
		return w.Top == top
	}
	rel, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rel)
}

// fileOf is the transcript that somebody means: a file, or the id of a session or
// the beginning of one, as its agent keeps it or a hook has named it.
func (t *Tracker) fileOf(ctx context.Context, r AdoptRequest) (string, error) {
	if r.Last {
		list, err := t.Candidates(ctx, r.Dir, 1)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%w: no agent kept a session of this folder; name a file: duplex adopt FILE", job.ErrNotFound)
		}
		if err != nil {
			return "", err
		}
		return list[0].File, nil
	}
	_, err := os.Stat(r.File)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(r.File, `/\`) || filepath.Ext(r.File) != "" {
		return r.File, nil // what is wrong with it is said by who opens it
	}
	found, err := t.sessionsNamed(ctx, r.File)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fmt.Errorf("%w: neither a file nor a session that an agent kept is called %s; duplex adopt lists those of this folder", job.ErrNotFound, r.File)
	case len(found) > 1:
		var names []string
		for id := range found {
			names = append(names, id)
		}
		slices.Sort(names)
		return "", fmt.Errorf("%d sessions begin with %s: %s; write more of it%w", len(names), r.File, listUpTo(names, 5), silent{job.ErrAmbiguous})
	}
	for _, path := range found {
		return path, nil
	}
	return "", nil
}

// sessionsNamed finds the transcripts of sessions whose id is, or begins with, a name,
// by the id.
func (t *Tracker) sessionsNamed(ctx context.Context, name string) (map[string]string, error) {
	found := map[string]string{}
	files, err := t.keptIn("")
	if err != nil {
		return nil, err
	}
	for _, k := range slices.Backward(files) { // of copies the newest stays
		if strings.HasPrefix(k.session, name) {
			found[k.session] = k.path
		}
	}
	err = t.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Sessions(0)
		for _, row := range rows {
			if strings.HasPrefix(row.AgentSession, name) && row.Transcript != "" && found[row.AgentSession] == "" {
				found[row.AgentSession] = row.Transcript
			}
		}
		return err
	})
	if path := found[name]; path != "" {
		return map[string]string{name: path}, err
	}
	return found, err
}

func listUpTo(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
