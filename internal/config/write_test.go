package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, before, key, value, after string }{
		{"no file", "", "auto", "ask", "auto = \"ask\"\n"},
		{"over a value, with its comment", "# top\nnudge = 0.5   # early\nauto = \"on\"\n", "nudge", "60%", "# top\nnudge = 0.6   # early\nauto = \"on\"\n"},
		{"in its table", "[brief]\ntokens = 1000\n", "brief.tokens", "3000", "[brief]\ntokens = 3000\n"},
		{"into its table", "[lease]\nlength = \"1m\" # long\n\n# about safe points\n[safepoint]\nkeep = 5\n", "lease.remote", "1h", "[lease]\nlength = \"1m\" # long\nremote = \"1h\"\n\n# about safe points\n[safepoint]\nkeep = 5\n"},
		{"into an empty table", "[brief]\n", "brief.tokens", "900", "[brief]\ntokens = 900\n"},
		{"beside others, no line end", "auto = \"on\"", "quota", "1GB", "auto = \"on\"\nquota = \"1GB\"\n"},
		{"above the first table", "auto = \"on\" # yes\n\n# tables\n[brief]\ntokens = 1000\n", "nudge", "0.5", "auto = \"on\" # yes\nnudge = 0.5\n\n# tables\n[brief]\ntokens = 1000\n"},
		{"above the first table and its comment", "# tables\n[brief]\ntokens = 1000\n", "nudge", "0.5", "nudge = 0.5\n\n# tables\n[brief]\ntokens = 1000\n"},
		{"over a list of several lines", "redact.known-files = [\n  \"a\", # one\n  \"b\",\n] # end\nauto = \"on\"\n", "redact.known-files", ".env", "redact.known-files = [\".env\"] # end\nauto = \"on\"\n"},
		{"text with quotes", "", "prices", `a "b" \c`, "prices = \"a \\\"b\\\" \\\\c\"\n"},
		{"lines as on Windows", "auto = \"on\"\r\n[brief]\r\ntokens = 1000\r\n", "nudge", "0.5", "auto = \"on\"\r\nnudge = 0.5\r\n[brief]\r\ntokens = 1000\r\n"},
		{"truth", "", "safepoint.capture-ignored", "yes", "safepoint.capture-ignored = true\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "new", "config.toml")
			if test.before != "" {
				mkdir(t, filepath.Dir(filepath.Dir(file)), "new")
				write(t, filepath.Dir(file), "config.toml", test.before)
			}
			if err := Set(file, test.key, test.value); err != nil {
				t.Fatal(err)
			}
			if got := read(t, file); got != test.after {
				t.Errorf("got\n%q\nwant\n%q", got, test.after)
			}
			want, err := Load(Sources{Flags: map[string]string{test.key: test.value}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Load(Sources{UserFile: file})
			if err != nil {
				t.Fatal(err)
			}
			a, _ := got.Get(test.key)
			b, _ := want.Get(test.key)
			if test.key != "prices" && a.Value != b.Value {
				t.Errorf("the file gives %q, want %q", a.Value, b.Value)
			}
		})
	}
}

func TestSetLeavesTheFileOnError(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, before, key, value, want string }{
		{"unknown setting", "auto = \"on\"\n", "atuo", "off", "did you mean auto?"},
		{"wrong value", "auto = \"on\"\n", "auto", "sometimes", "not one of on, ask, off"},
		{"file that is not TOML", "auto on\n", "auto", "off", "config.toml:1:"},
		{"inline table", "lease = { length = \"1m\" }\n", "lease.remote", "1h", "edit the file by hand"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, t.TempDir(), "config.toml", test.before)
			if err := Set(file, test.key, test.value); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := read(t, file); got != test.before {
				t.Errorf("the file became %q", got)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); len(left) != 1 {
				t.Errorf("files left behind: %v", left)
			}
		})
	}
}

func TestSetThroughALink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target := write(t, folder, "real.toml", "auto = \"on\"\n")
	link := filepath.Join(folder, "config.toml")
	if err := os.Symlink(target, link); err != nil {
		t.Skip("not on windows without the right to make links: " + err.Error())
	}
	if err := Set(link, "auto", "off"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, target); got != "auto = \"off\"\n" {
		t.Errorf("the target holds %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v, %v", info, err)
	}
}

// FuzzSettingsFile: whatever the file, reading it does not panic and gives each value a line that exists, and
// an edit changes the one key it was asked to change.
func FuzzSettingsFile(f *testing.F) {
	for _, text := range []string{
		"nudge = 0.5 # x\n[brief]\ntokens = 1\n",
		"a.b.'c d'.\"e\" = [ [1, 2], { x = \"}\" } ] # end\n",
		"x = \"\"\"a\n\\\"\"\"\"\"\ny = '''\n'''''\n",
		"[[a]]\nb = 1\n[[a]]\nb = 2\n[ a . c ]\n",
		"lease = { length = \"1m\", remote = \"2m\" }\r\n",
		"a = 1979-05-27 07:32:00 # spaces in a value\n",
		"\"\\u0061\" = 1\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parse(text)
		if err != nil {
			return
		}
		for _, v := range found {
			if v.line < 1 || v.line > 1+strings.Count(text, "\n") {
				t.Errorf("%s is on line %d of %q", v.key, v.line, text)
			}
		}
		before, err := values(text)
		if err != nil {
			t.Fatal(err)
		}
		after, err := edit(text, "brief.tokens", "777")
		if err != nil {
			return
		}
		now, err := values(after)
		if err != nil {
			t.Fatalf("%q became %q, which does not read: %v", text, after, err)
		}
		if now["brief.tokens"] != "777" {
			t.Errorf("%q became %q, where brief.tokens is %q", text, after, now["brief.tokens"])
		}
		delete(before, "brief.tokens")
		delete(now, "brief.tokens")
		if !maps.Equal(before, now) {
			t.Errorf("%q became %q, which changes more", text, after)
		}
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
