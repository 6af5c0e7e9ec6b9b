// Package spool keeps what a hook could not record: the store was locked for too long, its disk was full, or
// it was written by a newer version. The line waits in a file beside the store, and the next command that
// can write takes it from there.
//
// It is not a log and not a queue between machines. It delivers each line at least once, so a line carries
// the key by which the store knows it again.
package spool

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-5777983b/duplex/internal/redact"
)

// MaxLine is the longest line in bytes. A hook's input is cut long before.
const MaxLine = 8 << 20

// ErrTooLong says that a line is longer than MaxLine.
var ErrTooLong = errors.New("line too long for the spool")

// ErrTorn says that only a part of a line could be written. The drain will report it.
var ErrTorn = errors.New("the line is torn")

// The file that is appended to. What is being drained has another name, see Drain.
const waiting = "waiting"

// Append adds a line. When it returns nil the line survives the end of this process, though not a power cut:
// what an agent writes is in its transcript too, and is read from there again.
//
// A line is written at once and takes no lock, so a hook that is killed in the middle costs that line only.
func Append(dir string, line redact.JSON) error {
	return add(dir, line.Bytes())
}

func add(dir string, line []byte) error {
	record, err := encode(line)
	if err != nil {
		return fmt.Errorf("append to the spool: %w", err)
	}
	path := filepath.Join(dir, waiting)
	// A drain may take the file away between our opening it and our writing. Then nobody may have seen the
	// line, so it is written again. Each turn of the loop takes another drain at just this moment.
	for range 100 {
		landed, err := write(path, record)
		if err != nil {
			return fmt.Errorf("append to the spool: %w", err)
		}
		if landed {
			return nil
		}
	}
	return fmt.Errorf("append to the spool: %s is taken away again and again", path)
}

// write appends a record and tells whether the file was still in its place afterwards.
func write(path string, record []byte) (landed bool, err error) {
	f, err := open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if n, err := f.Write(record); err != nil {
		if n > 1 { // beyond the newline that ends what is before it
			err = fmt.Errorf("%w: %w", ErrTorn, err)
		}
		return false, err
	}
	ours, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(ours, there), nil
}

func open(path string) (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_WRONLY
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}

// Size is how many bytes wait in a spool, damaged lines that were put aside not counted.
func Size(dir string) (int64, error) {
	files, err := drained(dir)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, name := range append(files, waiting) {
		info, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("measure the spool: %w", err)
		}
		total += info.Size()
	}
	return total, nil
}

// Waiting is how many bytes have come since the last drain began; 0 when that cannot be told.
func Waiting(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, waiting))
	if err != nil {
		return 0
	}
	return info.Size()
}

// encode makes a record: a newline that ends whatever was left torn before it, the checksum, the line, and a
// newline. A line break in JSON is white space, since texts hold it escaped, and becomes a space.
func encode(line []byte) ([]byte, error) {
	if len(line) == 0 {
		return nil, errors.New("the line is empty")
	}
	if len(line) > MaxLine {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(line))
	}
	line = bytes.ReplaceAll(line, []byte("\n"), []byte(" "))
	record := make([]byte, 0, len(line)+len("\n00000000 \n"))
	record = fmt.Appendf(record, "\n%08x ", checksum(line))
	record = append(record, line...)
	return append(record, '\n'), nil
}

// decode takes the line out of a record without its newlines. It is false when the record is damaged.
func decode(record []byte) (line []byte, sound bool) {
	if len(record) < 9 || record[8] != ' ' {
		return nil, false
	}
	sum, err := strconv.ParseUint(string(record[:8]), 16, 32)
	if err != nil || uint32(sum) != checksum(record[9:]) {
		return nil, false
	}
	return record[9:], true
}

func checksum(line []byte) uint32 { return crc32.ChecksumIEEE(line) }
