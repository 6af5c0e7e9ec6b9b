package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A person whose store cannot be used reads what is still safe and what to do.
func TestEveryStoreErrorSaysTheWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range codes {
		if c.code != ExitStore {
			continue
		}
		var out bytes.Buffer
		a := &App{Err: &out}
		if code := a.exit(fmt.Errorf("open store: %w", c.err)); code != ExitStore {
			t.Errorf("%v exits with %d", c.err, code)
		}
		said, way, _ := strings.Cut(out.String(), "\n")
		if said != "duplex: open store: "+c.err.Error() || way == "" || strings.Count(way, "\n") != 1 {
			t.Errorf("%v prints %q, want the error and a line with the way out", c.err, out.String())
		}
	}
}
