package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// openJob begins a job with the short name it takes.
func openJob(t testing.TB, tx *Tx, a *author, id job.ID, p job.Opened) string {
	t.Helper()
	short, err := tx.TakeShort(id)
	if err != nil {
		t.Fatal(err)
	}
	p.Short = short
	if _, err := a.append(tx, id, "", &p); err != nil {
		t.Fatal(err)
	}
	return short
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	pad := func(prefix string, fill byte) job.ID {
		return job.ID(prefix + strings.Repeat(string(fill), 26-len(prefix)))
	}
	parent, twin, child := pad("k7m2q3", 'a'), pad("k7m2q4", 'b'), pad("zz22", 'c')
	write(t, s, func(tx *Tx) error {
		if got := openJob(t, tx, a, parent, job.Opened{Goal: "parent"}); got != "k7m2" {
			t.Errorf("short name %q, want k7m2", got)
		}
		if got := openJob(t, tx, a, twin, job.Opened{Goal: "twin"}); got != "k7m2q" {
			t.Errorf("short name of the second %q, want k7m2q", got)
		}
		openJob(t, tx, a, child, job.Opened{Goal: "child", Parent: parent})
		return nil
	})
	for name, want := range map[string]job.ID{
		"k7m2": parent, " K7M2 ": parent, "k7m2q": twin, string(twin): twin, "k7m2q3": parent, "zz2": child, "k7m2/1": child,
	} {
		read(t, s, func(tx *Tx) error {
			if got, err := tx.Resolve(name); got != want || err != nil {
				t.Errorf("Resolve(%q) = %s, %v, want %s", name, got, err, want)
			}
			return nil
		})
	}
	read(t, s, func(tx *Tx) error {
		for _, name := range []string{"", "nope", "k7m2/2", "%", "k7m2~"} {
			if _, err := tx.Resolve(name); !errors.Is(err, job.ErrNotFound) {
				t.Errorf("Resolve(%q): %v, want ErrNotFound", name, err)
			}
		}
		_, err := tx.Resolve("k7m")
		var ambiguous *AmbiguousError
		if !errors.As(err, &ambiguous) || !errors.Is(err, job.ErrAmbiguous) || len(ambiguous.Candidates) != 2 {
			t.Errorf("Resolve(k7m): %v, want two candidates", err)
		}
		return nil
	})
}

