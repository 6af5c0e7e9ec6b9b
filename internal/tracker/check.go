package tracker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/check"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/process"
	"github.com/seed-5777983b/duplex/internal/store"
)

// CheckRequest asks for a run of the checks.
type CheckRequest struct {
	Baseline bool // the first, on day one
	Here     bool // in the workspace as it is, not in a clean checkout
	Quick    bool // only those marked quick
	Final    bool // for a finish: with the original protected files, then the agent's
	Progress func(string)
}

// CheckRun is one run of the checks.
type CheckRun struct {
	Job       job.ID            `json:"job"`
	Short     string            `json:"short"`
	Where     string            `json:"where"`
	SafePoint int               `json:"safe_point,omitempty"`
	Setup     *job.CheckResult  `json:"setup,omitempty"`
	Results   []job.CheckResult `json:"results"`
	Tests     int               `json:"tests,omitempty"`
	ListError string            `json:"list_error,omitempty"`
	Losses    []job.TestLoss    `json:"losses,omitempty"`
	Changed   []string          `json:"checks_changed,omitempty"`
	Position  int64             `json:"position,omitempty"`
	Tree      string            `json:"tree,omitempty"`
}

// defaultCheckTime bounds a check that names no limit.
const defaultCheckTime = 15 * time.Minute

// Check runs the checks, by default in a clean checkout of a safe point taken
// now, outside the workspace.
func (t *Tracker) Check(ctx context.Context, by Actor, id job.ID, r CheckRequest) (CheckRun, error) {
	s, err := t.Standing(ctx, id)
	if err != nil {
		return CheckRun{}, err
	}
	if err := mayGoOn(&s); err != nil { // before minutes of work that could not be recorded
		return CheckRun{}, err
	}
	if len(s.Workspaces) == 0 {
		return CheckRun{}, fmt.Errorf("%w: job %s has no folder to check", job.ErrNotFound, s.Short)
	}
	if r.Progress == nil {
		r.Progress = func(string) {}
	}
	run := checking{Tracker: t, s: &s, r: r, out: CheckRun{Job: id, Short: s.Short, Where: "clean checkout"}}
	if run.checks, err = t.checksOf(ctx, id); err != nil {
		return run.out, err
	}
	if run.terms, err = t.termsOf(ctx, id); err != nil {
		return run.out, err
	}
	if run.base, err = t.baseline(ctx, id); err != nil {
		return run.out, err
	}
	if run.accepted, err = t.acceptedTests(ctx, id); err != nil {
		return run.out, err
	}
	if r.Here {
		err = run.here(ctx)
	} else {
		err = run.clean(ctx, by)
	}
	if err != nil {
		return run.out, err
	}
	return run.out, t.write(ctx, by, true, func(c *change) error {
		p := &job.Checked{Where: run.out.Where, Baseline: r.Baseline, Quick: r.Quick, Setup: run.out.Setup, Tests: run.out.Tests,
			ListError: run.out.ListError, Losses: run.out.Losses, Protected: run.protected, Changed: run.out.Changed, SafePoint: run.out.SafePoint, Tree: run.out.Tree}
		for _, res := range run.out.Results {
			if res.Output, err = c.receipt(res.Output.Text, res.State != job.CheckPassed); err != nil {
				return err
			}
			p.Results = append(p.Results, res)
		}
		if run.listed != nil {
			b, err := json.Marshal(run.listed.Cases)
			if err != nil {
				return err
			}
			digest, err := c.tx.PutBlob(c.redact.Text(string(b)))
			if err != nil {
				return err
			}
			p.Inventory = job.Receipt{Blob: digest, Size: int64(len(b))}
		}
		e, err := c.append(id, p, said(job.Author{Kind: job.Command}), in(by.Session))
		run.out.Position = e.Position
		run.out.Results = p.Results
		return err
	})
}

// checking is one run under way.
type checking struct {
	*Tracker
	s         *job.Standing
	r         CheckRequest
	checks    []job.Check
	terms     terms
	base      *base
	out       CheckRun
	protected map[string]string
	listed    *check.Listing
	accepted  map[string]bool // losses of tests that a person accepted
}

// base is what the run on day one found.
type base struct {
	at        int64
	protected map[string]string
	cases     []check.Case
	hasCases  bool
	commits   []job.Snapshot // of the first safe point
	green     map[string]job.CheckState
}

