package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// fill gives a job entries of many kinds and says how many it has.
func fill(t testing.TB, s *Store, a *author, id job.ID, n int, mark string) int64 {
	t.Helper()
	mem, rng := job.NewMemory(), rand.New(rand.NewSource(int64(n)))
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: mark + " goal", Workspace: job.Workspace{ID: testID('w', 1), Path: "/" + mark}})
		for range n {
			p := randomPayload(rng, mem, false)
			if spent, ok := p.(*job.Spent); ok {
				spent.Message += mark
			}
			if _, err := a.append(tx, id, testID('s', 1), p); err != nil {
				return err
			}
		}
		for _, p := range []job.Payload{
			&job.SessionStarted{Agent: "claude", AgentSession: mark + " session", Number: 1},
			&job.Step{Class: job.ClassCommand, Title: mark + " step", Command: mark + " command", Result: job.Failed, Action: 1,
				Paths: []job.Touch{{Name: mark + "/path", Role: job.RoleEdit}}, Receipt: job.Receipt{Text: mark + " output"}},
			&job.Decided{Text: mark + " decision", Why: mark + " why"},
			&job.Spent{Message: mark + " message", Model: mark + " model", Tokens: job.Tokens{Input: 1}},
		} {
			if _, err := a.append(tx, id, testID('s', 1), p); err != nil {
				return err
			}
		}
		return nil
	})
	return int64(n) + 5
}

// short is the name a job got.
func short(t testing.TB, s *Store, id job.ID) (name string) {
	t.Helper()
	read(t, s, func(tx *Tx) error {
		now, err := tx.Standing(id)
		name = now.Short
		return err
	})
	return name
}

func verify(t testing.TB, s *Store, id job.ID) JobReport {
	t.Helper()
	r, err := s.Verify(t.Context(), id)
	if err != nil || len(r.Jobs) != 1 {
		t.Fatalf("verify: %v, %d jobs", err, len(r.Jobs))
	}
	return r.Jobs[0]
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sql string
		position  int64
		want      string
	}{
		{"untouched", "", 0, "hashes and signatures hold"},
		{"altered payload", `UPDATE entry SET payload = '{"text":"x"}' WHERE position = 5`, 5, "is not what was written"},
		{"altered envelope", "UPDATE entry SET author = 'person' WHERE position = 5", 5, "is not what was written"},
		{"altered signature", "UPDATE entry SET mac = zeroblob(32) WHERE position = 5", 5, "is not signed by this store"},
		{"dropped entry", "DELETE FROM entry WHERE position = 5", 5, "entries 5 to 5 are missing"},
		{"dropped end", "DELETE FROM entry WHERE position > 100", 101, "the ledger ends at 100"},
		{"altered standing", "UPDATE job SET standing = json_set(standing, '$.steps', 999)", 0, "the standing is not"},
		{"altered item", "UPDATE item SET row = json_set(row, '$.text', 'x') WHERE n = (SELECT min(n) FROM item)", 0, "items"},
		{"dropped item", "DELETE FROM item WHERE n = (SELECT min(n) FROM item)", 0, "items"},
		{"altered working set", "UPDATE work SET row = json_set(row, '$.last', 999999)", 0, "working set"},
		{"dropped session", "DELETE FROM sitting", 0, "sessions"},
		{"altered cost", "UPDATE spend SET pico = 1", 0, "costs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, id := openTest(t), testID('j', 1)
			n := fill(t, s, &author{t: t}, id, 200, "m")
			if c.sql != "" {
				write(t, s, func(tx *Tx) error {
					_, err := tx.c.exec(c.sql)
					return err
				})
			}
			r := verify(t, s, id)
			if !strings.Contains(r.String(), c.want) || r.Holds() != (c.sql == "") {
				t.Errorf("got %q, want %q", r.String(), c.want)
			}
			if c.sql == "" {
				if r.Entries != n {
					t.Errorf("%d entries, want %d", r.Entries, n)
				}
			} else if r.Faults[0].Position != c.position {
				t.Errorf("at %d, want %d", r.Faults[0].Position, c.position)
			}
		})
	}
}