func TestJobsAreListedByWhatIsAsked(t *testing.T) {
	t.Parallel()
	s, a := openTest(t), &author{t: t}
	work, other := job.Workspace{ID: testID('w', 1), Path: "/a"}, job.Workspace{ID: testID('w', 2), Path: "/b"}
	plain, unnamed, done, child := testID('j', 1), testID('j', 2), testID('j', 3), testID('j', 4)
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, plain, job.Opened{Goal: "plain", Workspace: work, Repository: "r1"})
		openJob(t, tx, a, unnamed, job.Opened{Goal: "unnamed", Unnamed: true, Workspace: work})
		openJob(t, tx, a, done, job.Opened{Goal: "done", Workspace: other, Repository: "r1"})
		openJob(t, tx, a, child, job.Opened{Goal: "child", Parent: plain})
		for _, p := range []job.Payload{&job.Lesson{Text: "cache the build", Topic: "command"}, &job.Finished{Outcome: job.OutcomePassed}} {
			if _, err := a.append(tx, done, "", p); err != nil {
				return err
			}
		}
		_, err := a.append(tx, plain, testID('s', 1), &job.LeaseTaken{Lease: job.Lease{Session: testID('s', 1), Token: 1}})
		return err
	})
	for _, c := range []struct {
		name string
		f    JobFilter
		want []job.ID
	}{
		{"all, last changed first", JobFilter{}, []job.ID{plain, done, child, unnamed}},
		{"open", JobFilter{Open: true}, []job.ID{plain, child, unnamed}},
		{"finished", JobFilter{Finished: true}, []job.ID{done}},
		{"held", JobFilter{Held: true}, []job.ID{plain}},
		{"named in a workspace", JobFilter{Named: true, Workspace: work.ID}, []job.ID{plain}},
		{"unnamed", JobFilter{Unnamed: true}, []job.ID{unnamed}},
		{"repository", JobFilter{Repository: "r1"}, []job.ID{plain, done}},
		{"children", JobFilter{Parent: plain}, []job.ID{child}},
		{"limit", JobFilter{Limit: 1}, []job.ID{plain}},
	} {
		read(t, s, func(tx *Tx) error {
			rows, err := tx.Jobs(c.f)
			var got []job.ID
			for _, r := range rows {
				got = append(got, r.ID)
				if r.Standing.Job != r.ID || r.Standing.Short != r.Short {
					t.Errorf("%s: row %s has the standing of %s", c.name, r.ID, r.Standing.Job)
				}
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
			}
			return nil
		})
	}
	read(t, s, func(tx *Tx) error {
		if got, err := tx.OpenJobsOf(work.ID); err != nil || len(got) != 1 || got[0].ID != plain {
			t.Errorf("open jobs of the workspace: %v, %v, want %s", got, err, plain)
		}
		if got, err := tx.Lessons("r1", 0); err != nil || len(got) != 1 || got[0].Job != done || got[0].Item.Text != "cache the build" {
			t.Errorf("lessons: %+v, %v", got, err)
		}
		if got, err := tx.Lessons("r2", 0); err != nil || len(got) != 0 {
			t.Errorf("lessons of another repository: %+v, %v", got, err)
		}
		return nil
	})
	// take from another work tree adds it to the job.
	write(t, s, func(tx *Tx) error {
		if _, err := a.append(tx, plain, "", &job.Amended{Workspace: &other}); err != nil {
			return err
		}
		if got, err := tx.OpenJobsOf(other.ID); err != nil || len(got) != 1 || got[0].ID != plain {
			t.Errorf("open jobs of the added workspace: %v, %v, want %s", got, err, plain)
		}
		return nil
	})
}

