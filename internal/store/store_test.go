package store

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// scale sizes the long tests: 1 in CI, more where there is time.
func scale(n int) int {
	f, err := strconv.ParseFloat(os.Getenv("DUPLEX_SCALE"), 64)
	if err != nil {
		f = 1
	}
	return max(1, int(float64(n)*f))
}

func testID(kind byte, n int) job.ID {
	return job.NewID([16]byte{kind, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 0x5a})
}

// openTest makes a store for one test.
func openTest(t testing.TB) *Store {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "duplex"), Options{Create: true})
}

func reopen(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var funnel = sync.OnceValue(func() *redact.Redactor { return redact.New([]byte("a key for tests only"), nil) })

func sealed(t testing.TB, v any) redact.JSON {
	t.Helper()
	j, err := funnel().JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// author makes entries of jobs, each with an id and a time of its own.
type author struct {
	t testing.TB
	n int
}

func (a *author) envelope(id, session job.ID, p job.Payload) job.Envelope {
	a.n++
	now := job.Time(1_794_000_000_000_000 + int64(a.n)*1_000_000)
	return job.Envelope{Job: id, ID: testID('e', a.n), Kind: p.Kind(), V: job.PayloadVersion,
		RecordedAt: now, HappenedAt: now, TimeSource: job.FromClock, Session: session, Author: job.Author{Kind: job.Duplex}}
}

func (a *author) append(tx *Tx, id, session job.ID, p job.Payload) (Appended, error) {
	return tx.Append(a.envelope(id, session, p), sealed(a.t, p))
}

func write(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), false, fn); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.Read(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAppendFoldsLikeMemory: what the store folds from its rows, over many
// transactions, is what one fold in memory gives.
func TestAppendFoldsLikeMemory(t *testing.T) {
	t.Parallel()
	s, a, mem := openTest(t), &author{t: t}, job.NewMemory()
	rng := rand.New(rand.NewSource(7))
	id := testID('j', 1)
	for done := 0; done < scale(2000); {
		write(t, s, func(tx *Tx) error {
			for range 1 + rng.Intn(40) {
				p := randomPayload(rng, mem, done == 0)
				env := a.envelope(id, testID('s', rng.Intn(4)), p)
				env.Late, env.Guest = rng.Intn(20) == 0, rng.Intn(20) == 0
				if p.Kind() == job.KindSpent {
					env.Key = job.SpentKey("claude", p.(*job.Spent).Message, p.(*job.Spent).Tokens)
				}
				got, err := tx.Append(env, sealed(t, p))
				if err != nil {
					return err
				}
				if got.Known {
					continue
				}
				done++
				if err := mem.Apply(got.Entry); err != nil {
					return err
				}
			}
			return nil
		})
	}
	read(t, s, func(tx *Tx) error {
		compare(t, tx, id, mem)
		return nil
	})
	// Folded again from the ledger, by other rules as it were, it is the same.
	write(t, s, func(tx *Tx) error {
		_, err := tx.c.exec("UPDATE job SET standing = json_set(standing, '$.apply', 0)")
		return err
	})
	err := reopen(t, s.dir, Options{Hook: true}).Read(t.Context(), func(tx *Tx) error {
		_, err := tx.Standing(id)
		return err
	})
	if !errors.Is(err, ErrRefold) {
		t.Errorf("a hook on a standing of other rules got %v, want ErrRefold", err)
	}
	read(t, s, func(tx *Tx) error {
		if _, err := tx.Standing(id); err != nil {
			return err
		}
		compare(t, tx, id, mem)
		return nil
	})
}

func compare(t *testing.T, tx *Tx, id job.ID, mem *job.Memory) {
	t.Helper()
	now, err := tx.Standing(id)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asJSON(t, now), asJSON(t, mem.Now); got != want {
		t.Errorf("standing\n got %s\nwant %s", got, want)
	}
	items, err := tx.Items(id, "", "", 0, false)
	if err != nil || len(items) != len(mem.Items) {
		t.Fatalf("%d items, %v, want %d", len(items), err, len(mem.Items))
	}
	for _, i := range items {
		if got, want := asJSON(t, i), asJSON(t, mem.Items[i.ID]); got != want {
			t.Errorf("item\n got %s\nwant %s", got, want)
		}
	}
	works, err := tx.Works(id, "")
	if err != nil || len(works) != len(mem.Works) {
		t.Fatalf("%d rows of the working set, %v, want %d", len(works), err, len(mem.Works))
	}
	for _, w := range works {
		if got, want := asJSON(t, w), asJSON(t, mem.Works[w.WorkKey]); got != want {
			t.Errorf("working set\n got %s\nwant %s", got, want)
		}
	}
	sittings, err := tx.Sittings(id)
	if err != nil || len(sittings) != len(mem.Sittings) {
		t.Fatalf("%d sessions, %v, want %d", len(sittings), err, len(mem.Sittings))
	}
	for _, s := range sittings {
		if got, want := asJSON(t, s), asJSON(t, mem.Sittings[s.ID]); got != want {
			t.Errorf("session\n got %s\nwant %s", got, want)
		}
	}
	n := 0
	err = tx.Spends(id, func(s job.Spend) error {
		n++
		if got, want := asJSON(t, s), asJSON(t, mem.Spends[s.Key]); got != want {
			t.Errorf("spend\n got %s\nwant %s", got, want)
		}
		return nil
	})
	if err != nil || n != len(mem.Spends) {
		t.Errorf("%d spends, %v, want %d", n, err, len(mem.Spends))
	}
}

func TestKeysAreIdempotent(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	one, two := testID('j', 1), testID('j', 2)
	pico := int64(5)
	spent := &job.Spent{Message: "m1", Model: "m", Tokens: job.Tokens{Input: 3}, Pico: &pico}
	var first, again, copied Appended
	write(t, s, func(tx *Tx) error {
		for _, id := range []job.ID{one, two} {
			if _, err := a.append(tx, id, "", &job.Opened{Goal: "g"}); err != nil {
				return err
			}
		}
		env := a.envelope(one, "", spent)
		env.Key = job.SpentKey("claude", "m1", spent.Tokens)
		var err error
		if first, err = tx.Append(env, sealed(t, spent)); err != nil {
			return err
		}
		env.ID = testID('x', 1)
		again, err = tx.Append(env, sealed(t, spent))
		return err
	})
	write(t, s, func(tx *Tx) (err error) {
		env := a.envelope(two, "", spent)
		env.Key = job.SpentKey("claude", "m1", spent.Tokens)
		copied, err = tx.Append(env, sealed(t, spent))
		return err
	})
	if first.Known || !again.Known || !copied.Known {
		t.Errorf("known = %v, %v, %v, want false, true, true", first.Known, again.Known, copied.Known)
	}
	if again.Entry.ID != first.Entry.ID || copied.Entry.Job != one {
		t.Errorf("a known key gave entry %s of %s, want %s of %s", copied.Entry.ID, copied.Entry.Job, first.Entry.ID, one)
	}
	read(t, s, func(tx *Tx) error {
		st, err := tx.Standing(two)
		if err != nil || st.Spend.Pico != 0 || st.Position != 1 {
			t.Errorf("the copy cost %d pico-USD at position %d, %v; want 0 at 1", st.Spend.Pico, st.Position, err)
		}
		return nil
	})
}

// TestNothingOfAFailedTransactionStays: an entry that was acknowledged inside a
// transaction that failed is gone with it, and leaves no hole.
func TestNothingOfAFailedTransactionStays(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	write(t, s, func(tx *Tx) error {
		_, err := a.append(tx, id, "", &job.Opened{Goal: "g"})
		return err
	})
	wanted := errors.New("changed my mind")
	err := s.Write(t.Context(), false, func(tx *Tx) error {
		if _, err := a.append(tx, id, "", &job.Raised{Text: "lost"}); err != nil {
			t.Error(err)
		}
		return wanted
	})
	if !errors.Is(err, wanted) {
		t.Fatalf("got %v, want %v", err, wanted)
	}
	err = s.Write(t.Context(), false, func(tx *Tx) error {
		env := a.envelope(id, "", &job.Raised{})
		if _, err := tx.Append(env, sealed(t, &job.Raised{Text: "kept"})); err != nil {
			t.Error(err)
		}
		tx.Append(env, sealed(t, &job.Raised{Text: "same id"})) // its error is not looked at
		return nil
	})
	if err == nil {
		t.Error("a transaction in which an append went wrong midway was committed")
	}
	read(t, s, func(tx *Tx) error {
		st, err := tx.Standing(id)
		if err != nil || st.Position != 1 || st.OpenItems != 0 {
			t.Errorf("position %d with %d open items, %v; want 1 with none", st.Position, st.OpenItems, err)
		}
		return nil
	})
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	ctx, root := t.Context(), t.TempDir()
	dir, markers := filepath.Join(root, "state"), filepath.Join(root, "config")
	if _, err := Open(ctx, dir, Options{Markers: markers}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no store, never one: %v, want fs.ErrNotExist", err)
	}
	s, err := Open(ctx, dir, Options{Create: true, Markers: markers})
	if err != nil {
		t.Fatal(err)
	}
	id, machine, key := storeID(t, s), s.Machine(), s.MarkerKey()
	if !id.Valid() || !machine.Valid() || len(key) != 32 {
		t.Errorf("store %q, machine %q, key of %d bytes", id, machine, len(key))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{databaseFile, keyFile} {
		if info, err := os.Stat(filepath.Join(dir, f)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v, want nobody else to read it", f, info.Mode(), err)
		}
	}
	if s, err = Open(ctx, dir, Options{Markers: markers}); err != nil || storeID(t, s) != id || s.Machine() != machine {
		t.Fatalf("opened again: %v", err)
	}
	if err := s.Write(ctx, false, func(tx *Tx) error { return tx.c.setMeta("version", "v9.1.0") }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.idle[0].script(ctx, "PRAGMA user_version = 99"), s.Close()); err != nil {
		t.Fatal(err)
	}
	var newer *NewerError
	if _, err := Open(ctx, dir, Options{}); !errors.Is(err, ErrNewer) || !errors.As(err, &newer) || newer.Version != "v9.1.0" {
		t.Errorf("newer schema: %v, want ErrNewer with version v9.1.0", err)
	}
	if err := os.Remove(filepath.Join(dir, databaseFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, dir, Options{Create: true}); !errors.Is(err, ErrMissing) {
		t.Errorf("database gone, keys there: %v, want ErrMissing", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, dir, Options{Create: true, Markers: markers}); !errors.Is(err, ErrMissing) {
		t.Errorf("folder gone, marker there: %v, want ErrMissing", err)
	}
	s, err = Open(ctx, dir, Options{Create: true, Fresh: true, Markers: markers})
	if err != nil || storeID(t, s) == id {
		t.Fatalf("begun anew: %v", err)
	}
	if err := errors.Join(s.Close(), os.Truncate(filepath.Join(dir, databaseFile), 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, dir, Options{Create: true}); !errors.Is(err, ErrMissing) {
		t.Errorf("emptied database: %v, want ErrMissing", err)
	}
}

func storeID(t *testing.T, s *Store) (id job.ID) {
	read(t, s, func(tx *Tx) (err error) {
		id, err = tx.ID()
		return err
	})
	return id
}

func TestReadOnlyOption(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	write(t, s, func(tx *Tx) error {
		_, err := a.append(tx, id, "", &job.Opened{Goal: "g"})
		return err
	})
	ro := reopen(t, s.dir, Options{ReadOnly: true})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Read(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading after Close gave %v, want os.ErrClosed", err)
	}
	if err := ro.Write(t.Context(), false, func(*Tx) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("writing gave %v, want ErrReadOnly", err)
	}
	read(t, ro, func(tx *Tx) error {
		if st, err := tx.Standing(id); err != nil || st.Goal != "g" {
			t.Errorf("goal %q, %v", st.Goal, err)
		}
		if _, err := a.append(tx, id, "", &job.Raised{Text: "x"}); !errors.Is(err, ErrReadOnly) {
			t.Errorf("append in Read gave %v, want ErrReadOnly", err)
		}
		return nil
	})
}

// TestManyOpenAtOnce: the first hooks of a machine may come together.
func TestManyOpenAtOnce(t *testing.T) {
	t.Parallel()
	dir, markers := filepath.Join(t.TempDir(), "state"), t.TempDir()
	var wg sync.WaitGroup
	ids := make([]job.ID, 12)
	for i := range ids {
		wg.Go(func() {
			s, err := Open(t.Context(), dir, Options{Create: true, Markers: markers})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			a, id := &author{t: t, n: 1000 * i}, testID('j', i)
			err = s.Write(t.Context(), true, func(tx *Tx) error {
				if ids[i], err = tx.ID(); err != nil {
					return err
				}
				_, err := a.append(tx, id, "", &job.Opened{Goal: "g"})
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := reopen(t, dir, Options{})
	report, err := s.Verify(t.Context(), "")
	if err != nil || !report.Holds() || len(report.Jobs) != len(ids) {
		t.Errorf("verify: %+v, %v, want %d jobs", report, err, len(ids))
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("stores %v, want one", ids)
		}
	}
}

// TestManyUseOneStore: the goroutines of one process write, read and look for bytes
// at the same time.
func TestManyUseOneStore(t *testing.T) {
	t.Parallel()
	s, id := startJob(t, 0)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 10 {
				if err := appendTo(s, id, false, io.Discard); err != nil {
					t.Error(err)
				}
				if err := s.Read(t.Context(), func(tx *Tx) error {
					now, err := tx.Standing(id)
					if err != nil {
						return err
					}
					n := int64(0)
					err = tx.Entries(id, 1, 0, func(job.Entry, Raw) error { n++; return nil })
					if n != now.Position {
						t.Errorf("%d entries where the standing says %d", n, now.Position)
					}
					return err
				}); err != nil {
					t.Error(err)
				}
			}
			if hits, err := s.Scan(t.Context(), []byte("nowhere to be found")); err != nil || len(hits) > 0 {
				t.Errorf("scan: %v, %v", hits, err)
			}
		})
	}
	wg.Wait()
	if r := verify(t, s, id); !r.Holds() || r.Entries != 62 {
		t.Errorf("%d entries, %s; want 62", r.Entries, r.String())
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	other := reopen(t, s.dir, Options{Busy: 1})
	write(t, s, func(*Tx) error {
		if err := other.Write(t.Context(), false, func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v, want ErrBusy", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Write(ctx, false, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a second writer of this process got %v, want its context's end", err)
		}
		return nil
	})
}
