package store

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func FuzzParseKeys(f *testing.F) {
	path := filepath.Join(f.TempDir(), keyFile)
	if err := writeKeys(path); err != nil {
		f.Fatal(err)
	}
	made, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(made))
	f.Add("")
	f.Add("machine x\ninstall zz\nmac 00\n")
	f.Add(strings.ReplaceAll(string(made), "\n", "\r\n"))
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseKeys([]byte(text))
		if err == nil && (!k.machine.Valid() || len(k.install) < 16 || len(k.mac) < 16 || len(k.macID) != 16) {
			t.Errorf("taken as keys: %+v", k)
		}
	})
}

// TestKeysAreMadeOnce: processes that start at the same time agree on the keys.
func TestKeysAreMadeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := make([]keyring, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = loadKeys(dir, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range got {
		if k.macID == "" || k.macID != got[0].macID || k.machine != got[0].machine {
			t.Errorf("keys %s of machine %s, want %s of %s", k.macID, k.machine, got[0].macID, got[0].machine)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("files %v, %v, want the keys only", left, err)
	}
}
