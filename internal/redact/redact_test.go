package redact

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// fake makes text of the form of a credential. It is made here and not written down, so that no scanner of
// repositories takes these tests for a leak.
func fake(prefix string, n int) string {
	return prefix + fakeOf("a7Kq3ZmX9vT2bR8wYc4NhJ6pLs5dGf1EuQ", n)
}

func fakeHex(prefix string, n int) string { return prefix + fakeOf("4f9a0c73be518d26", n) }

// fakeOf walks through an alphabet in steps, so that neighbours differ and nothing repeats soon.
func fakeOf(alphabet string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(alphabet[(i*7+i*i/3+i/len(alphabet))%len(alphabet)])
	}
	return b.String()
}

// chosen is a password as people choose them.
func chosen() string { return "Copper" + "-juniper" + "294" }

func chosen2() string { return "Lantern" + "Ember" + "!7" }

func newTest(known ...string) *Redactor { return New([]byte("a key of this installation"), known) }

// gone checks that secret is cut out of text with @ in its place, and that the rest stays as it was.
func gone(t *testing.T, r *Redactor, kind, before, secret, after string) {
	t.Helper()
	text := before + secret + after
	got := r.Text(text).String()
	if !strings.HasPrefix(got, before+"[REDACTED:") || !strings.HasSuffix(got, "]"+after) || strings.Contains(got, secret) {
		t.Errorf("%s: redact %q = %q", kind, text, got)
	}
}

func stays(t *testing.T, r *Redactor, text string) {
	t.Helper()
	if got := r.Text(text).String(); got != text {
		t.Errorf("redact %q = %q, want it unchanged", text, got)
	}
}

func TestMarkerTellsEqualCredentialsFromDifferentOnes(t *testing.T) {
	t.Parallel()
	one, two := fake("ghp_", 36), fakeHex("glptt-", 40)
	marker := func(r *Redactor, text string) string {
		got := r.Text(text).String()
		from := strings.Index(got, "[")
		return got[from : strings.Index(got, "]")+1]
	}
	r := newTest()
	if a, b := marker(r, "use "+one+" now"), marker(r, `{"token":"`+one+`"}`); a != b {
		t.Errorf("one credential has two markers: %s and %s", a, b)
	}
	if a, b := marker(r, one), marker(r, two); a[len(a)-9:] == b[len(b)-9:] {
		t.Errorf("two credentials have one marker: %s and %s", a, b)
	}
	if a, b := marker(r, one), marker(New([]byte("another key"), nil), one); a == b {
		t.Errorf("two installations make the same marker: %s", a)
	}
	if a, b := marker(r, `{"a":"`+chosen2()+`","password":"`+chosen2()+`"}`), marker(r, `{"password":"\u004c`+chosen2()[1:]+`"}`); a != b {
		t.Errorf("an escape changes the marker: %s and %s", a, b)
	}
}

func TestMarkersStay(t *testing.T) {
	t.Parallel()
	r := newTest("redacted1234", "private-key-of-mine")
	for _, text := range []string{
		"password: [REDACTED:password:0a1b2c3d]",
		`{"password":"[REDACTED:password:0a1b2c3d]","token":"[REDACTED]"}`,
		"copper_token=[REDACTED:github-pat] left in place",
		"mysql -p[REDACTED:password:0a1b2c3d] shop",
		"https://app:[REDACTED:url-password:0a1b2c3d]@host/x",
		"Authorization: Bearer [REDACTED:authorization:0a1b2c3d]",
		"-----BEGIN RSA PRIVATE KEY-----\n[REDACTED:private-key:0a1b2c3d]\n-----END RSA PRIVATE KEY-----\n",
		"[REDACTED:error]",
	} {
		stays(t, r, text)
	}
	if got := r.Text("[REDACTED:" + fake("ghp_", 36) + "]").String(); strings.Contains(got, "ghp_") {
		t.Errorf("a credential hides in what only looks like a marker: %q", got)
	}
}

func TestBrokenRuleDropsTheText(t *testing.T) {
	t.Parallel()
	r := newTest()
	r.index.place(headOf("ghp_", 0)).to = uint16(len(vendors)) + 1 // a rule that reads past its table
	if got := r.Text("ghp_short").String(); got != failed {
		t.Errorf("broken rule passed %q, want %q", got, failed)
	}
	j, err := r.JSON(map[string]any{"bad": "ghp_short", "good": 1})
	if err != nil || string(j.Bytes()) != `{"bad":"[REDACTED:error]","good":1}` {
		t.Errorf("broken rule in JSON: %s, %v", j.Bytes(), err)
	}
}

func TestTextMarshals(t *testing.T) {
	t.Parallel()
	b, err := newTest().Text(`say "hi"`).MarshalJSON()
	if err != nil || string(b) != `"say \"hi\""` {
		t.Errorf("MarshalJSON = %s, %v", b, err)
	}
}

// TestNothingHappensAtStart runs this test program again and reads what the runtime says about the start of
// each package: every hook pays for it.
func TestNothingHappensAtStart(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "-test.run=^$")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "init ") {
		t.Skip("the runtime says nothing about the start of packages")
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "internal/redact ") {
			t.Errorf("package redact does work at start: %s", line)
		}
	}
}
