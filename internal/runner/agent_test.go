package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// The agent of these tests is this test's own program, spoken to on its standard
// input: what it does is a function beside the test that drives it. Its hooks are
// calls of the tracker in its own process, as a hook's would be.

// acts are the agents, by name.
var acts = map[string]func(*actor){}

const (
	actVariable  = "RUNNER_TEST_ACT"
	homeVariable = "RUNNER_TEST_HOME"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(actVariable); name != "" {
		os.Exit(perform(name))
	}
	os.Exit(m.Run())
}

// speaker is an adapter whose agent prints agent.Streamed as JSON.
type speaker struct{ script.Adapter }

var _ agent.Talker = speaker{}

func (speaker) Command(d agent.Drive) (argv, env []string) {
	mode := "fresh"
	if d.Resume {
		mode = "resumed"
	}
	return []string{os.Args[0], mode, d.Session, d.Dir}, nil
}

func (speaker) Stream(line []byte) (s agent.Streamed, err error) {
	return s, json.Unmarshal(line, &s)
}

func (speaker) Begin(agent.Drive) []byte { return []byte("begin\n") }
func (speaker) Interrupt() []byte        { return []byte("interrupt\n") }
func (speaker) Measure() []byte          { return []byte("measure\n") }

// actor is the agent's side.
type actor struct {
	*tracker.Tracker
	resumed      bool
	session, dir string
	transcript   string
	heard        *bufio.Scanner
	calls        int
}

func perform(name string) int {
	ctx := context.Background()
	t, err := openTracker(ctx, os.Getenv(homeVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	a := &actor{Tracker: t, resumed: os.Args[1] == "resumed", session: os.Args[2], dir: os.Args[3], heard: bufio.NewScanner(os.Stdin)}
	a.transcript = filepath.Join(os.Getenv(homeVariable), a.session+".jsonl")
	f, err := os.OpenFile(a.transcript, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	acts[name](a)
	return 0
}

func openTracker(ctx context.Context, home string) (*tracker.Tracker, error) {
	return tracker.Open(ctx, tracker.Options{Dir: home, Settings: tracker.DefaultSettings(), Create: true, Now: time.Now, Agents: []agent.Adapter{script.Adapter{}}})
}

// hook calls a hook, and gives what it answers.
func (a *actor) hook(e agent.Event) agent.Answer {
	e.Session, e.Dir, e.Transcript, e.Model = a.session, a.dir, a.transcript, "script-large"
	o, err := a.Observe(context.Background(), script.Adapter{}, e)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return o.Answer
}

func (a *actor) arrives() {
	source := "startup"
	if a.resumed {
		source = "resume"
	}
	a.hook(agent.Event{Kind: agent.SessionStart, Source: source})
	a.until("begin")
}

func (a *actor) leaves() { a.hook(agent.Event{Kind: agent.SessionEnd, Reason: "other"}) }

// prints says something of itself.
func (a *actor) prints(s agent.Streamed) {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
}

// works makes one call, of which a step remains, at a fill of its context.
func (a *actor) works(context int64) agent.Answer {
	a.calls++
	id := fmt.Sprintf("toolu_%s_%d_%04d", a.session, os.Getpid(), a.calls)
	a.prints(agent.Streamed{Calls: 1, Context: max(1, context)})
	zero := 0
	answer := a.hook(agent.Event{Kind: agent.AfterTool, Context: context,
		Tool: &agent.Call{ID: id, Name: "Bash", Class: job.ClassCommand, Title: "work", Command: "work", Done: &agent.Done{Result: job.OK, Exit: &zero}}})
	a.prints(agent.Streamed{Results: 1})
	return answer
}

// until waits for a line that is said to it, and passes over others; false when
// the conversation is over.
func (a *actor) until(line string) bool {
	for a.heard.Scan() {
		if a.heard.Text() == line {
			return true
		}
	}
	return false
}

// stage is a job to be driven, and what was told while it was.
type stage struct {
	*tracker.Tracker
	t    *testing.T
	repo string
	home string
	id   job.ID

	mu   sync.Mutex
	told []string
}

func newStage(t *testing.T, r tracker.StartRequest) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{t: t, repo: t.TempDir(), home: t.TempDir()}
	if out, err := exec.Command("git", "init", "-q", s.repo).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	var err error
	if s.Tracker, err = openTracker(t.Context(), s.home); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r.Dir = s.repo
	if r.Goal == "" {
		r.Goal = "Do it"
	}
	started, err := s.Start(t.Context(), tracker.APerson(), r)
	if err != nil {
		t.Fatal(err)
	}
	s.id = started.Job
	return s
}

// run drives the job with an agent.
func (s *stage) run(ctx context.Context, act string, change func(*Options)) (Result, error) {
	s.t.Helper()
	if acts[act] == nil {
		s.t.Fatalf("no act %s", act)
	}
	o := Options{Tracker: s.Tracker, Job: s.id, Dir: s.repo, Choices: []Choice{{Driver: speaker{}, Model: "script-large"}}, Beat: 50 * time.Millisecond,
		Env: []string{actVariable + "=" + act, homeVariable + "=" + s.home}, NoCheck: true,
		patience: patience{turn: 5 * time.Second, end: 5 * time.Second, rest: 5 * time.Second, probe: time.Millisecond},
		Tell: func(e Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, strings.TrimSpace(e.Kind+" "+e.Text))
		}}
	if change != nil {
		change(&o)
	}
	return Run(ctx, o)
}

// says tells whether something was told.
func (s *stage) says(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.told, "\n"), text)
}

func (s *stage) standing() job.Standing {
	s.t.Helper()
	now, err := s.Standing(context.Background(), s.id)
	if err != nil {
		s.t.Fatal(err)
	}
	return now
}
