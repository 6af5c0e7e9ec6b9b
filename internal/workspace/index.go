package workspace

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"sort"
	"strings"
)

// gitIndex is a git index file in memory. It is read here, and not by asking
// git, for what git does not tell: which entries a change could hide in.
type gitIndex struct {
	entries []entry
	tree    []byte // the TREE extension as it was; nil when there was none
	// foreign names an extension that changes what the entries mean: "link"
	// (split index), "sdir" (sparse index). The entries are then not all.
	foreign string
}

// entry is one path of an index.
type entry struct {
	path  string
	oid   string // raw bytes
	mode  uint32 // 0o100644, 0o100755, 0o120000 link, 0o160000 gitlink
	stat  stat
	flags uint16 // assume-valid, stage; the name's length is filled in when written
	extra uint16 // skip-worktree, intent-to-add
}

const (
	flagAssumeValid  = 0x8000
	flagExtended     = 0x4000
	flagStage        = 0x3000
	extraSkip        = 0x4000
	extraIntentToAdd = 0x2000

	modeExec = 0o100755
	modeFile = 0o100644
	modeLink = 0o120000
	modeGit  = 0o160000
)

var errIndex = errors.New("git index is damaged")

// parseIndex reads versions 2 to 4. width is the length of an object id in
// bytes: 20, or 32 in a SHA-256 repository.
func parseIndex(data []byte, width int) (*gitIndex, error) {
	if len(data) < 12+width || string(data[:4]) != "DIRC" {
		return nil, fmt.Errorf("%w: no header", errIndex)
	}
	version, count := be32(data[4:]), be32(data[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("git index has version %d, which Duplex does not know", version)
	}
	// One string holds the whole file; paths and ids are pieces of it.
	text := string(data[:len(data)-width])
	smallest := 62 - 20 + width
	if int64(count)*int64(smallest) > int64(len(text)) {
		return nil, fmt.Errorf("%w: %d entries in %d bytes", errIndex, count, len(text))
	}
	x := &gitIndex{entries: make([]entry, 0, count)}
	at, previous := 12, ""
	for range count {
		e, n, err := parseEntry(text[at:], width, version, previous)
		if err != nil {
			return nil, err
		}
		x.entries = append(x.entries, e)
		at, previous = at+n, e.path
	}
	if err := x.parseExtensions(text[at:]); err != nil {
		return nil, err
	}
	for _, e := range x.entries {
		// A split index leaves out the names of entries it replaces.
		if e.path == "" && x.foreign == "" {
			return nil, fmt.Errorf("%w: an entry without a name", errIndex)
		}
	}
	return x, nil
}

// parseEntry reads one entry and says how many bytes it took.
func parseEntry(text string, width int, version uint32, previous string) (entry, int, error) {
	fixed := 40 + width + 2
	if len(text) < fixed {
		return entry{}, 0, fmt.Errorf("%w: it ends inside an entry", errIndex)
	}
	field := func(i int) uint32 {
		return uint32(text[4*i])<<24 | uint32(text[4*i+1])<<16 | uint32(text[4*i+2])<<8 | uint32(text[4*i+3])
	}
	e := entry{
		stat: stat{ctime: field(0), ctimeNS: field(1), mtime: field(2), mtimeNS: field(3),
			dev: field(4), ino: field(5), uid: field(7), gid: field(8), size: field(9)},
		mode: field(6),
		oid:  text[40 : 40+width],
	}
	e.flags = uint16(text[fixed-2])<<8 | uint16(text[fixed-1])
	at := fixed
	if e.flags&flagExtended != 0 {
		if version < 3 || len(text) < at+2 {
			return entry{}, 0, fmt.Errorf("%w: unexpected extended flags", errIndex)
		}
		e.extra = uint16(text[at])<<8 | uint16(text[at+1])
		at += 2
	}
	keep := ""
	if version == 4 {
		strip, n := offsetVarint(text[at:])
		if n == 0 || strip > len(previous) {
			return entry{}, 0, fmt.Errorf("%w: bad name prefix", errIndex)
		}
		keep, at = previous[:len(previous)-strip], at+n
	}
	end := strings.IndexByte(text[at:], 0)
	if end < 0 {
		return entry{}, 0, fmt.Errorf("%w: a name does not end", errIndex)
	}
	e.path = text[at : at+end]
	if keep != "" {
		e.path = keep + e.path
	}
	at += end + 1
	if version < 4 {
		if at = (at + 7) &^ 7; at > len(text) {
			return entry{}, 0, fmt.Errorf("%w: it ends inside an entry", errIndex)
		}
	}
	e.flags &= flagAssumeValid | flagStage
	return e, at, nil
}

// offsetVarint reads git's variable length number; n is 0 when it is torn.
func offsetVarint(text string) (value, n int) {
	for n < len(text) && n < 5 {
		c := text[n]
		n++
		value = value<<7 | int(c&127)
		if c&128 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

func (x *gitIndex) parseExtensions(text string) error {
	for len(text) > 0 {
		if len(text) < 8 {
			return fmt.Errorf("%w: torn extension", errIndex)
		}
		name, size := text[:4], int64(be32([]byte(text[4:8])))
		if size > int64(len(text)-8) {
			return fmt.Errorf("%w: extension %q is too long", errIndex, name)
		}
		body := text[8 : 8+size]
		switch {
		case name == "TREE":
			x.tree = []byte(body)
		case name[0] >= 'a' && name[0] <= 'z':
			x.foreign = name // lower case: the index cannot be read without it
		}
		text = text[8+size:]
	}
	return nil
}

// bytes writes the index as version 2, or 3 when an entry needs it. Other
// extensions than TREE are left out: git makes them anew.
func (x *gitIndex) bytes(width int) []byte {
	version := uint32(2)
	for _, e := range x.entries {
		if e.extra != 0 {
			version = 3
		}
	}
	var b bytes.Buffer
	b.Grow(len(x.entries) * 120)
	put := func(v uint32) { b.Write(binary.BigEndian.AppendUint32(nil, v)) }
	b.WriteString("DIRC")
	put(version)
	put(uint32(len(x.entries)))
	for _, e := range x.entries {
		start, s := b.Len(), e.stat
		for _, v := range [10]uint32{s.ctime, s.ctimeNS, s.mtime, s.mtimeNS, s.dev, s.ino, e.mode, s.uid, s.gid, s.size} {
			put(v)
		}
		b.WriteString(e.oid)
		flags := e.flags&^flagExtended | uint16(min(len(e.path), 0xfff))
		if e.extra != 0 {
			flags |= flagExtended
		}
		b.Write(binary.BigEndian.AppendUint16(nil, flags))
		if e.extra != 0 {
			b.Write(binary.BigEndian.AppendUint16(nil, e.extra))
		}
		b.WriteString(e.path)
		b.Write(make([]byte, 8-(b.Len()-start)%8)) // one to eight NULs
	}
	if x.tree != nil {
		b.WriteString("TREE")
		put(uint32(len(x.tree)))
		b.Write(x.tree)
	}
	h := newHash(width)
	h.Write(b.Bytes())
	return h.Sum(b.Bytes())
}

// find returns the position of path, or where it would stand.
func (x *gitIndex) find(path string) (int, bool) {
	i := x.search(path, 0, len(x.entries))
	return i, i < len(x.entries) && x.entries[i].path == path
}

// search is find within a range.
func (x *gitIndex) search(path string, lo, hi int) int {
	return lo + sort.Search(hi-lo, func(i int) bool { return x.entries[lo+i].path >= path })
}

// under is the range, within one, of what lies below dir, which ends in "/".
func (x *gitIndex) under(dir string, lo, hi int) (from, to int) {
	from = x.search(dir, lo, hi)
	return from, from + sort.Search(hi-from, func(i int) bool { return !strings.HasPrefix(x.entries[from+i].path, dir) })
}

func newHash(width int) hash.Hash {
	if width == sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
