package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line           string
		written, calls bool
	}{
		{Line("", "claude"), true, true},
		{Line("/home/mara/go/bin/duplex", "claude"), true, true},
		{Line("/opt/it's here/duplex", "claude"), true, true},
		{Line(`C:\Users\Mara\duplex.exe`, "claude"), true, true},
		{"duplex hook claude", true, true},
		{"/usr/bin/duplex hook claude", true, true},
		{"'/opt/a b/duplex' hook claude", true, true},
		{"nice duplex hook claude", false, true},
		{"DUPLEX_HOME=/x duplex hook claude || true", false, true},
		{"duplex hook codex", false, false},
		{"duplex hook", false, false},
		{"/usr/bin/other hook claude", false, false},
		{"audit --hook claude", false, false},
		{"test -x a && exec b hook claude; command -v duplex >/dev/null && exec duplex hook claude; exit 0", false, true},
		{"", false, false},
	} {
		if got := written(c.line, "claude"); got != c.written {
			t.Errorf("%s is written by setup: %v, want %v", c.line, got, c.written)
		}
		if got := calls(c.line, "claude"); got != c.calls {
			t.Errorf("%s calls our hook: %v, want %v", c.line, got, c.calls)
		}
	}
}

// TestLineInAShell: the line calls the program, or another one of that name, or nothing;
// without any it is no error and says nothing. The program's own end is the line's.
func TestLineInAShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	program := func(dir, says string, code string) string {
		path := filepath.Join(dir, "duplex")
		put(t, path, "#!/bin/sh\necho "+says+" \"$@\"; cat\nexit "+code+"\n")
		chmod(t, path, 0o755)
		return path
	}
	root := t.TempDir()
	here := program(filepath.Join(root, "it's here"), "here", "0")
	program(filepath.Join(root, "path"), "path", "0")
	refusing := program(filepath.Join(root, "refusing"), "refusing", "2")
	path, none := filepath.Join(root, "path"), filepath.Join(root, "none")
	for _, c := range []struct {
		name, line, path, want string
		code                   int
	}{
		{"in its place", Line(here, "claude"), path, "here hook claude\nevent", 0},
		{"in its place, nothing on the PATH", Line(here, "claude"), none, "here hook claude\nevent", 0},
		{"elsewhere by now", Line(filepath.Join(root, "old/duplex"), "claude"), path, "path hook claude\nevent", 0},
		{"by name", Line("", "claude"), path, "path hook claude\nevent", 0},
		{"gone", Line(filepath.Join(root, "old/duplex"), "claude"), none, "", 0},
		{"gone, by name", Line("", "claude"), none, "", 0},
		{"its own answer", Line(refusing, "claude"), path, "refusing hook claude\nevent", 2},
	} {
		cmd := exec.Command("/bin/sh", "-c", c.line)
		cmd.Env = []string{"PATH=" + c.path + ":/bin:/usr/bin"}
		if c.path == none {
			cmd.Env = []string{"PATH=" + none}
			if strings.HasPrefix(c.want, "here") {
				cmd.Env = []string{"PATH=/bin:/usr/bin"}
			}
		}
		cmd.Stdin = strings.NewReader("event")
		out, err := cmd.CombinedOutput()
		if string(out) != c.want || cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%s: said %q, ended with %d (%v); want %q, %d", c.name, out, cmd.ProcessState.ExitCode(), err, c.want, c.code)
		}
	}
	_ = os.Remove(here)
}

func TestWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"": "''", "--model": "--model", "a b": "'a b'", "it's": `'it'\''s'`, `{"a":1}`: `'{"a":1}'`, "$HOME": "'$HOME'"} {
		if got := Word(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, p := range []string{"/usr/bin/duplex", "/a b/duplex", "it's", `C:\d.exe`, "$(rm -rf x)", "\n", ""} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, program string) {
		line := Line(program, "claude")
		if !written(line, "claude") || !calls(line, "claude") {
			t.Errorf("%q is not known again", line)
		}
		if unword(Word(program)) != program && !strings.HasPrefix(program, "'") {
			t.Errorf("%q as a word of sh is %q, read back %q", program, Word(program), unword(Word(program)))
		}
	})
}
