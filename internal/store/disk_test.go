package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

// fillUp appends until the disk takes no more, and says what the end was.
func fillUp(t *testing.T, s *Store, a *author, id job.ID) error {
	t.Helper()
	for range 20_000 {
		if err := s.Write(t.Context(), false, func(tx *Tx) error {
			_, err := a.append(tx, id, "", &job.Touched{Title: strings.Repeat("a path ", 200)})
			return err
		}); err != nil {
			return err
		}
	}
	return errors.New("it never got full")
}

// TestFullDatabase: on a full disk writing gives ErrFull, nothing is torn, reading
// goes on, and writing too once there is room.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	fill(t, s, a, id, 20, "m")
	limit := func(sql string) {
		c, err := s.take()
		if err == nil {
			err = c.script(t.Context(), sql)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.put(c)
	}
	limit("PRAGMA max_page_count=120")
	if err := fillUp(t, s, a, id); !errors.Is(err, ErrFull) {
		t.Fatalf("a full database gave %v, want ErrFull", err)
	}
	if r := verify(t, s, id); !r.Holds() {
		t.Errorf("after it was full: %s", r.String())
	}
	limit("PRAGMA max_page_count=100000")
	write(t, s, func(tx *Tx) error {
		_, err := a.append(tx, id, "", &job.Raised{Text: "there is room again"})
		return err
	})
	if r := verify(t, s, id); !r.Holds() {
		t.Errorf("with room again: %s", r.String())
	}
}
