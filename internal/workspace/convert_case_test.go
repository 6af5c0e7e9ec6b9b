package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever git would convert, the bytes on disk are what counts.
func TestCase14To17Conversions(t *testing.T) {
	t.Parallel()
	utf16 := "\xff\xfeh\x00i\x00\r\x00\n\x00"
	cases := []struct {
		name, attributes string
		config           [][2]string
	}{
		{"14-crlf-autocrlf", "", [][2]string{{"core.autocrlf", "true"}}},
		{"14-crlf-autocrlf-input", "", [][2]string{{"core.autocrlf", "input"}, {"core.safecrlf", "true"}}},
		{"15-gitattributes-text-eol", "* text=auto\n*.txt text eol=crlf\n*.id ident\n", nil},
		{"16-filter-missing", "*.bin filter=lfs\n", [][2]string{{"filter.lfs.clean", "no-such-program"}, {"filter.lfs.smudge", "no-such-program"}, {"filter.lfs.required", "true"}}},
		{"16-filter-runs", "* filter=spy\n", [][2]string{{"filter.spy.clean", "touch SPY; cat"}, {"filter.spy.smudge", "touch SPY; cat"}, {"filter.spy.process", ""}}},
		{"17-working-tree-encoding", "*.u16 text working-tree-encoding=UTF-16\n", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if c.attributes != "" {
				p.write(".gitattributes", c.attributes)
			}
			p.write("crlf.txt", "a\r\nb\r\n")
			p.write("mixed.txt", "a\r\nb\nc\r\n")
			p.write("lf.txt", "a\nb\n")
			p.write("v.id", "$Id: 0123456789012345678901234567890123456789 $\n")
			p.write("data.bin", "\x00\x01binary\r\n\r\n")
			p.write("text.u16", utf16)
			// Half of them tracked, so that git has converted blobs of them.
			_, _ = p.tryGit("add", "crlf.txt", "lf.txt", "v.id", "text.u16")
			_, _ = p.tryGit("-c", "core.safecrlf=false", "commit", "-q", "-m", "converted")
			for _, set := range c.config {
				p.git("config", set[0], set[1])
			}
			p.remove("SPY")
			want := p.snapshot()
			s := p.keep()
			if exists(p.at("SPY")) {
				t.Fatal("keeping ran a filter")
			}
			for _, n := range []string{"crlf.txt", "mixed.txt", "lf.txt", "v.id", "data.bin", "text.u16"} {
				p.remove(n)
			}
			p.write("lf.txt", "a\r\nb\r\n")
			p.restore(s)
			p.same(p.snapshot(), want)
		})
	}
}

// A checkout under a setting that is gone since: the index's blob has LF, the
// file CRLF, and git takes the file for unchanged.
func TestCase14ConvertedUnderAnOlderSetting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("text", "a\nb\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "lf")
	p.git("config", "core.autocrlf", "true")
	p.remove("text")
	p.git("checkout", "text")
	if got := p.read("text"); got != "a\r\nb\r\n" {
		t.Fatalf("git wrote %q: the case is not what it should be", got)
	}
	p.git("config", "--unset", "core.autocrlf")
	s := p.keep()
	p.remove("text")
	p.restore(s)
	if got := p.read("text"); got != "a\r\nb\r\n" {
		t.Errorf("text came back as %q", got)
	}
}

// Attributes and filters may be set for the whole machine.
func TestCase16GlobalFilter(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	info := filepath.Join(p.top, ".git", "info", "attributes")
	if err := os.MkdirAll(filepath.Dir(info), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(info, []byte("* filter=rot text eol=crlf\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.git("config", "filter.rot.clean", "tr a-z b-za")
	p.git("config", "filter.rot.smudge", "tr b-za a-z")
	p.write("secret.txt", "abc\n")
	p.git("add", "secret.txt") // the blob has the same length and other bytes
	s := p.keep()
	p.remove("secret.txt")
	p.restore(s)
	if got := p.read("secret.txt"); got != "abc\n" {
		t.Errorf("secret.txt came back as %q", got)
	}
}
