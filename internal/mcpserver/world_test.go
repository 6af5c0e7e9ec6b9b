package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// world is a real repository and a real store, and sessions of Claude Code that are
// known by their hooks alone.
type world struct {
	*testing.T
	state, repo string
	tick        sync.Mutex
	now         time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{T: t, state: t.TempDir(), repo: t.TempDir(), now: time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC)}
	w.write("price.sh", "echo 9.999\n")
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("-c", "user.name=Mara", "-c", "user.email=mara@example.org", "commit", "-q", "-m", "begin")
	return w
}

func (w *world) git(args ...string) {
	w.Helper()
	c := exec.Command("git", args...)
	c.Dir = w.repo
	if out, err := c.CombinedOutput(); err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.repo, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) clock() time.Time {
	w.tick.Lock()
	defer w.tick.Unlock()
	w.now = w.now.Add(time.Second)
	return w.now
}

func (w *world) options(env map[string]string) tracker.Options {
	return tracker.Options{Dir: w.state, Settings: tracker.DefaultSettings(), Create: true, Now: w.clock, Agents: []agent.Adapter{claude.Adapter{}},
		Getenv: func(name string) string { return env[name] }, Busy: 5 * time.Second}
}

// tracker opens the store for a moment, as a person's command does.
func (w *world) tracker(use func(t *tracker.Tracker)) {
	w.Helper()
	t, err := tracker.Open(w.Context(), w.options(nil))
	if err != nil {
		w.Fatal(err)
	}
	defer t.Close()
	use(t)
}

// start begins a job as a person does, and gives its id and short name.
func (w *world) start(goal string, checks ...string) (id job.ID, short string) {
	w.Helper()
	r := tracker.StartRequest{Dir: w.repo, Goal: goal}
	for _, c := range checks {
		r.Checks = append(r.Checks, job.Check{Command: c})
	}
	w.tracker(func(t *tracker.Tracker) {
		s, err := t.Start(w.Context(), tracker.APerson(), r)
		if err != nil {
			w.Fatal(err)
		}
		id, short = s.Job, s.Short
	})
	return id, short
}

// hook lets a session of Claude Code call a hook.
func (w *world) hook(session string, ev agent.Event) {
	w.Helper()
	ev.Session, ev.Dir = session, w.repo
	w.tracker(func(t *tracker.Tracker) {
		if _, err := t.Observe(w.Context(), claude.Adapter{}, ev); err != nil {
			w.Fatal(err)
		}
	})
}

func (w *world) arrive(session string) {
	w.Helper()
	w.hook(session, agent.Event{Kind: agent.SessionStart, Source: "startup"})
}

// server is one that a session has started; "" is an agent without one.
func (w *world) server(session string) *Server {
	env := map[string]string{"CLAUDE_CODE_SESSION_ID": session, "CLAUDE_PROJECT_DIR": w.repo}
	return &Server{Dir: "/", Getenv: func(name string) string { return env[name] }, Version: "0.0.0-test", Log: io.Discard,
		Open: func(ctx context.Context, _ Need) (*tracker.Tracker, func() error, error) {
			t, err := tracker.Open(ctx, w.options(env))
			if err != nil {
				return nil, nil, err
			}
			return t, t.Close, nil
		}}
}

// client is the official SDK's, at a session's server.
type client struct {
	*world
	*mcp.ClientSession
}

func (w *world) client(session string) client {
	w.Helper()
	return w.connect(w.server(session), nil)
}

func (w *world) connect(s *Server, o *mcp.ClientOptions) client {
	w.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(w.Context(), toServer, fromServer); fromServer.Close() }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(w.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		c.Close()
		if err := <-served; err != nil {
			w.Errorf("the server ended with %v", err)
		}
	})
	return client{w, c}
}

// call calls a tool and gives its text and its object.
func (c client) call(tool string, arguments any) (text string, object map[string]any, refused bool) {
	c.Helper()
	r, err := c.CallTool(c.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.Fatalf("%s: %v", tool, err)
	}
	for _, part := range r.Content {
		text += part.(*mcp.TextContent).Text
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		c.Fatal(err)
	}
	for what, n := range map[string]int{"text": len([]rune(text)), "object": shown(b)} {
		if n > limit+200 {
			c.Errorf("%s answers with a %s of %d characters", tool, what, n)
		}
	}
	object, _ = r.StructuredContent.(map[string]any)
	return text, object, r.IsError
}

// must calls a tool that has to do what it is asked.
func (c client) must(tool, schema string, arguments any) (string, map[string]any) {
	c.Helper()
	text, object, refused := c.call(tool, arguments)
	if refused {
		c.Fatalf("%s refuses: %s", tool, text)
	}
	if object["schema"] != "duplex."+schema {
		c.Fatalf("%s answers with schema %v, want duplex.%s", tool, object["schema"], schema)
	}
	return text, object
}

// refused calls a tool that has to refuse, with these words.
func (c client) refused(tool string, arguments any, words ...string) {
	c.Helper()
	text, object, refused := c.call(tool, arguments)
	if !refused || object != nil {
		c.Errorf("%s %v does not refuse: %s %v", tool, arguments, text, object)
		return
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			c.Errorf("%s %v refuses without saying %q:\n%s", tool, arguments, word, text)
		}
	}
}

// entries of a job, of the kinds named.
func (w *world) entries(id job.ID, kinds ...job.Kind) []job.Entry {
	w.Helper()
	var out []job.Entry
	w.tracker(func(t *tracker.Tracker) {
		err := t.Log(w.Context(), id, tracker.LogRequest{Kinds: kinds}, func(e job.Entry) error { out = append(out, e); return nil })
		if err != nil {
			w.Fatal(err)
		}
	})
	return out
}

func (w *world) last(id job.ID, kind job.Kind) job.Entry {
	w.Helper()
	all := w.entries(id, kind)
	if len(all) == 0 {
		w.Fatalf("no entry %q", kind)
	}
	return all[len(all)-1]
}
