package workspace

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/seed-5777983b/duplex/internal/git"
)

// mostDirty is how many changed paths a Status names.
const mostDirty = 200

// Status is where a work tree stands.
type Status struct {
	Branch string   // "" when HEAD is detached, and for a plain folder
	Head   string   // "" before the first commit
	Op     string   // merge, rebase …: what is in progress
	Dirty  []string // changed or untracked against HEAD, the first 200
	Count  int      // all of them
}

// Status says where the work tree stands. It writes nothing and runs none of
// the repository's hooks, filters or monitors.
func (w *Workspace) Status(ctx context.Context) (Status, error) {
	if !w.Git {
		return Status{}, nil
	}
	user := git.User(w.GitDir, w.Top)
	config, err := readConfig(ctx, user)
	if err != nil {
		return Status{}, err
	}
	user.Config = append(user.Config, withoutFilters(config)...)
	list, err := user.Records(ctx, "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return Status{}, fmt.Errorf("look at the work tree: %w", err)
	}
	s := parseStatus(list)
	s.Op = w.operation()
	return s, nil
}

// withoutFilters are settings that switch every filter of a repository off.
func withoutFilters(config map[string]string) (off []string) {
	for name := range config {
		if !strings.HasPrefix(name, "filter.") {
			continue
		}
		if driver, key := name[:strings.LastIndexByte(name, '.')], name[strings.LastIndexByte(name, '.')+1:]; key == "clean" || key == "process" {
			off = append(off, driver+"."+key+"=", driver+".required=false")
		}
	}
	return off
}

// parseStatus reads the records of git status --porcelain=v2 -z without
// renames.
func parseStatus(records []string) Status {
	var s Status
	for _, r := range records {
		kind, rest, _ := strings.Cut(r, " ")
		path := ""
		switch kind {
		case "#":
			name, value, _ := strings.Cut(rest, " ")
			switch {
			case name == "branch.oid" && value != "(initial)":
				s.Head = value
			case name == "branch.head" && value != "(detached)":
				s.Branch = value
			}
		case "1":
			path = afterFields(rest, 7)
		case "u":
			path = afterFields(rest, 9)
		case "?":
			path = rest
		}
		if path == "" {
			continue
		}
		if s.Count++; len(s.Dirty) < mostDirty {
			s.Dirty = append(s.Dirty, path)
		}
	}
	return s
}

// afterFields is what follows n fields; a path may have spaces.
func afterFields(text string, n int) string {
	for range n {
		_, rest, ok := strings.Cut(text, " ")
		if !ok {
			return ""
		}
		text = rest
	}
	return text
}

// Mirrors names the remotes that "git push" mirrors to: only those would be
// sent the refs of safe points, with what is in them.
func (w *Workspace) Mirrors(ctx context.Context) ([]string, error) {
	if !w.Git {
		return nil, nil
	}
	config, err := readConfig(ctx, git.User(w.GitDir, w.Top))
	if err != nil {
		return nil, err
	}
	var names []string
	for name, value := range config {
		if remote, ok := strings.CutSuffix(name, ".mirror"); ok && value == "true" && strings.HasPrefix(remote, "remote.") {
			names = append(names, strings.TrimPrefix(remote, "remote."))
		}
	}
	sort.Strings(names)
	return names, nil
}
