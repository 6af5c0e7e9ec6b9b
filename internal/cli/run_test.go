package cli_test

import (
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/cli"
)

// A run that cannot work says so before a session is spent on it.
func TestRunWantsAScriptThatCanBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	short := d.begin()
	d.write("wrong.json", `{"work": {"item": "("}}`)
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "claude is not on the PATH"},
		{[]string{"--agent", "script"}, "--script FILE"},
		{[]string{"--script", "none.json"}, "none.json"},
		{[]string{"--script", "wrong.json"}, "wrong.json: read script"},
		{[]string{"--agent", "nobody"}, `no agent "nobody" can be driven`},
	} {
		if code := d.run(append([]string{"run", short}, c.args...)...); code != cli.ExitUsage || !strings.Contains(d.err, c.says) {
			t.Errorf("run %q: exit %d, %q; want %d and %q", c.args, code, d.err, cli.ExitUsage, c.says)
		}
	}
	if d.run("show", short); !strings.Contains(d.out, "not begun") {
		t.Errorf("a session was spent:\n%s", d.out)
	}
}
