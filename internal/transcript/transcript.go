// Package transcript opens the files that agents write, read-only, and hands
// their whole lines to whoever understands them, by byte offset, so that a file
// is read on from where the last call stopped. It knows nothing of what is in a
// line, writes nothing, and holds one line at a time, whatever the file's size.
package transcript

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxLine is the longest line that is handed on whole, in bytes.
const MaxLine = 8 << 20

// Stub is how much of a line above MaxLine is handed on, in bytes.
const Stub = 4 << 10

// buffer is how much is read at once, in bytes.
const buffer = 128 << 10

// ErrRewritten says that a file is not the one that was read before: it is
// shorter than the offset, or no line ends there. Read it again from 0; what was
// recorded of it is known by its keys.
var ErrRewritten = errors.New("the file was cut or replaced since it was last read")

// ErrStop, returned by the function given to Lines, ends the reading after the
// line it was given.
var ErrStop = errors.New("enough lines")

// Lines calls do with each whole line of the file at path, without its line end,
// and with the offset of its first byte, from offset from on. It stops after the
// line that reaches limit bytes (0: at the end of the file) and returns where to
// go on. Empty lines are passed over.
//
// A last line that is still without its line end is left for the next time. A
// line above MaxLine is handed on as its first Stub bytes, which no parser takes
// for a whole one. The line is only valid during the call. An error of do ends
// the reading before that line and is returned.
//
// Files that gzip made are read through; their offsets count the unpacked bytes,
// and their last line is whole without a line end too.
func Lines(path string, from, limit int64, do func(line []byte, offset int64) error) (next int64, err error) {
	f, err := open(path, from)
	if err != nil {
		return from, err
	}
	defer f.close()
	next = from
	for limit <= 0 || next-from < limit {
		line, size, err := f.line()
		if errors.Is(err, io.EOF) {
			if size == 0 || !f.packed {
				return next, nil
			}
		} else if err != nil {
			return next, fmt.Errorf("read transcript: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if next == 0 {
			line = bytes.TrimPrefix(line, mark)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			switch err := do(line, next); {
			case errors.Is(err, ErrStop):
				return next + size, nil
			case err != nil:
				return next, err
			}
		}
		next += size
	}
	return next, nil
}

// ErrTorn says that a file that gzip made is not whole.
var ErrTorn = errors.New("the packed file is not whole")

// Whole reads a file that gzip made to its end and gives ErrTorn when that is not
// there or is not what was packed, so that nobody begins with a part of it. Other
// files are what they are.
func Whole(ctx context.Context, path string) error {
	f, err := open(path, 0)
	if err != nil || !f.packed {
		if err == nil {
			f.close()
		}
		return torn(path, err)
	}
	defer f.close()
	for {
		_, err := io.CopyN(io.Discard, f.in, 1<<20)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return torn(path, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

func torn(path string, err error) error {
	var damaged flate.CorruptInputError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &damaged) {
		return fmt.Errorf("%w: %s (%v); copy it again, or unpack what is there: gunzip -c %s > part.jsonl", ErrTorn, path, err, path)
	}
	return err
}

// Head gives the first bytes of a file, unpacked, at most n.
func Head(path string, n int) ([]byte, error) {
	f, err := open(path, 0)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := f.passMark(); err != nil {
		return nil, err
	}
	head := make([]byte, n)
	n, err = io.ReadFull(f.in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	return head[:n], nil
}

// mark is what some editors and copies put before the first line of UTF-8.
var mark = []byte("\xef\xbb\xbf")

// passMark goes behind the mark at the beginning of a file, if there is one.
func (f *file) passMark() error {
	start, err := f.in.Peek(len(mark))
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("read transcript: %w", err)
	}
	if bytes.Equal(start, mark) {
		_, err := f.in.Discard(len(mark))
		return err
	}
	return nil
}

// file is one being read.
type file struct {
	file   *os.File
	in     *bufio.Reader
	packed bool
	long   []byte // of a line longer than the buffer
}

func open(path string, from int64) (*file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open transcript %s: not a regular file", path)
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	f := &file{file: opened}
	if err := f.seek(from); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *file) close() { _ = f.file.Close() }

// seek goes to an offset at which a line begins.
func (f *file) seek(from int64) error {
	magic := make([]byte, 2)
	n, err := f.file.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read transcript: %w", err)
	}
	f.packed = n == 2 && magic[0] == 0x1f && magic[1] == 0x8b
	before := max(0, from-1)
	if f.packed {
		unpacked, err := gzip.NewReader(f.file)
		if err != nil {
			return fmt.Errorf("unpack transcript: %w", err)
		}
		f.in = bufio.NewReaderSize(unpacked, buffer)
		if _, err := io.CopyN(io.Discard, f.in, before); err != nil {
			return rewritten(err)
		}
	} else {
		if _, err := f.file.Seek(before, io.SeekStart); err != nil {
			return fmt.Errorf("read transcript: %w", err)
		}
		f.in = bufio.NewReaderSize(f.file, buffer)
	}
	if from > 0 {
		end, err := f.in.ReadByte()
		if err != nil {
			return rewritten(err)
		}
		if end != '\n' {
			return f.atEnd(from)
		}
	}
	return nil
}

// atEnd allows for an offset after a packed file's last line, which may have no
// line end.
func (f *file) atEnd(from int64) error {
	if _, err := f.in.Peek(1); f.packed && errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("no line begins at byte %d: %w", from, ErrRewritten)
}

func rewritten(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the file is shorter than before: %w", ErrRewritten)
	}
	return fmt.Errorf("read transcript: %w", err)
}

// line reads one line with its end, and its size in the file; of a line above
// MaxLine only the Stub. At the end of the file it gives what is left, and io.EOF.
func (f *file) line() (line []byte, size int64, err error) {
	part, err := f.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, int64(len(part)), err
	}
	f.long = append(f.long[:0], part...)
	size = int64(len(part))
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = f.in.ReadSlice('\n')
		size += int64(len(part))
		if size <= MaxLine {
			f.long = append(f.long, part...)
		} else if len(f.long) > Stub {
			f.long = f.long[:Stub]
		}
	}
	return f.long, size, err
}
