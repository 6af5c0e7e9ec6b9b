package store

import (
	"encoding/json"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// Workspace is a folder by the id it carries, and where it was last seen.
type Workspace struct {
	ID     job.ID   `json:"id"`
	Path   string   `json:"path"`
	Kind   string   `json:"kind"` // git, folder
	Branch string   `json:"branch,omitempty"`
	Seen   job.Time `json:"seen,omitempty"`
}

// SaveWorkspace writes where a workspace is. path only finds the row again and is
// kept as a digest; row is a redacted Workspace.
func (t *Tx) SaveWorkspace(path string, row redact.JSON) error {
	var w Workspace
	data := row.Bytes()
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("workspace: %w: %v", job.ErrInvalid, err)
	}
	if !w.ID.Valid() {
		return fmt.Errorf("%w: workspace id %q", job.ErrInvalid, w.ID)
	}
	_, err := t.c.exec(`INSERT INTO workspace VALUES (?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET key = excluded.key, row = excluded.row`, w.ID, lookup(path), string(data))
	return err
}

// Workspace finds a workspace by its id; job.ErrNotFound when it was never seen.
func (t *Tx) Workspace(id job.ID) (*Workspace, error) {
	return t.workspace("SELECT row FROM workspace WHERE id = ?", id)
}

// WorkspaceByPath finds the workspace last seen at a path; job.ErrNotFound when none was.
func (t *Tx) WorkspaceByPath(path string) (*Workspace, error) {
	return t.workspace("SELECT row FROM workspace WHERE key = ? ORDER BY row ->> 'seen' DESC LIMIT 1", lookup(path))
}

// WorkspacesOf lists the workspaces of a job that were seen.
func (t *Tx) WorkspacesOf(id job.ID) ([]Workspace, error) {
	return listRows[Workspace](t.c, id, "a workspace",
		"SELECT row FROM workspace WHERE id IN (SELECT workspace FROM job_workspace WHERE job = ?) ORDER BY id", id)
}

func (t *Tx) workspace(sql string, arg any) (*Workspace, error) {
	list, err := listRows[Workspace](t.c, "", "a workspace", sql, arg)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("workspace: %w", job.ErrNotFound)
	}
	return &list[0], nil
}

// SetOff leaves the sessions of a workspace alone from now on, or stops doing so.
func (t *Tx) SetOff(id job.ID, off bool) error {
	if off {
		return t.c.setMeta("off/"+string(id), "1")
	}
	_, err := t.c.exec("DELETE FROM meta WHERE name = ?", "off/"+string(id))
	return err
}

// Off reports whether the sessions of a workspace are left alone.
func (t *Tx) Off(id job.ID) (bool, error) {
	v, err := t.c.meta("off/" + string(id))
	return v != "", err
}
