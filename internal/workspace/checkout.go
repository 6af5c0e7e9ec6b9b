package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/git"
)

// Checkout writes the files of a commit into dir, which must be outside the
// workspace and empty or not there yet. Bytes are those of the commit: no
// conversion, no filter, no hook. Of a safe point, empty folders and, where
// their objects are still there, repositories inside are written too.
func (w *Workspace) Checkout(ctx context.Context, commit, dir string) error {
	tree, err := git.User(w.GitDir, w.Top).Objects(ctx, false, commit+"^{tree}")
	if err != nil {
		return fmt.Errorf("check out %s: %w", commit, err)
	}
	if tree[0].ID == "" {
		return fmt.Errorf("%w: %s", ErrNoSafePoint, commit)
	}
	if dir, err = w.outside(dir); err != nil {
		return err
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return fmt.Errorf("check out into %s: it is not empty; name a folder that is", dir)
	}
	c, err := w.checkoutInto(ctx, dir)
	if err != nil {
		return err
	}
	defer c.end()
	if err := c.git.Run(ctx, "read-tree", "-m", "-u", tree[0].ID); err != nil {
		return fmt.Errorf("check out %s: %w", commit, err)
	}
	_, m, err := w.read(ctx, commit)
	if errors.Is(err, ErrNoSafePoint) {
		return nil // an ordinary commit
	}
	if err != nil {
		return err
	}
	for _, d := range m.EmptyDirs {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o777); err != nil {
			return fmt.Errorf("check out %s: %w", commit, err)
		}
	}
	for _, n := range m.Nested {
		inner, err := w.inner(n.Path)
		if err != nil {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(n.Path))
		if err := inner.Checkout(ctx, n.Commit, at); err != nil && ctx.Err() == nil {
			// The rest is there; whoever needs this part sees it missing.
			continue
		}
	}
	return ctx.Err()
}

// CheckoutPaths makes the files in dir that match globs (as in .gitignore)
// those of a commit: it writes them, and removes files that match and that the
// commit does not have. dir is a checkout, outside the workspace.
func (w *Workspace) CheckoutPaths(ctx context.Context, commit, dir string, globs []string) error {
	match, err := compileGlobs(globs)
	if err != nil {
		return err
	}
	if dir, err = w.outside(dir); err != nil {
		return err
	}
	files, err := w.files(ctx, commit)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	var lines []string
	for _, f := range files {
		if match(f.path) {
			wanted[f.path] = true
			lines = append(lines, fmt.Sprintf("%s %s\t%s", f.mode, f.id, f.path))
		}
	}
	if err := removeOthers(dir, match, wanted); err != nil {
		return fmt.Errorf("lay original files over %s: %w", dir, err)
	}
	c, err := w.checkoutInto(ctx, dir)
	if err != nil {
		return err
	}
	defer c.end()
	if _, err := c.git.Feed(ctx, git.Join(lines), "update-index", "-z", "--index-info"); err != nil {
		return fmt.Errorf("lay original files over %s: %w", dir, err)
	}
	if err := c.git.Run(ctx, "checkout-index", "-a", "-f"); err != nil {
		return fmt.Errorf("lay original files over %s: %w", dir, err)
	}
	return nil
}

// removeOthers removes files that match and are not wanted, never following a
// link.
func removeOthers(dir string, match func(string) bool, wanted map[string]bool) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if name := filepath.ToSlash(rel); match(name) && !wanted[name] {
			return os.Remove(path)
		}
		return nil
	})
}

// HashPaths gives the blob ids of a commit's files that match globs, as in
// .gitignore, by path.
func (w *Workspace) HashPaths(ctx context.Context, commit string, globs []string) (map[string]string, error) {
	match, err := compileGlobs(globs)
	if err != nil {
		return nil, err
	}
	files, err := w.files(ctx, commit)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, f := range files {
		if match(f.path) {
			found[f.path] = f.id
		}
	}
	return found, nil
}

