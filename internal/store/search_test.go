package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
)

// positions are the positions that a search gives, in its order.
func positions(t testing.TB, s *Store, typed string, r SearchRequest) string {
	t.Helper()
	r.Query = query.Parse(typed)
	var at []int64
	read(t, s, func(tx *Tx) error {
		m, err := tx.Search(r)
		for _, x := range m.List {
			at = append(at, x.Position)
		}
		return err
	})
	return fmt.Sprint(at)
}

// telling is a job with something of each kind to find.
func telling(t testing.TB, s *Store, a *author, id job.ID) {
	t.Helper()
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: "Move the parser to the new lexer"}) // 1
		for _, p := range []job.Payload{
			&job.Step{Class: job.ClassEdit, Title: "edited src/lexer.go", Symbols: []job.Touch{{Name: "scanWord", Role: job.RoleEdit}}}, // 2
			&job.Touched{Title: "read src/lexer.go"}, // 3
			&job.Spent{Message: "m", Model: "lexer"}, // 4
			&job.Step{Class: job.ClassTest, Title: "go test ./...", Result: job.Failed, Receipt: job.Receipt{Text: "panic: lexer met a tab"}}, // 5
			&job.Decided{Text: "keep the old lexer beside the new", Why: "the importer needs it", Rejected: []string{"two parsers"}},          // 6
			&job.DeadEnd{Text: "a lexer by regular expressions", Why: "too slow"},                                                             // 7
			&job.Instructed{Text: "Never touch the importer"},                                                                                 // 8
			&job.Raised{Text: "tabs in the Café menu"},                                                                                        // 9
		} {
			if _, err := a.append(tx, id, testID('s', 1), p); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	one, two := testID('j', 1), testID('j', 2)
	telling(t, s, a, one)
	telling(t, s, a, two)
	both := func(p string) string { // the same in either job, the second's first
		return strings.ReplaceAll(p, "]", " "+p[1:])
	}
	for _, c := range []struct {
		typed string
		r     SearchRequest
		want  string
	}{
		{"lexer", SearchRequest{}, "[7 6 1 7 6 1 5 2 5 2]"},
		{"lexer", SearchRequest{Jobs: []job.ID{one}}, "[7 6 1 5 2]"},
		{"lexer", SearchRequest{Jobs: []job.ID{testID('j', 3)}}, "[]"},
		{"old lexer", SearchRequest{}, both("[6]")},
		{`"new lexer"`, SearchRequest{}, both("[1]")},
		{`"lexer new"`, SearchRequest{}, "[]"},
		{"lexer -new", SearchRequest{Jobs: []job.ID{one}}, "[7 5 2]"},
		{`lexer -"the new"`, SearchRequest{Jobs: []job.ID{one}}, "[7 5 2]"},
		{"impor*", SearchRequest{Jobs: []job.ID{one}}, "[8 6]"},
		{"lexer.go", SearchRequest{Jobs: []job.ID{one}}, "[2]"},
		{"scanword", SearchRequest{Jobs: []job.ID{one}}, "[2]"},
		{"cafe", SearchRequest{Jobs: []job.ID{one}}, "[9]"},
		{"lexer", SearchRequest{Jobs: []job.ID{one}, Kinds: []job.Kind{job.KindDeadEnd, job.KindStep}}, "[7 5 2]"},
		{"lexer", SearchRequest{Jobs: []job.ID{one}, Since: 1_794_000_000_000_000 + 6_000_000}, "[7 6]"},
		{"regular tab", SearchRequest{Jobs: []job.ID{one}}, "[]"},
		{"regular tab", SearchRequest{Jobs: []job.ID{one}, Any: true}, "[7 5]"},
		{"nowhere", SearchRequest{Any: true}, "[]"},
		{"", SearchRequest{}, "[]"},
		{"decided", SearchRequest{}, "[]"}, // tags are no words
		{"@decided #naaaaaab", SearchRequest{}, "[]"},
		{`" OR * ) NEAR("a` + "\x00", SearchRequest{}, "[]"},
	} {
		if got := positions(t, s, c.typed, c.r); got != c.want {
			t.Errorf("%q %+v: %s, want %s", c.typed, c.r, got, c.want)
		}
	}
}