// checksOf are the job's checks, whole.
func (t *Tracker) checksOf(ctx context.Context, id job.ID) ([]job.Check, error) {
	var out []job.Check
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		s, err := tx.Standing(id)
		if err != nil {
			return err
		}
		for _, c := range s.Checks {
			row, err := tx.Rows(id).Item(c.Item)
			if err != nil {
				return err
			}
			if row != nil && row.Check != nil {
				out = append(out, *row.Check)
			}
		}
		return nil
	})
	return out, err
}

// baseline reads the first run that recorded one, and the first safe point.
func (t *Tracker) baseline(ctx context.Context, id job.ID) (*base, error) {
	var b *base
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		runs, err := tx.EntriesOf(id, []job.Kind{job.KindChecked}, false, 0)
		if err != nil {
			return err
		}
		for _, e := range runs {
			p, ok := e.Payload.(*job.Checked)
			if !ok || !p.Baseline {
				continue
			}
			b = &base{at: e.Position, protected: p.Protected, green: map[string]job.CheckState{}}
			for _, r := range p.Results {
				b.green[r.ID] = r.State
			}
			if p.Inventory.Blob != "" {
				data, err := tx.Blob(p.Inventory.Blob)
				if err != nil {
					return err
				}
				if err := json.Unmarshal(data, &b.cases); err != nil {
					return fmt.Errorf("inventory of tests: %w", err)
				}
				b.hasCases = true
			}
			break
		}
		points, err := tx.EntriesOf(id, []job.Kind{job.KindSafePoint}, false, 1)
		if err != nil || b == nil || len(points) == 0 {
			return err
		}
		if p, ok := points[0].Payload.(*job.SafePoint); ok {
			b.commits = p.Commits
		}
		return nil
	})
	return b, err
}

// here runs the checks in the workspace as it is.
func (k *checking) here(ctx context.Context) error {
	k.out.Where = "workspace"
	p, err := k.placeOf(k.s.Workspaces[0])
	if err != nil {
		return err
	}
	k.runAll(ctx, p.Top)
	return ctx.Err()
}

// clean runs them in a clean checkout of the present, outside the workspace.
func (k *checking) clean(ctx context.Context, by Actor) error {
	why := "before a check"
	if k.r.Final {
		why = "finish"
	}
	kept, err := k.Keep(ctx, by, k.s.Job, KeepRequest{Why: why, Quiet: true})
	if err != nil {
		return err
	}
	k.out.SafePoint = kept.Number
	first := kept.Commits[0]
	k.out.Tree = first.Tree
	w, _ := workspaceOf(k.s, first.Workspace)
	p, err := k.placeOf(w)
	if err != nil {
		return err
	}
	if len(k.terms.protect) > 0 {
		if k.protected, err = p.HashPaths(ctx, first.Commit, k.terms.protect); err != nil {
			return err
		}
	}
	dir, done, err := k.checkout(ctx, p, first.Commit)
	if err != nil {
		return err
	}
	defer done()
	if k.r.Baseline || k.base == nil || k.base.protected == nil {
		k.runAll(ctx, dir)
		return ctx.Err()
	}
	k.out.Changed = changedPaths(k.base.protected, k.protected)
	if len(k.out.Changed) == 0 {
		k.runAll(ctx, dir)
		return ctx.Err()
	}
	// As agreed: the protected files as they were on day one, over the work.
	agents, doneAgents, err := k.checkout(ctx, p, first.Commit)
	if err != nil {
		return err
	}
	defer doneAgents()
	for _, c := range k.base.commits {
		if c.Workspace == first.Workspace {
			if err := p.CheckoutPaths(ctx, c.Commit, dir, k.terms.protect); err != nil {
				return err
			}
		}
	}
	k.runAll(ctx, dir)
	k.r.Progress("and with the protected files as they are now")
	for i, c := range k.checks {
		if i < len(k.out.Results) {
			k.out.Results[i].Agent = stateOf(check.Run(ctx, agents, k.env(), k.spec(c), k.clock).State)
		}
	}
	return ctx.Err()
}

