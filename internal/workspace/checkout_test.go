package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCheckout(t *testing.T) {
	t.Parallel()
	p := withSubmodule(t)
	p.git("config", "core.autocrlf", "true")
	p.write("crlf", "a\r\nb\n")
	p.write("run.sh", "#!/bin/sh\n")
	if err := os.Chmod(p.at("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.link("README", "link")
	p.mkdir("empty")
	p.write("lib/untracked", "in the submodule\n")
	p.write("ignored.log", "not kept\n")
	want := p.snapshot()
	delete(want, "ignored.log")
	s := p.keep()
	p.write("README", "later\n")
	out := &place{t: t, top: filepath.Join(filepath.Dir(p.top), "out")}
	p.untouched(func() {
		if err := p.workspace().Checkout(t.Context(), s.Commit, out.top); err != nil {
			t.Fatal(err)
		}
	})
	out.same(out.snapshot(), want)
	if err := p.workspace().Checkout(t.Context(), s.Commit, out.top); err == nil {
		t.Error("a folder that is not empty was taken")
	}
	for _, dir := range []string{p.at("inside"), p.top, filepath.Dir(p.top)} {
		if err := p.workspace().Checkout(t.Context(), s.Commit, dir); err == nil {
			t.Errorf("checked out into %s", dir)
		}
	}
	if exists(p.at("inside")) {
		t.Error("a refused checkout made a folder in the workspace")
	}
	if err := p.workspace().Checkout(t.Context(), "HEAD", filepath.Join(filepath.Dir(p.top), "head")); err != nil {
		t.Errorf("an ordinary commit: %v", err)
	}
}

func TestCheckoutPathsLaysOriginals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("tests/one_test.go", "package tests // original\n")
	p.write("tests/data/x", "original\n")
	first := p.keep()
	p.write("tests/one_test.go", "package tests // weakened\n")
	p.write("tests/extra_test.go", "package tests // new\n")
	p.remove("tests/data")
	outside := filepath.Join(filepath.Dir(p.top), "elsewhere")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	p.link(outside, "tests/data")
	p.write("src/a.go", "package a // new\n")
	last := p.keep()
	w, ctx := p.workspace(), t.Context()
	out := &place{t: t, top: filepath.Join(filepath.Dir(p.top), "out")}
	if err := w.Checkout(ctx, last.Commit, out.top); err != nil {
		t.Fatal(err)
	}
	if err := w.CheckoutPaths(ctx, first.Commit, out.top, []string{"tests/"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"tests/one_test.go": "package tests // original\n", "tests/data/x": "original\n", "src/a.go": "package a // new\n"} {
		if got := out.read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if exists(out.at("tests/extra_test.go")) {
		t.Error("a file the original did not have is still under the protected path")
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 0 {
		t.Errorf("written through a link: %v (%v)", list, err)
	}
}

func TestHashPathsAndListDir(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("src/new.go", "package n\n")
	s := p.keep()
	w := p.workspace()
	got, err := w.HashPaths(t.Context(), s.Commit, []string{"src/*.go", "!src/b.go"})
	if err != nil || len(got) != 2 || got["src/a.go"] != p.git("hash-object", "src/a.go") || got["src/new.go"] == "" {
		t.Errorf("hashes are %v (%v)", got, err)
	}
	for dir, want := range map[string][]string{
		"":      {".gitignore", "README", "docs/", "src/"},
		"src":   {"a.go", "b.go", "new.go"},
		"docs/": {"long/"}, "nowhere": nil, "README": nil,
	} {
		if got, err := w.ListDir(t.Context(), s.Commit, dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("in %q are %v (%v), want %v", dir, got, err, want)
		}
	}
	if _, err := w.ListDir(t.Context(), "nothing", ""); !errors.Is(err, ErrNoSafePoint) {
		t.Errorf("listing an unknown commit gave %v", err)
	}
}

// Patterns mean what they mean in .gitignore: git itself is asked.
func TestGlobsAgreeWithGit(t *testing.T) {
	t.Parallel()
	patterns := []string{"*.go", "/README", "src/", "src/*", "a/**/z", "**/deep", "docs/**", "x?y", "[ab].txt", "[!ab].txt", "src/[ab].go", "*.[gt]?[tx]", "a\\*b", "dir/sub", "no/such", "*", "a.b", "**", "**/x/**", "long*name.txt"}
	paths := []string{"README", "sub/README", "src/a.go", "src/in/b.go", "a/z", "a/b/z", "a/b/c/z", "x/deep", "deep/file", "docs/one", "docs/two/three", "xay", "x/y", "a.txt", "b.txt", "c.txt", "a*b", "axb", "dir/sub/file", "other/dir/sub", "a.b", "aXb", "p/x/q", "longername.txt", "src"}
	p := newFolder(t)
	p.git("init", "-q")
	for _, pattern := range patterns {
		p.write(".gitignore", pattern+"\n")
		match, err := compileGlobs([]string{pattern})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := p.tryGit(append([]string{"check-ignore", "--no-index", "--"}, paths...)...)
		ignored := strings.Split(out, "\n")
		for _, path := range paths {
			want := slices.Contains(ignored, path) || slices.Contains(ignored, `"`+path+`"`)
			if got := match(path); got != want {
				t.Errorf("pattern %q, path %q: got %v, git says %v", pattern, path, got, want)
			}
		}
	}
	if _, err := compileGlobs([]string{"  "}); err == nil {
		t.Error("an empty pattern was taken")
	}
}

func TestCheckGlobs(t *testing.T) {
	t.Parallel()
	for glob, want := range map[string]bool{
		"**/*_test.go": true, "app/[id]/*": true, `app/\[id`: true, "[]a]": true, "!old/": true,
		"[": false, "a[": false, "[a]/[b": false, "[]": false, "": false, "/": false, "!": false, "[z-a]": false,
	} {
		if err := CheckGlobs([]string{"ok", glob}); (err == nil) != want {
			t.Errorf("%q: %v, want it taken: %t", glob, err, want)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*.go", "[a-", "[", "a/**/b", "\\", "[[:alpha:]]", "[]]", "!x"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		match, err := compileGlobs([]string{glob})
		if err != nil {
			return
		}
		if first, second := match(path), match(path); first != second {
			t.Errorf("%q on %q answers twice differently", glob, path)
		}
	})
}