func TestALostKeyLeavesHashes(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	fill(t, s, a, id, 10, "m")
	if err := errors.Join(s.Close(), os.Remove(filepath.Join(s.dir, keyFile))); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s.dir, Options{})
	if r := verify(t, s, id); !r.Holds() || r.String() != "hashes hold, unsigned" {
		t.Errorf("got %q", r.String())
	}
	write(t, s, func(tx *Tx) error {
		_, err := a.append(tx, id, "", &job.Raised{Text: "signed by the new key"})
		return err
	})
	if r := verify(t, s, id); !r.Holds() || r.Unsigned != r.Entries-1 {
		t.Errorf("after one more: %q", r.String())
	}
}

// TestScrub: content goes from the entry, from what was folded from it and from
// the files; the chain over it still holds.
func TestScrub(t *testing.T) {
	t.Parallel()
	const canary = "canary-zebra-quince"
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	fill(t, s, a, id, 50, "m")
	var entries []job.ID
	write(t, s, func(tx *Tx) error {
		blob, err := tx.PutBlob(redact.New(nil, nil).Text(canary))
		if err != nil {
			return err
		}
		for _, p := range []job.Payload{&job.Decided{Text: canary}, &job.Step{Title: canary, Receipt: job.Receipt{Blob: blob}}} {
			got, err := a.append(tx, id, "", p)
			if err != nil {
				return err
			}
			entries = append(entries, got.Entry.ID)
		}
		return nil
	})
	write(t, s, func(tx *Tx) error {
		n, err := tx.Scrub(id, entries)
		if err != nil || n != 2 {
			t.Errorf("scrubbed %d, %v, want 2", n, err)
		}
		_, err = a.append(tx, id, "", &job.Scrubbed{Entries: entries, Why: "a test"})
		return err
	})
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits, err := s.Scan(t.Context(), []byte(canary)); err != nil || len(hits) > 0 {
		t.Errorf("still in %v, %v", hits, err)
	}
	if r := verify(t, s, id); !r.Holds() || r.Scrubbed != 2 {
		t.Errorf("%q with %d scrubbed, want 2 and nothing wrong", r.String(), r.Scrubbed)
	}
}

// TestErase: nothing of a removed job is in any file of the store, not in free
// pages and not in the log; what others share stays.
func TestErase(t *testing.T) {
	t.Parallel()
	const canary, shared = "canary-yak-mango", "shared receipt"
	s, a := openTest(t), &author{t: t}
	gone, stays := testID('j', 1), testID('j', 2)
	fill(t, s, a, stays, 100, "other")
	fill(t, s, a, gone, 300, canary)
	pico := int64(9)
	spent := func(id job.ID, out int64) job.Envelope {
		env := a.envelope(id, "", &job.Spent{})
		env.Key = job.SpentKey("claude", "copied", job.Tokens{Output: out})
		return env
	}
	var sharedBlob string
	write(t, s, func(tx *Tx) error {
		r := redact.New(nil, nil)
		own, err := tx.PutBlob(r.Text(canary + " receipt"))
		if err != nil {
			return err
		}
		if sharedBlob, err = tx.PutBlob(r.Text(shared)); err != nil {
			return err
		}
		for _, e := range []struct {
			id   job.ID
			blob string
		}{{gone, own}, {gone, sharedBlob}, {stays, sharedBlob}} {
			if _, err := a.append(tx, e.id, "", &job.Step{Title: "t", Receipt: job.Receipt{Blob: e.blob}}); err != nil {
				return err
			}
		}
		row := Session{ID: testID('s', 9), Agent: "claude", AgentSession: canary, Job: gone, Transcript: "/" + canary}
		if err := tx.SaveSession(row.Agent, row.AgentSession, sealed(t, row)); err != nil {
			return err
		}
		// The removed job paid for a message of which the other holds a copy.
		for i, id := range []job.ID{gone, stays} {
			p := &job.Spent{Message: "copied", Model: "m", Tokens: job.Tokens{Output: int64(i + 1)}, Pico: &pico}
			if _, err := tx.Append(spent(id, int64(i+1)), sealed(t, p)); err != nil {
				return err
			}
		}
		return nil
	})
	before, name := verify(t, s, stays), short(t, s, gone)
	layers, err := s.Layers(t.Context(), gone)
	if err != nil || len(layers) < 8 {
		t.Fatalf("layers %+v, %v", layers, err)
	}
	removed, err := s.Erase(t.Context(), gone)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(layers, func(l Layer) bool { return l.Name == "costs" })
	layers[i].Count-- // the tombstone
	for j := range layers {
		if layers[j].Name != removed[j].Name || layers[j].Count != removed[j].Count {
			t.Errorf("said %+v would go, %+v went", layers[j], removed[j])
		}
	}
	for _, needle := range []string{canary, string(gone)} {
		if hits, err := s.Scan(t.Context(), []byte(needle)); err != nil || len(hits) > 0 {
			t.Errorf("%q is still in %v, %v", needle, hits, err)
		}
	}
	if hits, err := s.Scan(t.Context(), []byte("other goal")); err != nil || len(hits) != 1 {
		t.Errorf("what stays is found in %v, %v, want the database", hits, err)
	}
	if after := verify(t, s, stays); !after.Holds() || !before.Holds() || after.Entries != before.Entries {
		t.Errorf("the other job: %q, before %q", after.String(), before.String())
	}
	read(t, s, func(tx *Tx) error {
		if _, err := tx.Standing(gone); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("its standing: %v, want ErrNotFound", err)
		}
		if got, err := tx.Blob(sharedBlob); err != nil || string(got) != shared {
			t.Errorf("the shared blob: %q, %v", got, err)
		}
		return nil
	})
	if left, err := s.Layers(t.Context(), gone); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	if again, err := s.Erase(t.Context(), gone); err != nil || len(again) > 0 {
		t.Errorf("erased again: %+v, %v", again, err)
	}
	write(t, s, func(tx *Tx) error {
		if again, err := tx.TakeShort(gone); err != nil || again == name {
			t.Errorf("its short name was given again: %q, %v", again, err)
		}
		return nil
	})
}

