package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// The test binary plays a hook process when this names a state folder.
const hookVariable = "HOOK_TEST_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(hookVariable); home != "" {
		out, err := Run(context.Background(), Call{Adapter: script.Adapter{}, Stdin: os.Stdin, Getenv: os.Getenv, Dir: home, Now: time.Now,
			Open: func(ctx context.Context, refold bool) (*tracker.Tracker, error) {
				return open(ctx, home, 2*time.Second)
			},
			Redact: func() (*redact.Redactor, error) { return tracker.Redactor(home, nil) }, TakeIn: func() error { return nil }})
		os.Stdout.Write(out.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(out.Exit) // as a hook ends: nothing is closed
	}
	os.Exit(m.Run())
}

func open(ctx context.Context, home string, busy time.Duration) (*tracker.Tracker, error) {
	return tracker.Open(ctx, tracker.Options{Dir: home, Settings: tracker.DefaultSettings(), Create: true, Busy: busy, Now: time.Now, Agents: []agent.Adapter{script.Adapter{}}})
}

// place is a folder with a job, a state folder, and sessions whose hooks are called.
type place struct {
	t    testing.TB
	home string
	repo string
	id   job.ID

	output string // of each command, beside "ok"
}

func newPlace(t testing.TB) *place {
	t.Helper()
	p := &place{t: t, home: t.TempDir(), repo: t.TempDir()}
	if out, err := exec.Command("git", "init", "-q", p.repo).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	tr, err := open(context.Background(), p.home, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s, err := tr.Start(context.Background(), tracker.APerson(), tracker.StartRequest{Dir: p.repo, Goal: "Move everything"})
	if err != nil {
		t.Fatal(err)
	}
	p.id = s.Job
	return p
}

// call makes the process of one hook call.
func (p *place) call(ctx context.Context, event string, more map[string]any) *exec.Cmd {
	in := map[string]any{"session_id": "11111111-2222-4333-8444-555555555501", "cwd": p.repo, "hook_event_name": event, "model": "script-large"}
	for k, v := range more {
		in[k] = v
	}
	b, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), hookVariable+"="+p.home)
	c.Stdin = bytes.NewReader(b)
	return c
}

// after is the call after a command that ran.
func (p *place) after(ctx context.Context, n int) *exec.Cmd {
	return p.call(ctx, script.HookAfterTool, map[string]any{"tool_name": "Bash", "tool_use_id": toolID(n), "tool_input": map[string]any{"command": fmt.Sprint("go test ./part", n)},
		"tool_response": map[string]any{"stdout": "ok\n" + p.output}})
}

func toolID(n int) string { return fmt.Sprintf("toolu_%020d", n) }

// calls are the tool calls that the ledger holds, and its length.
func (p *place) calls() (map[string]bool, int64) {
	p.t.Helper()
	tr, err := open(context.Background(), p.home, time.Minute)
	if err != nil {
		p.t.Fatal(err)
	}
	defer tr.Close()
	if err := Deliver(context.Background(), tr, p.home); err != nil {
		p.t.Fatal(err)
	}
	found, n := map[string]bool{}, int64(0)
	err = tr.Log(context.Background(), p.id, tracker.LogRequest{}, func(e job.Entry) error {
		n++
		if e.Position != n {
			return fmt.Errorf("entry at position %d after %d: a hole", e.Position, n-1)
		}
		if s, ok := e.Payload.(*job.Step); ok {
			if found[s.Call] {
				return fmt.Errorf("call %s is recorded twice", s.Call)
			}
			found[s.Call] = true
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := tr.Verify(context.Background(), p.id)
	if err != nil || !r.Holds() {
		p.t.Errorf("verify: %+v, %v", r, err)
	}
	return found, n
}

func scale() float64 {
	if v, err := strconv.ParseFloat(os.Getenv("DUPLEX_SCALE"), 64); err == nil && v > 0 {
		return v
	}
	return 1
}

// TestKilledHooks kills hook processes at random moments while others go on: the
// chain verifies, no acknowledged call is lost, nothing is twice and no hole is left.
func TestKilledHooks(t *testing.T) {
	kills, writers, each := min(int(40*scale()), 500), min(4+int(scale()), 16), min(int(12*scale()), 60)
	ctx := context.Background()
	p := newPlace(t)
	if out, err := p.call(ctx, script.HookSessionStart, map[string]any{"source": "startup"}).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var all sync.WaitGroup
	for w := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range each {
				n := 1_000_000 + w*1000 + i
				// One that waited too long for its turn says so, and spools its call.
				if err := p.after(ctx, n).Run(); err != nil {
					t.Errorf("hook: %v", err)
					continue
				}
				mu.Lock()
				acknowledged[toolID(n)] = true
				mu.Unlock()
			}
		}()
	}
	rng := rand.New(rand.NewSource(1))
	died, started := 0, 0
	for n := 0; died < kills && n < 5*kills; n++ {
		started++
		if n%3 == 0 { // then the hook asks the store, and is not done in a moment
			if err := Forget(p.home); err != nil {
				t.Fatal(err)
			}
		}
		c := p.after(ctx, n)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Intn(30)) * time.Millisecond)
		_ = c.Process.Kill()
		if c.Wait() != nil {
			died++
		} else {
			mu.Lock()
			acknowledged[toolID(n)] = true
			mu.Unlock()
		}
	}
	all.Wait()
	found, entries := p.calls()
	for id := range acknowledged {
		if !found[id] {
			t.Errorf("call %s was acknowledged and is lost", id)
		}
	}
	t.Logf("%d hooks called by %d writers beside, %d of %d killed before their end, %d acknowledged, %d entries", writers*each, writers, died, started, len(acknowledged), entries)
	if died < kills {
		t.Errorf("%d hooks were killed in time, wanted %d", died, kills)
	}
}

