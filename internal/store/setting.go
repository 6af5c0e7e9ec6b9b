package store

import "github.com/seed-5777983b/duplex/internal/job"

// Small facts about workspaces and entries that use cases ask for by name.

// SetOff leaves the sessions of a workspace alone from now on, or stops doing so.
func (t *Tx) SetOff(workspace job.ID, off bool) error {
	if !off {
		_, err := t.c.exec("DELETE FROM meta WHERE name = ?", "off/"+string(workspace))
		return err
	}
	_, err := t.c.exec("INSERT OR REPLACE INTO meta VALUES (?, 'off')", "off/"+string(workspace))
	return err
}

// Off reports whether the sessions of a workspace are left alone.
func (t *Tx) Off(workspace job.ID) (bool, error) {
	return t.c.one(func(row) error { return nil }, "SELECT 1 FROM meta WHERE name = ?", "off/"+string(workspace))
}

// ByKey finds the entry appended under a key; empty when there is none.
func (t *Tx) ByKey(key string) (job.ID, error) {
	e, found, err := t.entryByKey(key)
	if err != nil || !found {
		return "", err
	}
	return e.ID, nil
}