// overwrite destroys the page of the database in which text stands.
func overwrite(t *testing.T, path, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte(text))
	if at < 0 {
		t.Fatalf("%q is not in %s", text, path)
	}
	const page = 4096
	for i := at / page * page; i < at/page*page+page; i++ {
		data[i] = 0xA5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamageAndSalvage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, a := openTest(t), &author{t: t}
	hit, whole := testID('j', 1), testID('j', 2)
	fill(t, s, a, whole, 60, "whole")
	n := fill(t, s, a, hit, 60, "before")
	write(t, s, func(tx *Tx) error {
		for i := range 60 {
			if _, err := a.append(tx, hit, "", &job.Touched{Title: fmt.Sprintf("needle-%02d %s", i, strings.Repeat("x", 300))}); err != nil {
				return err
			}
		}
		_, err := a.append(tx, hit, "", &job.Decided{Text: "the last word"})
		return err
	})
	n += 61
	name := short(t, s, hit)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	overwrite(t, s.path, "needle-30")
	s = reopen(t, s.dir, Options{})
	var damaged *DamagedError
	err := s.Read(ctx, func(tx *Tx) error { return tx.Entries(hit, 1, 0, func(job.Entry, Raw) error { return nil }) })
	if !errors.As(err, &damaged) || !errors.Is(err, ErrDamaged) || !slices.Equal(damaged.Jobs, []string{name}) {
		t.Fatalf("reading the damaged job gave %v, want a DamagedError that names it", err)
	}
	err = reopen(t, s.dir, Options{Hook: true}).Read(ctx, func(tx *Tx) error { return tx.Entries(hit, 1, 0, func(job.Entry, Raw) error { return nil }) })
	if !errors.As(err, &damaged) || len(damaged.Jobs) > 0 {
		t.Errorf("a hook got %v, want a DamagedError without a search for jobs", err)
	}
	if r := verify(t, s, whole); !r.Holds() {
		t.Errorf("the other job: %s", r.String())
	}
	if r, err := s.Verify(ctx, ""); err != nil || r.Holds() || len(r.Database) == 0 || len(r.Jobs) != 2 {
		t.Errorf("verify all: %+v, %v, want both jobs and what is wrong with the database", r, err)
	}
	to := filepath.Join(t.TempDir(), "new")
	report, err := s.Salvage(ctx, to)
	if err != nil || len(report.Jobs) != 2 {
		t.Fatalf("salvage: %+v, %v", report, err)
	}
	if _, err := s.Salvage(ctx, to); err == nil {
		t.Error("salvaged over a store that is there")
	}
	fresh := reopen(t, to, Options{})
	if r := report.Jobs[0]; r.Job != whole || !r.Holds() || r.Missing != 0 {
		t.Errorf("the whole job: %+v", r)
	}
	r := report.Jobs[1]
	if r.Job != hit || r.Missing == 0 || r.Missing > 15 || r.Entries+r.Missing != n || r.Short != name {
		t.Errorf("the damaged job: %+v, want %d entries and missing ones together", r, n)
	}
	if r, err := fresh.Verify(ctx, ""); err != nil || !r.Holds() || r.Jobs[0].Unsigned+r.Jobs[1].Unsigned > 0 {
		t.Errorf("the new store: %+v, %v", r, err)
	}
	read(t, fresh, func(tx *Tx) error {
		gaps, err := tx.EntriesOf(hit, []job.Kind{job.KindGap}, false, 0)
		if err != nil || len(gaps) != 1 {
			t.Fatalf("%d gaps, %v, want 1", len(gaps), err)
		}
		p := gaps[0].Payload.(*job.Gap)
		if p.Count != r.Missing || p.To-p.From+1 != p.Count || gaps[0].Position != p.From {
			t.Errorf("gap %+v at %d, want the %d missing", p, gaps[0].Position, r.Missing)
		}
		now, err := tx.Standing(hit)
		if err != nil || now.Newest[job.KindDecided].Text != "the last word" || now.Missing != r.Missing {
			t.Errorf("the newest decision %q, missing %d, %v", now.Newest[job.KindDecided].Text, now.Missing, err)
		}
		return nil
	})
}

