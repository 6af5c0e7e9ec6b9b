package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

func TestLogCalls(t *testing.T) {
	t.Parallel()
	w := newTale(t)
	w.monday()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"log", "--kind", "stepp"}, ExitUsage, "the kinds are"},
		{[]string{"log", "--since", "-1"}, ExitUsage, "begin at 1"},
		{[]string{"log", w.short, "1", "2"}, ExitUsage, ""},
		{[]string{"log", w.short, "9999"}, ExitNotFound, "its last is 31"},
		{[]string{"log", "nosuch"}, ExitNotFound, ""},
		{[]string{"brief", "--section", "gaol"}, ExitUsage, "the sections are"},
		{[]string{"brief", "--tokens", "10"}, ExitUsage, "at least"},
	} {
		_, errs, code := w.run("", "", c.args...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit %d, %q; want %d, %q", c.args, code, errs, c.code, c.says)
		}
	}
	for _, args := range [][]string{{"log", "15"}, {"log", w.short, "#15"}, {"log", "--entry", "15"}} {
		if out := w.must(args...); !strings.Contains(out, "at position 15: step by command") {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := w.must("log", "--since", "25"); strings.Contains(out, "decided") || !strings.Contains(out, "commit") {
		t.Errorf("log --since 25:\n%s", out)
	}
	for n := 1; n < 20; n++ {
		shown := len(regexp.MustCompile(`(?m)^ *\d+  \d\d:\d\d  `).FindAllString(w.must("log", "--last", itoa(n)), -1))
		if shown != min(n, 15) {
			t.Errorf("log --last %d shows %d", n, shown)
		}
	}
}

func itoa(n int) string { return strings.TrimSpace(thousands(int64(n))) }

// TestSpendReplaced: the last row of a message wins, also when the step it led to
// has been told.
func TestSpendReplaced(t *testing.T) {
	t.Parallel()
	amount := func(cents int64) *int64 { p := cents * 1e10; return &p }
	var p pending
	p.spend(job.Spent{Message: "m1", Pico: amount(10)})
	p.spend(job.Spent{Message: "m1", Pico: amount(25)})
	if got := p.cost(); got != "$0.25" {
		t.Errorf("replaced before it was told: %s, want $0.25", got)
	}
	(&telling{}).clear(&p)
	p.spend(job.Spent{Message: "m1", Pico: amount(30)})
	if got := p.cost(); got != "$0.05" {
		t.Errorf("replaced after it was told: %s, want the difference, $0.05", got)
	}
	p.spend(job.Spent{Message: "m2", Tokens: job.Tokens{Output: 5}})
	(&telling{}).clear(&p)
	if got := p.cost(); got != "" {
		t.Errorf("after it was told: %q, want nothing", got)
	}
}

// TestTellingForgets: what is remembered stays bounded however long the ledger.
func TestTellingForgets(t *testing.T) {
	t.Parallel()
	var m memory[int, int]
	for i := range 10 * memorySize {
		m.put(i, i)
		m.put(i, i)
	}
	if len(m.of) != memorySize || len(m.order) != memorySize {
		t.Errorf("remembers %d of %d, want %d", len(m.of), len(m.order), memorySize)
	}
	if _, ok := m.get(0); ok {
		t.Error("the first is still there")
	}
	if v, ok := m.get(10*memorySize - 1); !ok || v != 10*memorySize-1 {
		t.Error("the newest is not there")
	}
}

// TestEveryKindIsTold: each kind of entry has words, also one of a newer version.
func TestEveryKindIsTold(t *testing.T) {
	t.Parallel()
	w := &tale{t: t, dir: t.TempDir(), env: map[string]string{}}
	a := &App{Now: w.clock, Getenv: func(string) string { return "" }}
	for _, k := range append(job.Kinds(), "sung") {
		p, err := job.Decode(k, job.PayloadVersion, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for _, payload := range []job.Payload{p, job.Erased{As: k}} {
			v := &telling{a: a, full: true}
			e := job.Entry{Envelope: job.Envelope{Position: 1, Kind: k, HappenedAt: 1, Session: "s"}, Payload: payload}
			text := ""
			if err := v.tell(e, func(b block) error { text += b.text; return nil }); err != nil {
				t.Fatal(err)
			}
			if len(strings.TrimSpace(text)) < 12 {
				t.Errorf("%s: %q", k, text)
			}
		}
	}
}
