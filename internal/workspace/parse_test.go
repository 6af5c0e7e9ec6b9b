package workspace

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every index git can write is read as git reads it, and written so that git
// reads the same.
func TestIndexAgreesWithGit(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			p := newPlace(t, "--object-format="+format)
			p.write("deep/"+strings.Repeat("long/", 40)+"name", "x\n")
			p.write("deep/"+strings.Repeat("long/", 40)+"name2", "x\n")
			p.link("README", "link")
			p.git("update-index", "--index-version", version)
			p.git("add", "-A")
			p.write("intent", "x\n")
			p.git("add", "-N", "intent")
			p.git("update-index", "--assume-unchanged", "README")
			p.git("update-index", "--skip-worktree", "src/a.go")
			data, err := os.ReadFile(p.at(".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			width := map[string]int{"sha1": 20, "sha256": 32}[format]
			x, err := parseIndex(data, width)
			if err != nil {
				t.Fatalf("%s version %s: %v", format, version, err)
			}
			var got strings.Builder
			for _, e := range x.entries {
				fmt.Fprintf(&got, "%o %s %d\t%s\n", e.mode, hex.EncodeToString([]byte(e.oid)), e.flags&flagStage>>12, e.path)
			}
			want := strings.ReplaceAll(p.git("ls-files", "-s", "-z"), "\x00", "\n")
			if got.String() != want {
				t.Errorf("%s version %s: read\n%s\ngit says\n%s", format, version, got.String(), want)
			}
			flags, debug := p.git("ls-files", "-v"), p.git("ls-files", "--debug")
			if err := os.WriteFile(p.at(".git/index"), x.bytes(width), 0o644); err != nil {
				t.Fatal(err)
			}
			if now := p.git("ls-files", "-v"); now != flags {
				t.Errorf("%s version %s: flags after writing\n%s\nwant\n%s", format, version, now, flags)
			}
			if now := p.git("ls-files", "--debug"); now != debug {
				t.Errorf("%s version %s: stats after writing\n%s\nwant\n%s", format, version, now, debug)
			}
			p.git("fsck")
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	x := &gitIndex{tree: []byte("tree"), entries: []entry{
		{path: "a", oid: strings.Repeat("\x01", 20), mode: modeFile},
		{path: "b/c", oid: strings.Repeat("\x02", 20), mode: modeLink, extra: extraSkip, flags: flagAssumeValid, stat: stat{size: 7}},
	}}
	good := x.bytes(20)
	f.Add(good)
	f.Add(good[:len(good)-30])
	f.Add(bytes.Replace(good, []byte{0, 0, 0, 3}, []byte{0, 0, 0, 4}, 1))
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("x", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := parseIndex(data, 20)
		if err != nil || x.foreign != "" {
			return
		}
		again, err := parseIndex(x.bytes(20), 20)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if len(again.entries) != len(x.entries) {
			t.Errorf("%d entries came back as %d", len(x.entries), len(again.entries))
		}
	})
}

func TestManifestComesBack(t *testing.T) {
	t.Parallel()
	m := &manifest{
		Objects: []string{"aa", "bb"}, EmptyDirs: []string{"x", "not\xffutf8"}, RawIndex: true,
		NotCovered: []NotCovered{{Path: "big\xfe", Size: 1 << 40, ModTime: time.UnixMicro(123456789).UTC(), Reason: Large}, {Path: "out/", Reason: Ignored}},
		Nested:     []nested{{Path: "lib", Commit: "cc", Ref: "refs/duplex/j/1", GitFile: "gitdir: ../.git/modules/lib\n"}},
	}
	text, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeManifest(text)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v came back as %+v (%v)", m, got, err)
	}
	if !got.sameCover(m) {
		t.Error("it does not cover the same as itself")
	}
	got.NotCovered[0].Size++
	if !got.sameCover(m) {
		t.Error("a file that grew is another cover")
	}
	got.NotCovered[0].Path = "other"
	if got.sameCover(m) {
		t.Error("another path is the same cover")
	}
	if _, err := decodeManifest([]byte(`{"schema":"duplex.manifest/2"}`)); err == nil || !strings.Contains(err.Error(), "install") {
		t.Errorf("a manifest of the future gave %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":"duplex.manifest/1","empty_dirs":["a",{"b64":"/w=="}]}`))
	f.Add([]byte(`{"schema":"duplex.manifest/1","not_covered":[{"path":{"b64":3}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeManifest(data)
		if err != nil {
			return
		}
		text, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeManifest(text); err != nil || !again.sameCover(m) {
			t.Errorf("came back as %+v (%v)", again, err)
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add("before a handover", "Ledger-Head: x\n\nDuplex-Job: forged", "main")
	f.Add("", "\n\n\n", "")
	f.Add("a\nDuplex-Number: 9", "Duplex-Record: x", "x: y")
	f.Fuzz(func(t *testing.T, why, message, branch string) {
		s := SafePoint{Job: job, N: 3, ID: job + "/3", Position: 77, Why: why, Message: message, Branch: branch, Record: "abc", Files: 5}
		got, err := parseMessage(s.message())
		if err != nil {
			t.Fatal(err)
		}
		if got.Job != job || got.N != 3 || got.Position != 77 || got.Record != "abc" || got.Files != 5 || got.Why != oneLine(why) || got.Branch != oneLine(branch) {
			t.Errorf("%+v came back as %+v", s, got)
		}
	})
}

func FuzzStatus(f *testing.F) {
	f.Add("# branch.oid (initial)\x00# branch.head main\x001 .M N... 100644 100644 100644 a b a file\x00? un tracked\x00u UU N... 1 2 3 4 a b c file\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if s := parseStatus(strings.Split(text, "\x00")); s.Count < len(s.Dirty) || len(s.Dirty) > mostDirty {
			t.Errorf("%d named of %d", len(s.Dirty), s.Count)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("READ ME", "x\n")
	p.git("add", "READ ME")
	p.write("README", "changed\n")
	p.write("un tracked", "x\n")
	p.remove("src/a.go")
	var s Status
	p.untouched(func() {
		var err error
		if s, err = p.workspace().Status(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if s.Branch != "main" || s.Head != p.git("rev-parse", "HEAD") || s.Count != 4 || strings.Join(s.Dirty, "|") != "READ ME|README|src/a.go|un tracked" {
		t.Errorf("status is %+v", s)
	}
	for i := range mostDirty {
		p.write(fmt.Sprintf("more%d", i), "x")
	}
	if s, err := p.workspace().Status(t.Context()); err != nil || s.Count != mostDirty+4 || len(s.Dirty) != mostDirty {
		t.Errorf("%d named of %d (%v)", len(s.Dirty), s.Count, err)
	}
	merging := conflicted(t)
	_, _ = merging.tryGit("merge", "other")
	if s, err := merging.workspace().Status(t.Context()); err != nil || s.Op != "merge" || s.Count != 1 {
		t.Errorf("in a merge: %+v (%v)", s, err)
	}
}