func changedPaths(before, after map[string]string) []string {
	var out []string
	for path, id := range before {
		if after[path] != id {
			out = append(out, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out
}

// checkout makes a clean checkout under the state folder and returns how to end
// it.
func (k *checking) checkout(ctx context.Context, p Place, commit string) (string, func(), error) {
	parent := filepath.Join(k.dir, "checkouts")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", nil, err
	}
	k.sweepCheckouts()
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s-%d-", k.s.Short, os.Getpid()))
	if err != nil {
		return "", nil, err
	}
	done := func() { removeAll(dir) }
	if err := p.Checkout(ctx, commit, dir); err != nil {
		done()
		return "", nil, fmt.Errorf("clean checkout: %w", err)
	}
	return dir, done, nil
}

// sweepCheckouts removes what checks left whose process was killed. Names are
// short name, process and a random part.
func (t *Tracker) sweepCheckouts() {
	dirs, _ := filepath.Glob(filepath.Join(t.dir, "checkouts", "*"))
	for _, dir := range dirs {
		parts := strings.Split(filepath.Base(dir), "-")
		if len(parts) < 3 {
			continue
		}
		pid, err := strconv.Atoi(parts[1])
		if err != nil {
			continue
		}
		if _, err := process.Of(pid); errors.Is(err, fs.ErrNotExist) {
			removeAll(dir)
		}
	}
}

// removeAll removes a checkout, also one in which a check made folders read-only.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// env is the environment of a check: scrubbed, with one build cache of Duplex's
// own, so that no result comes from a cache the agent could have filled.
func (k *checking) env() []string {
	env := process.Scrubbed(os.Environ())
	return append(env, "GOCACHE="+filepath.Join(k.dir, "cache", "go-build"), "CI=1")
}

func (k *checking) spec(c job.Check) check.Check {
	limit := time.Duration(c.Seconds) * time.Second
	if limit == 0 {
		limit = defaultCheckTime
	}
	return check.Check{ID: c.ID, Command: c.Command, Timeout: limit, Needs: c.Needs}
}

// runAll runs setup, the listing of tests and every check in a folder.
func (k *checking) runAll(ctx context.Context, dir string) {
	if k.terms.setup != "" {
		k.r.Progress("setup: " + k.terms.setup)
		res := k.result(check.Run(ctx, dir, k.env(), check.Check{ID: "setup", Command: k.terms.setup, Timeout: defaultCheckTime}, k.clock))
		k.out.Setup = &res
		if res.State != job.CheckPassed {
			for _, c := range k.checks {
				k.out.Results = append(k.out.Results, job.CheckResult{ID: c.ID, Command: c.Command, State: job.CheckCannotRun, Reason: "setup " + string(res.State)})
			}
			return
		}
	}
	k.inventory(ctx, dir)
	for _, c := range k.checks {
		if k.r.Quick && !c.Quick {
			continue
		}
		k.r.Progress(c.ID + ": " + c.Command)
		k.out.Results = append(k.out.Results, k.result(check.Run(ctx, dir, k.env(), k.spec(c), k.clock)))
	}
}

func (k *checking) result(r check.Result) job.CheckResult {
	return job.CheckResult{ID: r.ID, Command: r.Command, State: stateOf(r.State), Exit: r.Exit, Reason: r.Reason, Millis: r.Duration.Milliseconds(),
		Tests: countsOf(r.Tests), Output: job.Receipt{Text: r.Output}}
}

func stateOf(s check.State) job.CheckState { return job.CheckState(s) }

// inventory lists the tests and holds them against day one.
func (k *checking) inventory(ctx context.Context, dir string) {
	if k.terms.keep == nil || k.r.Quick || k.r.Here {
		return
	}
	k.r.Progress("listing the tests")
	var l check.Listing
	var err error
	if k.terms.keep.List == "go" {
		l, err = check.ListGo(ctx, dir, k.env())
	} else {
		l, err = check.ListCommand(ctx, dir, k.env(), k.terms.keep.List)
	}
	if err != nil {
		k.out.ListError = err.Error()
		return
	}
	k.listed, k.out.Tests = &l, len(l.Cases)
	if k.base == nil || !k.base.hasCases {
		return
	}
	for _, loss := range check.Compare(check.Listing{Cases: k.base.cases}, l) {
		k.out.Losses = append(k.out.Losses, job.TestLoss{Name: loss.Name, Suite: loss.Suite, Loss: loss.Kind, Accepted: k.accepted[loss.Name]})
	}
}

// acceptedTests are the names of tests whose loss a person accepted.
func (t *Tracker) acceptedTests(ctx context.Context, id job.ID) (map[string]bool, error) {
	out := map[string]bool{}
	err := t.store.Read(ctx, func(tx *store.Tx) error {
		entries, err := tx.EntriesOf(id, []job.Kind{job.KindAmended}, false, 0)
		for _, e := range entries {
			if p, ok := e.Payload.(*job.Amended); ok && e.Author.Kind == job.Person {
				for _, name := range p.AcceptTests {
					out[strings.TrimSpace(name)] = true
				}
			}
		}
		return err
	})
	return out, err
}