func TestEntriesAreFound(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	var ids []job.ID
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: "g"})
		for i := range 9 {
			p := []job.Payload{&job.Step{Title: fmt.Sprint("step ", i)}, &job.Touched{Title: "look"}, &job.Raised{Text: fmt.Sprint("item ", i)}}[i%3]
			got, err := a.append(tx, id, "", p)
			if err != nil {
				return err
			}
			ids = append(ids, got.Entry.ID)
		}
		return nil
	})
	read(t, s, func(tx *Tx) error {
		for _, c := range []struct {
			kinds  []job.Kind
			newest bool
			limit  int
			want   []int64
		}{
			{[]job.Kind{job.KindStep}, true, 2, []int64{8, 5}},
			{[]job.Kind{job.KindRaised}, false, 0, []int64{4, 7, 10}},
			{[]job.Kind{job.KindRaised, job.KindStep, job.KindOpened}, true, 3, []int64{10, 8, 7}},
			{nil, true, 2, []int64{10, 9}},
			{[]job.Kind{job.KindMoved}, true, 2, nil},
		} {
			list, err := tx.EntriesOf(id, c.kinds, c.newest, c.limit)
			var got []int64
			for _, e := range list {
				got = append(got, e.Position)
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%v: positions %v, %v, want %v", c.kinds, got, err, c.want)
			}
		}
		for ref, want := range map[string]int64{"3": 3, string(ids[4]): 6, string(ids[4][:24]): 0} {
			e, err := tx.Entry(id, ref)
			if want > 0 && (err != nil || e.Position != want) {
				t.Errorf("entry %q: position %d, %v, want %d", ref, e.Position, err, want)
			}
		}
		if _, err := tx.Entry(id, "e"); err == nil {
			t.Error("a prefix of many entries named one")
		}
		if _, err := tx.Entry(id, "99"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("entry 99: %v, want ErrNotFound", err)
		}
		n := 0
		err := tx.Entries(id, 2, 4, func(e job.Entry, _ Raw) error {
			n++
			_, err := tx.Entry(id, "1") // reading while reading
			return err
		})
		if err != nil || n != 3 {
			t.Errorf("entries 2 to 4: %d, %v", n, err)
		}
		return nil
	})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	p := job.Process{Host: "h", Boot: "b", PID: 12, Start: "1"}
	one := Session{ID: testID('s', 1), Agent: "claude", AgentSession: "u-1", Process: p, Offset: 7, Reader: json.RawMessage(`{"a":1}`), LastHook: 5}
	two := Session{ID: testID('s', 2), Agent: "claude", AgentSession: "u-2", Process: p, Job: testID('j', 1), LastHook: 9}
	write(t, s, func(tx *Tx) error {
		for _, row := range []Session{one, two} {
			if err := tx.SaveSession(row.Agent, row.AgentSession, sealed(t, row)); err != nil {
				return err
			}
		}
		one.Offset = 8
		return tx.SaveSession(one.Agent, one.AgentSession, sealed(t, one))
	})
	read(t, s, func(tx *Tx) error {
		got, err := tx.Session("claude", "u-1")
		if err != nil || asJSON(t, got) != asJSON(t, one) {
			t.Errorf("by the agent's id: %+v, %v", got, err)
		}
		if _, err := tx.Session("codex", "u-1"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("another agent's: %v, want ErrNotFound", err)
		}
		if got, err := tx.SessionByID(two.ID); err != nil || got.AgentSession != "u-2" {
			t.Errorf("by id: %+v, %v", got, err)
		}
		if got, err := tx.SessionByProcess(p); err != nil || got.ID != two.ID {
			t.Errorf("by process: %+v, %v, want the newest", got, err)
		}
		if _, err := tx.SessionByProcess(job.Process{}); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("of no process: %v, want ErrNotFound", err)
		}
		if got, err := tx.SessionsOf(testID('j', 1)); err != nil || len(got) != 1 || got[0].ID != two.ID {
			t.Errorf("of the job: %+v, %v", got, err)
		}
		if got, err := tx.Sessions(0); err != nil || len(got) != 2 || got[0].ID != two.ID {
			t.Errorf("all: %+v, %v", got, err)
		}
		return nil
	})
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	w := Workspace{ID: testID('w', 1), Path: "/src/a", Kind: "git", Branch: "main"}
	write(t, s, func(tx *Tx) error {
		if err := tx.SaveWorkspace(w.Path, sealed(t, w)); err != nil {
			return err
		}
		w.Path = "/src/b" // it moved
		return errors.Join(tx.SaveWorkspace(w.Path, sealed(t, w)), tx.SetOff(w.ID, true))
	})
	read(t, s, func(tx *Tx) error {
		if got, err := tx.Workspace(w.ID); err != nil || *got != w {
			t.Errorf("by id: %+v, %v", got, err)
		}
		if got, err := tx.WorkspaceByPath("/src/b"); err != nil || got.ID != w.ID {
			t.Errorf("by path: %+v, %v", got, err)
		}
		if _, err := tx.WorkspaceByPath("/src/a"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("where it was: %v, want ErrNotFound", err)
		}
		if off, err := tx.Off(w.ID); !off || err != nil {
			t.Errorf("off = %v, %v", off, err)
		}
		return nil
	})
}

