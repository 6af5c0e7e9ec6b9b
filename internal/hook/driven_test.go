package hook

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// A session that Duplex drives has its hooks from Duplex. The hooks that a person
// has set up as well hear the same, and leave it alone; they still hear sessions
// that the driven agent starts in turn.
func TestHooksOfADrivenSessionAreNotDoubled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		driven  bool
		session string
		want    bool // it is given a brief
	}{
		"ours":                     {true, "s1", true},
		"a person's":               {false, "s1", false},
		"a person's, of a session": {false, "s2", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			in, err := json.Marshal(map[string]any{"session_id": c.session, "cwd": p.repo, "hook_event_name": "SessionStart", "source": "startup"})
			if err != nil {
				t.Fatal(err)
			}
			env := func(name string) string { return map[string]string{agent.DrivenEnv: "s1"}[name] }
			out, err := Run(context.Background(), Call{Adapter: script.Adapter{}, Driven: c.driven, Stdin: strings.NewReader(string(in)), Getenv: env, Dir: p.home, Now: time.Now,
				Open: func(ctx context.Context, refold bool) (*tracker.Tracker, error) {
					return open(ctx, p.home, time.Minute)
				},
				Redact: func() (*redact.Redactor, error) { return tracker.Redactor(p.home, nil) }, TakeIn: func() error { return nil }})
			if err != nil || strings.Contains(string(out.Stdout), "Move everything") != c.want {
				t.Errorf("answered %q, %v; want a brief: %v", out.Stdout, err, c.want)
			}
			tr, err := open(context.Background(), p.home, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			s, err := tr.Standing(context.Background(), p.id)
			if err != nil || (s.Counts[job.KindSessionStarted] > 0) != c.want {
				t.Errorf("%d sessions, %v; want one: %v", s.Counts[job.KindSessionStarted], err, c.want)
			}
		})
	}
}
