package job

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// fill sets every field of a payload to more than a snapshot has room for. Words
// that rules look at are left as they are.
func fill(v reflect.Value, text string, number int64) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, number)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text, number)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 14, 14))
		for i := range v.Len() {
			fill(v.Index(i), fmt.Sprint(i%10, text), number)
		}
	case reflect.String:
		if v.String() == "" {
			v.SetString(text)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(number)
	case reflect.Float64:
		v.SetFloat(0.8571428571428571)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// overfull is a payload of the kind in which nothing is small. Ids of items are
// empty, so that nothing ends, and outcomes leave the job open.
func overfull(kind Kind, text string, number int64) Payload {
	p := newPayload(kind)
	switch p := p.(type) {
	case *Finished:
		p.Outcome = OutcomeUnverified
	case *Step:
		p.Class, p.Result = ClassEdit, Failed
	}
	fill(reflect.ValueOf(p).Elem(), text, number)
	switch p := p.(type) {
	case *Step:
		p.Of = ""
	case *Spent:
		p.Pico = &number
	case *Raised:
		p.Next = true
	case *Amended:
		p.DropChecks, p.Named = nil, false
	}
	return p
}

// TestSnapshotOfEverything fills every part of a standing to its bound, with texts
// as costly to encode as they come.
func TestSnapshotOfEverything(t *testing.T) {
	const number = 1 << 40
	for _, letter := range []string{"a", "ä", "\x01", "<", "𝄞", "\xff", `"`} {
		text := strings.Repeat(letter, 700)
		l := newLedger(t)
		l.mem = NewMemory()
		who := Author{Kind: Agent, Name: strings.Repeat("a", 64)}
		apply := func(session ID, p Payload, guest bool) {
			e := l.entry(session, p)
			e.Author, e.Guest = who, guest
			l.apply(e)
		}
		for _, k := range Kinds() {
			if k == KindLeaseReleased || k == KindResumed || k == KindWentBack {
				apply(testID(1), overfull(k, text, number), false)
			}
		}
		for i := range 8 { // sessions, workspaces and models beyond what is kept
			for _, k := range Kinds() {
				if k == KindLeaseReleased || k == KindResumed || k == KindWentBack || k == KindTookOver && i == 7 {
					continue
				}
				apply(testID(10+i), overfull(k, fmt.Sprint(i, text), number+int64(i)), false)
			}
			apply(testID(10+i), &Step{Title: text, Result: ResultUnknown, Class: ClassOther}, false)
			apply(testID(10+i), &Step{Title: text, Class: ClassEdit, Result: OK}, false)
			apply(testID(10+i), &Step{Title: text, Class: ClassEdit, Result: OK}, true)
		}
		unknown, err := Decode("dreamt", 1, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		apply("", unknown, false)
		late := l.entry(testID(17), &Touched{})
		late.Late = true
		l.apply(late)

		s := l.mem.Now
		s.Position = number
		for k := range s.Counts {
			s.Counts[k] = 1 << 30
		}
		for k, r := range s.Newest {
			r.Position = 1 << 30
			s.Newest[k] = r
		}
		for i := range reflect.ValueOf(s).NumField() {
			if f := reflect.TypeOf(s).Field(i); reflect.ValueOf(s).Field(i).IsZero() {
				t.Errorf("%q: nothing was put into %s, so its size is not known", letter, f.Name)
			}
		}
		b, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > SnapshotLimit {
			t.Errorf("%q: the snapshot takes %d bytes, the limit is %d", letter, len(b), SnapshotLimit)
		}
		t.Logf("%q: %d bytes", letter, len(b))
	}
}

// TestErasedUnknownKinds erases entries of kinds a later version made up: they
// must not grow the standing one kind at a time.
func TestErasedUnknownKinds(t *testing.T) {
	l := newLedger(t)
	before, _ := l.mem.Now.Encode()
	for i := range 300 {
		p, err := Decode(Kind(fmt.Sprintf("dreamt %d", i)), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.add("", p)
	}
	if got := l.mem.Now.Unknown; got != 300 {
		t.Errorf("unknown = %d, want 300", got)
	}
	if after, _ := l.mem.Now.Encode(); len(after) > len(before)+40 {
		t.Errorf("300 erased entries of unknown kinds grew the snapshot from %d to %d bytes", len(before), len(after))
	}
}
