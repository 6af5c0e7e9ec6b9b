package workspace

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/git"
)

// ErrNoSafePoint says that a workspace has no such safe point.
var ErrNoSafePoint = errors.New("no such safe point")

// SafePoint is a commit of everything in a workspace.
type SafePoint struct {
	ID         string // <job>/<n>
	Job        string
	N          int
	Ref        string
	Commit     string
	Tree       string
	Head       string // where HEAD was; "" before the first commit
	Branch     string // "" when HEAD was detached
	Op         string // merge, rebase …: what was in progress
	Index      string // commit of the user's index; "" when it had conflicts
	Record     string // commit of the manifest
	Workspace  string // its id
	Position   int64  // in the ledger
	Why        string
	Message    string
	Time       time.Time
	Files      int          // in the tree
	Bytes      int64        // added to the repository; known right after Keep only
	NewObjects []string     // ids added to the repository; right after Keep only, else from Objects
	NotCovered []NotCovered // what is in the folder and not in the tree
	Reused     bool         // nothing had changed: this is the last one
}

func checkJob(job string) error {
	odd := strings.ContainsFunc(job, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if odd || job == "" || len(job) > 100 || job[0] == '-' || job[0] == '_' {
		return fmt.Errorf("safe points of job %.100q: a job is named by letters, digits, - and _", job)
	}
	return nil
}

func refOf(job string, n int) string { return fmt.Sprintf("refs/duplex/%s/%d", job, n) }

// message is the text of a safe point's commit: a sentence, the caller's own
// text, and a block of trailers that can be read back.
func (s *SafePoint) message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "duplex safe point %s", s.ID)
	if s.Why != "" {
		fmt.Fprintf(&b, ": %s", oneLine(s.Why))
	}
	b.WriteString("\n\n")
	if text := strings.TrimSpace(strings.ReplaceAll(s.Message, "\x00", "")); text != "" {
		b.WriteString(text + "\n\n")
	}
	for _, t := range [...]struct{ name, value string }{
		{"Job", s.Job}, {"Number", strconv.Itoa(s.N)}, {"Position", strconv.FormatInt(s.Position, 10)},
		{"Why", s.Why}, {"Workspace", s.Workspace}, {"Head", s.Head}, {"Branch", s.Branch}, {"Operation", s.Op},
		{"Index", s.Index}, {"Record", s.Record}, {"Files", strconv.Itoa(s.Files)},
	} {
		if t.value != "" {
			fmt.Fprintf(&b, "Duplex-%s: %s\n", t.name, oneLine(t.value))
		}
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// parseMessage reads the trailers of a message back. Only the last paragraph
// counts: the caller's text cannot pretend to be one.
func parseMessage(text string) (SafePoint, error) {
	text = strings.TrimRight(text, "\n")
	body, trailers := "", text
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		body, trailers = text[:i], text[i+2:]
	}
	value := map[string]string{}
	for _, line := range strings.Split(trailers, "\n") {
		if name, v, ok := strings.Cut(line, ": "); ok {
			value[strings.TrimPrefix(name, "Duplex-")] = v
		}
	}
	s := SafePoint{
		Job: value["Job"], Why: value["Why"], Workspace: value["Workspace"], Head: value["Head"], Branch: value["Branch"],
		Op: value["Operation"], Index: value["Index"], Record: value["Record"],
	}
	var err, err2, err3 error
	s.N, err = strconv.Atoi(value["Number"])
	s.Position, err2 = strconv.ParseInt(value["Position"], 10, 64)
	s.Files, err3 = strconv.Atoi(value["Files"])
	if err := errors.Join(err, err2, err3, checkJob(s.Job)); err != nil {
		return SafePoint{}, fmt.Errorf("not the message of a safe point: %w", err)
	}
	s.ID, s.Ref = fmt.Sprintf("%s/%d", s.Job, s.N), refOf(s.Job, s.N)
	if _, rest, ok := strings.Cut(body, "\n\n"); ok {
		s.Message = rest
	}
	return s, nil
}

