package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
	"github.com/seed-5777983b/duplex/internal/store"
)

// desk is a tracker with a person's home, in which Claude Code keeps transcripts.
type desk struct {
	*Tracker
	t    *testing.T
	home string
	dir  string // a folder to work in
	rows int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir(), dir: t.TempDir()}
	env := map[string]string{"HOME": d.home}
	tr, err := Open(context.Background(), Options{Dir: t.TempDir(), Settings: DefaultSettings(), Create: true, Now: time.Now,
		Agents: []agent.Adapter{claude.Adapter{}}, Getenv: func(n string) string { return env[n] }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	d.Tracker = tr
	return d
}

// row is a line of a transcript of a session that works in the desk's folder.
func (d *desk) row(session, kind, more, content string) string {
	d.rows++
	return fmt.Sprintf(`{"parentUuid":null,"type":%q,"uuid":"0000%04d-0000-4000-8000-000000000000","sessionId":%q,"cwd":%q,"version":"2.1.332","timestamp":"2026-11-28T10:%02d:%02d.000Z",%s"message":%s}`+"\n",
		kind, d.rows, session, d.dir, d.rows/60, d.rows%60, more, content)
}

func (d *desk) said(session, text string) string {
	return d.row(session, "user", "", fmt.Sprintf(`{"role":"user","content":%q}`, text))
}

func (d *desk) reply(session, text string) string {
	return d.row(session, "assistant", "", fmt.Sprintf(`{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}]}`, d.rows, text))
}

// kept writes a transcript to where Claude Code keeps it.
func (d *desk) kept(session string, lines ...string) string {
	d.t.Helper()
	dir := filepath.Join(d.home, ".claude", "projects", strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, d.dir))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	path := filepath.Join(dir, session+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *desk) adopted(name string) Adopted {
	d.t.Helper()
	out, err := d.Adopt(context.Background(), APerson(), AdoptRequest{File: name, Dir: d.dir})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *desk) recalled(r RecallRequest) Recalled {
	d.t.Helper()
	if r.Dir == "" {
		r.Dir = d.dir
	}
	out, err := d.Recall(context.Background(), r)
	if err != nil {
		d.t.Fatalf("recall %q: %v", r.Words, err)
	}
	return out
}

// credential is one that is made here: none stands in this file.
func credential() string { return "gh" + "p_" + "9fK2mQ7xR4tB8wZ1vL6nC3yH5jD0sG2aE7uP" }

func TestRecallOfTranscripts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := "aaaa0000-0000-4000-8000-000000000001"
	result := d.row(s, "user", "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"marbles: 7 `+strings.Repeat("far away ", 9000)+`pebbles"}]}`)
	d.kept(s, d.said(s, "Count the marbles"), d.reply(s, "I would leave the marbles where they are"), result,
		d.row(s, "user", `"isMeta":true,`, `{"role":"user","content":"Caveat: marbles"}`),
		d.reply(s, "the gateway of marbles takes "+credential()),
		d.said(s, "<duplex-brief>marbles</duplex-brief>"), `{"type":"api-request-blob","sessionId":"`+s+`","content":"marbles"}`+"\n", d.reply(s, "done"))
	d.adopted(s)

	got := d.recalled(RecallRequest{Words: "marbles"})
	var spoken []string
	for _, x := range got.Spoken {
		spoken = append(spoken, x.Author.String()+": "+job.Clip(x.Snippet.Text, 60))
		if x.File == "" || x.Short == "" || x.Session == "" || x.Number != 1 || x.At == 0 {
			t.Errorf("it does not say where it stands: %+v", x)
		}
	}
	if len(got.Hits) == 0 || got.Hits[0].Kind == job.KindStep || got.Hits[0].Author.Kind != job.Person {
		t.Errorf("of the ledger: %+v", got.Hits)
	}
	all := strings.Join(spoken, "\n")
	for _, want := range []string{"claude: I would leave the marbles where they are", "command: marbles: 7 far away", "claude: the gateway of marbles takes [REDACTED:"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q was not found in\n%s", want, all)
		}
	}
	if len(spoken) != 3 || strings.Contains(all, "Caveat") || strings.Contains(all, credential()) {
		t.Errorf("found too much:\n%s", all)
	}
	if got := d.recalled(RecallRequest{Words: "marbles pebbles"}); len(got.Spoken) != 1 {
		t.Errorf("far apart in one text: %+v", got.Spoken)
	}
	if got := d.recalled(RecallRequest{Words: credential()[:12] + "*"}); len(got.Spoken)+len(got.Hits) != 0 {
		t.Errorf("a credential was found: %+v", got)
	}
	if got := d.recalled(RecallRequest{Words: "marbles", Ledger: true}); len(got.Spoken) != 0 {
		t.Errorf("of the ledger only: %+v", got.Spoken)
	}
	if got := d.recalled(RecallRequest{Words: "marbles", Kinds: []job.Kind{job.KindInstructed}}); len(got.Spoken) != 0 || len(got.Hits) != 1 {
		t.Errorf("of one kind: %+v", got)
	}
	if got := d.recalled(RecallRequest{Words: "marbles", Since: job.At(time.Now().Add(time.Hour))}); len(got.Spoken)+len(got.Hits) != 0 {
		t.Errorf("since later: %+v", got)
	}
}

