package job

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"
)

// ledger builds entries of one job in order.
type ledger struct {
	t   *testing.T
	mem *Memory
	job ID
	n   int
	now Time
}

func newLedger(t *testing.T) *ledger {
	l := &ledger{t: t, mem: NewMemory(), job: testID(1), now: At(time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC))}
	l.add("", &Opened{Short: "k7m2", Goal: "Move the tests", Checks: []Check{{ID: "c1", Command: "go test ./..."}}})
	return l
}

func testID(n int) ID {
	var b [16]byte
	b[0], b[1], b[2] = byte(n>>16), byte(n>>8), byte(n)
	return NewID(b)
}

func (l *ledger) entry(session ID, p Payload) Entry {
	l.n++
	l.now += 1_000_000
	return Entry{Envelope{Job: l.job, Position: l.mem.Now.Position + 1, ID: testID(1000 + l.n), Kind: p.Kind(), V: 1,
		RecordedAt: l.now, HappenedAt: l.now, TimeSource: FromClock, Session: session, Author: Author{Kind: Duplex}}, p}
}

func (l *ledger) add(session ID, p Payload) Entry {
	l.t.Helper()
	e := l.entry(session, p)
	l.apply(e)
	return e
}

func (l *ledger) apply(e Entry) {
	l.t.Helper()
	if err := e.Validate(); err != nil {
		l.t.Fatal(err)
	}
	if err := l.mem.Apply(e); err != nil {
		l.t.Fatal(err)
	}
}

func TestDecisionsSupersede(t *testing.T) {
	l := newLedger(t)
	first := l.add("", &Decided{Text: "use table tests"})
	l.add("", &Decided{Text: "use subtests only", Supersedes: first.ID})
	if got := l.mem.Now.InForce; got != 1 {
		t.Errorf("decisions in force = %d, want 1", got)
	}
	if got := l.mem.Items[first.ID].State; got != Superseded {
		t.Errorf("first decision is %q, want superseded", got)
	}
	l.add("", &Decided{Text: "again", Supersedes: first.ID}) // superseding twice ends nothing twice
	if got := l.mem.Now.InForce; got != 2 {
		t.Errorf("decisions in force = %d, want 2", got)
	}
}

func TestOpenItemsSettleOnce(t *testing.T) {
	l := newLedger(t)
	item := l.add("", &Raised{Text: "jest-when must go", Next: true})
	if l.mem.Now.Next != "jest-when must go" {
		t.Errorf("next = %q", l.mem.Now.Next)
	}
	l.add("", &Settled{Item: item.ID, How: "gone"})
	l.add("", &Settled{Item: item.ID, How: "gone twice"})
	if got := l.mem.Now.OpenItems; got != 0 {
		t.Errorf("open items = %d, want 0", got)
	}
	if l.mem.Now.Next != "" {
		t.Errorf("next = %q, want none after it was settled", l.mem.Now.Next)
	}
}

func TestLastUsageRowWins(t *testing.T) {
	l := newLedger(t)
	s := testID(7)
	l.add(s, &SessionStarted{Agent: "claude", AgentSession: "x", Number: 1})
	spend := func(job ID, out, price int64) Entry {
		tok := Tokens{Input: 100, Output: out}
		e := l.entry(s, &Spent{Message: "msg_1", Model: "m", Tokens: tok, Pico: &price})
		e.Key = SpentKey("claude", "msg_1", tok)
		return e
	}
	l.apply(spend(l.job, 1, 10))
	l.apply(spend(l.job, 50, 500))
	if got := l.mem.Now.Spend; got.Pico != 500 || got.Tokens.Output != 50 || got.Tokens.Input != 100 || got.Messages != 1 {
		t.Errorf("bill = %+v, want the last row only", got)
	}
	if got := l.mem.Sittings[s]; got.Pico != 500 || got.Spent.Output != 50 {
		t.Errorf("session bill = %d pico, %d out", got.Pico, got.Spent.Output)
	}
}

func TestLateMovesOnlyCost(t *testing.T) {
	l := newLedger(t)
	s := testID(7)
	l.add(s, &SessionStarted{Agent: "script", AgentSession: "x", Number: 1})
	before := l.mem.Now
	e := l.entry(s, &Step{Class: ClassEdit, Title: "edited a.go", Result: OK, Paths: []Touch{{Name: "a.go", Role: RoleEdit}}})
	e.Late = true
	l.apply(e)
	now := l.mem.Now
	if now.Steps != before.Steps || now.Actions != before.Actions || len(l.mem.Works) != 0 {
		t.Error("a late step moved the standing")
	}
	if now.Late != 1 || now.LateEdits != 1 {
		t.Errorf("late = %d, late edits = %d, want 1, 1", now.Late, now.LateEdits)
	}
}

