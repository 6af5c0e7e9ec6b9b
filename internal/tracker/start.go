package tracker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// StartRequest begins a job.
type StartRequest struct {
	Dir       string
	Goal      string
	Checks    []job.Check
	Measures  []job.Measure
	Setup     string
	Protect   []string
	KeepTests string // "go", or the command that lists tests; empty: none
	Budget    job.Budget
	OnCrash   string
	Parent    job.ID
	// Propose: take the proposals for what must stay, where nothing was said.
	Propose bool
	// NoBaseline leaves out the run of the checks on day one.
	NoBaseline bool
	Progress   func(string)
}

// Proposal is a default that start offers for what must stay.
type Proposal struct {
	Flag string `json:"flag"`
	Why  string `json:"why"`
}

// Started says what start found.
type Started struct {
	Job       job.ID      `json:"job"`
	Short     string      `json:"short"`
	Goal      string      `json:"goal"`
	Workspace string      `json:"workspace"`
	Proposals []Proposal  `json:"proposals,omitempty"` // not taken
	Taken     []Proposal  `json:"taken,omitempty"`
	Baseline  *CheckRun   `json:"baseline,omitempty"`
	SafePoint int         `json:"safe_point,omitempty"`
	Lessons   []job.Item  `json:"lessons,omitempty"`
	Checks    []job.Check `json:"checks,omitempty"`
}

// Start begins a job: it is opened, a safe point holds the workspace as it is,
// and the checks run once in a clean checkout, so that day one says which are
// red, green or cannot run.
func (t *Tracker) Start(ctx context.Context, by Actor, r StartRequest) (Started, error) {
	if err := needText(r.Goal, "the goal"); err != nil {
		return Started{}, err
	}
	if len(r.Checks) > job.MaxChecks {
		return Started{}, fmt.Errorf("%w: a job has at most %d checks; join some with &&", job.ErrInvalid, job.MaxChecks)
	}
	if err := needCommands(r.Checks); err != nil {
		return Started{}, err
	}
	p, err := t.Place(r.Dir)
	if err != nil {
		return Started{}, err
	}
	out := Started{Goal: r.Goal, Workspace: p.Top}
	proposals := propose(p, r)
	if r.Propose {
		out.Taken = proposals
		for _, q := range proposals {
			applyProposal(&r, q)
		}
	} else {
		out.Proposals = proposals
	}
	opened := &job.Opened{Goal: r.Goal, Checks: numbered(r.Checks), Measures: r.Measures, Setup: r.Setup, Protect: r.Protect, Budget: r.Budget,
		Workspace: p.workspace(), Parent: r.Parent, OnCrash: r.OnCrash, Repository: repositoryOf(p), Unconfirmed: by.Author.Kind == job.Agent}
	if r.KeepTests != "" {
		opened.KeepTests = &job.KeepTests{List: r.KeepTests}
	}
	out.Checks = opened.Checks
	err = t.write(ctx, by, true, func(c *change) error {
		id, err := c.open(opened)
		if err != nil {
			return err
		}
		out.Job, out.Short = id, opened.Short
		out.Lessons, err = c.lessonsFor(opened.Repository, id, 3)
		if err != nil || r.Parent == "" {
			return err
		}
		_, err = c.append(r.Parent, &job.Linked{To: id, Relation: "child"})
		return err
	})
	if err != nil {
		return out, err
	}
	if by.Session != "" { // the session that starts a job holds it
		if _, err := t.Take(ctx, by, out.Job, TakeRequest{Dir: r.Dir}); err != nil {
			return out, err
		}
		if by, err = t.Actor(ctx); err != nil {
			return out, err
		}
	}
	kept, err := t.Keep(ctx, by, out.Job, KeepRequest{Why: "start"})
	if err != nil {
		return out, fmt.Errorf("job %s is open, but its first safe point could not be taken: %w", out.Short, err)
	}
	out.SafePoint = kept.Number
	if r.NoBaseline || len(r.Checks) == 0 && opened.KeepTests == nil && len(r.Protect) == 0 {
		return out, nil
	}
	run, err := t.Check(ctx, by, out.Job, CheckRequest{Baseline: true, Progress: r.Progress})
	out.Baseline = &run
	if err != nil {
		return out, fmt.Errorf("job %s is open, but its checks could not be run once: %w", out.Short, err)
	}
	return out, nil
}