// TestSalvageOfSilentDamage: bytes that SQLite does not notice are noticed by the
// chain.
func TestSalvageOfSilentDamage(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	n := fill(t, s, a, id, 20, "m")
	write(t, s, func(tx *Tx) error {
		_, err := tx.c.exec("UPDATE entry SET payload = '{}' WHERE position = 7; ")
		return err
	})
	to := filepath.Join(t.TempDir(), "new")
	report, err := s.Salvage(t.Context(), to)
	if err != nil || len(report.Jobs) != 1 || report.Jobs[0].Missing != 1 || report.Jobs[0].Entries != n-1 {
		t.Fatalf("salvage: %+v, %v, want one of %d missing", report, err, n)
	}
	if r := verify(t, reopen(t, to, Options{}), id); !r.Holds() {
		t.Errorf("the new store: %s", r.String())
	}
}

// An erasure whose purge did not come to its end is ended by the next command.
func TestEraseIsEndedByTheNext(t *testing.T) {
	t.Parallel()
	const canary = "canary-emu-quince"
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	fill(t, s, a, id, 200, canary)
	other := reopen(t, s.dir, Options{Busy: 20 * time.Millisecond})
	err := s.Read(t.Context(), func(tx *Tx) error { // reads what is to go
		if _, err := tx.Standing(id); err != nil {
			return err
		}
		if _, err := other.Erase(t.Context(), id); !errors.Is(err, ErrBusy) {
			t.Errorf("erase beside a reader gives %v, want %v", err, ErrBusy)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s.dir, Options{})
	if hits, err := s.Scan(t.Context(), []byte(canary)); err != nil || len(hits) > 0 {
		t.Errorf("after the next opening the job is still in %v, %v", hits, err)
	}
	err = s.Read(t.Context(), func(tx *Tx) error {
		due, err := tx.c.meta(purgeDue)
		if due != "" {
			t.Error("the purge is still due")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What cannot be read at all is said to be missing, and not passed over.
func TestSalvageSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	n := fill(t, s, a, testID('j', 1), 5, "m")
	write(t, s, func(tx *Tx) error {
		_, err := tx.c.exec("DELETE FROM entry")
		return err
	})
	report, err := s.Salvage(t.Context(), filepath.Join(t.TempDir(), "new"))
	if err != nil || report.Holds() || len(report.Jobs) != 1 || report.Jobs[0].Missing != n {
		t.Errorf("salvage without entries: %+v, %v, want %d missing", report, err, n)
	}
	write(t, s, func(tx *Tx) error {
		_, err := tx.c.exec("UPDATE job SET standing = 'torn'")
		return err
	})
	if r, err := s.Verify(t.Context(), ""); err != nil || r.Holds() {
		t.Errorf("verify of a torn standing: %+v, %v, want a fault", r, err)
	}
}
