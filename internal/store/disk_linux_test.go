package store

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-5777983b/duplex/internal/job"
)

// TestDisk: a real disk that is full, then one that is read-only.
func TestDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Logf("no disk of its own without the right to mount one (%v); TestFullDatabase has the rest", err)
		return
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
	dir, a, id := filepath.Join(disk, "duplex"), &author{t: t}, testID('j', 1)
	s, err := Open(t.Context(), dir, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, a, id, 20, "m")
	if err := fillUp(t, s, a, id); !errors.Is(err, ErrFull) {
		t.Fatalf("a full disk gave %v, want ErrFull", err)
	}
	if r := verify(t, s, id); !r.Holds() {
		t.Errorf("on a full disk: %s", r.String())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		again, err := Open(t.Context(), dir, o)
		if err != nil {
			t.Fatalf("opened on a full disk with %+v: %v", o, err)
		}
		if r := verify(t, again, id); !r.Holds() {
			t.Errorf("read on a full disk with %+v: %s", o, r.String())
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	ro, err := Open(t.Context(), dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("opened read-only on a read-only disk: %v", err)
	}
	if r := verify(t, ro, id); !r.Holds() {
		t.Errorf("read on a read-only disk: %s", r.String())
	}
	if err := ro.Close(); err != nil {
		t.Error(err)
	}
	s, err = Open(t.Context(), dir, Options{Busy: 1})
	if err == nil {
		err = s.Write(t.Context(), false, func(tx *Tx) error {
			_, err := a.append(tx, id, "", &job.Raised{Text: "x"})
			return err
		})
		s.Close()
	}
	if !errors.Is(err, ErrReadOnly) {
		t.Errorf("writing on a read-only disk gave %v, want ErrReadOnly", err)
	}
}