// open gives a job its id, its short name and its first entry.
func (c *change) open(p *job.Opened, details ...detail) (job.ID, error) {
	id := newID()
	for !job.ReadsAsName(id) {
		id = newID()
	}
	short, err := c.tx.TakeShort(id)
	if err != nil {
		return "", err
	}
	p.Short = short
	c.by.Workspace = p.Workspace.ID
	_, err = c.append(id, p, details...)
	return id, err
}

// needCommands refuses a check without a command: it would always pass.
func needCommands(checks []job.Check) error {
	for _, c := range checks {
		if err := needText(c.Command, "the command of a check"); err != nil {
			return err
		}
	}
	return nil
}

func numbered(checks []job.Check) []job.Check {
	out := append([]job.Check(nil), checks...)
	for i := range out {
		if out[i].ID == "" {
			out[i].ID = nextCheck(nil, out[:i])
		}
	}
	return out
}

// repositoryOf is a digest that work trees of one repository share, so that
// lessons of one job reach the next.
func repositoryOf(p Place) string {
	d := sha256.Sum256([]byte(p.CommonDir))
	return hex.EncodeToString(d[:8])
}

// propose says what should stay where nothing was said: for a job on code the
// tests and the runner's configuration, for a job on tests the source and every
// test.
func propose(p Place, r StartRequest) []Proposal {
	if len(r.Protect) > 0 || r.KeepTests != "" || len(r.Checks) == 0 {
		return nil
	}
	goMod := exists(filepath.Join(p.Top, "go.mod"))
	if aboutTests(r.Goal) {
		if !goMod {
			return nil
		}
		return []Proposal{{Flag: "--keep-tests go", Why: "the goal is about tests: every test must survive"}}
	}
	var out []Proposal
	if goMod {
		out = append(out, Proposal{Flag: "--protect '**/*_test.go'", Why: "the goal is about code: the tests stay as they are"})
	}
	for _, name := range []string{"pytest.ini", "vitest.config.ts", "vitest.config.js", "jest.config.js", "jest.config.ts", ".mocharc.json", "playwright.config.ts"} {
		if exists(filepath.Join(p.Top, name)) {
			out = append(out, Proposal{Flag: "--protect " + name, Why: "the runner's configuration stays as it is"})
		}
	}
	for _, dir := range []string{"test", "tests", "spec", "__tests__"} {
		if info, err := os.Stat(filepath.Join(p.Top, dir)); err == nil && info.IsDir() {
			out = append(out, Proposal{Flag: "--protect '" + dir + "/**'", Why: "the goal is about code: the tests stay as they are"})
		}
	}
	return out
}

func aboutTests(goal string) bool {
	for _, w := range strings.Fields(strings.ToLower(goal)) {
		if strings.HasPrefix(strings.Trim(w, ".,:;()\"'"), "test") {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func applyProposal(r *StartRequest, q Proposal) {
	flag, value, _ := strings.Cut(q.Flag, " ")
	value = strings.Trim(value, "'")
	switch flag {
	case "--protect":
		r.Protect = append(r.Protect, value)
	case "--keep-tests":
		r.KeepTests = value
	}
}

// lessonsFor picks lessons of other jobs in the same repository, newest first.
func (c *change) lessonsFor(repository string, not job.ID, n int) ([]job.Item, error) {
	if repository == "" {
		return nil, nil
	}
	lessons, err := c.tx.Lessons(repository, 0)
	if err != nil {
		return nil, err
	}
	var all []job.Item
	of := map[job.ID]int{}
	for _, l := range lessons { // the newest ten of each job
		if l.Job != not && l.Item.State == job.InForce && of[l.Job] < 10 {
			of[l.Job]++
			all = append(all, l.Item)
		}
	}
	return pickLessons(all, n), nil
}
