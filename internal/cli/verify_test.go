package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerify: what is wrong is said after what is still safe, with the way out.
func TestVerify(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	w.must("decide", "keep the fixtures in one folder", "--why", "they are shared")
	if out := w.must("verify", w.short); !strings.Contains(out, "chain and standing hold, signed") {
		t.Errorf("verify: %s", out)
	}
	path := filepath.Join(w.env["DUPLEX_HOME"], "duplex.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.ReplaceAll(b, []byte("keep the fixtures in one folder"), []byte("drop the fixtures in one folder"))
	if bytes.Equal(b, changed) {
		t.Fatal("the decision is not in the database file")
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := w.run("", "", "verify")
	if code != ExitStore || errs != "" {
		t.Errorf("a changed ledger: exit %d, %q; want %d and no more", code, errs, ExitStore)
	}
	safe, fault, way := strings.Index(out, "0 of 1 ledger hold whole; what is not named below can still be read."),
		strings.Index(out, "entry 4 is not what was written"), strings.Index(out, "duplex verify --salvage FOLDER")
	if safe != 0 || fault < safe || way < fault {
		t.Errorf("want what is safe, what is wrong, the way out, in this order:\n%s", out)
	}
	docs := readDocs(t)
	out, _, code = w.run("", "", "verify", "--json")
	docs.check(t, "verify", "verify/1", out)
	if code != ExitStore {
		t.Errorf("verify --json: exit %d, want %d", code, ExitStore)
	}
	to := filepath.Join(t.TempDir(), "new")
	if out := w.must("verify", "--salvage", to); !strings.Contains(out, "Missing: 1 entry, for which gaps stand.") || !strings.Contains(out, "DUPLEX_HOME="+to) {
		t.Errorf("salvage: %s", out)
	}
	if _, errs, code := w.run("", "", "verify", "--salvage", to); code != ExitUsage || !strings.Contains(errs, "already") {
		t.Errorf("salvage over a store: exit %d, %q", code, errs)
	}
	damaged := w.env["DUPLEX_HOME"]
	w.env["DUPLEX_HOME"] = to
	w.must("verify")
	if out := w.must("show", w.short); !strings.Contains(out, "duplex log "+w.short+" --kind gap") {
		t.Errorf("the new store does not say what is missing:\n%s", out)
	}
	w.env["DUPLEX_HOME"] = damaged
	if _, _, code := w.run("", "", "verify", "nosuch"); code != ExitNotFound {
		t.Errorf("verify of no job: exit %d, want %d", code, ExitNotFound)
	}
	empty := &tale{t: t, dir: t.TempDir(), env: map[string]string{"HOME": t.TempDir(), "DUPLEX_HOME": filepath.Join(t.TempDir(), "none")}}
	if _, errs, code := empty.run("", "", "verify"); code != ExitNotFound || !strings.Contains(errs, "nothing to verify") {
		t.Errorf("verify without a store: exit %d, %q", code, errs)
	}
}
