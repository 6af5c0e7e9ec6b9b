package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// TestRestoreOfKeepIsIdentity keeps random trees, damages them at random and
// goes back; then undoes that. 30 rounds times DUPLEX_SCALE, seeds fixed.
func TestRestoreOfKeepIsIdentity(t *testing.T) {
	t.Parallel()
	for seed := range scaled(30) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			random := &chaos{rand.New(rand.NewPCG(uint64(seed), 5))}
			p := newFolder(t)
			git := seed%4 != 3
			if git {
				p = newPlace(t)
				if seed%3 == 0 {
					p.git("config", "core.autocrlf", "true")
				}
			}
			random.grow(p, 40)
			if git && seed%2 == 0 {
				p.git("-c", "core.safecrlf=false", "add", "-A")
				p.git("commit", "-q", "-m", "grown")
			}
			for range 2 {
				random.damage(p, 10)
				want := p.snapshot()
				s := p.keep()
				random.damage(p, 25)
				damaged := p.snapshot()
				r := p.restore(s)
				p.same(p.snapshot(), want)
				p.restore(r.Undo)
				p.same(p.snapshot(), damaged)
				if t.Failed() {
					return
				}
			}
			if git {
				if out, err := p.tryGit("fsck", "--full"); err != nil {
					t.Errorf("git fsck: %s", out)
				}
			}
		})
	}
}

// chaos makes and breaks folders.
type chaos struct{ *rand.Rand }

// name is one of few, so that files, links and folders meet under the same.
func (c *chaos) name() string {
	parts := []string{"a", "b", "a.b", "c d", "-x", "ö", "a\nb", "[x]", "z"}
	depth := 1 + c.IntN(4)
	var p []string
	for range depth {
		p = append(p, parts[c.IntN(len(parts))])
	}
	return strings.Join(p, "/")
}

func (c *chaos) content() string {
	ends := []string{"\n", "\r\n", "\x00", "", "$Id$\n"}
	var b strings.Builder
	for range c.IntN(5) {
		fmt.Fprintf(&b, "%d%s", c.IntN(3), ends[c.IntN(len(ends))])
	}
	return b.String()
}

func (c *chaos) grow(p *place, n int) {
	for range n {
		c.put(p, c.name())
	}
}

// put makes a file, link or empty folder where nothing is, or a file is.
func (c *chaos) put(p *place, name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(p.at(dir)); err == nil && !info.IsDir() {
			p.remove(dir)
		}
	}
	if info, err := os.Lstat(p.at(name)); err == nil && (info.IsDir() || info.Mode()&os.ModeSymlink != 0) {
		p.remove(name)
	}
	switch c.IntN(8) {
	case 0:
		p.remove(name)
		p.link([]string{"a", "../b", "/nowhere", "."}[c.IntN(4)], name)
	case 1:
		p.remove(name)
		p.mkdir(name)
	default:
		p.write(name, c.content())
		if err := os.Chmod(p.at(name), []os.FileMode{0o644, 0o755}[c.IntN(2)]); err != nil {
			p.t.Fatal(err)
		}
	}
}

// damage changes what is there in n ways.
func (c *chaos) damage(p *place, n int) {
	for range n {
		var names []string
		for name := range p.snapshot() {
			names = append(names, name)
		}
		sort.Strings(names)
		if len(names) == 0 {
			c.put(p, c.name())
			continue
		}
		name := names[c.IntN(len(names))]
		switch c.IntN(7) {
		case 0:
			p.remove(name)
		case 1:
			p.remove(path.Dir(name) + "/" + path.Base(name))
			if dir := path.Dir(name); dir != "." {
				p.remove(dir)
			}
		case 2: // same size, same time
			info, err := os.Lstat(p.at(name))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			text := []byte(p.read(name))
			for i := range text {
				text[i] ^= 1
			}
			p.write(name, string(text))
			if err := os.Chtimes(p.at(name), time.Time{}, info.ModTime()); err != nil {
				p.t.Fatal(err)
			}
		case 3:
			to := p.at(c.name())
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err == nil && !exists(to) {
				_ = os.Rename(p.at(name), to) // not into itself, and not below a link: then it stays
			}
		default:
			c.put(p, c.name())
		}
	}
}