// TestLockedStore: another process holds the store for long. A hook after a tool does
// not need it; one that has to ask it waits no longer than its patience, says why
// in the log, and what only it knew is recorded later.
func TestLockedStore(t *testing.T) {
	ctx := context.Background()
	p := newPlace(t)
	if err := p.call(ctx, script.HookSessionStart, map[string]any{"source": "startup"}).Run(); err != nil {
		t.Fatal(err)
	}
	release := lock(t, p.home)
	call := func(n int) (log string, took time.Duration) {
		var errs bytes.Buffer
		c := p.after(ctx, n)
		c.Stderr = &errs
		begun := time.Now()
		if err := c.Run(); err != nil {
			t.Errorf("the hook broke its agent: %v", err)
		}
		return errs.String(), time.Since(begun)
	}
	if log, took := call(6); log != "" || took > 2*time.Second {
		t.Errorf("a hook after a tool took %v and said %q, wanted not to need the store", took, log)
	}
	if err := Forget(p.home); err != nil {
		t.Fatal(err)
	}
	log, took := call(7)
	if took > 15*time.Second {
		t.Errorf("the agent was kept waiting for %v", took)
	}
	if !strings.Contains(log, "another") && !strings.Contains(log, "lock") && !strings.Contains(log, "busy") {
		t.Errorf("the log says %q, wanted why", log)
	}
	release()
	if found, _ := p.calls(); !found[toolID(6)] || !found[toolID(7)] {
		t.Errorf("what was spooled while the store was locked is lost: %v arrived", found)
	}
}

// TestTornSpoolLine: a torn line costs that line, is recorded as a gap, and the
// others arrive.
func TestTornSpoolLine(t *testing.T) {
	ctx := context.Background()
	p := newPlace(t)
	if err := p.call(ctx, script.HookSessionStart, map[string]any{"source": "startup"}).Run(); err != nil {
		t.Fatal(err)
	}
	release := lock(t, p.home)
	for n := range 3 {
		if err := p.after(ctx, n).Run(); err != nil {
			t.Fatal(err)
		}
	}
	release()
	files, err := filepath.Glob(filepath.Join(p.home, "spool", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing was spooled: %v", err)
	}
	torn := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		for i, l := range lines {
			if bytes.Contains(l, []byte(toolID(1))) {
				lines[i] = append(l[:len(l)/2:len(l)/2], '\n')
				torn++
			}
		}
		if err := os.WriteFile(f, bytes.Join(lines, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if torn != 1 {
		t.Fatalf("%d lines were torn, wanted 1", torn)
	}
	found, _ := p.calls()
	if !found[toolID(0)] || found[toolID(1)] || !found[toolID(2)] {
		t.Errorf("of three spooled calls, the middle one torn, these arrived: %v", found)
	}
}

// TestBadInput: whatever comes in, the agent goes on.
func TestBadInput(t *testing.T) {
	p := newPlace(t)
	for _, in := range []string{"", "{", "null", "[]", "\x00\xff", `{"hook_event_name":"PostToolUse"}`, `{"session_id":7}`,
		`{"session_id":"x","hook_event_name":"SessionStart","transcript_path":"/nowhere/at/all","cwd":"/nowhere"}`} {
		c := p.call(context.Background(), "", nil)
		c.Stdin = strings.NewReader(in)
		if out, err := c.Output(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v, answered %q", in, err, out)
		}
	}
}
