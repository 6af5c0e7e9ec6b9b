package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBrokenDisk: a real disk that is read-only, then one that is full. The agent
// works on; what found no room is one gap.
func TestBrokenDisk(t *testing.T) {
	for _, c := range []struct {
		name   string
		breaks func(t *testing.T, disk string) (mend func())
		full   bool
	}{
		{"read-only", func(t *testing.T, disk string) func() {
			if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=8m"); err != nil {
					t.Fatal(err)
				}
			}
		}, false},
		{"full", func(t *testing.T, disk string) func() {
			big := filepath.Join(disk, "big")
			f, err := os.Create(big)
			for err == nil {
				_, err = f.Write(make([]byte, 4<<10))
			}
			f.Close()
			return func() {
				if err := os.Remove(big); err != nil {
					t.Fatal(err)
				}
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			if c.full {
				p.output = strings.Repeat("0123456789abcde\n", 4<<10) // more than the room left in a page
			}
			disk := t.TempDir()
			if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
				t.Logf("no disk of its own without the right to mount one (%v); TestBrokenStore has the rest", err)
				return
			}
			t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
			if err := os.CopyFS(filepath.Join(disk, "duplex"), os.DirFS(p.home)); err != nil {
				t.Fatal(err)
			}
			p.home = filepath.Join(disk, "duplex")
			p.worksOn(func(t *testing.T, _ string) func() { return c.breaks(t, disk) })
			found, _ := p.calls()
			if !found[toolID(0)] || !found[toolID(3)] {
				t.Errorf("recorded are %v, want what came before and after", found)
			}
			var lost int64
			for _, g := range p.gaps() {
				lost += g.Count
			}
			if c.full && int64(len(found))+lost != 4 {
				t.Errorf("%d calls are recorded and %d are told to be missing, of 4", len(found), lost)
			}
			t.Logf("%s: %d of 4 calls recorded, %d told to be missing", c.name, len(found), lost)
		})
	}
}
