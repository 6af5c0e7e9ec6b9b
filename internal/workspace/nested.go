package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// keepNested makes safe points of the repositories inside this one (submodules
// too), with their own private git dirs and refs. Their .git is never moved.
// One that cannot be kept is not covered, and does not stop the others.
func (t *turn) keepNested(ctx context.Context, o KeepOptions, paths []string, p *present) error {
	for _, path := range paths {
		inner, err := t.w.inner(path)
		if err == nil && inner.CommonDir == t.w.CommonDir {
			p.cover.NotCovered = append(p.cover.NotCovered, NotCovered{Path: path, Reason: OtherTree})
			continue
		}
		if t.dry {
			p.cover.Nested = append(p.cover.Nested, nested{Path: strings.TrimSuffix(path, "/")})
			continue
		}
		var s SafePoint
		if err == nil {
			in := o
			in.Skip = nil
			if o.Skip != nil {
				in.Skip = func(name string) bool { return o.Skip(path + name) }
			}
			s, err = inner.Keep(ctx, in)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.cover.NotCovered = append(p.cover.NotCovered, NotCovered{Path: path, Reason: Repository + ": " + err.Error()})
			continue
		}
		for _, n := range s.NotCovered {
			n.Path = path + n.Path
			p.cover.NotCovered = append(p.cover.NotCovered, n)
		}
		n := nested{Path: strings.TrimSuffix(path, "/"), Commit: s.Commit, Ref: s.Ref}
		if text, err := os.ReadFile(filepath.Join(inner.Top, ".git")); err == nil {
			n.GitFile = string(text)
		}
		p.cover.Nested = append(p.cover.Nested, n)
	}
	return nil
}

var errNotRepository = errors.New("no repository")

// inner is the workspace of a repository inside this one.
func (w *Workspace) inner(path string) (*Workspace, error) {
	top := filepath.Join(w.Top, filepath.FromSlash(path))
	gitDir, common, err := gitDirOf(top)
	if err != nil {
		return nil, err
	}
	if gitDir == "" {
		return nil, errNotRepository
	}
	return &Workspace{Top: top, GitDir: gitDir, CommonDir: common, Git: true, StateDir: w.StateDir, home: w.home}, nil
}

// restoreNested brings the repositories inside back to the safe points the
// target names. One whose .git is gone is left: only that repository had its
// objects; of a submodule the objects are elsewhere, and its .git file is
// written again.
func (t *turn) restoreNested(ctx context.Context, o RestoreOptions, target, last *manifest, r *Restored) error {
	for _, n := range target.Nested {
		if !o.wants(n.Path) && !o.wantsBelow(n.Path) {
			continue
		}
		inner, err := t.innerAgain(n, o.DryRun)
		if errors.Is(err, errNotRepository) {
			r.Left = append(r.Left, n.Path+"/")
			continue
		}
		if err != nil {
			return err
		}
		in := o
		in.Target, in.Last, in.Paths = n.Commit, "", within(o.Paths, n.Path)
		if last != nil {
			for _, l := range last.Nested {
				if l.Path == n.Path {
					in.Last = l.Commit
				}
			}
		}
		if o.Explained != nil {
			in.Explained = func(path string) bool { return o.Explained(n.Path + "/" + path) }
		}
		got, err := inner.Restore(ctx, in)
		r.Written = append(r.Written, prefixed(n.Path, got.Written)...)
		r.Removed = append(r.Removed, prefixed(n.Path, got.Removed)...)
		r.MovedAside = append(r.MovedAside, prefixed(n.Path, got.MovedAside)...)
		r.Left = append(r.Left, prefixed(n.Path, got.Left)...)
		r.Refused = append(r.Refused, prefixed(n.Path, got.Refused)...)
		if errors.Is(err, ErrNoSafePoint) {
			r.Left = append(r.Left, n.Path+"/")
			continue
		}
		if err != nil {
			return fmt.Errorf("repository %s inside: %w", n.Path, err)
		}
	}
	return nil
}

// innerAgain opens a repository inside, writing the .git file of a submodule
// whose folder was emptied.
func (t *turn) innerAgain(n nested, dry bool) (*Workspace, error) {
	inner, err := t.w.inner(n.Path)
	if !errors.Is(err, errNotRepository) || n.GitFile == "" || exists(filepath.Join(t.at(n.Path), ".git")) {
		return inner, err
	}
	gitDir := strings.TrimSpace(strings.TrimPrefix(n.GitFile, "gitdir: "))
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(t.at(n.Path), gitDir)
	}
	if !exists(filepath.Join(gitDir, "HEAD")) || dry {
		return nil, errNotRepository
	}
	if !t.makeDir(n.Path) {
		return nil, errNotRepository
	}
	if err := os.WriteFile(filepath.Join(t.at(n.Path), ".git"), []byte(n.GitFile), 0o644); err != nil {
		return nil, fmt.Errorf("repository %s inside: %w", n.Path, err)
	}
	return t.w.inner(n.Path)
}

func prefixed(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = dir + "/" + p
	}
	return out
}

// within are the wanted paths as seen from a folder inside; none when the
// whole folder is wanted.
func within(paths []string, dir string) (inner []string) {
	for _, p := range paths {
		p = strings.TrimSuffix(p, "/")
		if p == dir || strings.HasPrefix(dir, p+"/") {
			return nil
		}
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			inner = append(inner, rest)
		}
	}
	return inner
}
