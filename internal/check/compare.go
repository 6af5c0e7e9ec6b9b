package check

import (
	"cmp"
	"slices"
	"strings"
)

// The kinds of loss.
const (
	Missing      = "missing"
	NewlySkipped = "newly skipped"
	Emptied      = "emptied" // it still runs, and nothing in it can fail any more
)

// Loss is a case that was there before and does not test any more what it did.
type Loss struct {
	Name, Suite string // as they were before
	Kind        string
}

// Compare tells what of the cases before is lost in those after. A case is
// known by the last component of its path, each as often as it occurs, so that
// it may move below another parent, into another file or package. One that
// kept its whole name is compared with itself first; among the others the
// comparison with the fewest losses is taken. The order is that of before,
// sorted by suite and name.
func Compare(before, after Listing) []Loss {
	var losses []Loss
	was, is := byLeaf(before), byLeaf(after)
	for _, leaf := range sortedKeys(was) {
		losses = append(losses, compareLeaf(was[leaf], is[leaf])...)
	}
	slices.SortFunc(losses, func(a, b Loss) int {
		return strings.Compare(a.Suite+"\x00"+a.Name+"\x00"+a.Kind, b.Suite+"\x00"+b.Name+"\x00"+b.Kind)
	})
	return losses
}

func byLeaf(l Listing) map[string][]Case {
	groups := map[string][]Case{}
	for _, c := range l.Cases {
		groups[Leaf(c.Name)] = append(groups[Leaf(c.Name)], c)
	}
	return groups
}

// compareLeaf pairs cases of one leaf name, the surest pairs first.
func compareLeaf(before, after []Case) []Loss {
	var losses []Loss
	// Who asks for most chooses first, and takes the least that will do: so no
	// case that tests something is paired away by one that never did.
	slices.SortFunc(before, func(a, b Case) int { return compareCases(a, b, strength(b)-strength(a)) })
	slices.SortFunc(after, func(a, b Case) int { return compareCases(a, b, strength(a)-strength(b)) })
	pair := func(fits func(b, a Case) bool) {
		before = slices.DeleteFunc(before, func(b Case) bool {
			i := slices.IndexFunc(after, func(a Case) bool { return fits(b, a) })
			if i < 0 {
				return false
			}
			if kind := lost(b, after[i]); kind != "" {
				losses = append(losses, Loss{Name: b.Name, Suite: b.Suite, Kind: kind})
			}
			after = slices.Delete(after, i, i+1)
			return true
		})
	}
	pair(func(b, a Case) bool { return a.Suite == b.Suite && a.Name == b.Name })
	pair(func(b, a Case) bool { return lost(b, a) == "" })
	pair(func(b, a Case) bool { return true })
	for _, b := range before {
		losses = append(losses, Loss{Name: b.Name, Suite: b.Suite, Kind: Missing})
	}
	return losses
}

// strength is how much of a case there is to lose: that it runs, and that it
// can fail.
func strength(c Case) int {
	n := 0
	if c.State != skipped {
		n++
	}
	if c.Assertions != 0 {
		n++
	}
	return n
}

func compareCases(a, b Case, first int) int {
	return cmp.Or(first, strings.Compare(a.Suite, b.Suite), strings.Compare(a.Name, b.Name))
}

// lost tells what became of a case, when something did.
func lost(before, after Case) string {
	switch {
	case after.State == skipped && before.State != skipped:
		return NewlySkipped
	case after.Assertions == 0 && before.Assertions > 0:
		return Emptied
	}
	return ""
}

// Leaf is the name a case is known by: the last component of its path.
//
//	TestSums/adds_two                 adds_two
//	tests/test_sums.py::test_two[a/b] test_two[a/b]
//	sums > adds > two                 two
func Leaf(name string) string {
	leaf := name
	path, _, _ := strings.Cut(name, "[") // the parameters of a case may hold anything
	if i := strings.LastIndex(path, "::"); i >= 0 {
		leaf = name[i+len("::"):]
	} else {
		for _, separator := range []string{" > ", " › ", "/"} {
			if i := strings.LastIndex(name, separator); i >= 0 {
				leaf = name[i+len(separator):]
				break
			}
		}
	}
	if i := strings.LastIndexByte(leaf, '#'); i > 0 && goOrdinal(leaf[i+1:]) {
		leaf = leaf[:i]
	}
	if leaf == "" {
		return name
	}
	return leaf
}

// goOrdinal recognises the #01 that go test adds to the second subtest of one
// name below one parent; moving either changes it.
func goOrdinal(s string) bool {
	return len(s) >= 2 && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