func TestRenew(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	holder, later := testID('s', 1), testID('s', 2)
	lease := func(session job.ID, token int64) *job.LeaseTaken {
		return &job.LeaseTaken{Lease: job.Lease{Session: session, Token: token}}
	}
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: "g"})
		if _, err := a.append(tx, id, holder, lease(holder, 1)); err != nil {
			return err
		}
		if ok, err := tx.Renew(id, holder, 1, 100); !ok || err != nil {
			t.Errorf("holder, in the transaction it took the lease in: %v, %v", ok, err)
		}
		return nil
	})
	for _, c := range []struct {
		session job.ID
		token   int64
		want    bool
	}{{holder, 1, true}, {holder, 2, false}, {later, 1, false}} {
		write(t, s, func(tx *Tx) error {
			if ok, err := tx.Renew(id, c.session, c.token, 200); ok != c.want || err != nil {
				t.Errorf("Renew(%s, %d) = %v, %v, want %v", c.session, c.token, ok, err, c.want)
			}
			return nil
		})
	}
	write(t, s, func(tx *Tx) error {
		_, err := a.append(tx, id, later, lease(later, 2))
		return err
	})
	write(t, s, func(tx *Tx) error {
		if ok, err := tx.Renew(id, holder, 1, 300); ok || err != nil {
			t.Errorf("a replaced holder renewed: %v, %v", ok, err)
		}
		if at, err := tx.Renewed(id); at != 200 || err != nil {
			t.Errorf("renewed at %d, %v, want 200", at, err)
		}
		return nil
	})
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	s := openTest(t)
	text := strings.Repeat("FAIL  src/a.test.ts > adds\n", 4000)
	var digest string
	write(t, s, func(tx *Tx) (err error) {
		r := redact.New([]byte("k"), nil)
		if digest, err = tx.PutBlob(r.Text(text)); err != nil {
			return err
		}
		again, err := tx.PutBlob(r.Text(text))
		if again != digest {
			t.Errorf("the same text got %s, then %s", digest, again)
		}
		return err
	})
	read(t, s, func(tx *Tx) error {
		if got, err := tx.Blob(digest); err != nil || !bytes.Equal(got, []byte(text)) {
			t.Errorf("read back %d bytes, %v, want %d", len(got), err, len(text))
		}
		if _, err := tx.Blob("00"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("unknown blob: %v, want ErrNotFound", err)
		}
		return nil
	})
}

func TestCosts(t *testing.T) {
	t.Parallel()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	session := testID('s', 1)
	night := job.At(time.Date(2026, 11, 9, 23, 40, 0, 0, time.UTC))
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: "g"})
		if _, err := a.append(tx, id, session, &job.SessionStarted{Agent: "claude", Number: 1}); err != nil {
			return err
		}
		for i, m := range []struct {
			model  string
			pico   int64
			priced bool
			at     job.Time
		}{{"opus", 10, true, night}, {"opus", 20, true, night.Add(40 * time.Minute)}, {"new", 0, false, night.Add(time.Hour)}} {
			p := &job.Spent{Message: fmt.Sprint(i), Model: m.model, Tokens: job.Tokens{Input: 100, Output: int64(i)}, Class: job.ClassEdit, Estimate: i == 1}
			if m.priced {
				p.Pico = &m.pico
			}
			env := a.envelope(id, session, p)
			env.HappenedAt, env.Key = m.at, job.SpentKey("claude", p.Message, p.Tokens)
			if _, err := tx.Append(env, sealed(t, p)); err != nil {
				return err
			}
		}
		return nil
	})
	opus := CostRow{Name: "opus", Pico: 30, Estimate: 20, Tokens: job.Tokens{Input: 200, Output: 1}, Messages: 2}
	unpriced := CostRow{Name: "new", Tokens: job.Tokens{Input: 100, Output: 2}, Unpriced: 102, Messages: 1}
	all := opus
	all.add(unpriced)
	under := func(name string, r CostRow) CostRow { r.Name = name; return r }
	india := time.FixedZone("+05:30", 5*3600+1800)
	read(t, s, func(tx *Tx) error {
		for _, c := range []struct {
			by   CostBy
			zone *time.Location
			want []CostRow
		}{
			{ByModel, time.UTC, []CostRow{unpriced, opus}},
			{ByAgent, time.UTC, []CostRow{under("claude", all)}},
			{BySession, time.UTC, []CostRow{under(string(session), all)}},
			{ByClass, time.UTC, []CostRow{under("edit", all)}},
			{ByDay, india, []CostRow{under("2026-11-10", all)}},
		} {
			got, err := tx.SpendBy(id, c.by, c.zone)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("by %s: %+v, %v, want %+v", c.by, got, err, c.want)
			}
		}
		if got, err := tx.SpendBy("", ByDay, time.UTC); err != nil || len(got) != 2 || got[0].Name != "2026-11-09" || got[0].Pico != 10 {
			t.Errorf("by day in UTC: %+v, %v", got, err)
		}
		if got, err := tx.SessionModels(id, session, 0); err != nil || got["opus"].Tokens != opus.Tokens || got["opus"].GuessedPico != opus.Estimate || got["opus"].Guesses != 1 {
			t.Errorf("tokens by model: %+v, %v", got, err)
		}
		return nil
	})
}
