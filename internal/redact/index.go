package redact

// index finds vendors and keywords by their first bytes. New makes it from the tables in a few microseconds;
// nothing of it exists before.
type index struct {
	heads    [1 << 10]uint64 // one bit for a hash of the three first bytes of each vendor's prefix
	vendors  [256]bucket
	lengths  [256]uint32 // for each first byte, which lengths its keywords have
	keywords [256]bucket
}

// bucket is a part of a table: the entries that begin with one byte.
type bucket struct{ from, to uint16 }

// keyword is a word that asks for a rule.
type keyword struct {
	word  string // in lower case when fold
	rule  rule
	fold  bool
	flags string // for ruleShell: where the program takes credentials
}

type rule uint8

const (
	ruleBegin rule = iota
	ruleEnd
	rulePutty
	ruleScheme
	ruleSays
	ruleSQL
	ruleKube
	ruleShell
	ruleEcho
	ruleSets
	ruleAtlas
	ruleNetrc
	ruleSecure
	ruleValues
)

func newIndex() (x index) {
	for i, v := range vendors {
		a := v.prefix[0]
		if len(v.prefix) == 2 {
			for third := range 256 {
				x.mark(headHash(a, v.prefix[1], byte(third)))
			}
		} else {
			x.mark(headHash(a, v.prefix[1], v.prefix[2]))
		}
		grow(&x.vendors[a], i)
	}
	for i, k := range keywords {
		first := k.word[0]
		x.lengths[first] |= 1 << len(k.word)
		grow(&x.keywords[first], i)
	}
	return x
}

func grow(b *bucket, i int) {
	if b.to == 0 {
		b.from = uint16(i)
	}
	b.to = uint16(i) + 1
}

func headHash(a, b, c byte) uint32 {
	return (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 2654435761 >> 16
}

func (x *index) mark(h uint32) { x.heads[h>>6] |= 1 << (h & 63) }

// starts says whether a vendor's prefix may begin at i: nearly always right, and always when it says no.
func (x *index) starts(s string, i int) bool {
	if i+2 >= len(s) {
		return false
	}
	h := headHash(s[i], s[i+1], s[i+2])
	return x.heads[h>>6]>>(h&63)&1 != 0
}

func (x *index) mayBeKeyword(first byte, n int) bool {
	return n < 32 && (x.lengths[first]|x.lengths[lowerByte(first)])>>n&1 != 0
}

func (x *index) keyword(w string) (keyword, bool) {
	first := lowerByte(w[0])
	for _, b := range [2]bucket{x.keywords[w[0]], x.keywords[first]} {
		for _, k := range keywords[b.from:b.to] {
			if k.word == w || k.fold && equalFold(k.word, w) {
				return k, true
			}
		}
		if w[0] == first {
			break
		}
	}
	return keyword{}, false
}

// equalFold says whether w, in lower case, is low.
func equalFold(low, w string) bool {
	if len(low) != len(w) {
		return false
	}
	for i := range len(w) {
		if lowerByte(w[i]) != low[i] {
			return false
		}
	}
	return true
}
