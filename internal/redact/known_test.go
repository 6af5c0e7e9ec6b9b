package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestKnownValues(t *testing.T) {
	t.Parallel()
	secret := "quiet & river/stone \"42\""
	r := newTest(secret, "hunter"+"twotwo", "short", "postgres", "password")
	js, err := json.Marshal(map[string]string{"a": secret})
	if err != nil {
		t.Fatal(err)
	}
	for kind, text := range map[string]string{
		"raw":           "it says " + secret + " here",
		"json":          string(js),
		"json, escaped": strings.ReplaceAll(string(js), "&", `\u0026`),
		"query":         "q=" + url.QueryEscape(secret) + "&x=1",
		"path":          "/a/" + url.PathEscape(secret) + "/b",
		"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64, 1 off": base64.StdEncoding.EncodeToString([]byte("\xff" + secret + "\xfe")),
		"base64, 2 off": base64.StdEncoding.EncodeToString([]byte("\xff\xff" + secret + "\xfe")),
		"hex":           "0x" + hex.EncodeToString([]byte(secret)),
		"HEX":           strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"in a sentence": "the word is hunter" + "twotwo, do not tell",
	} {
		if got := r.Text(text).String(); !strings.Contains(got, "[REDACTED:known:") {
			t.Errorf("%s: redact %q = %q", kind, text, got)
		}
	}
	one := r.Text("a " + secret).String()
	two := r.Text("a " + hex.EncodeToString([]byte(secret))).String()
	if one != two {
		t.Errorf("two spellings of one value: %q and %q", one, two)
	}
	for _, text := range []string{"a short word", "postgres runs", "the password field", "hunter" + "twotwofold"} {
		stays(t, r, text)
	}
}

func TestKnownValuesOfAnEnvironment(t *testing.T) {
	t.Parallel()
	got := KnownValues([]string{
		"# comment", "HOME=/root", "export DB_PASSWORD='" + chosen() + "'", "API_TOKEN=" + fake("", 20), "TOKEN_FILE=/run/secrets/token",
		"SSH_AUTH_SOCK=/tmp/ssh/agent.1", "SECRET_KEY=changeme-please", "PIN_CODE_PASSWORD=1234", "DATABASE_URL=postgres://app:" + chosen2() + "@db/x",
		"APP_SECRET=${OTHER}", "PWD=/home/dev/project", "PWD=/tmp/shop-018139/q7", "LANG=en_US.UTF-8", "nothing",
	})
	if want := []string{chosen(), fake("", 20), chosen2()}; !slices.Equal(got, want) {
		t.Errorf("known values are %q, want %q", got, want)
	}
}