// TestRecallIsBounded: however much fits, the answer is small and says that there is
// more.
func TestRecallIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := "bbbb0000-0000-4000-8000-000000000001"
	lines := []string{d.said(s, "Count the marbles")}
	for i := range 300 {
		lines = append(lines, d.reply(s, fmt.Sprintf("marbles %d %s", i, strings.Repeat("more ", 200))))
	}
	d.kept(s, lines...)
	d.adopted(s)
	got := d.recalled(RecallRequest{Words: "marbles " + strings.Repeat("marbles ", 100_000), Limit: 1_000_000})
	if len(got.Spoken) != hitsMost || !got.MoreSpoken || !strings.HasPrefix(got.Spoken[0].Snippet.Text, "marbles 299") {
		t.Errorf("%d places, more %v, the first %q", len(got.Spoken), got.MoreSpoken, got.Spoken[0].Snippet.Text)
	}
	for _, x := range got.Spoken {
		if len(x.Snippet.Text) > snippet+100 {
			t.Errorf("a snippet of %d bytes", len(x.Snippet.Text))
		}
	}
	if usual := d.recalled(RecallRequest{Words: "marbles"}); len(usual.Spoken) != hitsUsual {
		t.Errorf("usually %d", len(usual.Spoken))
	}
}

func TestRecallSaysWhatItDidNotRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := "cccc0000-0000-4000-8000-000000000001"
	path := d.kept(s, d.said(s, "Count the marbles"))
	d.adopted(s)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := d.recalled(RecallRequest{Words: "marbles"}); len(got.Unread) != 1 || got.Unread[0].File != path {
		t.Errorf("a transcript that is gone: %+v", got.Unread)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := d.recalled(RecallRequest{Words: "marbles"}); len(got.Unread) != 1 || !strings.Contains(got.Unread[0].Why, "not a regular file") {
		t.Errorf("a folder in its place: %+v", got.Unread)
	}
}

func TestRecallScope(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.Recall(context.Background(), RecallRequest{Words: "x", Dir: d.dir}); !errors.Is(err, ErrNoJobHere) {
		t.Errorf("in a folder without a job: %v", err)
	}
	for _, words := range []string{"", " - ", "-x", `"`, "…"} {
		if _, err := d.Recall(context.Background(), RecallRequest{Words: words, All: true}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q: %v", words, err)
		}
	}
	a, b := "dddd0000-0000-4000-8000-000000000001", "dddd0000-0000-4000-8000-000000000002"
	d.kept(a, d.said(a, "Count the marbles here"))
	here := d.adopted(a)
	elsewhere := d.dir
	d.dir = t.TempDir()
	d.kept(b, d.said(b, "Count the marbles there"))
	there := d.adopted(b)
	for _, c := range []struct {
		r    RecallRequest
		want string
	}{
		{RecallRequest{}, there.Short}, {RecallRequest{Dir: elsewhere}, here.Short}, {RecallRequest{All: true}, there.Short + " " + here.Short},
		{RecallRequest{Job: here.Job}, here.Short}, {RecallRequest{Own: here.Job}, there.Short + " " + here.Short},
		{RecallRequest{Own: here.Job, Dir: filepath.Join(elsewhere, "gone")}, here.Short},
	} {
		c.r.Words = "marbles"
		var jobs []string
		for _, h := range d.recalled(c.r).Hits {
			if h.Kind == job.KindInstructed {
				jobs = append(jobs, h.Short)
			}
		}
		if strings.Join(jobs, " ") != c.want {
			t.Errorf("%+v: found in %v, want %s", c.r, jobs, c.want)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	q := query.Parse("lexer old")
	m := store.Matches{Seen: []int64{900, 20}, Of: 100_000}
	add := func(name string, kind job.Kind, text string) {
		m.List = append(m.List, store.Match{Entry: job.Entry{Envelope: job.Envelope{ID: job.ID(name), Kind: kind, HappenedAt: job.Time(len(m.List))}}, Text: text, Found: q.Find(text)})
	}
	add("step", job.KindStep, "edited the old lexer")
	add("step, long", job.KindStep, "edited the old lexer "+strings.Repeat("and much else ", 100))
	add("decision", job.KindDecided, "keep the old lexer")
	add("decision, later", job.KindDecided, "keep the old lexer")
	add("decision, the frequent word", job.KindDecided, "keep the new lexer")
	add("open item, the rare word", job.KindRaised, "the old one")
	rank(&m)
	var got []string
	for _, x := range m.List {
		got = append(got, string(x.ID))
	}
	want := "decision, later; decision; open item, the rare word; decision, the frequent word; step; step, long"
	if strings.Join(got, "; ") != want {
		t.Errorf("ranked %s\n want %s", strings.Join(got, "; "), want)
	}
}
