package spool

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	if err := Lose(dir); err == nil {
		t.Error("without room for a count a loss is counted")
	}
	must(t, Reserve(dir))
	for range 3 {
		must(t, Lose(dir))
	}
	must(t, Reserve(dir)) // again: what was counted stays
	if n := Lost(dir); n != 3 {
		t.Errorf("lost %d, want 3", n)
	}
	must(t, Lose(dir))
	must(t, Found(dir, 3))
	if n := Lost(dir); n != 1 {
		t.Errorf("after three were told lost is %d, want the one that came meanwhile", n)
	}
	must(t, os.WriteFile(filepath.Join(dir, lostFile), []byte("no number"), 0o600))
	if n := Lost(dir); n != 0 {
		t.Errorf("a torn count reads as %d", n)
	}
	must(t, Reserve(dir))
	if err := Lose(dir); err != nil || Lost(dir) != 1 {
		t.Errorf("after the count was mended: %v, lost %d", err, Lost(dir))
	}
	if got, _ := drainAll(t, dir); len(got) != 0 {
		t.Errorf("the count is delivered: %q", got)
	}
}
