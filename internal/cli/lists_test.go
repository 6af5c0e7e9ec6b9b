package cli_test

import (
	"strings"
	"testing"
)

// A list with nothing in it is empty in JSON, not null: who reads it needs no second case.
func TestEmptyListsAreLists(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	answers := func(empty bool, commands ...string) {
		t.Helper()
		for _, c := range commands {
			code := d.run(append(strings.Fields(c), "--json")...)
			if code != 0 || strings.Contains(d.out, ": null") || empty && !strings.Contains(d.out, ": []") {
				t.Errorf("duplex %s: exit %d, %s%s", c, code, d.out, d.err)
			}
		}
	}
	answers(true, "jobs", "jobs --all", "lessons --all")
	d.begin()
	answers(true, "log --decided", "safepoint show", "lessons")
	answers(false, "show", "show --brief", "brief", "log 1", "cost", "safepoint list", "safepoint create", "restore --dry-run", "verify", "config", "version")
}
