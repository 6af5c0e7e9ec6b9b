package handover

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// story writes a ledger, entry by entry, and folds it.
type story struct {
	t       testing.TB
	mem     *job.Memory
	entries []job.Entry
	now     job.Time
	session job.ID
	agent   string
	actions int64
}

func id(n int) job.ID {
	var b [16]byte
	b[0], b[1], b[2], b[15] = byte(n>>16), byte(n>>8), byte(n), 7
	return job.NewID(b)
}

func newStory(t testing.TB, goal string, checks ...string) *story {
	s := &story{t: t, mem: job.NewMemory(), now: job.At(time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC))}
	o := &job.Opened{Short: "k7m2", Goal: goal, Workspace: job.Workspace{ID: id(9001), Path: "/src/calc", Branch: "main", Git: true}}
	for i, c := range checks {
		o.Checks = append(o.Checks, job.Check{ID: fmt.Sprintf("c%d", i+1), Command: c})
	}
	s.person(o)
	return s
}

func (s *story) add(by job.Author, p job.Payload) job.Entry {
	s.t.Helper()
	s.now += 60_000_000
	e := job.Entry{Envelope: job.Envelope{Job: id(1), Position: s.mem.Now.Position + 1, ID: id(100 + len(s.entries)), Kind: p.Kind(), V: 1,
		RecordedAt: s.now, HappenedAt: s.now, TimeSource: job.FromClock, Session: s.session, Author: by}, Payload: p}
	if err := e.Validate(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.mem.Apply(e); err != nil {
		s.t.Fatal(err)
	}
	s.entries = append(s.entries, e)
	return e
}

func (s *story) person(p job.Payload) job.Entry {
	s.t.Helper()
	return s.add(job.Author{Kind: job.Person}, p)
}

func (s *story) duplex(p job.Payload) job.Entry {
	s.t.Helper()
	return s.add(job.Author{Kind: job.Duplex}, p)
}

func (s *story) agents(p job.Payload) job.Entry {
	s.t.Helper()
	return s.add(job.Author{Kind: job.Agent, Name: s.agent}, p)
}

// sit starts the next session.
func (s *story) sit(agent string) {
	s.t.Helper()
	n := s.mem.Now.Sessions + 1
	s.session, s.agent = id(500+n), agent
	s.duplex(&job.SessionStarted{Agent: agent, AgentSession: fmt.Sprintf("s%d", n), Number: n})
}

func (s *story) edit(path string, symbols ...string) job.Entry {
	s.t.Helper()
	s.actions++
	p := &job.Step{Class: job.ClassEdit, Title: "edited " + path, Result: job.OK, Action: s.actions, Paths: []job.Touch{{Name: path, Role: job.RoleEdit}}}
	for _, name := range symbols {
		p.Symbols = append(p.Symbols, job.Touch{Name: name, Role: job.RoleEdit, In: path})
	}
	return s.agents(p)
}

func (s *story) read(paths ...string) {
	s.t.Helper()
	s.actions++
	p := &job.Touched{Tool: "Read", Action: s.actions}
	for _, path := range paths {
		p.Paths = append(p.Paths, job.Touch{Name: path, Role: job.RoleRead})
	}
	s.agents(p)
}

func (s *story) run(class job.Class, command string, exit int, output string, failures ...string) job.Entry {
	s.t.Helper()
	s.actions++
	p := &job.Step{Class: class, Title: command, Command: command, Result: job.OK, Exit: &exit, Action: s.actions, Receipt: job.Receipt{Text: output}}
	if exit != 0 {
		p.Result = job.Failed
	}
	if class == job.ClassTest {
		p.Tests = &job.TestCounts{Passed: 12, Failed: len(failures), Failures: failures}
	}
	return s.agents(p)
}

func (s *story) view() View { return Gather(s.mem, s.entries, s.now) }

// calc is a job in the middle: a folder half done, a test that fails, a way that
// did not work, a decision replaced, and a session that has just left.
func calc(t testing.TB) *story {
	s := newStory(t, "Move the home-made tests of the calculator to table tests.\nEvery test must survive.", "go test ./...", "! grep -rn AssertEq calc")
	s.duplex(&job.Checked{Where: "clean checkout", Baseline: true, Results: []job.CheckResult{{ID: "c1", State: job.CheckPassed}, {ID: "c2", State: job.CheckFailed, Reason: "38 files"}}})
	s.sit("claude")
	s.duplex(&job.SafePoint{Number: 1, Why: "start", Commits: []job.Snapshot{{Workspace: id(9001), Commit: "aaaabbbbccccdddd"}}})
	s.person(&job.Instructed{Text: "Never touch the files under legacy/. Work folder by folder.", Standing: true})
	old := s.agents(&job.Decided{Text: "use one table for each package", Why: "fewer lines"})
	s.agents(&job.Decided{Text: "use one table for each function", Why: "a failing case must name its function", Rejected: []string{"one table for each package", "subtests without a table"}, Supersedes: old.ID})
	s.agents(&job.DeadEnd{Text: "rewriting with gofmt -r", Why: "it cannot add a loop", Command: "gofmt -r 'AssertEq(t,a,b) -> x' calc"})
	q := s.agents(&job.Asked{Text: "May helper.go be deleted at the end?", Options: []string{"yes", "no"}})
	s.person(&job.Answered{Question: q.ID, Text: "Yes, once nothing calls it."})
	s.read("calc/add.go", "calc/add_test.go")
	s.edit("calc/add_test.go", "TestAddTable", "addCases")
	s.run(job.ClassTest, "go test ./calc -run Add", 0, "ok")
	s.edit("calc/sub_test.go", "TestSubTable")
	s.run(job.ClassTest, "go test ./calc -run Sub", 1, "--- FAIL: TestSub/negative\n    sub_test.go:14: expected -3, got 3\nFAIL", "TestSub/negative")
	s.agents(&job.Step{Class: job.ClassCommit, Title: "commit: calc: move add to a table", Result: job.OK, Commit: "4e1c9ab77d0123", Added: 21, Removed: 40, Action: s.actions})
	done := s.agents(&job.Raised{Text: "the helper prints to stdout"})
	s.agents(&job.Settled{Item: done.ID, How: "it prints to the test log"})
	s.agents(&job.Raised{Text: "div_test.go has a case that divides by zero: ask whether it stays"})
	s.person(&job.Instructed{Text: "Please keep the case names as they are,\neven the odd ones."})
	s.duplex(&job.Seen{Branch: "main", Head: "9d03f1e2a4b5c6d7", Changed: []string{"calc/sub_test.go"},
		Folders: []job.Folder{{Path: "calc", Done: []string{"add_test.go"}, Left: []string{"div_test.go", "mul_test.go", "pow_test.go", "root_test.go"}}}})
	s.duplex(&job.SafePoint{Number: 2, Why: "before a handover", Commits: []job.Snapshot{{Workspace: id(9001), Commit: "bbbbccccddddeeee"}}})
	return s
}
