package duplex_test

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What leads a stranger, doc.go and the pages, names only what is there.
func TestPagesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	named := regexp.MustCompile(`\b(?:internal|cmd|docs)/[\w./-]*\w`)
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "doc.go") {
		text := read(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			exists(t, page, path.Join(path.Dir(filepath.ToSlash(page)), m[1]))
		}
		for _, name := range named.FindAllString(text, -1) {
			exists(t, page, name)
		}
	}
	files := regexp.MustCompile(`\b[a-z]+/[a-z_]+\.go\b`).FindAllString(read(t, "doc.go"), -1)
	for _, name := range files {
		exists(t, "doc.go", "internal/"+name)
	}
	if len(files) == 0 {
		t.Error("doc.go names no file")
	}
}

// The tour's table of floors is that of arch_test.go, as far as it is built.
func TestTourShowsEveryFloor(t *testing.T) {
	t.Parallel()
	packages, err := load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, p := range packages {
		if p.row != nil && p.name != "." {
			want[strings.Replace(p.row.pkg, "*", "NAME", 1)] = p.row.floor
		}
	}
	_, table, _ := strings.Cut(read(t, "doc.go"), "from the ground up:")
	table, _, _ = strings.Cut(table, "// arch_test.go")
	got, floor := map[string]int{}, 0
	for _, m := range regexp.MustCompile(`//\t(?:floor (\d))? *(\S+) `).FindAllStringSubmatch(table, -1) {
		if m[1] != "" {
			floor, _ = strconv.Atoi(m[1])
		}
		got[m[2]] = floor
	}
	if !maps.Equal(got, want) {
		t.Errorf("doc.go shows the floors\n%v\nand there are\n%v", got, want)
	}
}

// docs/stories.md lists the stories there are.
func TestStoriesAreListed(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^- `([a-z-]+)`: ").FindAllStringSubmatch(read(t, "docs/stories.md"), -1) {
		got = append(got, m[1])
	}
	stories, err := filepath.Glob("internal/cli/testdata/story/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stories {
		want = append(want, strings.TrimSuffix(filepath.Base(s), ".txtar"))
	}
	slices.Sort(got)
	slices.Sort(want) // by name, where "-" comes before the "." of files
	if !slices.Equal(got, want) {
		t.Errorf("docs/stories.md lists\n%q\nand there are\n%q", got, want)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(t *testing.T, page, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
		t.Errorf("%s names %s, which is not there", page, name)
	}
}
