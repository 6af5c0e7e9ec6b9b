package live_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestStoriesAreListed: docs/stories.md lists the stories of this folder.
func TestStoriesAreListed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/stories.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = true
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(string(source), -1) {
			there = append(there, m[1])
		}
	}
	for _, name := range there {
		if name != t.Name() && !listed[name] {
			t.Errorf("docs/stories.md does not list %s: give it a line under “With the real agent”", name)
		}
	}
	for name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("docs/stories.md lists %s, and there is none", name)
		}
	}
}
