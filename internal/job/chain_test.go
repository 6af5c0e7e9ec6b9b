package job

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// leaves calls f with every field of an envelope, nested ones too.
func leaves(v reflect.Value, path string, f func(path string, field reflect.Value)) {
	for i := range v.NumField() {
		name, field := path+v.Type().Field(i).Name, v.Field(i)
		if field.Kind() == reflect.Struct {
			leaves(field, name+".", f)
			continue
		}
		f(name, field)
	}
}

// change makes a field another one.
func change(field reflect.Value, rng *rand.Rand) {
	switch field.Kind() {
	case reflect.String:
		s := []byte(field.String())
		switch at := rng.IntN(len(s) + 1); {
		case at == len(s):
			s = append(s, byte('a'+rng.IntN(26)))
		case rng.IntN(2) == 0:
			s = append(s[:at], s[at+1:]...)
		default:
			s[at] ^= 1 << rng.IntN(7)
		}
		field.SetString(string(s))
	case reflect.Int, reflect.Int64:
		field.SetInt(field.Int() ^ 1<<rng.IntN(63))
	case reflect.Bool:
		field.SetBool(!field.Bool())
	default:
		panic(field.Kind())
	}
}

func randomEnvelope(rng *rand.Rand) Envelope {
	var e Envelope
	leaves(reflect.ValueOf(&e).Elem(), "", func(_ string, field reflect.Value) {
		switch field.Kind() {
		case reflect.String:
			field.SetString(string([]string{"", "a", "ab", "lease taken", string(testID(rng.IntN(1e6)))}[rng.IntN(5)]))
		case reflect.Bool:
			field.SetBool(rng.IntN(2) == 0)
		default:
			field.SetInt(rng.Int64N(1 << 50))
		}
	})
	return e
}

// TestChainHoldsEveryField: whatever changes in an entry, its hash changes. A field
// that is added to the envelope and not to the chain fails here.
func TestChainHoldsEveryField(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range scale(300) {
		e, salt, payload := randomEnvelope(rng), random(rng, 16), random(rng, 1+rng.IntN(200))
		previous := Digest(random(rng, 32))
		hash := ChainHash(&e, previous, PayloadDigest(salt, payload))
		if again := ChainHash(&e, previous, PayloadDigest(salt, payload)); again != hash {
			t.Fatal("the same entry hashes otherwise")
		}
		seen := map[Digest]string{hash: "the entry"}
		differs := func(what string, h Digest) {
			if other := seen[h]; other != "" {
				t.Errorf("%s hashes as %s does: %+v", what, other, e)
			}
			seen[h] = what
		}
		leaves(reflect.ValueOf(&e).Elem(), "", func(path string, _ reflect.Value) {
			changed := e
			leaves(reflect.ValueOf(&changed).Elem(), "", func(p string, field reflect.Value) {
				if p == path {
					change(field, rng)
				}
			})
			differs(path, ChainHash(&changed, previous, PayloadDigest(salt, payload)))
		})
		differs("the previous hash", ChainHash(&e, Digest(flip(rng, previous[:])), PayloadDigest(salt, payload)))
		differs("the salt", ChainHash(&e, previous, PayloadDigest(flip(rng, salt), payload)))
		differs("the payload", ChainHash(&e, previous, PayloadDigest(salt, flip(rng, payload))))
		differs("a longer payload", ChainHash(&e, previous, PayloadDigest(salt, append(payload, 0))))
	}
}

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func flip(rng *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	return b
}

// TestChainKeepsFieldsApart moves a character from each text of the envelope to
// the next: what stands where is part of the hash.
func TestChainKeepsFieldsApart(t *testing.T) {
	texts := func(e *Envelope) (out []reflect.Value) {
		leaves(reflect.ValueOf(e).Elem(), "", func(_ string, field reflect.Value) {
			if field.Kind() == reflect.String {
				out = append(out, field)
			}
		})
		return out
	}
	var e Envelope
	for i, field := range texts(&e) {
		field.SetString(fmt.Sprint("text", i))
	}
	hash := ChainHash(&e, Digest{}, Digest{})
	for i := range len(texts(&e)) - 1 {
		moved := e
		a, b := texts(&moved)[i], texts(&moved)[i+1]
		b.SetString(a.String()[len(a.String())-1:] + b.String())
		a.SetString(a.String()[:len(a.String())-1])
		if ChainHash(&moved, Digest{}, Digest{}) == hash {
			t.Errorf("moving a character from text %d to the next leaves the hash", i)
		}
	}
}

// TestChainStays: the format of the ledger cannot change once it is out, so the
// hash of one entry is written down, as another program computed it from the words
// of the contract.
func TestChainStays(t *testing.T) {
	e := Envelope{Job: testID(1), Position: 2, ID: testID(3), Kind: KindDecided, V: 1, RecordedAt: 1_794_214_800_000_000, HappenedAt: 1_794_214_799_000_000,
		TimeSource: FromHook, Workspace: testID(4), Session: testID(5), Author: Author{Kind: Agent, Name: "claude"}, Token: 6, Machine: testID(7),
		MachineSeq: 8, Key: "0a/1b", Late: true}
	payload := PayloadDigest([]byte("0123456789abcdef"), []byte(`{"text":"table tests"}`))
	hash := ChainHash(&e, Digest{1, 2, 3}, payload)
	mac := ChainMAC([]byte("a key of thirty-two bytes, it is"), hash)
	for _, c := range []struct {
		name string
		got  Digest
		want string
	}{
		{"payload", payload, "327653cc6e7870e3c6ceeab469f01ed9f26767e602c1ecd0b1f8160bab8f0fec"},
		{"hash", hash, "bea714c38a983f00b3b893684dd6cecd7fd630b286615f642557eba3a171ba75"},
		{"mac", mac, "a9b1e4d64ae36533701a49fa0b8ab363cf9df718ff3cd5ed363aca323dade673"},
	} {
		if got := hex.EncodeToString(c.got[:]); got != c.want {
			t.Errorf("the %s digest is %s, want %s", c.name, got, c.want)
		}
	}
	if other := ChainMAC([]byte("another key of thirty-two bytes."), hash); other == mac {
		t.Error("another key signs alike")
	}
	hash[0] ^= 1
	if other := ChainMAC([]byte("a key of thirty-two bytes, it is"), hash); other == mac {
		t.Error("another hash is signed alike")
	}
}
