package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find lists the files that fit a pattern in which * stands for any part of one
// name, sorted. Everything else in the pattern is meant as written, so that a
// folder may be called [x]. A folder that is not there holds nothing.
func Find(pattern string) ([]string, error) {
	dir, name := filepath.Split(pattern)
	dir = filepath.Clean(dir)
	if !strings.Contains(pattern, "*") {
		_, err := os.Lstat(pattern)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("find transcripts: %w", err)
		}
		return []string{pattern}, nil
	}
	dirs := []string{dir}
	if strings.Contains(dir, "*") {
		var err error
		if dirs, err = Find(dir); err != nil {
			return nil, err
		}
	}
	var found []string
	for _, d := range dirs {
		names, err := inDir(d, name)
		if err != nil {
			return nil, err
		}
		found = append(found, names...)
	}
	return found, nil
}

func inDir(dir, pattern string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || !isDir(dir) {
			return nil, nil
		}
		return nil, fmt.Errorf("find transcripts: %w", err)
	}
	var found []string
	for _, e := range entries {
		if fits(e.Name(), pattern) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fits compares a name with a pattern in which * stands for any text.
func fits(name, pattern string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return name == pattern
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}
