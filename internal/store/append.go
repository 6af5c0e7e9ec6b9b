package store

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// Appended is what became of an append.
type Appended struct {
	Entry job.Entry
	// Known: an entry with this key was there already. Nothing was written, and
	// Entry is that one, which may belong to another job.
	Known bool
}

// saltSize keeps an erased payload from being guessed by its digest.
const saltSize = 16

// Append gives an entry its position, chains it, folds it and writes its rows. The
// envelope comes with position 0. The payload is decoded from what is stored, so
// what is folded is what is stored. A job begins with its opened entry.
//
// Whether the entry may be appended is the caller's to ask (job.Fence) in the same
// transaction.
func (t *Tx) Append(env job.Envelope, payload redact.JSON) (Appended, error) {
	if t.broken != nil {
		return Appended{}, t.broken
	}
	if !t.writes {
		return Appended{}, ErrReadOnly
	}
	if env.Key != "" {
		e, found, err := t.entryByKey(env.Key)
		if err != nil || found {
			return Appended{Entry: e, Known: found}, err
		}
	}
	data := payload.Bytes()
	if data == nil {
		return Appended{}, fmt.Errorf("%w: a %q entry without payload", job.ErrInvalid, env.Kind)
	}
	p, err := job.Decode(env.Kind, env.V, data)
	if err != nil {
		return Appended{}, err
	}
	l, err := t.ledger(env.Job)
	if opened, ok := p.(*job.Opened); ok && errors.Is(err, job.ErrNotFound) {
		l, err = t.open(env.Job, opened)
	}
	if err != nil {
		return Appended{}, err
	}
	env.Position = l.position + 1
	e := job.Entry{Envelope: env, Payload: p}
	if err := e.Validate(); err != nil {
		return Appended{}, err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	raw := Raw{Salt: salt, Payload: data}
	raw.seal(&e.Envelope, l.head, &t.s.keys)
	if err := t.add(l, e, raw); err != nil {
		t.broken = fmt.Errorf("append %s: %w", env.Kind, err)
		return Appended{}, t.broken
	}
	return Appended{Entry: e}, nil
}

// open begins the ledger of a job that has no entry yet.
func (t *Tx) open(id job.ID, p *job.Opened) (*ledger, error) {
	short, err := t.nameJob(id, p.Short)
	if err != nil {
		return nil, err
	}
	if p.Parent != "" {
		if err := t.nameChild(id, p.Parent); err != nil {
			return nil, err
		}
	}
	l := newLedger(id, short)
	t.ledgers[id] = l
	return l, nil
}

// add folds a sealed entry and writes it.
func (t *Tx) add(l *ledger, e job.Entry, raw Raw) error {
	if err := t.fold(l, e); err != nil {
		return err
	}
	if err := t.insertEntry(&e.Envelope, raw); err != nil {
		return err
	}
	if err := t.index(e); err != nil {
		return err
	}
	l.position, l.head, l.moved = e.Position, raw.Hash, true
	return nil
}

// workspaceOf is the workspace that an entry makes one of the job's.
func workspaceOf(e job.Entry) job.ID {
	switch p := e.Payload.(type) {
	case *job.Opened:
		return p.Workspace.ID
	case *job.SessionStarted:
		if !e.Guest {
			return p.Workspace.ID
		}
	case *job.Amended:
		if p.Workspace != nil {
			return p.Workspace.ID
		}
	}
	return ""
}

// blobsOf lists the blobs an entry's receipts are in.
func blobsOf(p job.Payload) []string {
	var out []string
	add := func(r job.Receipt) {
		if r.Blob != "" {
			out = append(out, r.Blob)
		}
	}
	results := func(list []job.CheckResult) {
		for _, c := range list {
			add(c.Output)
		}
	}
	switch p := p.(type) {
	case *job.Step:
		add(p.Receipt)
	case *job.Checked:
		add(p.Inventory)
		if p.Setup != nil {
			add(p.Setup.Output)
		}
		results(p.Results)
	case *job.Finished:
		results(p.Results)
	}
	return out
}
