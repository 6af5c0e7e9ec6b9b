package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-5777983b/duplex/internal/query"
)

// Search calls do with the lines of the file at path that may hold every term of a
// query, and with the offset of each. A line is looked at as bytes, whatever they
// mean, so it may hold the terms in a place where nobody said them.
//
// Of a file larger than most bytes (0: of any) the end is read; of one that gzip
// made, the beginning. whole says that all of it was. The line is only valid during
// the call; an error of do ends the reading, as the end of ctx does.
func Search(ctx context.Context, path string, q query.Query, most int64, do func(line []byte, offset int64) error) (whole bool, err error) {
	from, packed, err := begin(path, most)
	if err != nil {
		return false, err
	}
	s := sieve{needles: needles(q)}
	next, err := Lines(path, from, most, func(line []byte, offset int64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.passes(line) {
			return nil
		}
		return do(line, offset)
	})
	if from > 0 && errors.Is(err, ErrRewritten) { // no line begins so late
		return false, nil
	}
	return err == nil && from == 0 && (!packed || most <= 0 || next < most), err
}

// begin is where to read a file from, so that no more than most bytes are left.
func begin(path string, most int64) (from int64, packed bool, err error) {
	f, err := open(path, 0)
	if err != nil {
		return 0, false, err
	}
	defer f.close()
	info, err := f.file.Stat()
	if err != nil {
		return 0, false, fmt.Errorf("open transcript: %w", err)
	}
	if f.packed || most <= 0 || info.Size() <= most {
		return 0, f.packed, nil
	}
	from, err = lineAfter(f.file, info.Size()-most)
	return from, false, err
}

func needles(q query.Query) (out [][]byte) {
	for _, n := range q.Needles() {
		out = append(out, []byte(n))
	}
	return out
}

// sieve tells lines that cannot hold the needles by a glance at their bytes.
type sieve struct {
	needles [][]byte
	lower   []byte // of the line; kept for the next one
}

// passes reports whether a line has every needle in either case, or has letters that
// are folded to plain ones and so may have it in another way.
func (s *sieve) passes(line []byte) bool {
	s.lower = append(s.lower[:0], line...)
	fold := false
	for i, c := range s.lower {
		switch {
		case c >= 'A' && c <= 'Z':
			s.lower[i] = c - 'A' + 'a'
		case c >= 0x80 && query.MayFold(c):
			fold = true
		}
	}
	for _, n := range s.needles {
		if !bytes.Contains(s.lower, n) {
			return fold
		}
	}
	return true
}

// lineAfter is where the first line begins behind an offset.
func lineAfter(f io.ReaderAt, offset int64) (int64, error) {
	piece := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(piece, offset)
		if i := bytes.IndexByte(piece[:n], '\n'); i >= 0 {
			return offset + int64(i) + 1, nil
		}
		offset += int64(n)
		if errors.Is(err, io.EOF) {
			return offset, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read transcript: %w", err)
		}
	}
}
