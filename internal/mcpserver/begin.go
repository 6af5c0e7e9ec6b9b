package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
	"github.com/seed-5777983b/duplex/internal/workspace"
)

// A session comes to a job: by beginning one, or by taking one that is there.

func start(ctx context.Context, c *call, in struct {
	Goal      string   `json:"goal" says:"what is to be reached, in the person's words" most:"4000"`
	Checks    []string `json:"checks,omitempty" says:"commands that must pass at the end, as in: go test ./..." most:"10"`
	Quick     []string `json:"quick_checks,omitempty" says:"checks that are quick: they also run after a crash" most:"10"`
	Setup     string   `json:"setup,omitempty" says:"command to run in a clean checkout before the checks" most:"2000"`
	Protect   []string `json:"protect,omitempty" says:"globs of files whose first version the checks run with, as in: **/*_test.go" most:"50"`
	KeepTests string   `json:"keep_tests,omitempty" says:"every test must survive: go, or a command that lists the tests" most:"2000"`
}) (answer, error) {
	if err := c.nothingOpen(ctx); err != nil {
		return answer{}, err
	}
	if err := workspace.CheckGlobs(in.Protect); err != nil {
		return answer{}, fmt.Errorf("protect: %w", err)
	}
	r := tracker.StartRequest{Dir: c.folder(), Goal: in.Goal, Setup: in.Setup, Protect: in.Protect, KeepTests: in.KeepTests, Progress: c.progress}
	for _, command := range in.Checks {
		r.Checks = append(r.Checks, job.Check{Command: command})
	}
	for _, command := range in.Quick {
		r.Checks = append(r.Checks, job.Check{Command: command, Quick: true})
	}
	s, err := c.Start(ctx, c.by, r)
	if err != nil {
		return answer{}, err
	}
	return started(s), nil
}

// nothingOpen refuses a second job where one is open: later sessions of the folder
// would belong to neither by themselves.
func (c *call) nothingOpen(ctx context.Context) error {
	id, err := c.Find(ctx, c.by, "", c.folder())
	if errors.Is(err, tracker.ErrNoJobHere) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := c.Standing(ctx, id)
	if err != nil || s.Done() {
		return err
	}
	return fmt.Errorf("job %s is open here: %s. Work on that one (take %s, if you do not hold it); a second one in this folder is begun by the person: duplex start", s.Short, job.Clip(s.Goal, 100), s.Short)
}

func started(s tracker.Started) answer {
	lines := []string{fmt.Sprintf("%s is open in %s, and this session holds it. Its goal and checks are yours until the person confirms them: duplex amend %s --goal \"…\"", s.Short, s.Workspace, s.Short)}
	if s.SafePoint > 0 {
		lines = append(lines, fmt.Sprintf("safe point %d holds the workspace as it is", s.SafePoint))
	}
	if s.Baseline == nil {
		lines = append(lines, "no checks: a finish will be unverified; the person adds one: duplex amend "+s.Short+" --check \"…\"")
	} else {
		lines = append(lines, checked(s.Baseline, true)...)
	}
	for _, q := range s.Proposals {
		lines = append(lines, fmt.Sprintf("proposed: %s (%s); the person takes it: duplex amend %s %s", q.Flag, q.Why, s.Short, q.Flag))
	}
	for _, u := range s.LeftOut[:min(len(s.LeftOut), 6)] {
		lines = append(lines, fmt.Sprintf("not in the safe point: %s (%s)", u.Path, u.Why))
	}
	for _, l := range s.Lessons {
		lines = append(lines, "lesson: "+job.Clip(l.Text, 200))
	}
	less, least := s, tracker.Started{Job: s.Job, Short: s.Short, Workspace: s.Workspace, SafePoint: s.SafePoint}
	less.LeftOut, less.Lessons, less.Checks, less.Baseline = nil, nil, nil, inShort(s.Baseline, 300)
	s.LeftOut, s.Baseline = s.LeftOut[:min(len(s.LeftOut), 6)], inShort(s.Baseline, 1000)
	return answer{schema: "started/1", text: strings.Join(lines, "\n"), sizes: []any{s, less, least}}
}

func take(ctx context.Context, c *call, in struct {
	Job string `json:"job" says:"the job's short name, as standing shows it"`
}) (answer, error) {
	id, err := c.Find(ctx, c.by, in.Job, c.folder())
	if err != nil {
		return answer{}, err
	}
	t, err := c.Take(ctx, c.by, id, tracker.TakeRequest{Dir: c.folder()})
	if err != nil {
		return answer{}, err
	}
	b, err := c.Brief(ctx, id, tracker.BriefRequest{Characters: limit - 1500})
	if err != nil {
		return answer{}, err
	}
	t.Brief = strings.TrimRight(b.Text, "\n")
	text := fmt.Sprintf("%s is this session's, under token %d\n%s", t.Short, t.Token, t.Brief)
	less := t
	less.Brief = ""
	return answer{schema: "taken/1", text: text, sizes: []any{t, less}}, nil
}