// List returns the safe points of a job in this workspace's repository,
// oldest first; all jobs' when job is "". NotCovered is not filled in: see
// Show.
func (w *Workspace) List(ctx context.Context, job string) ([]SafePoint, error) {
	under := "refs/duplex/"
	if job != "" {
		if err := checkJob(job); err != nil {
			return nil, err
		}
		under += job + "/"
	}
	if !w.Git && !exists(w.private()) {
		return nil, nil // a plain folder nobody has kept anything of
	}
	fields, err := git.User(w.GitDir, w.Top).Output(ctx, "for-each-ref",
		"--format=%(refname)%00%(objectname)%00%(tree)%00%(committerdate:unix)%00%(contents)%00", under)
	if err != nil {
		return nil, fmt.Errorf("list safe points: %w", err)
	}
	var points []SafePoint
	parts := strings.Split(string(fields), "\x00")
	for ; len(parts) > 5; parts = parts[5:] {
		s, err := parseMessage(parts[4])
		if err != nil {
			continue // somebody else's ref in our place
		}
		s.Ref, s.Commit, s.Tree = strings.TrimPrefix(parts[0], "\n"), parts[1], parts[2]
		if seconds, err := strconv.ParseInt(parts[3], 10, 64); err == nil {
			s.Time = time.Unix(seconds, 0).UTC()
		}
		points = append(points, s)
	}
	sort.Slice(points, func(i, j int) bool {
		a, b := points[i], points[j]
		return a.Job < b.Job || a.Job == b.Job && a.N < b.N
	})
	return points, nil
}

// Show returns one safe point with what it does not cover. name is
// "<job>/<n>" or a commit.
func (w *Workspace) Show(ctx context.Context, name string) (SafePoint, error) {
	if strings.Contains(name, "/") {
		name = "refs/duplex/" + strings.TrimPrefix(name, "refs/duplex/")
	}
	s, m, err := w.read(ctx, name)
	if err != nil {
		return SafePoint{}, err
	}
	s.NotCovered = m.NotCovered
	return s, nil
}

// read reads a safe point and its manifest by any name git knows it under.
func (w *Workspace) read(ctx context.Context, name string) (SafePoint, *manifest, error) {
	user := git.User(w.GitDir, w.Top)
	if !w.Git && !exists(w.private()) {
		return SafePoint{}, nil, fmt.Errorf("%w: %s (duplex safepoint list)", ErrNoSafePoint, name)
	}
	found, err := user.Objects(ctx, true, name)
	if err != nil {
		return SafePoint{}, nil, fmt.Errorf("read safe point: %w", err)
	}
	if found[0].Type != "commit" {
		return SafePoint{}, nil, fmt.Errorf("%w: %s (duplex safepoint list)", ErrNoSafePoint, name)
	}
	head, text, _ := strings.Cut(string(found[0].Body), "\n\n")
	s, err := parseMessage(text)
	if err != nil {
		return SafePoint{}, nil, fmt.Errorf("%w: %s is a commit, but no safe point of Duplex", ErrNoSafePoint, name)
	}
	s.Commit = found[0].ID
	for _, line := range strings.Split(head, "\n") {
		if tree, ok := strings.CutPrefix(line, "tree "); ok {
			s.Tree = tree
		}
		if who, ok := strings.CutPrefix(line, "committer "); ok {
			if f := strings.Fields(who); len(f) > 1 {
				if seconds, err := strconv.ParseInt(f[len(f)-2], 10, 64); err == nil {
					s.Time = time.Unix(seconds, 0).UTC()
				}
			}
		}
	}
	found, err = user.Objects(ctx, true, s.Record+":manifest")
	if err != nil {
		return SafePoint{}, nil, fmt.Errorf("read safe point: %w", err)
	}
	if found[0].ID == "" {
		return SafePoint{}, nil, fmt.Errorf("read safe point %s: its manifest is gone; its files are not: git restore --source=%s shows them", s.ID, s.Commit)
	}
	m, err := decodeManifest(found[0].Body)
	return s, m, err
}

// Change is a path that differs between two commits.
type Change struct {
	Path   string
	Status string // A added, M changed, D deleted, T another type (file, link)
	Old    string // blob ids; "" where there is none
	New    string
	mode   string // of the new side
}

// Diff lists what differs from commit a to commit b, sorted by path. A rename
// is a deletion and an addition.
func (w *Workspace) Diff(ctx context.Context, a, b string) ([]Change, error) {
	return diff(ctx, git.User(w.GitDir, w.Top), a, b)
}

func diff(ctx context.Context, in git.Runner, a, b string) ([]Change, error) {
	list, err := in.Records(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none", a, b)
	if err != nil {
		return nil, fmt.Errorf("compare safe points: %w", err)
	}
	var changes []Change
	for i := 0; i+1 < len(list); i += 2 {
		f := strings.Split(strings.TrimPrefix(list[i], ":"), " ") // modes, ids, status
		if len(f) != 5 {
			return nil, fmt.Errorf("compare safe points: unexpected record %.200q", list[i])
		}
		c := Change{Path: list[i+1], Status: f[4][:1], Old: f[2], New: f[3], mode: f[1]}
		if strings.Trim(c.Old, "0") == "" {
			c.Old = ""
		}
		if strings.Trim(c.New, "0") == "" {
			c.New = ""
		}
		changes = append(changes, c)
	}
	return changes, nil
}