func TestClaim(t *testing.T) {
	a, b := testID(1), testID(2)
	now := At(time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC))
	held := func(driven bool, until Time) *Standing {
		return &Standing{Token: 4, Lease: &Lease{Session: a, Token: 4, Taken: now.Add(-time.Hour), Until: until, Driven: driven}}
	}
	for _, c := range []struct {
		name    string
		s       *Standing
		ask     Asking
		renewed Time
		alive   Liveness
		how     string
		token   int64
	}{
		{"nobody has it", &Standing{Token: 4}, Asking{Session: b}, 0, LivenessUnknown, "free", 5},
		{"the holder asks again", held(true, now), Asking{Session: a}, 0, Live, "renewed", 4},
		{"a live driver keeps others out", held(true, now.Add(time.Second)), Asking{Session: b}, 0, Live, "", 0},
		{"a live driver whose beats stopped does not", held(true, now.Add(-time.Second)), Asking{Session: b}, now.Add(-time.Minute), Live, "expired", 5},
		{"a beat renews", held(true, now.Add(-time.Second)), Asking{Session: b}, now.Add(-time.Second), Live, "", 0},
		{"its process is gone", held(true, now.Add(time.Hour)), Asking{Session: b}, now, Gone, "gone", 5},
		{"an observed process that lives holds, however long it is silent", held(false, now.Add(-time.Hour)), Asking{Session: b}, now.Add(-2 * time.Hour), Live, "", 0},
		{"seen from afar, until 30 minutes of silence", held(false, now.Add(-time.Hour)), Asking{Session: b}, now.Add(-29 * time.Minute), LivenessUnknown, "", 0},
		{"and no longer", held(false, now.Add(-time.Hour)), Asking{Session: b}, now.Add(-31 * time.Minute), LivenessUnknown, "expired", 5},
		{"a person takes it", held(false, now), Asking{Session: b, Take: true}, now, Live, "taken", 5},
		{"a finished job has no lease", &Standing{Outcome: &Verdict{Outcome: OutcomePassed}}, Asking{Session: b}, 0, Live, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Claim(c.s, c.ask, now, c.renewed, c.alive)
			if (err != nil) != (c.how == "") {
				t.Fatalf("error = %v, want how %q", err, c.how)
			}
			if err == nil && (got.How != c.how || got.Token != c.token) {
				t.Errorf("got %s under token %d, want %s under %d", got.How, got.Token, c.how, c.token)
			}
		})
	}
}

func TestBind(t *testing.T) {
	j1, j2, s := testID(1), testID(2), testID(9)
	for _, c := range []struct {
		name string
		a    Arrival
		want Binding
	}{
		{"named by the environment", Arrival{Named: j1, Open: []ID{j2}}, Binding{Job: j1, How: "named"}},
		{"seen before", Arrival{Bound: &Bound{Job: j1, Session: s}, Open: []ID{j2}}, Binding{Job: j1, Known: &Bound{Job: j1, Session: s}, How: "bound"}},
		{"seen before, then named otherwise", Arrival{Named: j2, Bound: &Bound{Job: j1}}, Binding{Job: j2, How: "named"}},
		{"comes from a known session", Arrival{From: &Bound{Job: j1}, Open: []ID{j2}}, Binding{Job: j1, How: "continued"}},
		{"the one job of the folder", Arrival{Open: []ID{j1}}, Binding{Job: j1, How: "folder"}},
		{"two jobs in the folder", Arrival{Open: []ID{j1, j2}, Carried: true, Auto: AutoOn}, Binding{Offer: []ID{j1, j2}}},
		{"none, and nothing at stake", Arrival{Auto: AutoOn}, Binding{}},
		{"none, at its limit", Arrival{Auto: AutoOn, Carried: true}, Binding{Open: true, How: "opened"}},
		{"none, at its limit, ask", Arrival{Auto: AutoAsk, Carried: true}, Binding{Ask: true}},
		{"none, at its limit, off", Arrival{Auto: AutoOff, Carried: true}, Binding{}},
		{"left alone", Arrival{Named: j1, Off: true}, Binding{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Bind(c.a); !reflect.DeepEqual(got, c.want) {
				t.Errorf("Bind(%+v) = %+v, want %+v", c.a, got, c.want)
			}
		})
	}
}

