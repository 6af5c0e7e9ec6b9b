package install

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", "a\nb\n", "a\nb\n", ""},
		{"made", "", "a\nb\n", "@@ line 1\n+a\n+b"},
		{"emptied", "a\n", "", "@@ line 1\n-a"},
		{"added at the end", "1\n2\n3\n4\n", "1\n2\n3\n4\n5\n", "@@ line 3\n 3\n 4\n+5"},
		{"added in the middle", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\nx\ny\n4\n5\n6\n", "@@ line 2\n 2\n 3\n+x\n+y\n 4\n 5"},
		{"changed", "1\n2\n3\n", "1\nx\n3\n", "@@ line 1\n 1\n-2\n+x\n 3"},
		{"two places", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\ny\n9\n", "@@ line 1\n 1\n-2\n+x\n 3\n 4\n@@ line 6\n 6\n 7\n-8\n+y\n 9"},
		{"two places near each other", "1\n2\n3\n4\n5\n6\n7\n", "1\nx\n3\n4\n5\ny\n7\n", "@@ line 1\n 1\n-2\n+x\n 3\n 4\n 5\n-6\n+y\n 7"},
		{"BOM and CRLF are not shown", "\xef\xbb\xbfa\r\nb\r\n", "\xef\xbb\xbfa\r\nx\r\nb\r\n", "@@ line 1\n a\n+x\n b"},
		{"a very long line", strings.Repeat("a", 500) + "X" + strings.Repeat("b", 500), strings.Repeat("a", 500) + "YZ" + strings.Repeat("b", 500),
			"@@ line 1\n-…" + strings.Repeat("a", 40) + "X" + strings.Repeat("b", 40) + "…\n+…" + strings.Repeat("a", 40) + "YZ" + strings.Repeat("b", 40) + "…"},
		{"a very long line beside it", strings.Repeat("é", 900) + "\n1\n", strings.Repeat("é", 900) + "\n2\n", "@@ line 1\n " + strings.Repeat("é", wide) + "…\n-1\n+2"},
	} {
		got := strings.Join(Change{Before: []byte(c.before), After: []byte(c.after)}.Diff(), "\n")
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// FuzzDiff: taking what goes out of the text before, and what comes in, gives the text
// after.
func FuzzDiff(f *testing.F) {
	f.Add("1\n2\n3\n", "1\nx\n3\n")
	f.Add("}\n}\n}\n", "}\n}\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		was, is := lines([]byte(before)), lines([]byte(after))
		if len(was)+len(is) > 200 {
			return
		}
		var got []string
		i := 0
		for _, h := range hunks(was, is) {
			got = append(append(got, was[i:h.at]...), h.come...)
			i = h.at + h.gone
		}
		if got = append(got, was[i:]...); strings.Join(got, "\n") != strings.Join(is, "\n") {
			t.Errorf("%q to %q is told as %q", was, is, got)
		}
		Change{Before: []byte(before), After: []byte(after)}.Diff()
	})
}