// TestSearchIsBounded: many entries that have a word neither hide a decision nor are
// all read.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: "g"})
		if _, err := a.append(tx, id, "", &job.Decided{Text: "keep the lexer"}); err != nil {
			return err
		}
		for i := range matchesMost + 100 {
			if _, err := a.append(tx, id, "", &job.Step{Title: fmt.Sprintf("edited lexer %d", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	read(t, s, func(tx *Tx) error {
		m, err := tx.Search(SearchRequest{Query: query.Parse("lexer")})
		if err != nil {
			return err
		}
		if len(m.List) != matchesMost+1 || !m.More || m.List[0].Kind != job.KindDecided || m.Seen[0] != matchesMost+101 {
			t.Errorf("%d found, more %v, first a %q, seen %v", len(m.List), m.More, m.List[0].Kind, m.Seen)
		}
		return nil
	})
}

// canary is a word that no other begins like, so that it stands in the index whole.
func canary(n int) string { return fmt.Sprintf("ǂ%dcanary%d", n, n) }

// rawHas reports whether any file of the store holds a text.
func rawHas(t testing.TB, s *Store, text string) bool {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}

// TestRemovalLeavesNoWord: of what is scrubbed or erased no word is left in any file,
// and what stays is still found.
func TestRemovalLeavesNoWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		remove func(*Store, job.ID, job.ID) error
	}{
		{"erased", func(s *Store, id, _ job.ID) error { _, err := s.Erase(t.Context(), id); return err }},
		{"erased, most of the store", func(s *Store, id, _ job.ID) error {
			a := &author{t: t, n: 1_000_000}
			err := s.Write(t.Context(), false, func(tx *Tx) error {
				for range 100 {
					if _, err := a.append(tx, id, "", &job.Raised{Text: "more of it"}); err != nil {
						return err
					}
				}
				return nil
			})
			if err == nil {
				_, err = s.Erase(t.Context(), id)
			}
			return err
		}},
		{"scrubbed", func(s *Store, id, entry job.ID) error {
			err := s.Write(t.Context(), false, func(tx *Tx) error { _, err := tx.Scrub(id, []job.ID{entry}); return err })
			return errors.Join(err, s.Purge(t.Context()))
		}},
		{"killed before the purge", func(s *Store, id, entry job.ID) error {
			err := s.Write(t.Context(), false, func(tx *Tx) error { _, err := tx.Scrub(id, []job.ID{entry}); return err })
			return errors.Join(err, s.Close(), reopen(t, s.dir, Options{}).Close()) // the next command ends it
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, a := openTest(t), &author{t: t}
			gone, stays := testID('j', 1), testID('j', 2)
			var entry job.ID
			write(t, s, func(tx *Tx) error {
				openJob(t, tx, a, gone, job.Opened{Goal: "to be removed"})
				openJob(t, tx, a, stays, job.Opened{Goal: "to stay"})
				return nil
			})
			for i := range 40 { // transactions of their own, so that the index has several parts
				write(t, s, func(tx *Tx) error {
					e, err := a.append(tx, gone, "", &job.Step{Title: "about something else"})
					if i == 20 && err == nil {
						e, err = a.append(tx, gone, "", &job.Decided{Text: "about " + canary(1)})
						entry = e.Entry.ID
					}
					if err != nil {
						return err
					}
					_, err = a.append(tx, stays, "", &job.Raised{Text: "about " + canary(2)})
					return err
				})
			}
			if !rawHas(t, s, canary(1)) {
				t.Fatal("the word cannot be seen in the files even before")
			}
			s = reopen(t, s.dir, Options{})
			if err := c.remove(s, gone, entry); err != nil {
				t.Fatal(err)
			}
			s = reopen(t, s.dir, Options{})
			if got := positions(t, s, canary(1), SearchRequest{}); got != "[]" {
				t.Errorf("it is still found: %s", got)
			}
			if got := positions(t, s, canary(2), SearchRequest{}); strings.Count(got, " ") != 39 {
				t.Errorf("of what stays is found %s", got)
			}
			if rawHas(t, s, canary(1)) {
				t.Error("the word still stands in a file")
			}
			if !rawHas(t, s, canary(2)) {
				t.Error("a word that stays is gone")
			}
		})
	}
}

// TestIndexOfAnOlderStore: a store that was written before there was an index gets
// one in batches, by whichever commands come; hooks do not wait for it.
func TestIndexOfAnOlderStore(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	id := testID('j', 1)
	telling(t, s, a, id)
	n := indexBatch*2 + 100
	write(t, s, func(tx *Tx) error {
		for i := range n {
			if _, err := a.append(tx, id, "", &job.Step{Title: fmt.Sprintf("edited word%d", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	write(t, s, func(tx *Tx) error { // as schema 1 had it
		return tx.c.script(t.Context(), "DROP TABLE search; DELETE FROM meta WHERE name = 'index due'; PRAGMA user_version = 1")
	})
	s.Close()

	old := reopen(t, s.dir, Options{ReadOnly: true})
	if got := positions(t, old, "lexer", SearchRequest{}); got != "[]" {
		t.Errorf("read as it is: found %s", got)
	}
	if r := verify(t, old, id); !r.Holds() {
		t.Errorf("read as it is: %s", r.String())
	}
	if _, err := old.Layers(t.Context(), id); err != nil {
		t.Error(err)
	}
	old.Close()

	hook := reopen(t, s.dir, Options{Hook: true})
	left := func(s *Store, most time.Duration) int64 {
		t.Helper()
		left, err := s.Index(t.Context(), most)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	read(t, hook, func(tx *Tx) error {
		if left, err := tx.indexLeft(); left != int64(n)+9 || err != nil {
			t.Errorf("a hook leaves %d of %d, %v", left, n+9, err)
		}
		return nil
	})
	write(t, hook, func(tx *Tx) error {
		_, err := a.append(tx, id, "", &job.Raised{Text: "new lexer tests"})
		return err
	})
	if got := positions(t, hook, "lexer", SearchRequest{}); got != fmt.Sprintf("[%d]", n+10) {
		t.Errorf("what was written since: found %s", got)
	}
	if got := left(hook, 0); got != int64(n)+9-indexBatch && got != int64(n)+9 {
		t.Errorf("after a moment %d are left", got)
	}
	s = reopen(t, s.dir, Options{})
	if got := left(s, time.Minute); got != 0 {
		t.Errorf("%d are left", got)
	}
	if got := positions(t, s, "lexer", SearchRequest{}); got != fmt.Sprintf("[%d 7 6 1 5 2]", n+10) {
		t.Errorf("found %s", got)
	}
	if got := positions(t, s, "word7", SearchRequest{}); got != "[17]" {
		t.Errorf("found %s", got)
	}
	report, err := s.Verify(t.Context(), "")
	if err != nil || !report.Holds() {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

// TestSalvageIndexesAnew: a new store that is read from a damaged one has an index of
// its own.
func TestSalvageIndexesAnew(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	telling(t, s, a, testID('j', 1))
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := s.Salvage(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got := positions(t, reopen(t, dir, Options{}), "lexer", SearchRequest{}); got != "[7 6 1 5 2]" {
		t.Errorf("found %s", got)
	}
}

// TestDamagedIndex: an index that is damaged stands in nobody's way, and is made anew.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	id := testID('j', 1)
	damaged := func(t *testing.T) (*Store, *author) {
		s, a := openTest(t), &author{t: t}
		telling(t, s, a, id)
		write(t, s, func(tx *Tx) error {
			return tx.c.script(t.Context(), "UPDATE search_data SET block = x'0000ffffffffffff' WHERE id <> 1")
		})
		s.Close()
		return reopen(t, s.dir, Options{Hook: true}), a
	}
	anew := func(t *testing.T, s *Store, want string) {
		t.Helper()
		if left, err := s.Index(t.Context(), time.Minute); left != 0 || err != nil {
			t.Errorf("%d left, %v", left, err)
		}
		if got := positions(t, s, "lexer", SearchRequest{}); got != want {
			t.Errorf("found %s, want %s", got, want)
		}
		if r, err := s.Verify(t.Context(), ""); err != nil || !r.Holds() {
			t.Errorf("verify: %+v, %v", r, err)
		}
	}
	t.Run("append", func(t *testing.T) {
		s, a := damaged(t)
		write(t, s, func(tx *Tx) error {
			_, err := a.append(tx, id, "", &job.Raised{Text: "one more lexer"})
			return err
		})
		anew(t, s, "[10 7 6 1 5 2]")
	})
	t.Run("search", func(t *testing.T) {
		s, _ := damaged(t)
		err := s.Read(t.Context(), func(tx *Tx) error {
			_, err := tx.Search(SearchRequest{Query: query.Parse("lexer")})
			return err
		})
		if !errors.Is(err, ErrIndex) {
			t.Fatalf("search gives %v, want %v", err, ErrIndex)
		}
		if err := s.RenewIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		anew(t, s, "[7 6 1 5 2]")
	})
	t.Run("verify", func(t *testing.T) {
		s, _ := damaged(t)
		if r, err := s.Verify(t.Context(), ""); err != nil || len(r.Database) == 0 || !r.Jobs[0].Holds() {
			t.Errorf("verify: %+v, %v", r, err)
		}
	})
	t.Run("erase", func(t *testing.T) {
		s, a := damaged(t)
		other := testID('j', 2)
		write(t, s, func(tx *Tx) error {
			openJob(t, tx, a, other, job.Opened{Goal: "another lexer"})
			return nil
		})
		if _, err := s.Erase(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		anew(t, s, "[1]")
	})
	t.Run("purge", func(t *testing.T) {
		s, _ := damaged(t)
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		anew(t, s, "[7 6 1 5 2]")
	})
}

// Words of an entry that is gone do not stand in the index unnoticed.
func TestVerifyFindsStrayWords(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	telling(t, s, a, testID('j', 1))
	write(t, s, func(tx *Tx) error {
		return tx.c.script(t.Context(), "INSERT INTO search (rowid, words) VALUES (1000, 'lexer')")
	})
	if r, err := s.Verify(t.Context(), ""); err != nil || len(r.Database) != 1 || !strings.Contains(r.Database[0], "words of 1 entries") {
		t.Errorf("%+v, %v", r, err)
	}
}

// FuzzSearch: whatever is typed is no error of SQLite's.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"lexer", `"`, `a" OR "b`, "NEAR(a b)", "{a b}: c", "^x", "a AND", "*", "-", "é* 索引", "\x00\xff", "@decided", "'; DROP TABLE entry"} {
		f.Add(seed)
	}
	s, a := openTest(f), &author{t: f}
	telling(f, s, a, testID('j', 1))
	f.Fuzz(func(t *testing.T, typed string) {
		for _, some := range []bool{false, true} {
			positions(t, s, typed, SearchRequest{Any: some, Kinds: []job.Kind{job.KindStep, "no such kind"}, Jobs: []job.ID{testID('j', 1)}})
		}
	})
}
