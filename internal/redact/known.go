package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// known finds values that are known to be credentials, as they are and in the forms that programs write them.
// Nothing else finds a password that looks like a word in a sentence.
type known struct {
	pairs  [1 << 10]uint64 // one bit for each two first bytes of a form
	byHead map[string][]spelling
}

// spelling is one way of writing a known value.
type spelling struct {
	text, secret string
	word         bool // letters only: must not be a part of a longer word
}

// shortest is how long a value must be to be looked for; it is also how much of it finds it.
const shortest = 8

func newKnown(values []string) (k known) {
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < shortest || placeholder(v) || repeats(v) {
			continue
		}
		k.learn(v, v)
		if q := inURL(v, ""); q != v {
			k.learn(q, v)
			k.learn(strings.ReplaceAll(q, "%20", "+"), v)
			k.learn(inURL(v, "$&+:=@"), v)
		}
		if q, err := json.Marshal(v); err == nil && string(q[1:len(q)-1]) != v {
			k.learn(string(q[1:len(q)-1]), v)
		}
		k.learn(hex.EncodeToString([]byte(v)), v)
		k.learn(strings.ToUpper(hex.EncodeToString([]byte(v))), v)
		for shift := range 3 { // where in the group of three bytes the value begins
			k.learn(inBase64(base64.StdEncoding, v, shift), v)
			k.learn(inBase64(base64.URLEncoding, v, shift), v)
		}
	}
	return k
}

// inURL is v with everything escaped that a URL may escape, but what keep holds: a path and a query differ.
func inURL(v, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(v) {
		if x := v[i]; (wordDash | dot | tilde).has(x) || strings.IndexByte(keep, x) >= 0 {
			b.WriteByte(x)
		} else {
			b.Write([]byte{'%', digits[x>>4], digits[x&15]})
		}
	}
	return b.String()
}

// inBase64 is the part of the encoding that depends on v alone, when shift bytes stand before it.
func inBase64(e *base64.Encoding, v string, shift int) string {
	text := e.EncodeToString([]byte("\x00\x00\x00"[:shift] + v))
	return text[(shift*8+5)/6 : (shift+len(v))*8/6]
}

func (k *known) learn(text, secret string) {
	if len(text) < shortest {
		return
	}
	head := text[:shortest]
	for _, f := range k.byHead[head] {
		if f.text == text {
			return
		}
	}
	if k.byHead == nil {
		k.byHead = map[string][]spelling{}
	}
	bit := uint16(text[0])<<8 | uint16(text[1])
	k.pairs[bit>>6] |= 1 << (bit & 63)
	k.byHead[head] = append(k.byHead[head], spelling{text, secret, letters.only(text)})
}

// find returns where known values stand in s, in order.
func (k *known) find(s string) []span {
	if k.byHead == nil {
		return nil
	}
	var out []span
	for i := 0; i+shortest <= len(s); i++ {
		bit := uint16(s[i])<<8 | uint16(s[i+1])
		if k.pairs[bit>>6]>>(bit&63)&1 == 0 {
			continue
		}
		best := span{from: i, to: i, kind: "known"}
		for _, f := range k.byHead[s[i:i+shortest]] {
			end := i + len(f.text)
			if end <= best.to || !strings.HasPrefix(s[i:], f.text) {
				continue
			}
			if f.word && (i > 0 && letters.has(s[i-1]) || end < len(s) && letters.has(s[end])) {
				continue
			}
			best.to, best.secret = end, f.secret
		}
		if best.to > i && !inMarker(s, i) {
			out = append(out, best)
			i = best.to - 1
		}
	}
	return out
}
