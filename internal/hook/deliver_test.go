package hook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/all"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/spool"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// One spooled call that can never be recorded must not hold up those behind it,
// nor every hook and command after them.
func TestDeliverGoesPastACallThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	ctx, state, work := t.Context(), t.TempDir(), t.TempDir()
	tr, err := tracker.Open(ctx, tracker.Options{Dir: state, Create: true, Settings: tracker.DefaultSettings(), Agents: all.Adapters()})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	started, err := tr.Start(ctx, tracker.APerson(), tracker.StartRequest{Dir: work, Goal: "Round prices"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(session, transcript string) {
		t.Helper()
		call := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"transcript_path":%q,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":"make"},"tool_response":{"stdout":"ok"}}`,
			session, work, transcript, "call-of-"+session)
		line, err := redact.New(nil, nil).JSON(spooled{Agent: "script", At: time.Now(), Call: json.RawMessage(call)})
		if err == nil {
			err = spool.Append(spoolDir(state), line)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("broken", work) // a folder is no transcript
	put("whole", filepath.Join(work, "none.jsonl"))
	if err := Deliver(ctx, tr, state); err != nil {
		t.Fatalf("deliver: %v", err)
	}
	if n, err := spool.Size(spoolDir(state)); err != nil || n != 0 {
		t.Errorf("%d bytes wait still (%v), want none", n, err)
	}
	shown, err := tr.Show(ctx, started.Job)
	if err != nil {
		t.Fatal(err)
	}
	if s := shown.Standing; s.Steps != 1 || s.Counts[job.KindGap] != 1 {
		t.Errorf("%d steps and %d gaps, want the one call that was whole and one gap", s.Steps, s.Counts[job.KindGap])
	}
}
