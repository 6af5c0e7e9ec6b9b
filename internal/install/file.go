package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Change is what becomes of one file.
type Change struct {
	Path   string // as a person names it; a link is followed
	Before []byte
	After  []byte
	Was    bool // the file is there before
	Stays  bool // and after

	mode fs.FileMode
}

// Errors of files, for who decides what to do next. All leave everything as it was.
var (
	ErrReadOnly = errors.New("it is read-only")
	ErrChanged  = errors.New("it was changed meanwhile")
)

// most is how large a settings file may be, in bytes.
const most = 16 << 20

// look reads a file that is to be changed.
func look(path string) (Change, error) {
	c := Change{Path: path, mode: 0o600}
	real, err := resolve(path)
	if err != nil {
		return c, err
	}
	info, err := os.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("%s is no file", path)
	}
	if info.Size() > most {
		return c, fmt.Errorf("%s has %d MB, and no settings are that long", path, info.Size()>>20)
	}
	c.Before, err = os.ReadFile(real)
	c.After, c.Was, c.Stays, c.mode = c.Before, true, true, info.Mode().Perm()
	return c, err
}

// resolve follows links to the file that is really there, or would be.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if target, lerr := os.Readlink(path); lerr == nil {
		return "", fmt.Errorf("%s is a link to %s, which is not there: make that file, or remove the link", path, target)
	}
	return path, nil
}

// same reports whether a change changes nothing.
func (c Change) same() bool { return c.Was == c.Stays && bytes.Equal(c.Before, c.After) }

// may is an error when a file may not be replaced.
func (c Change) may() error {
	if !c.Was {
		return nil
	}
	real, err := resolve(c.Path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("%s: %w: who keeps it so (a person, or a tool that writes it) has to change it; or make it writable, and try again", c.Path, ErrReadOnly)
	}
	return replaceable(c.Path, info)
}

// write makes the change in one step: a reader has the old file or the new one.
func (c Change) write() error {
	if c.same() {
		return nil
	}
	now, err := look(c.Path)
	if err != nil {
		return err
	}
	if now.Was != c.Was || !bytes.Equal(now.Before, c.Before) {
		return fmt.Errorf("%s: %w: try again", c.Path, ErrChanged)
	}
	if err := c.may(); err != nil {
		return err
	}
	real, err := resolve(c.Path)
	if err != nil {
		return err
	}
	if !c.Stays {
		return os.Remove(real)
	}
	return replace(real, c.After, c.mode)
}

// replace puts a file in the place of another, by way of one beside it.
func replace(path string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".duplex-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(text); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = sameOwner(f, path); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
