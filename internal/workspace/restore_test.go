package workspace

import (
	"os"
	"testing"
)

func Test01TrackedEdit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := p.snapshot()
	var s SafePoint
	p.untouched(func() { s = p.keep() })
	p.write("README", "changed\n")
	p.remove("src/a.go")
	if err := os.Rename(p.at("src/b.go"), p.at("src/c.go")); err != nil {
		t.Fatal(err)
	}
	p.write("new/agent.txt", "new\n")
	p.untouched(func() { p.restore(s) })
	p.same(p.snapshot(), want)
}
