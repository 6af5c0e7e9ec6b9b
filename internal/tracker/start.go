package tracker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/workspace"
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
	Large      bool // a person agreed to a first safe point beyond the limits of size and count
	Progress   func(string)
}

// Proposal is a default that start offers for what must stay.
type Proposal struct {
	Flag string `json:"flag"`
	Why  string `json:"why"`
}

// Started says what start found.
type Started struct {
	Job       job.ID     `json:"job"`
	Short     string     `json:"short"`
	Goal      string     `json:"goal"`
	Workspace string     `json:"workspace"`
	Proposals []Proposal `json:"proposals,omitempty"` // not taken
	Taken     []Proposal `json:"taken,omitempty"`
	Baseline  *CheckRun  `json:"baseline,omitempty"`
	SafePoint int        `json:"safe_point,omitempty"`
	// LeftOut is what the first safe point does not hold, the most telling first, and
	// of how many.
	LeftOut      []Uncovered `json:"left_out,omitempty"`
	LeftOutCount int         `json:"left_out_count,omitempty"`
	Lessons      []job.Item  `json:"lessons,omitempty"`
	Checks       []job.Check `json:"checks,omitempty"`
}

// Start begins a job: it is opened, a safe point holds the workspace as it is,
// and the checks run once in a clean checkout, so that day one says which are
// red, green or cannot run. Without its first safe point no job is begun.
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
		return err
	})
	if err != nil {
		return out, err
	}
	kept, err := t.firstSafePoint(ctx, by, p, &out, r.Large)
	if err != nil {
		return out, err
	}
	if r.Parent != "" {
		err := t.write(ctx, by, true, func(c *change) error {
			_, err := c.append(r.Parent, &job.Linked{To: out.Job, Relation: "child"})
			return err
		})
		if err != nil {
			return out, err
		}
	}
	if by.Session != "" { // the session that starts a job holds it
		taken, err := t.Take(ctx, by, out.Job, TakeRequest{Dir: r.Dir})
		if err != nil {
			return out, err
		}
		by.Job, by.Token, by.Guest = out.Job, taken.Token, false
	}
	out.SafePoint = kept.Number
	out.LeftOut, out.LeftOutCount = telling(kept.NotCovered), len(kept.NotCovered)
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

// firstSafePoint takes the safe point that every later one is held against. A job
// that cannot have it is taken back whole. It is Duplex's own act where a session
// starts the job: that session gets the lease once there is a job to hold.
func (t *Tracker) firstSafePoint(ctx context.Context, by Actor, p Place, s *Started, large bool) (Kept, error) {
	if by.Session != "" {
		by = Actor{Author: job.Author{Kind: job.Duplex}}
	}
	kept, err := t.Keep(ctx, by, s.Job, KeepRequest{Why: "start", Large: large})
	if err == nil {
		return kept, nil
	}
	ctx = context.WithoutCancel(ctx) // Ctrl-C is one of the reasons
	var back error
	if len(kept.Commits) > 0 { // the ref is there, the entry is not
		_, back = p.Remove(ctx, string(s.Job))
	}
	if back == nil {
		_, back = t.store.Erase(ctx, s.Job)
	}
	if back != nil {
		return kept, fmt.Errorf("job %s is open, but its first safe point could not be taken: %w; take it with duplex safepoint create, or end the job with duplex abandon %s (%v)", s.Short, err, s.Short, back)
	}
	s.Job, s.Short = "", ""
	return kept, fmt.Errorf("no job was begun, since its first safe point could not be taken: %w", err)
}

// mostLeftOut is how many of the paths that a first safe point leaves out are named.
const mostLeftOut = 20

// telling are the paths among those left out that most want a person's eye: what was
// too large or could not be read before what git ignores, files before whole folders.
func telling(all []Uncovered) []Uncovered {
	rank := func(u Uncovered) int {
		switch {
		case u.Why != workspace.Ignored:
			return 0
		case !strings.HasSuffix(u.Path, "/"):
			return 1
		}
		return 2
	}
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b Uncovered) int { return cmp.Compare(rank(a), rank(b)) })
	return list[:min(len(list), mostLeftOut)]
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
