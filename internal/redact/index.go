package redact

// index finds vendors and keywords by their first bytes. New makes it from the tables in a few microseconds;
// nothing of it exists before.
type index struct {
	heads    [1 << 10]uint64 // one bit for a hash of the three first bytes of each vendor's prefix
	vendors  [1 << 10]bucket // by the same hash, cut short; the next free place when taken
	words    [64]uint64      // one bit for the first and last byte and the length of each keyword
	keywords [256]bucket
}

// bucket is a part of a table: the entries that begin alike.
type bucket struct {
	head     uint32 // the first bytes
	from, to uint16
}

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
	ruleProtocol
)

func newIndex() (x index) {
	for i := range vendors {
		head := headOf(vendors[i].prefix, 0)
		h := head * 2654435761 >> 16
		x.heads[h>>6] |= 1 << (h & 63)
		x.place(head).extend(head, i)
	}
	for i := range keywords {
		w := keywords[i].word
		h := wordHash(w[0], w[len(w)-1], len(w))
		x.words[h>>6] |= 1 << (h & 63)
		x.keywords[w[0]].extend(uint32(w[0]), i)
	}
	return x
}

func headOf(s string, i int) uint32 { return uint32(s[i])<<16 | uint32(s[i+1])<<8 | uint32(s[i+2]) }

// place returns the bucket of a head, or the free one where it belongs.
func (x *index) place(head uint32) *bucket {
	for h := head * 2654435761 >> 22; ; h = (h + 1) % uint32(len(x.vendors)) {
		if b := &x.vendors[h]; b.to == 0 || b.head == head {
			return b
		}
	}
}

func (b *bucket) extend(head uint32, i int) {
	if b.to == 0 {
		b.head, b.from = head, uint16(i)
	}
	b.to = uint16(i) + 1
}

// starts returns the vendors whose prefix may begin at i: nearly always none.
func (x *index) starts(s string, i int) []vendor {
	if i+2 >= len(s) {
		return nil
	}
	head := headOf(s, i)
	if h := head * 2654435761 >> 16; x.heads[h>>6]>>(h&63)&1 == 0 {
		return nil
	}
	b := x.place(head)
	return vendors[b.from:b.to]
}

func wordHash(first, last byte, n int) uint32 {
	return uint32(first&31)<<7 | uint32(last&31)<<2 | uint32(n&3) // &31 is the same for both cases of a letter
}

func (x *index) mayBeKeyword(w string) bool {
	h := wordHash(w[0], w[len(w)-1], len(w))
	return x.words[h>>6]>>(h&63)&1 != 0
}

// keyword returns the keyword that w is, or nil.
func (x *index) keyword(w string) *keyword {
	first := lowerByte(w[0])
	for _, b := range [2]bucket{x.keywords[w[0]], x.keywords[first]} {
		for i := b.from; i < b.to; i++ {
			k := &keywords[i]
			if len(k.word) == len(w) && (k.word == w || k.fold && equalFold(k.word, w)) {
				return k
			}
		}
		if w[0] == first {
			break
		}
	}
	return nil
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
