package install

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// around is how many unchanged lines are shown beside those that change.
const around = 2

// Diff is a change as lines: "-" goes, "+" comes, " " stays, "@@" names the place. Our
// changes are few and of whole lines, so what stays is what both texts begin and end
// with, and the lines in common between, in their order.
func (c Change) Diff() []string {
	before, after := lines(c.Before), lines(c.After)
	var out []string
	shown := -1 // lines of before that were shown
	for _, h := range hunks(before, after) {
		from := max(h.at-around, shown, 0)
		if from > shown {
			out = append(out, fmt.Sprintf("@@ line %d", from+1))
		}
		for _, l := range before[from:h.at] {
			out = append(out, " "+l)
		}
		for _, l := range before[h.at : h.at+h.gone] {
			out = append(out, "-"+l)
		}
		for _, l := range h.come {
			out = append(out, "+"+l)
		}
		shown = min(h.at+h.gone+around, len(before))
		if h.next >= 0 {
			shown = min(shown, h.next)
		}
		for _, l := range before[h.at+h.gone : shown] {
			out = append(out, " "+l)
		}
	}
	return out
}

func lines(text []byte) []string {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if len(text) == 0 {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, l := range all {
		all[i] = strings.TrimSuffix(l, "\r")
	}
	return all
}

// hunk is a run of lines of the text before that goes, and what comes instead.
type hunk struct {
	at, gone int
	come     []string
	next     int // where the next hunk is; -1: this is the last
}

// hunks pairs equal lines greedily: a line that stays is the next one of its kind. That
// is not always the shortest way to tell it, and always a true one.
func hunks(before, after []string) []hunk {
	var all []hunk
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		if i < len(before) && j < len(after) && before[i] == after[j] {
			i, j = i+1, j+1
			continue
		}
		gone, come := meet(before[i:], after[j:])
		all = append(all, hunk{i, gone, after[j : j+come], -1})
		if n := len(all); n > 1 {
			all[n-2].next = i
		}
		i, j = i+gone, j+come
	}
	return all
}

// far is how many lines ahead two texts are brought together again.
const far = 500

// meet is how many lines of each are to be passed over until both go on alike, the
// fewest in all.
func meet(before, after []string) (gone, come int) {
	for sum := 1; sum <= min(2*far, len(before)+len(after)); sum++ {
		for gone := max(0, sum-len(after)); gone <= min(sum, len(before)); gone++ {
			come := sum - gone
			if gone < len(before) && come < len(after) && alike(before[gone:], after[come:]) {
				return gone, come
			}
		}
	}
	return len(before), len(after)
}

// alike reports whether two texts go on with the same lines, more than a bracket.
func alike(a, b []string) bool {
	n := min(3, len(a), len(b))
	return slices.Equal(a[:n], b[:n]) && (n == 3 || len(a) == len(b))
}
