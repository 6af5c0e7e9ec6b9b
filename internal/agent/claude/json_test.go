package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWalk(t *testing.T) {
	t.Parallel()
	object := raw(` { "a" : "x\"}" , "b":{"c":[1,{"d":"]"}],"e":null},"f":-1.5e3,"g":[ "p" , {"q":1} ,[] ], "h":true } `)
	var got []string
	if err := fields(object, func(key []byte, value raw) { got = append(got, string(key)+"="+string(value)) }); err != nil {
		t.Fatal(err)
	}
	want := `a="x\"}" b={"c":[1,{"d":"]"}],"e":null} f=-1.5e3 g=[ "p" , {"q":1} ,[] ] h=true`
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	var items []string
	object.get("g").elements(func(value raw) { items = append(items, string(value)) })
	if fmt.Sprint(items) != `["p" {"q":1} []]` {
		t.Errorf("elements %v", items)
	}
	if n := object.get("f").number(); n != -1500 {
		t.Errorf("number %d", n)
	}
	if object.get("nowhere") != nil || object.get("a").number() != 0 || object.get("h").text() != "" {
		t.Error("a field that is not there, or of another type, is not empty")
	}
	for _, broken := range []string{"", "x", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a" 1}`, `{"a":}`, `{"a":"x}`, `{"a":[1}`, `{"a":1}}`, `{"a":1} b`, `{1:2}`} {
		if err := fields(raw(broken), func([]byte, raw) {}); err == nil {
			t.Errorf("%s is taken for a whole object", broken)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `plain`, `tab\tline\nquote\"back\\slash\/`, `\u00e9\u4e2d`, `\ud83d\ude00`, `\b\f\r`, `é中😀`, `a\\u0041`} {
		var want string
		if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil {
			t.Fatal(err)
		}
		if got := raw(`"` + text + `"`).text(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{`"\ud83d"`: "\uFFFD", `"\ud83dx"`: "\uFFFDx", `"\u12"`: "\uFFFD12", `"\`: "", `"a\"`: "a\\", "\"a\xffb\"": "a\uFFFDb"} {
		if got := raw(text).text(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// FuzzWalk: what encoding/json takes for an object is read alike.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(`{"a":"x\"}","b":{"c":[1,{"d":"]"}]},"e":"\ud83d\ude00\\"}`))
	f.Add([]byte(`{"a":"` + strings.Repeat(`\\`, 40) + `"}`))
	f.Add([]byte(`{"":[],"long key with spaces":-0.1e-9}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := map[string]raw{}
		err := fields(text, func(key []byte, value raw) { got[raw(`"`+string(key)+`"`).text()] = value })
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil || want == nil || !utf8.Valid(text) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d fields, want %d", text, len(got), len(want))
		}
		for key, value := range want {
			if !bytes.Equal(got[key], value) {
				t.Fatalf("%s: field %q is %s, want %s", text, key, got[key], value)
			}
			var s string
			if json.Unmarshal(value, &s) == nil && string(value) != "null" && got[key].text() != s {
				t.Fatalf("%s: text of %q is %q, want %q", text, key, got[key].text(), s)
			}
		}
	})
}
