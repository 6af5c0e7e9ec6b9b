package spool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Report says what a drain did.
type Report struct {
	Lines int      // delivered
	Torn  int      // damaged, and put aside
	Kept  []string // the files that the damaged ones are in
}

// The ends of file names: being drained, and damaged lines put aside for a person to look at.
const (
	draining = ".draining"
	torn     = ".torn"
)

// Drain delivers every waiting line in the order of their arrival, up to most of them at once, and forgets them
// once deliver returned nil. When deliver returns an error the drain ends with it; those lines and the ones after
// them wait for the next one.
//
// The file is renamed before it is read, so lines that arrive meanwhile go to a new one. A drain that is
// killed leaves the renamed file, and the next one delivers it again from its beginning. Two drains at once
// may both deliver a line, never neither.
func Drain(dir string, most int, deliver func(lines [][]byte) error) (Report, error) {
	var report Report
	old, err := drained(dir)
	if err != nil {
		return report, err
	}
	for _, name := range old {
		if err := drain(filepath.Join(dir, name), most, deliver, &report); err != nil {
			return report, err
		}
	}
	name, err := take(dir)
	if err != nil || name == "" {
		return report, err
	}
	return report, drain(name, most, deliver, &report)
}

// take renames the waiting file so that names sort by time. Its answer is empty when nothing waits.
func take(dir string) (string, error) {
	name := filepath.Join(dir, fmt.Sprintf("%020d-%d%s", time.Now().UnixNano(), os.Getpid(), draining))
	err := os.Rename(filepath.Join(dir, waiting), name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("take the spool: %w", err)
	}
	return name, nil
}

// drained lists the renamed files, ours and those that a killed drain left, the oldest first.
func drained(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the spool: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), draining) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func drain(path string, most int, deliver func([][]byte) error, report *Report) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another drain has delivered it
	}
	if err != nil {
		return fmt.Errorf("drain the spool: %w", err)
	}
	defer f.Close()
	var damaged bytes.Buffer
	rest, err := read(f, most, deliver, &damaged, report)
	if damaged.Len() > 0 {
		// Written whole under a name of its own: a drain that is repeated puts aside the same lines once.
		aside := strings.TrimSuffix(path, draining) + torn
		if err := replace(aside, &damaged); err != nil {
			return err
		}
		report.Kept = append(report.Kept, aside)
	}
	if err != nil {
		return errors.Join(err, keep(path, f, rest))
	}
	f.Close() // Windows removes no open file
	return remove(path)
}

// keep leaves only what was not delivered, from an offset on. It goes to a file of another name, because
// damaged lines were put aside under this one.
func keep(path string, f *os.File, rest int64) error {
	if rest == 0 {
		return nil
	}
	if _, err := f.Seek(rest, io.SeekStart); err != nil {
		return fmt.Errorf("keep the rest of the spool: %w", err)
	}
	if err := replace(strings.TrimSuffix(path, draining)+"-"+strconv.FormatInt(rest, 10)+draining, f); err != nil {
		return err
	}
	f.Close()
	return remove(path)
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drain the spool: %w", err)
	}
	return nil
}

// batch bounds how many bytes are delivered at once, give or take a line.
const batch = 1 << 20

// read delivers the sound lines and copies the damaged ones. rest is the offset of the first line that was
// neither.
func read(r io.Reader, most int, deliver func([][]byte) error, damaged io.Writer, report *Report) (rest int64, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var at int64
	var together [][]byte
	size := 0
	flush := func() error {
		if len(together) == 0 {
			return nil
		}
		if err := deliver(together); err != nil {
			return err
		}
		report.Lines += len(together)
		together, size, rest = nil, 0, at
		return nil
	}
	for {
		record, length, readErr := nextLine(lines)
		if readErr != nil && readErr != io.EOF {
			return rest, fmt.Errorf("read the spool: %w", readErr)
		}
		line, sound := decode(record)
		if !sound && len(record) > 0 || len(together) >= most || size >= batch {
			if err := flush(); err != nil {
				return rest, err
			}
		}
		at += length
		if sound {
			together, size = append(together, line), size+len(line)
		} else if len(record) > 0 {
			if _, err := damaged.Write(append(record, '\n')); err != nil {
				return rest, err
			}
			report.Torn++
			rest = at
		}
		if readErr == io.EOF {
			err := flush()
			return rest, err
		}
	}
}

// nextLine reads up to a newline, which it leaves out, and says how long the line was with it. Of a line that
// is longer than any that Append writes only the beginning is kept: it is damaged, and must not fill memory.
func nextLine(r *bufio.Reader) (line []byte, length int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		length += int64(len(part))
		if len(line) <= MaxLine+len("00000000 ") {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), length, err
	}
}

// replace puts content into the place of a file in one step.
func replace(path string, content io.Reader) error {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("rewrite the spool: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = io.Copy(temp, content)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("rewrite the spool: %w", err)
	}
	return nil
}
