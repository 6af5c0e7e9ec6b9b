package tracker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// Place is a workspace with its id.
type Place struct {
	*workspace.Workspace
	ID job.ID
}

// Place finds the workspace a folder belongs to and gives it an id. A folder that
// was copied carries the id of the one it was copied from: it gets its own, so that
// nothing done in it reaches the other. One that was moved keeps its id.
func (t *Tracker) Place(dir string) (Place, error) {
	w, err := workspace.Find(dir, t.dir)
	if err != nil {
		return Place{}, err
	}
	id, err := w.ID()
	if err != nil {
		return Place{}, err
	}
	p := Place{w, job.ID(id)}
	seen, err := t.lastSeen(p.ID)
	if err != nil || seen == "" || seen == p.Top {
		return p, err
	}
	copied, err := w.CopyOf(seen, id)
	if err != nil || !copied {
		return p, err
	}
	if id, err = w.Part(id); err != nil {
		return Place{}, err
	}
	return Place{w, job.ID(id)}, nil
}

// lastSeen is where a workspace was when a job or a session last named it, "" when
// none did.
func (t *Tracker) lastSeen(id job.ID) (string, error) {
	var path string
	err := t.store.Read(context.Background(), func(tx *store.Tx) error {
		seen, err := tx.Workspace(id)
		if err == nil {
			path = seen.Path
		}
		if errors.Is(err, job.ErrNotFound) { // or of a store that is older than these rows
			return nil
		}
		return err
	})
	return path, err
}

// workspace is the ledger's form, with the branch when it is cheap to tell.
func (p Place) workspace() job.Workspace {
	return job.Workspace{ID: p.ID, Path: p.Top, Git: p.Git, Branch: branchOf(p.GitDir)}
}

// branchOf reads the branch from HEAD, without a process.
func branchOf(gitDir string) string {
	b, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: refs/heads/")
	if !ok {
		return ""
	}
	return name
}

// placeOf opens a workspace of a job, where it was last seen. The standing's path
// is cut to what a snapshot has room for, the workspace's own row is not.
func (t *Tracker) placeOf(w job.Workspace) (Place, error) {
	seen, err := t.lastSeen(w.ID)
	if err != nil {
		return Place{}, err
	}
	if seen != "" {
		w.Path = seen
	}
	p, err := t.Place(w.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Place{}, fmt.Errorf("%w: the job's folder %s is not there; if it was moved, go to where it is now and run duplex take JOB", job.ErrNotFound, w.Path)
	}
	if err != nil {
		return Place{}, fmt.Errorf("the job's folder %s: %w", w.Path, err)
	}
	if p.ID != w.ID {
		return Place{}, fmt.Errorf("%w: %s is now another folder than the one the job knows; go to the moved folder and run duplex take JOB", job.ErrNotFound, w.Path)
	}
	return p, nil
}

// workspaceIn is the workspace that a payload makes one of the job's, or says anew
// where it is.
func workspaceIn(p job.Payload) job.Workspace {
	switch p := p.(type) {
	case *job.Opened:
		return p.Workspace
	case *job.SessionStarted:
		return p.Workspace
	case *job.Amended:
		if p.Workspace != nil {
			return *p.Workspace
		}
	}
	return job.Workspace{}
}

// saw notes where a workspace is.
func (c *change) saw(w job.Workspace) error {
	if w.ID == "" || w.Path == "" {
		return nil
	}
	row := store.Workspace{ID: w.ID, Path: w.Path, Kind: "folder", Branch: w.Branch, Seen: c.now}
	if w.Git {
		row.Kind = "git"
	}
	sealed, err := c.redact.JSON(row)
	if err != nil {
		return fmt.Errorf("redact a workspace: %w", err)
	}
	return c.tx.SaveWorkspace(w.Path, sealed)
}

// relative names a path the way the ledger does: within the workspace with
// forward slashes; outside as ~/… or absolute.
func (p Place) relative(dir, path, home string) (name string, ws job.ID) {
	if path == "" {
		return "", ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	for _, top := range []string{p.Top} {
		if rel, err := filepath.Rel(top, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return filepath.ToSlash(rel), p.ID
		}
	}
	if home != "" {
		if rel, err := filepath.Rel(home, path); err == nil && !strings.HasPrefix(rel, "..") {
			return "~/" + filepath.ToSlash(rel), ""
		}
	}
	return filepath.ToSlash(path), ""
}

// Find names a job: by short name, a unique prefix, or, when name is empty, the
// session's own job or the one open job of the folder's workspace.
func (t *Tracker) Find(ctx context.Context, by Actor, name, dir string) (job.ID, error) {
	var id job.ID
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		switch {
		case name != "":
			id, err = tx.Resolve(name)
			return err
		case by.Job != "":
			id = by.Job
			return nil
		case t.getenv("DUPLEX_JOB") != "":
			id, err = tx.Resolve(t.getenv("DUPLEX_JOB"))
			return err
		}
		id, err = t.jobOfFolder(tx, dir)
		return err
	})
	return id, err
}

// ErrNoJobHere: no job was named and the folder has none open, or several.
var ErrNoJobHere = errors.New("no job here")

func (t *Tracker) jobOfFolder(tx *store.Tx, dir string) (job.ID, error) {
	p, err := t.Place(dir)
	if err != nil {
		return "", fmt.Errorf("%w: name one, as in duplex show JOB; duplex jobs lists them (%v)", ErrNoJobHere, err)
	}
	open, err := tx.OpenJobsOf(p.ID)
	if err != nil {
		return "", err
	}
	if len(open) == 1 {
		return open[0].ID, nil
	}
	if len(open) > 1 {
		var names []string
		for _, j := range open {
			names = append(names, j.Short)
		}
		return "", fmt.Errorf("%d jobs are open in this folder: %s; name one%w", len(open), strings.Join(names, ", "), silent{job.ErrAmbiguous})
	}
	// Nothing open: the newest job that ended here is still what one asks about.
	rows, err := tx.Jobs(store.JobFilter{Workspace: p.ID, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("%w: start one with duplex start \"GOAL\", or name one; duplex jobs lists them", ErrNoJobHere)
	}
	return rows[0].ID, nil
}

// silent lets callers tell an error by its kind where its message says it already.
type silent struct{ error }

func (s silent) Error() string { return "" }
func (s silent) Unwrap() error { return s.error }
