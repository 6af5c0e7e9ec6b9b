package store

import (
	"context"
	"os"
	"testing"
)

// TestLogStaysShort: hooks end without Close and each is alone, so nobody but the
// store itself ever empties the write-ahead log.
func TestLogStaysShort(t *testing.T) {
	s, id := startJob(t, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	largest := int64(0)
	for range 120 {
		if err := process(context.Background(), "hook", s.dir, string(id)).Run(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, info.Size())
	}
	t.Logf("the log was never longer than %d bytes", largest)
	if largest > 1<<20 {
		t.Errorf("after 120 hooks the log was %d bytes long, wanted at most 1 MB", largest)
	}
}