func TestRediscovery(t *testing.T) {
	l := newLedger(t)
	a, b := testID(7), testID(8)
	read := func(s ID, name string) {
		l.add(s, &Touched{Title: "read " + name, Action: l.mem.Now.Actions + 1, Paths: []Touch{{Name: name, Role: RoleRead}}})
	}
	l.add(a, &SessionStarted{Agent: "script", AgentSession: "a", Number: 1})
	read(a, "one.go")
	l.add(b, &SessionStarted{Agent: "script", AgentSession: "b", Number: 2})
	l.add(b, &TookOver{How: "startup"})
	read(b, "one.go") // known from before
	read(b, "two.go") // new
	read(b, "one.go") // its own second look
	l.add(b, &Step{Class: ClassEdit, Title: "edited", Result: OK, Action: l.mem.Now.Actions + 1})
	got := l.mem.Sittings[b]
	if got.Rereads != 1 || got.Actions != 4 || got.Productive != 4 {
		t.Errorf("re-reads %d of %d actions, productive at %d; want 1 of 4, at 4", got.Rereads, got.Actions, got.Productive)
	}
}

func TestUnknownKindIsKept(t *testing.T) {
	p, err := Decode("dreamt", 1, []byte(`{"of":"sheep"}`))
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger(t)
	l.add("", p)
	if l.mem.Now.Unknown != 1 {
		t.Errorf("unknown = %d, want 1", l.mem.Now.Unknown)
	}
	out, _ := json.Marshal(p)
	if string(out) != `{"of":"sheep"}` {
		t.Errorf("kept as %s", out)
	}
	if _, err := Decode("step", 99, []byte(`{"new":"shape"}`)); err != nil {
		t.Errorf("a newer version of a known kind: %v", err)
	}
}

// TestSnapshotStaysSmall folds random entries with texts as long and as costly
// to encode as they come: 3,000 times DUPLEX_SCALE.
func TestSnapshotStaysSmall(t *testing.T) {
	n := scale(3000)
	rng := rand.New(rand.NewSource(1))
	l := newLedger(t)
	largest := 0
	for range n {
		l.add(testID(100+rng.Intn(20)), RandomPayload(rng, l.mem))
		b, err := l.mem.Now.Encode()
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(b))
	}
	if largest > SnapshotLimit {
		t.Errorf("a snapshot took %d bytes, the limit is %d", largest, SnapshotLimit)
	}
	t.Logf("largest snapshot %d bytes over %d entries", largest, n)
}

func TestClip(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("ä", 500), strings.Repeat("\x00", 500), strings.Repeat("𝄞", 300), "\xff\xfe"} {
		got := Clip(s, 100)
		enc, _ := json.Marshal(got)
		if len(enc)-2 > 100 {
			t.Errorf("Clip(%.10q) takes %d bytes of JSON", s, len(enc)-2)
		}
	}
}

func TestShortNames(t *testing.T) {
	for _, s := range ID("abcdefg7klmnopqrstuvwxyz23").ShortNames()[:1] {
		if s != "abcdefg7" {
			t.Errorf("first short name %q, want one with a digit", s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, k := range Kinds() {
		f.Add(string(k), 1, []byte(`{"text":"x","goal":"y"}`))
	}
	f.Add("step", 1, []byte(`{"exit":null,"paths":[{"name":"a"}]`))
	f.Fuzz(func(t *testing.T, kind string, v int, data []byte) {
		p, err := Decode(Kind(kind), v, data)
		if err != nil {
			return
		}
		if p.Kind() != Kind(kind) {
			t.Fatalf("decoded a %q as %q", kind, p.Kind())
		}
		m := NewMemory()
		e := Entry{Envelope{Job: testID(1), Position: 1, ID: testID(2), Kind: p.Kind(), V: 1, RecordedAt: 1, HappenedAt: 1, Author: Author{Kind: Duplex}, Session: testID(3)}, p}
		if err := m.Apply(e); err != nil {
			t.Fatalf("apply: %v", err)
		}
		b, err := m.Now.Encode()
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		if _, ok, err := DecodeStanding(b); !ok || err != nil {
			t.Fatalf("decode standing: %v %v", ok, err)
		}
	})
}

func TestEveryKindDecodes(t *testing.T) {
	for _, k := range Kinds() {
		p, err := Decode(k, 1, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, unknown := p.(Unknown); unknown || p.Kind() != k {
			t.Errorf("%q decodes as %s", k, fmt.Sprintf("%T", p))
		}
	}
}

// Ids of entries begin with the time, and differ within one instant.
func TestNewEntryID(t *testing.T) {
	t.Parallel()
	at := At(time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC))
	random := func(b byte) (r [16]byte) {
		for i := range r {
			r[i] = b + byte(i)
		}
		return r
	}
	one, two, later := NewEntryID(at, random(1)), NewEntryID(at, random(99)), NewEntryID(at+Time(time.Hour/time.Microsecond), random(1))
	if !one.Valid() || one == two || one[:8] != two[:8] || one[:4] != later[:4] || one[:9] == later[:9] {
		t.Errorf("%s and %s at once, %s an hour later: want the beginnings to follow the time", one, two, later)
	}
}
