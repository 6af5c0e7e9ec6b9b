package install

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
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
			out = append(out, " "+short(l))
		}
		for i, l := range before[h.at : h.at+h.gone] {
			if i < len(h.come) {
				l, h.come[i] = apart(l, h.come[i])
			}
			out = append(out, "-"+short(l))
		}
		for _, l := range h.come {
			out = append(out, "+"+short(l))
		}
		shown = min(h.at+h.gone+around, len(before))
		if h.next >= 0 {
			shown = min(shown, h.next)
		}
		for _, l := range before[h.at+h.gone : shown] {
			out = append(out, " "+short(l))
		}
	}
	return out
}

// wide is how many characters of a line are shown. A file may be one line of megabytes.
const wide = 300

func short(line string) string {
	if utf8.RuneCountInString(line) <= wide {
		return line
	}
	return string([]rune(line)[:wide]) + "…"
}

// beside is how many characters are shown on both sides of where two long lines differ.
const beside = 40

// apart leaves out of two long lines most of what both begin and end with.
func apart(a, b string) (string, string) {
	if len(a) <= wide && len(b) <= wide {
		return a, b
	}
	ra, rb := []rune(a), []rune(b)
	least := min(len(ra), len(rb))
	front := 0
	for front < least && ra[front] == rb[front] {
		front++
	}
	back := 0
	for back < least-front && ra[len(ra)-1-back] == rb[len(rb)-1-back] {
		back++
	}
	cut := func(r []rune) string {
		var before, after string
		from, to := 0, len(r)
		if front > beside {
			from, before = front-beside, "…"
		}
		if back > beside {
			to, after = len(r)-back+beside, "…"
		}
		return before + string(r[from:to]) + after
	}
	return cut(ra), cut(rb)
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
