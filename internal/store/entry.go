package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// Raw is an entry as it is stored: what its hash was made from, and its place in
// the chain.
type Raw struct {
	Salt    []byte // nil once scrubbed
	Payload []byte // redacted JSON; nil once scrubbed
	Digest  job.Digest
	Hash    job.Digest
	MAC     []byte // nil when it was never signed here
	KeyID   string // which key signed it
}

// seal chains an entry to the one before and signs it.
func (r *Raw) seal(env *job.Envelope, previous job.Digest, k *keyring) {
	r.Digest = job.PayloadDigest(r.Salt, r.Payload)
	r.Hash = job.ChainHash(env, previous, r.Digest)
	mac := job.ChainMAC(k.mac, r.Hash)
	r.MAC, r.KeyID = mac[:], k.macID
}

const entryColumns = `job, position, id, kind, v, recorded_at, happened_at, time_source, workspace, session,
	author, author_name, token, machine, machine_seq, key, late, guest, salt, payload, digest, hash, mac, key_id`

func (t *Tx) insertEntry(e *job.Envelope, r Raw) error {
	var payload, digest any // the digest is kept only where it cannot be made again
	if r.Payload != nil {
		payload = string(r.Payload)
	} else {
		digest = r.Digest[:]
	}
	_, err := t.c.exec("INSERT INTO entry ("+entryColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		e.Job, e.Position, e.ID, e.Kind, e.V, e.RecordedAt, e.HappenedAt, e.TimeSource, e.Workspace, e.Session,
		e.Author.Kind, e.Author.Name, e.Token, e.Machine, e.MachineSeq, e.Key, e.Late, e.Guest,
		orNull(r.Salt), payload, digest, r.Hash[:], orNull(r.MAC), r.KeyID)
	return err
}

func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// scanEntry reads the columns of entryColumns. A payload that cannot be decoded is
// damage: only JSON of its kind was ever written.
func scanEntry(r row) (job.Entry, Raw, error) {
	env, raw := scanRaw(r)
	p, err := job.Decode(env.Kind, env.V, raw.Payload)
	if err != nil {
		return job.Entry{}, Raw{}, torn(env.Job, fmt.Sprintf("entry %d", env.Position), err)
	}
	return job.Entry{Envelope: env, Payload: p}, raw, nil
}

func scanRaw(r row) (job.Envelope, Raw) {
	env := job.Envelope{
		Job: job.ID(r.str(0)), Position: r.int(1), ID: job.ID(r.str(2)), Kind: job.Kind(r.str(3)), V: int(r.int(4)),
		RecordedAt: job.Time(r.int(5)), HappenedAt: job.Time(r.int(6)), TimeSource: job.TimeSource(r.str(7)),
		Workspace: job.ID(r.str(8)), Session: job.ID(r.str(9)),
		Author: job.Author{Kind: job.AuthorKind(r.str(10)), Name: r.str(11)},
		Token:  r.int(12), Machine: job.ID(r.str(13)), MachineSeq: r.int(14), Key: r.str(15),
		Late: r.int(16) != 0, Guest: r.int(17) != 0,
	}
	raw := Raw{Salt: r.bytes(18), Payload: r.bytes(19), MAC: r.bytes(22), KeyID: r.str(23)}
	copy(raw.Hash[:], r.bytes(21))
	if raw.Payload != nil {
		raw.Digest = job.PayloadDigest(raw.Salt, raw.Payload)
	} else {
		copy(raw.Digest[:], r.bytes(20))
	}
	return env, raw
}

// Entries hands the job's entries at positions from to to, both included, to fn in
// order. A to of zero means the end.
func (t *Tx) Entries(id job.ID, from, to int64, fn func(job.Entry, Raw) error) error {
	if to == 0 {
		to = 1 << 62
	}
	return t.c.query(func(r row) error {
		e, raw, err := scanEntry(r)
		if err != nil {
			return err
		}
		return fn(e, raw)
	}, "SELECT "+entryColumns+" FROM entry WHERE job = ? AND position BETWEEN ? AND ? ORDER BY position", id, from, to)
}

// EntriesOf lists the job's entries of some kinds (none: of any), at most limit of
// them when limit is above zero. Rare kinds are found by an index, the frequent ones (step,
// touched, spent) by reading back from the end the query begins at.
func (t *Tx) EntriesOf(id job.ID, kinds []job.Kind, newestFirst bool, limit int) ([]job.Entry, error) {
	var rare, frequent []job.Kind
	for _, k := range kinds {
		if k == job.KindStep || k == job.KindTouched || k == job.KindSpent {
			frequent = append(frequent, k)
		} else {
			rare = append(rare, k)
		}
	}
	var out []job.Entry
	list := func(kinds []job.Kind, condition string) error {
		args := []any{id}
		for _, k := range kinds {
			args = append(args, k)
		}
		return t.c.query(func(r row) error {
			e, _, err := scanEntry(r)
			out = append(out, e)
			return err
		}, "SELECT "+entryColumns+" FROM entry WHERE job = ?"+condition+" ORDER BY position"+direction(newestFirst)+" LIMIT ?",
			append(args, limitOf(limit))...)
	}
	oneOf := func(kinds []job.Kind) string { return " AND kind IN (?" + strings.Repeat(", ?", len(kinds)-1) + ")" }
	var err error
	if len(rare) > 0 {
		err = list(rare, oneOf(rare)+" AND kind NOT IN ('step', 'touched', 'spent')")
	}
	if err == nil && len(frequent) > 0 {
		err = list(frequent, oneOf(frequent))
	}
	if err == nil && len(kinds) == 0 {
		err = list(nil, "")
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b job.Entry) int {
		if newestFirst {
			a, b = b, a
		}
		return int(a.Position - b.Position)
	})
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

// Entry finds one entry of a job by its position, its id or a prefix of its id.
func (t *Tx) Entry(id job.ID, ref string) (job.Entry, error) {
	// The plus keeps SQLite from walking the whole job: ids have an index of their own.
	sql, args := "SELECT "+entryColumns+" FROM entry WHERE +job = ? AND id >= ? AND id < ? LIMIT 2", []any{id, ref, ref + "~"}
	if n, err := strconv.ParseInt(ref, 10, 64); err == nil {
		sql, args = "SELECT "+entryColumns+" FROM entry WHERE job = ? AND position = ?", []any{id, n}
	}
	var found []job.Entry
	err := t.c.query(func(r row) error {
		e, _, err := scanEntry(r)
		found = append(found, e)
		return err
	}, sql, args...)
	switch {
	case err != nil:
		return job.Entry{}, err
	case len(found) == 0 || ref == "":
		return job.Entry{}, fmt.Errorf("entry %q: %w", ref, job.ErrNotFound)
	case len(found) > 1:
		return job.Entry{}, fmt.Errorf("entry %q: %w", ref, job.ErrAmbiguous)
	}
	return found[0], nil
}

// ByKey is the id of the entry appended under a key, empty when there is none.
func (t *Tx) ByKey(key string) (job.ID, error) {
	e, _, err := t.entryByKey(key)
	return e.ID, err
}

func (t *Tx) entryByKey(key string) (e job.Entry, found bool, err error) {
	found, err = t.c.one(func(r row) error {
		e, _, err = scanEntry(r)
		return err
	}, "SELECT "+entryColumns+" FROM entry WHERE key = ? AND key <> ''", key)
	return e, found, err
}
