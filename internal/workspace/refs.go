package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/git"
)

// resolve gives the object a ref names, "" when there is no such ref. It reads
// git's files: asking git would be a third of a safe point in which nothing
// changed. Where refs are not files, git is asked.
func (w *Workspace) resolve(ctx context.Context, user git.Runner, ref string) (string, error) {
	if exists(filepath.Join(w.CommonDir, "reftable")) {
		found, err := user.Objects(ctx, false, ref)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", ref, err)
		}
		return found[0].ID, nil
	}
	for range 5 { // as deep as git follows symbolic refs
		dir := w.CommonDir
		if ref == "HEAD" {
			dir = w.GitDir
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ref)))
		if err != nil {
			// A folder of that name, or a file above it, is no ref either.
			return w.packedRef(ref)
		}
		next, symbolic := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
		if !symbolic {
			return next, nil
		}
		ref = next
	}
	return "", fmt.Errorf("read HEAD: its symbolic refs do not end")
}

// packedRef looks a ref up in packed-refs.
func (w *Workspace) packedRef(ref string) (string, error) {
	text, err := os.ReadFile(filepath.Join(w.CommonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	end := bytes.Index(text, []byte(" "+ref+"\n"))
	if end < 0 {
		return "", nil
	}
	return string(text[bytes.LastIndexByte(text[:end], '\n')+1 : end]), nil
}
