package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// dice makes choices out of bytes; when they run out, every choice is the first.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

// words stand where a text, a word or an id is wanted; some of them are words that
// rules look at.
var words = strings.Split(`|a|c1|a.go|ok|failed|unknown|denied|edit|commit|test|command|read|search|result|passed|accepted|abandoned|`+
	`cannot run|waiting for an answer|budget reached|rate limit|by hand|claude|model-1|model-2|ä𝄞|<&>|`+strings.Repeat("long ", 90), "|")

// fillBy sets the fields of a payload by dice. Strings are words or earlier entries.
func fillBy(d *dice, v reflect.Value, entries []ID) {
	switch v.Kind() {
	case reflect.Pointer:
		if d.roll(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillBy(d, v.Elem(), entries)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillBy(d, v.Field(i), entries)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), d.roll(4), 4))
		for i := range v.Len() {
			fillBy(d, v.Index(i), entries)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[ID]() && len(entries) > 0 && d.roll(4) > 0 {
			v.SetString(string(entries[d.roll(len(entries))]))
			return
		}
		v.SetString(words[d.roll(len(words))])
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, 2, 3, -1, 40, 1 << 40, 1_794_214_800_000_000}[d.roll(8)])
	case reflect.Float64:
		v.SetFloat(float64(d.roll(9)) / 8)
	case reflect.Bool:
		v.SetBool(d.roll(2) == 1)
	}
}

// roll makes an entry by dice: any kind, any fields, late, guest, keyed, erased or
// unknown. Its payload goes through JSON, as in a store; ok is false for one that
// no store could read.
func rollEntry(d *dice, m *Memory, entries []ID) (e Entry, ok bool) {
	kinds := Kinds()
	kind := kinds[d.roll(len(kinds))]
	p := newPayload(kind)
	fillBy(d, reflect.ValueOf(p).Elem(), entries)
	data, err := json.Marshal(p)
	if err != nil {
		return e, false
	}
	switch d.roll(16) {
	case 1:
		data = nil
	case 2:
		kind = Kind(fmt.Sprint("dreamt ", d.roll(4)))
	}
	decoded, err := Decode(kind, PayloadVersion, data)
	if err != nil {
		return e, false
	}
	flags := d.roll(8)
	at := Time(1_794_214_800_000_000 + int64(d.roll(200))*1_000_000)
	e = Entry{Envelope{Job: testID(1), Position: m.Now.Position + 1, ID: testID(1000 + len(entries)), Kind: kind, V: PayloadVersion,
		RecordedAt: at, HappenedAt: at, TimeSource: FromClock, Session: []ID{"", testID(7), testID(8), testID(9)}[d.roll(4)],
		Author: Author{Kind: Agent, Name: "claude"}, Late: flags == 1, Guest: flags == 2}, decoded}
	if d.roll(2) == 1 {
		e.Key = fmt.Sprintf("%d/%d", d.roll(5), d.roll(5))
	}
	return e, true
}

