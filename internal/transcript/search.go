package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-5777983b/duplex/internal/query"
)

// piece is how much of a file is searched before the piece in front of it, in bytes.
const piece = MaxLine

// Search calls do with the lines of the file at path that may hold every term of a
// query, and with the offset of each. A line is looked at as bytes, whatever they
// mean, so it may hold the terms in a place where nobody said them.
//
// The newest stands last in a transcript, so the file is read in pieces from its end:
// the lines of a piece come in order, and after each piece enough is asked whether to
// leave it at that. A file that gzip made is one piece. The line is only valid during
// the call; an error of do ends the reading, as the end of ctx does.
func Search(ctx context.Context, path string, q query.Query, do func(line []byte, offset int64) error, enough func() bool) error {
	f, err := open(path, 0)
	if err != nil {
		return err
	}
	defer f.close()
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("open transcript: %w", err)
	}
	s := sieve{needles: needles(q)}
	within := func(from, limit int64) error {
		_, err := Lines(path, from, limit, func(line []byte, offset int64) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !s.passes(line) {
				return nil
			}
			return do(line, offset)
		})
		return err
	}
	if f.packed {
		return within(0, 0)
	}
	for end := info.Size(); end > 0; {
		from, err := lineBefore(f.file, end)
		if err == nil {
			err = within(from, end-from)
		}
		if err != nil || enough() {
			return err
		}
		end = from
	}
	return nil
}

// lineBefore is where a line begins about a piece before the end of another.
func lineBefore(f io.ReaderAt, end int64) (int64, error) {
	for back := int64(piece); back < end; back *= 2 { // further where a line is that long
		from, err := lineAfter(f, end-back-1)
		if err != nil || from < end {
			return from, err
		}
	}
	return 0, nil
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
	part := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(part, offset)
		if i := bytes.IndexByte(part[:n], '\n'); i >= 0 {
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
