package hook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// TestBrokenStore: whatever is wrong with the store, the agent works on, and what
// only its hooks knew is there once the store is.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(t *testing.T, home string) (mend func()){
		"missing": func(t *testing.T, home string) func() { return moved(t, filepath.Join(home, "duplex.db")) },
		"newer schema": func(t *testing.T, home string) func() {
			was := schema(t, home, 999)
			return func() { schema(t, home, was) }
		},
		"no key": func(t *testing.T, home string) func() { return moved(t, filepath.Join(home, "duplex.key")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.worksOn(breaks)
			found, _ := p.calls()
			for n := range 4 {
				if !found[toolID(n)] {
					t.Errorf("call %d is lost", n)
				}
			}
		})
	}
}

// worksOn calls the hooks of a session whose store breaks and is mended again.
func (p *place) worksOn(breaks func(*testing.T, string) func()) {
	t := p.t.(*testing.T)
	t.Helper()
	ctx := context.Background()
	call := func(n int, event string, more map[string]any) {
		t.Helper()
		c := p.call(ctx, event, more)
		if event == script.HookAfterTool {
			c = p.after(ctx, n)
		}
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s broke its agent: %v\n%s", event, err, errs.String())
		}
		if strings.Contains(string(out), "deny") || strings.Contains(string(out), `"continue":false`) {
			t.Errorf("%s stopped its agent: %s", event, out)
		}
	}
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": toolID(1), "tool_input": map[string]any{"command": "make"}}
	call(0, script.HookSessionStart, map[string]any{"source": "startup"})
	call(0, script.HookAfterTool, nil)
	mend := breaks(t, p.home)
	call(1, script.HookBeforeTool, tool)
	call(1, script.HookAfterTool, nil)
	call(0, script.HookPrompt, map[string]any{"prompt": "go on"})
	if err := Forget(p.home); err != nil && !errors.Is(err, os.ErrPermission) && !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
	call(2, script.HookAfterTool, nil) // has to ask the store
	mend()
	call(3, script.HookAfterTool, nil)
}

func moved(t *testing.T, file string) (back func()) {
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Rename(file+".away", file); err != nil {
			t.Fatal(err)
		}
	}
}

// schema writes another schema number, and gives the one that was there.
func schema(t *testing.T, home string, number int) (was int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(home, "duplex.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&was); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), fmt.Sprint("PRAGMA user_version = ", number)); err != nil {
		t.Fatal(err)
	}
	return was
}

// gaps are what the ledger says is missing.
func (p *place) gaps() (out []job.Gap) {
	p.t.Helper()
	tr, err := open(context.Background(), p.home, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer tr.Close()
	err = tr.Log(context.Background(), p.id, tracker.LogRequest{}, func(e job.Entry) error {
		if g, ok := e.Payload.(*job.Gap); ok {
			out = append(out, *g)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}