// foldRolled folds a ledger made by dice and holds the fold against what must be
// true of any ledger.
func foldRolled(t *testing.T, d dice) {
	kept := NewMemory()
	var ledger []Entry
	var entries []ID
	before, _ := kept.Now.Encode()
	for len(d) > 0 {
		e, ok := rollEntry(&d, kept, entries)
		if !ok {
			continue
		}
		was := kept.Now
		if err := kept.Apply(e); err != nil {
			t.Fatalf("apply %+v: %v", e, err)
		}
		ledger, entries = append(ledger, e), append(entries, e.ID)
		if untouched, _ := was.Encode(); string(untouched) != string(before) {
			t.Fatalf("applying a %s changed the standing it was given:\n%s\n%s", e.Kind, before, untouched)
		}
		after, err := kept.Now.Encode()
		if err != nil || len(after) > SnapshotLimit {
			t.Fatalf("after a %s the snapshot takes %d bytes, %v", e.Kind, len(after), err)
		}
		if len(ledger)%4 == 0 {
			read, ok, err := DecodeStanding(after)
			if again, _ := read.Encode(); !ok || err != nil || string(again) != string(after) {
				t.Fatalf("a snapshot reads otherwise than it was written (%v):\n%s\n%s", err, after, again)
			}
		}
		if e.Late || e.Guest {
			asideOnly(t, e, was, kept.Now)
		}
		before = after
	}
	now := kept.Now
	for _, c := range []struct {
		kind  Kind
		state ItemState
		count int
	}{{KindDecided, InForce, now.InForce}, {KindRaised, Open, now.OpenItems}, {KindDeadEnd, InForce, now.DeadEnds}, {KindAsked, Open, now.Questions}} {
		if rows := len(kept.ItemsOf(c.kind, c.state)); rows != c.count {
			t.Fatalf("%d rows of %s, and a count of %d", rows, c.kind, c.count)
		}
	}
	messages := 0
	for _, row := range kept.Spends {
		if row.Purpose != PurposeReconciled {
			messages++
		}
	}
	if int(now.Spend.Messages) != messages {
		t.Fatalf("%d messages billed, %d rows", now.Spend.Messages, messages)
	}
	fresh := NewMemory()
	for _, e := range ledger {
		if err := fresh.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(fresh, kept) {
		t.Fatalf("folded again it differs:\n%+v\n%+v", fresh.Now, kept.Now)
	}
}

// asideOnly: a late entry or a guest's moves the cost, the counts of such entries,
// the session's own seat and the newest of its kind, and nothing else.
func asideOnly(t *testing.T, e Entry, was, now Standing) {
	t.Helper()
	now.Position, now.Updated, now.Apply, now.Job = was.Position, was.Updated, was.Apply, was.Job
	now.Counts, now.Newest, now.Sitting, now.Spend, now.Unknown = was.Counts, was.Newest, was.Sitting, was.Spend, was.Unknown
	now.Late, now.LateEdits, now.Guests = was.Late, was.LateEdits, was.Guests
	a, _ := was.Encode()
	b, _ := now.Encode()
	if string(a) != string(b) {
		t.Fatalf("a %s (late %v, guest %v) moved more than the cost:\n%s\n%s", e.Kind, e.Late, e.Guest, a, b)
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("a ledger"))
	for i := range len(Kinds()) {
		f.Add([]byte(strings.Repeat(string(rune(i)), 40)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { foldRolled(t, data[:min(len(data), 4000)]) })
}

// TestRandomLedgers is FuzzApply with fixed seeds: 30 times DUPLEX_SCALE.
func TestRandomLedgers(t *testing.T) {
	for seed := range scale(30) {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		data := make(dice, 3000)
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		foldRolled(t, data)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzClaim asks for a lease in every state it can be in.
func FuzzClaim(f *testing.F) {
	f.Add(int64(4), true, false, true, false, false, int64(0), int64(1), int64(0), uint8(0))
	f.Add(int64(4), true, true, false, false, false, int64(5), int64(-1), int64(2), uint8(1))
	f.Add(int64(0), false, false, false, true, false, int64(0), int64(0), int64(0), uint8(2))
	f.Add(int64(7), true, false, false, true, true, int64(9), int64(9), int64(9), uint8(2))
	f.Fuzz(func(t *testing.T, token int64, held, mine, driven, take, done bool, until, renewed, length int64, life uint8) {
		const now = Time(1_794_214_800_000_000)
		near := func(us int64) Time { return now + Time(us%(4*3600*1e6)) } // within four hours
		a, b := testID(7), testID(8)
		s := Standing{Job: testID(1), Position: 1, Token: max(0, token%1e6), Counts: map[Kind]int64{}, Newest: map[Kind]Ref{}}
		if held {
			s.Token = max(1, s.Token)
			s.Lease = &Lease{Session: a, Token: s.Token, Taken: near(-until), Until: near(until), Driven: driven}
			if mine {
				s.Lease.Session = b
			}
		}
		if done {
			s.Outcome = &Verdict{Outcome: OutcomePassed}
		}
		alive := []Liveness{Live, Gone, LivenessUnknown}[life%3]
		ask := Asking{Session: b, Driven: life > 99, Take: take, Length: time.Duration(max(0, length%3600)) * time.Second}
		l, err := Claim(&s, ask, now, near(renewed), alive)

		keeps := s.Lease.Held(now, near(renewed), alive)
		if keeps && (alive == Gone || driven && now >= max(s.Lease.Until, near(renewed).Add(LeaseLength))) {
			t.Fatalf("a lease that ran out, or whose process is gone, is held: %+v", s.Lease)
		}
		var want error
		switch {
		case done:
			want = ErrFinished
		case held && !mine && keeps && !take:
			want = ErrHeld
		}
		if !errors.Is(err, want) || (err == nil) != (want == nil) || (l == nil) != (err != nil) {
			t.Fatalf("got %v, %v; want %v", l, err, want)
		}
		if err != nil {
			return
		}
		next := s.Token + 1
		if held && mine {
			next = s.Token
		}
		if l.Token != next || l.Session != b || l.Until < now || l.Driven != ask.Driven {
			t.Fatalf("got %+v at %d, want session %s under token %d", l, now, b, next)
		}
		if l.How == "taken" && !take {
			t.Fatal("taken from a live session, and nobody said so")
		}
		after, _, err := Apply(s, Entry{Envelope{Job: s.Job, Position: 2, ID: testID(2), Kind: KindLeaseTaken, Session: b}, l}, NewMemory())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Fence(&after, KindDecided, Author{Kind: Agent}, b, l.Token); err != nil {
			t.Fatalf("the new holder may not act: %v", err)
		}
		if held && !mine {
			late, err := Fence(&after, KindStep, Author{Kind: Agent}, a, s.Token)
			if _, act := Fence(&after, KindDecided, Author{Kind: Agent}, a, s.Token); !errors.Is(act, ErrFenced) || err != nil || !late || !Stale(&after, a, s.Token) {
				t.Fatalf("the old holder: act %v; observation late %v, %v", act, late, err)
			}
		}
	})
}
