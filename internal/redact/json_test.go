package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

type entry struct {
	ID      string            `json:"id"`
	Token   int64             `json:"token"`
	Ratio   float64           `json:"ratio"`
	Late    bool              `json:"late"`
	At      time.Time         `json:"at"`
	Output  string            `json:"output"`
	Raw     []byte            `json:"raw"`
	Env     map[string]string `json:"env"`
	Doc     json.RawMessage   `json:"doc"`
	Nothing *string           `json:"nothing"`
}

func TestJSONKeepsItsTypes(t *testing.T) {
	t.Parallel()
	secret := fake("ghp_", 36)
	in := entry{
		ID: "01J7FDGSTM5PEWETK2HAZZ21CJ", Token: 1<<53 + 1, Ratio: 0.1, Late: true, At: time.Unix(1, 5).UTC(),
		Output: "line \"one\"\n<b>" + secret + "</b>\u2028", Raw: []byte("TOKEN=" + secret + "\n" + chosen()),
		Env: map[string]string{"DB_PASSWORD": chosen2(), secret: "as a name", "LANG": "C"},
		Doc: json.RawMessage(`{"n":1e3,"password":"` + chosen() + `","list":[true,null,"` + secret + `"]}`),
	}
	j, err := newTest().JSON(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{secret, chosen(), chosen2()} {
		if bytes.Contains(j.Bytes(), []byte(s)) {
			t.Errorf("%q is left in %s", s, j.Bytes())
		}
	}
	var out entry
	if err := json.Unmarshal(j.Bytes(), &out); err != nil {
		t.Fatalf("%v: %s", err, j.Bytes())
	}
	if out.ID != in.ID || out.Token != in.Token || out.Ratio != in.Ratio || !out.Late || !out.At.Equal(in.At) || out.Env["LANG"] != "C" || len(out.Env) != 3 {
		t.Errorf("what is no credential changed: %+v", out)
	}
	if !strings.HasPrefix(out.Output, "line \"one\"\n<b>[REDACTED:") || !strings.HasSuffix(out.Output, "</b>\u2028") {
		t.Errorf("output is %q", out.Output)
	}
	if !bytes.HasPrefix(out.Raw, []byte("TOKEN=[REDACTED:")) {
		t.Errorf("bytes are %q", out.Raw)
	}
	if !bytes.Contains(out.Doc, []byte(`"n":1e3`)) || !bytes.Contains(out.Doc, []byte(`[true,null,`)) {
		t.Errorf("document is %s", out.Doc)
	}
}

func TestJSONReadsNamesAsContext(t *testing.T) {
	t.Parallel()
	r := newTest()
	weak := "swordfish" + "es" // a word, which only its name gives away
	for _, c := range []struct{ in, want string }{
		{`{"password":"` + weak + `"}`, `{"password":"@"}`},
		{`{"a":{"dbPassword":"` + weak + `"},"b":"` + weak + `"}`, `{"a":{"dbPassword":"@"},"b":"` + weak + `"}`},
		{`{"passwords":["` + weak + `"]}`, `{"passwords":["@"]}`},
		{`[{"name":"DB_PASSWORD","value":"` + weak + `"},{"name":"X","value":"` + weak + `"}]`, `[{"name":"DB_PASSWORD","value":"@"},{"name":"X","value":"` + weak + `"}]`},
		{`{"Authorization":"Bearer ` + fake("", 32) + `"}`, `{"Authorization":"Bearer @"}`},
		{`{"kind":"Secret","data":{"any":"` + weak + `","n":1}}`, `{"kind":"Secret","data":{"any":"@","n":1}}`},
		{`{"data":{"any":"` + weak + `"},"items":[{"kind":"Secret","data":{"any":"` + weak + `"}}]}`, `{"data":{"any":"` + weak + `"},"items":[{"kind":"Secret","data":{"any":"@"}}]}`},
		{`{"token":17,"password":12345678,"secret":true,"password_hint":"` + weak + `"}`, `{"token":17,"password":12345678,"secret":true,"password_hint":"` + weak + `"}`},
		{`{"id":"toolu_01NDuz15tig6J15xd8TJvp7u","password":"${PW}","session_id":"7b6a1d10-2311-4ead-9284-88396ed3e7f5"}`, ``},
		{`"text alone"`, ``}, {`null`, ``}, {`[]`, ``}, {`{}`, ``}, {`1`, ``},
	} {
		j, err := r.JSON(json.RawMessage(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got := string(j.Bytes())
		for {
			i := strings.Index(got, opening)
			if i < 0 {
				break
			}
			got = got[:i] + "@" + got[markerEnd(got, i):]
		}
		if c.want == "" {
			c.want = c.in
		}
		if got != c.want {
			t.Errorf("redact %s\n got %s\nwant %s", c.in, got, c.want)
		}
		again, err := r.JSON(j)
		if err != nil || !bytes.Equal(again.Bytes(), j.Bytes()) {
			t.Errorf("redacting %s again gives %s, %v", j.Bytes(), again.Bytes(), err)
		}
	}
}

func TestJSONReadsStringsAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "a\"b\\c/d", "\n\t\r\b\f\x00\x1b", "<&>\u2028\u2029", "é日本😀", "\ufffd", `\u0041`, "😀😀"} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []string{string(b), `"\ud83d\ude00\ud83d x"`} {
			w := walker{in: []byte(in)}
			w.skip()
			var want string
			if err := json.Unmarshal([]byte(in), &want); err != nil {
				t.Fatal(err)
			}
			if got := w.decoded(0); got != want {
				t.Errorf("%s is read as %q, want %q", in, got, want)
			}
		}
	}
}

func TestJSONErrors(t *testing.T) {
	t.Parallel()
	if j, err := newTest().JSON(make(chan int)); err == nil || j.Bytes() != nil {
		t.Errorf("a channel marshals to %s, %v", j.Bytes(), err)
	}
	if b, err := (JSON{}).MarshalJSON(); err != nil || string(b) != "null" {
		t.Errorf("the zero document is %s, %v", b, err)
	}
}

func TestBytesAreACopy(t *testing.T) {
	t.Parallel()
	j, err := newTest().JSON([]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	j.Bytes()[1] = '9'
	if !reflect.DeepEqual(j.Bytes(), []byte("[1,2]")) {
		t.Errorf("the document was written into: %s", j.Bytes())
	}
}