// ListDir lists the names in one folder of a commit, folders with "/" at the
// end; none when the commit has no such folder. "" is the top.
func (w *Workspace) ListDir(ctx context.Context, commit, dir string) ([]string, error) {
	user := git.User(w.GitDir, w.Top)
	name := commit + ":" + strings.Trim(filepath.ToSlash(dir), "/")
	found, err := user.Objects(ctx, false, commit+"^{commit}", name)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	if found[0].ID == "" {
		return nil, fmt.Errorf("%w: %s", ErrNoSafePoint, commit)
	}
	if found[1].Type != "tree" {
		return nil, nil
	}
	list, err := user.Records(ctx, "ls-tree", "-z", found[1].ID)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	names := make([]string, 0, len(list))
	for _, record := range list {
		f, err := parseTreeRecord(record)
		if err != nil {
			return nil, err
		}
		if f.mode == "040000" {
			f.path += "/"
		}
		names = append(names, f.path)
	}
	return names, nil
}

// treeFile is one line of git ls-tree.
type treeFile struct{ mode, id, path string }

func parseTreeRecord(record string) (treeFile, error) {
	head, path, ok := strings.Cut(record, "\t") // "100644 blob <id>\tname"
	f := strings.Split(head, " ")
	if !ok || len(f) != 3 {
		return treeFile{}, fmt.Errorf("list files of a commit: unexpected record %.200q", record)
	}
	return treeFile{mode: f[0], id: f[2], path: path}, nil
}

// files lists the files and links of a commit.
func (w *Workspace) files(ctx context.Context, commit string) ([]treeFile, error) {
	list, err := git.User(w.GitDir, w.Top).Records(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", commit, err)
	}
	var files []treeFile
	for _, record := range list {
		f, err := parseTreeRecord(record)
		if err != nil {
			return nil, err
		}
		if f.mode != "160000" {
			files = append(files, f)
		}
	}
	return files, nil
}

// outside makes dir, and refuses one that is in the workspace or holds it.
func (w *Workspace) outside(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("check out: %w", err)
	}
	// Links are resolved in the part that exists, before anything is made.
	there, rest := dir, ""
	for !exists(there) && there != filepath.Dir(there) {
		rest = filepath.Join(filepath.Base(there), rest)
		there = filepath.Dir(there)
	}
	if there, err = filepath.EvalSymlinks(there); err != nil {
		return "", fmt.Errorf("check out: %w", err)
	}
	dir = filepath.Join(there, rest)
	if inside(dir, w.Top) || inside(w.Top, dir) {
		return "", fmt.Errorf("%w: a checkout in %s would mix with the workspace %s; name a folder outside it", ErrRefused, dir, w.Top)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("check out: %w", err)
	}
	return dir, nil
}

// laying is a git dir of its own for writing files somewhere else. It takes no
// lock: nothing of the workspace's is written.
type laying struct {
	tmp string
	git git.Runner
}

func (w *Workspace) checkoutInto(ctx context.Context, dir string) (*laying, error) {
	config, err := readConfig(ctx, git.User(w.GitDir, w.Top))
	if err != nil {
		return nil, err
	}
	// Beside dir and by its name: who clears away what a killed process left there
	// finds this too.
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-git-")
	if err != nil {
		return nil, fmt.Errorf("check out: %w", err)
	}
	c := &laying{tmp: tmp}
	own := &Workspace{Top: dir, GitDir: tmp, CommonDir: w.CommonDir}
	t := &turn{w: own, config: config, width: idWidth(config)}
	for _, d := range []string{own.private("info"), own.private("refs")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			c.end()
			return nil, fmt.Errorf("check out: %w", err)
		}
	}
	if err := t.writeConfig(); err != nil {
		c.end()
		return nil, err
	}
	c.git = git.Private(own.private(), dir).Storing(filepath.Join(w.CommonDir, "objects"))
	return c, nil
}

func (c *laying) end() { os.RemoveAll(c.tmp) }
