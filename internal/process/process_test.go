package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestSelfIsLive(t *testing.T) {
	t.Parallel()
	self := Self()
	if self.PID != os.Getpid() || self.Host == "" {
		t.Fatalf("Self() = %+v, want our pid %d and a host", self, os.Getpid())
	}
	if got := self.Liveness(); got != Live {
		t.Errorf("our own liveness = %q, want %q", got, Live)
	}
}

func TestLiveness(t *testing.T) {
	t.Parallel()
	self := Self()
	with := func(change func(*Ident)) Ident { i := self; change(&i); return i }
	tests := []struct {
		name string
		who  Ident
		want Liveness
	}{
		{"nobody", Ident{}, Unknown},
		{"no start known", with(func(i *Ident) { i.Start = "" }), Unknown},
		{"other host", with(func(i *Ident) { i.Host = "elsewhere/1" }), Unknown},
		{"other host and boot", with(func(i *Ident) { i.Host, i.Boot = "elsewhere/1", "b" }), Unknown},
		{"other boot", with(func(i *Ident) { i.Boot = "an earlier boot" }), Gone},
		{"pid reused", with(func(i *Ident) { i.Start += "1" }), Gone},
		{"no such pid", with(func(i *Ident) { i.PID = 1 << 30 }), Gone},
	}
	for _, tt := range tests {
		if got := tt.who.Liveness(); got != tt.want {
			t.Errorf("%s: liveness of %+v = %q, want %q", tt.name, tt.who, got, tt.want)
		}
	}
}

func TestOfAnEndedProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	who, err := Of(cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err == nil { // it may have ended before it was looked at
		if got := who.Liveness(); got != Gone {
			t.Errorf("liveness after it ended = %q, want %q", got, Gone)
		}
	}
	if _, err := Of(cmd.Process.Pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Of(ended) = %v, want fs.ErrNotExist", err)
	}
}

func TestScrubbed(t *testing.T) {
	t.Parallel()
	env := []string{
		"PATH=/bin", "HOME=/home/ada", "LC_ALL=C", "GOFLAGS=-mod=mod", "GO111MODULE=on", "TERM=xterm",
		"GOOGLE_API_KEY=1", "GOOGLE_APPLICATION_CREDENTIALS=/k", "GOTOKEN=1",
		"GOPROXY=https://ada:" + "word@proxy.example/x", "GOSUMDB=https://sum.example/@v",
		"GIT_DIR=/x", "DUPLEX_JOB=k7m2", "AWS_SECRET_ACCESS_KEY=1", "EDITOR=vi",
		"DATABASE_URL=postgres://db", "APP_ONE=1", "APP_TWO=2", "PATH=/usr/bin", "broken", "=x",
	}
	tests := []struct {
		keep []string
		want string
	}{
		{nil, "GO111MODULE=on GOFLAGS=-mod=mod GOSUMDB=https://sum.example/@v HOME=/home/ada LC_ALL=C PATH=/usr/bin TERM=dumb"},
		{[]string{"DATABASE_URL", "APP_*", "TERM", "AWS_SECRET_ACCESS_KEY"},
			"APP_ONE=1 APP_TWO=2 AWS_SECRET_ACCESS_KEY=1 DATABASE_URL=postgres://db GO111MODULE=on GOFLAGS=-mod=mod GOSUMDB=https://sum.example/@v HOME=/home/ada LC_ALL=C PATH=/usr/bin TERM=xterm"},
	}
	for _, tt := range tests {
		if got := strings.Join(Scrubbed(env, tt.keep...), " "); got != tt.want {
			t.Errorf("Scrubbed(keep %q)\n got %s\nwant %s", tt.keep, got, tt.want)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	if got, ok := Lookup([]string{"A=1", "AB=2", "A=3=4"}, "A"); got != "3=4" || !ok {
		t.Errorf("Lookup(A) = %q, %v, want the last value 3=4", got, ok)
	}
	if got, ok := Lookup([]string{"AB=2"}, "A"); ok {
		t.Errorf("Lookup(A) = %q, want none", got)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		limit  int
		writes []string
		want   string
		lost   int64
	}{
		{"all of it", 10, []string{"one ", "two"}, "one two", 0},
		{"many small writes", 4, []string{"ab", "cd", "ef", "gh", "ij"}, "ghij", 6},
		{"one large write", 3, []string{"x", "abcdefgh"}, "fgh", 6},
		{"not inside a character", 4, []string{"aé€x"}, "€x", 3},
		{"not text at all", 2, []string{"a\x80\x81\x82\x83\x84"}, "", 6},
	}
	for _, tt := range tests {
		buf := &tail{limit: tt.limit}
		for _, w := range tt.writes {
			if n, err := buf.Write([]byte(w)); n != len(w) || err != nil {
				t.Fatalf("%s: Write(%q) = %d, %v", tt.name, w, n, err)
			}
		}
		if got, lost := buf.text(); got != tt.want || lost != tt.lost {
			t.Errorf("%s: text() = %q, %d lost; want %q, %d", tt.name, got, lost, tt.want, tt.lost)
		}
	}
}
