package redact

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are texts of every layer.
func seeds() []string {
	return []string{
		"", "plain text, nothing in it", "password: " + chosen2(), `{"a":"{\"password\":\"` + chosen2() + `\"}"}`,
		"export TOKEN=" + fake("ghp_", 36), "token: \x1b[1m" + fake("npm_", 36) + "\x1b[0m", "-----BEGIN RSA PRIVATE KEY-----\n" + fake("MII", 61) + "\n" + fake("", 20),
		"https://app:" + chosen() + "@host.example/x?token=" + fake("", 24) + "&a=b", "mysql -u app -p" + chosen() + " shop", "Authorization: Basic YXBwOmFwcA==",
		"kind: Secret\ndata:\n  a: YXBwX3J3OnNlY3JldA==\n", `const t = "` + fake("npm_", 16) + "\" +\n  \"" + fake("", 20) + `"`,
		"&lt;password&gt;" + chosen() + "&lt;/password&gt;", "a=%41%2f&b=%zz", `\\\\\\"\u00e9\ud83d\ude00\x1b[0m`, "[REDACTED:password:0a1b2c3d]", "INSERT INTO u (a, password) VALUES ('x', '" + chosen2() + "')",
		"password=[REDACTED:x:0a1b2c3d]tail9tail", "machine h login u password " + chosen(), "'\\'\"\"\"`` ${A:-" + chosen2() + "}", "kind: Secret\ndata:\n a: ", "\n\ndata:\n: \nkind: Secret", "登录 密码: " + chosen2() + "，谢谢",
	}
}

// FuzzText: whatever comes in, no rule breaks, valid UTF-8 stays valid, and redacting again changes nothing.
func FuzzText(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	r := newTest(chosen(), "known value with spaces & signs")
	f.Fuzz(func(t *testing.T, s string) {
		got := r.redact(s, hint{}) // without the net under Text
		if got == failed && s != failed {
			t.Fatalf("redact %q does not come to an end", s)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("redact %q = %q, which is not UTF-8", s, got)
		}
		if again := r.redact(got, hint{}); again != got {
			t.Fatalf("redact %q = %q, and again %q", s, got, again)
		}
		if strings.Contains(got, chosen()) {
			t.Fatalf("redact %q = %q: a known value is left", s, got)
		}
	})
}

// FuzzDecode: the way back from the view leads to pieces in order, inside the text.
func FuzzDecode(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, join := range []bool{false, true} {
			v := decode(s, join)
			var each []span
			for i := range len(v.text) {
				each = append(each, span{from: i, to: i + 1})
			}
			end := 0
			for i, p := range v.locate(each) {
				if p.from < 0 || p.to > len(s) || p.from > p.to || p.from < end-12 {
					t.Fatalf("%q: byte %d of the view lies at %d:%d", s, i, p.from, p.to)
				}
				end = p.to
			}
			if len(v.text) > 0 {
				all := v.locate([]span{{from: 0, to: len(v.text)}})
				if all[0].secret != v.text && v.text != s {
					t.Fatalf("%q: the whole view is %q", s, all[0].secret)
				}
			}
		}
	})
}

// FuzzJSON: the result is JSON of the same shape, with the same numbers and truth values.
func FuzzJSON(f *testing.F) {
	for _, s := range seeds() {
		b, err := json.Marshal(map[string]any{"text": s, "n": []any{1.5, true, nil, s}, s: map[string]any{"password": s}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(`{"kind":"Secret","data":{"a":"bcde","n":1},"x":[{"name":"DB_PASSWORD","value":"abcd"}]}`)
	r := newTest(chosen())
	f.Fuzz(func(t *testing.T, s string) {
		var in any
		if json.Unmarshal([]byte(s), &in) != nil {
			return
		}
		j, err := r.JSON(in)
		if err != nil {
			t.Fatal(err)
		}
		var out any
		if err := json.Unmarshal(j.Bytes(), &out); err != nil {
			t.Fatalf("redact %s = %s: %v", s, j.Bytes(), err)
		}
		if !sameShape(in, out) {
			t.Fatalf("redact %s = %s: another shape", s, j.Bytes())
		}
	})
}

// sameShape compares two documents but for the text in their strings.
func sameShape(a, b any) bool {
	switch a := a.(type) {
	case string:
		_, ok := b.(string)
		return ok
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameShape(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(b) > len(a) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; ok && !sameShape(v, w) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}
