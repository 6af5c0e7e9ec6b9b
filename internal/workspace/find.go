package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrRefused says that a folder cannot be a workspace. The message says what
// to do instead.
var ErrRefused = errors.New("this folder cannot be a workspace")

// Workspace is a git work tree, or a plain folder with a shadow repository
// outside it. Linked work trees of one repository are separate workspaces.
type Workspace struct {
	Top       string // absolute, symlinks resolved
	GitDir    string // of this work tree; of the shadow repository for a plain folder
	CommonDir string // where refs and objects are; GitDir unless the work tree is linked
	Git       bool   // false: a plain folder
	StateDir  string // Duplex's state folder, for what must not be in a repository

	home string // refused, and so are its parents
}

// Find returns the workspace that dir belongs to: the nearest work tree
// above it, or, when there is none, the plain folder itself (or the nearest
// folder above it that already is one). stateDir is Duplex's state folder;
// nothing is written by Find.
func Find(dir, stateDir string) (*Workspace, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find workspace: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("find workspace: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("find workspace: %w", err)
	} else if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	if stateDir, err = filepath.Abs(stateDir); err != nil {
		return nil, fmt.Errorf("find workspace: %w", err)
	}
	w := &Workspace{StateDir: stateDir, home: homeDir()}
	for top := dir; ; top = filepath.Dir(top) {
		gitDir, common, err := gitDirOf(top)
		switch {
		case err != nil:
			return nil, err
		case gitDir != "":
			// A repository at $HOME (dotfiles) does not make the folders below
			// it part of it: they are plain folders.
			if top != dir && w.tooWide(top) {
				return w.plain(dir)
			}
			if w.tooWide(top) {
				return nil, w.refuseWide(top)
			}
			w.Top, w.GitDir, w.CommonDir, w.Git = top, gitDir, common, true
			return w, nil
		case isBare(top):
			return nil, fmt.Errorf("%w: %s is a bare repository or inside a .git folder, without files to keep; go to a work tree of it (git worktree list)", ErrRefused, top)
		}
		if top == filepath.Dir(top) {
			return w.plain(dir)
		}
	}
}

// plain makes the plain folder at dir, or the one above it that already has
// a shadow repository, the workspace.
func (w *Workspace) plain(dir string) (*Workspace, error) {
	if w.tooWide(dir) {
		return nil, w.refuseWide(dir)
	}
	w.Top = dir
	for up := dir; !w.tooWide(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(w.shadow(up), "HEAD")); err == nil {
			w.Top = up
			break
		}
	}
	if inside(w.StateDir, w.Top) {
		return nil, fmt.Errorf("%w: Duplex keeps its own state in %s, inside it; go to a folder of a project", ErrRefused, w.StateDir)
	}
	w.GitDir = w.shadow(w.Top)
	w.CommonDir = w.GitDir
	return w, nil
}

// shadow is the shadow repository of a plain folder, named by its path.
func (w *Workspace) shadow(top string) string {
	sum := sha256.Sum256([]byte(top))
	return filepath.Join(w.StateDir, "folders", hex.EncodeToString(sum[:10]))
}

// private is our own git dir beside the user's.
func (w *Workspace) private(elem ...string) string {
	return filepath.Join(append([]string{w.GitDir, "duplex"}, elem...)...)
}

// tooWide says that keeping top would swallow far more than one piece of
// work: the root of a disk, the home folder, a folder of home folders.
func (w *Workspace) tooWide(top string) bool {
	return top == filepath.Dir(top) || w.home != "" && inside(w.home, top)
}

func (w *Workspace) refuseWide(top string) error {
	what := "a folder above your home folder"
	switch {
	case top == filepath.Dir(top):
		what = "the root of the disk"
	case top == w.home:
		what = "your home folder"
	}
	return fmt.Errorf("%w: %s is %s, with far more in it than one piece of work; go to the folder of the project, or make one (git init)", ErrRefused, top, what)
}

// homeDir is $HOME with its symlinks resolved, or "".
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		return real
	}
	return filepath.Clean(home)
}

// inside says whether path is dir or lies below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// gitDirOf returns the git dir and the common dir of the work tree at top,
// "" when top is not the top of one. It reads files rather than asking git:
// a process less for every hook and every safe point.
func gitDirOf(top string) (gitDir, common string, err error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Stat(dot)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("find workspace: %w", err)
	}
	gitDir = dot
	if !info.IsDir() {
		text, err := os.ReadFile(dot)
		if err != nil {
			return "", "", fmt.Errorf("find workspace: %w", err)
		}
		name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if !ok {
			return "", "", nil // git does not take it for a repository either
		}
		if gitDir = name; !filepath.IsAbs(gitDir) {
			gitDir = filepath.Join(top, name)
		}
	}
	if gitDir, err = filepath.EvalSymlinks(gitDir); err != nil {
		return "", "", fmt.Errorf("%w: %s names a repository that is gone (%v); repair it (git worktree repair) or remove that file", ErrRefused, dot, err)
	}
	if _, err := os.Stat(filepath.Join(gitDir, "HEAD")); err != nil {
		return "", "", nil
	}
	common = gitDir
	if text, err := os.ReadFile(filepath.Join(gitDir, "commondir")); err == nil {
		if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
		common = filepath.Clean(common)
	}
	return gitDir, common, nil
}

// isBare says whether dir itself looks like a git dir.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
