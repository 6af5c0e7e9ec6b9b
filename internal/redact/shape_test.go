package redact

import (
	"encoding/base64"
	"encoding/hex"
	"sort"
	"strings"
	"testing"
)

// body makes what follows a vendor's prefix.
func body(v vendor) string {
	n := max(v.min, v.full)
	alphabet := "a7Kq3ZmX9vT2bR8wYc4NhJ6pLs5dGf1EuQ"
	switch {
	case v.set&letters == 0:
		alphabet = "7193046285"
	case v.set&^(anyHex|dash|underscore|dot) == 0:
		alphabet = "4f9a0c73be518d26"
	case v.set&lower == 0:
		alphabet = "7K3ZMX9VT2R8WYC4NHJ6PL5DGF1EUQ"
	case v.set&upper == 0:
		alphabet = "a7kq3zmx9vt2br8wyc4nhj6pls5dgf1euq"
	}
	return fakeOf(alphabet, n)
}

func TestVendors(t *testing.T) {
	t.Parallel()
	r := newTest()
	if !sort.SliceIsSorted(vendors[:], func(i, j int) bool {
		a, b := vendors[i].prefix, vendors[j].prefix
		if a[:3] != b[:3] {
			return a[:3] < b[:3]
		}
		return len(a) > len(b)
	}) {
		t.Error("the table is not in the order its comment gives")
	}
	for _, v := range vendors {
		if v.kind == "jwt" || v.kind == "facebook" {
			continue
		}
		secret := v.prefix + body(v)
		for _, wrap := range [][2]string{
			{"use `", "` for staging"}, {"export X='", "' && make"}, {`{"a": "{\"b\":\"`, `\"}"}`}, {"<td>", "</td>"}, {"line1\\nX ", "\\nline3"}, {"(see ", ")."},
		} {
			text := wrap[0] + secret + wrap[1]
			if got := r.Text(text).String(); strings.Contains(got, secret) || !strings.HasPrefix(got, wrap[0]) || !strings.HasSuffix(got, wrap[1]) {
				t.Errorf("%s: redact %q = %q", v.kind, text, got)
			}
		}
		stays(t, r, "`"+v.prefix+"` and `"+v.prefix+"...` and `"+v.prefix+strings.Repeat("x", max(v.min, v.full))+"`")
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	r := newTest()
	jwt := "eyJhbGciOi" + "JIUzI1NiJ9.eyJzdWIiOiI5Mjgy" + "ODQiLCJuYW1l." + fake("", 43)
	for kind, secret := range map[string]string{
		"jwt":                  jwt,
		"jwt without the end":  jwt[:40],
		"telegram":             "7123456789:AA" + fake("", 33),
		"azure":                fake("", 3) + "8Q~" + fake("", 34),
		"terraform":            fake("", 14) + ".atlasv1." + fake("", 67),
		"discord":              "MTE" + fake("", 21) + "." + fake("G", 5) + "." + fake("", 38),
		"mailchimp":            fakeHex("", 32) + "-us12",
		"maxmind":              fake("", 6) + "_" + fake("", 29) + "_mmk",
		"twilio":               fakeHex("SK", 32),
		"okta":                 fake("00", 40),
		"older vault":          fake("s.", 24),
		"nobody's, but graded": "zq9_live_" + fake("", 40),
		"crypt":                "$6$9REi5xjNdX7x8rO6$" + fake("", 86),
		"bcrypt":               "$2b$12$" + fake("", 53),
	} {
		gone(t, r, kind, "export X='", secret, "' && make")
	}
	gone(t, r, "ldap", "userPassword: {SSHA}", fake("", 38)+"==", "\n")
	got := r.Text("AKIA" + body(vendor{set: uppers | digit, min: 16}) + " and " + fake("", 40)).String()
	if strings.Contains(got, fake("", 40)) {
		t.Errorf("the secret beside an access key id is left: %q", got)
	}
}

func TestPrivateKeys(t *testing.T) {
	t.Parallel()
	r := newTest()
	line1, line2, part := fake("MII", 61), fake("", 63)+"=", fake("", 37)
	begin, end := "-----BEGIN RSA "+"PRIVATE KEY-----", "-----END RSA "+"PRIVATE KEY-----"
	for kind, text := range map[string]string{
		"whole":                 "cat k\n" + begin + "\n" + line1 + "\n" + line2 + "\n" + end + "\n$ ls",
		"cut off":               begin + "\n" + line1 + "\n" + part,
		"cut off, then more":    begin + "\n" + line1 + "\n" + part + "\n$ ls",
		"its end only":          line1 + "\n" + line2 + "\n" + end + "\n$ ls",
		"in JSON":               `{"private_key": "` + begin + `\n` + line1 + `\n` + line2 + `\n` + end + `\n", "client_email": "a@b.c"}`,
		"in JSON in JSON":       `{"a":"{\"k\":\"` + begin + `\\n` + line1 + `\\n` + line2 + `\\n` + end + `\"}"}`,
		"on one line":           begin + " " + line1 + " " + line2 + " " + end,
		"quoted":                "> " + begin + "\n> " + line1 + "\n> " + line2 + "\n> " + end + "\n> next",
		"numbered":              "     1\t" + begin + "\n     2\t" + line1 + "\n     3\t" + part,
		"in a diff":             "+" + begin + "\n+" + line1 + "\n+" + end + "\n+next",
		"encrypted":             begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n" + line1 + "\n" + line2 + "\n" + end,
		"encrypted and cut off": begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n" + line1 + "\n" + part,
		"putty":                 "Private-Lines: 2\n" + line1 + "\n" + line2 + "\nPrivate-MAC: 00",
		"base64":                "KEY=" + base64.StdEncoding.EncodeToString([]byte(begin+"\n"+line1+"\n"+line2+"\n"+end)),
	} {
		got := r.Text(text).String()
		for _, l := range []string{line1, line2, part, base64.StdEncoding.EncodeToString([]byte(begin))[:30]} {
			if strings.Contains(got, l) {
				t.Errorf("%s: redact %q = %q", kind, text, got)
			}
		}
		if i := strings.LastIndex(text, "$ ls"); i >= 0 && !strings.HasSuffix(got, "$ ls") || strings.Contains(text, "next") && !strings.Contains(got, "next") {
			t.Errorf("%s: took too much of %q: %q", kind, text, got)
		}
	}
	stays(t, r, "-----BEGIN CERTIFICATE-----\n"+line1+"\n"+line2+"\n-----END CERTIFICATE-----\n")
	stays(t, r, `if strings.HasPrefix(l, "`+begin+`") {`)
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	r := newTest()
	npm := fake("npm_", 36)
	a, b := npm[:20], npm[20:]
	for kind, c := range map[string]struct {
		before, after string
		pieces        []string
	}{
		"unicode":        {`{"token":"`, `","ok":true}`, []string{`\u006e`, "pm_", npm[4:30], `\u00` + hex.EncodeToString([]byte(npm[30:31])), npm[31:]}},
		"colour":         {"token: ", " done", []string{"\x1b[1m", a, "\x1b[7m", b, "\x1b[0m"}},
		"colour as text": {"token: ", " done", []string{a, `\x1b[7m`, b}},
		"concatenation":  {`const t = "`, `";`, []string{a, "\" +\n  \"", b}},
		"continuation":   {"export TOKEN=", "\nmake", []string{a, "\\\n", b}},
		"line break":     {"token: ", "\nnext line", []string{a, "\n", b}},
		"quoted break":   {"> export TOKEN=", "\n> make", []string{a, "\\\n> ", b}},
		"url":            {"a=b&client_secret=", "&n=1", []string{"npm%5F", npm[4:]}},
		"html":           {"&lt;token value=&quot;", "&quot;/&gt;", []string{npm}},
		"array":          {`{"delta": ["the token is ", "`, `", " ok"]}`, []string{a, `", "`, b}},
		"base64":         {"echo ", " | base64 -d > .env", []string{base64.StdEncoding.EncodeToString([]byte("API_TOKEN=" + npm + "\nMODE=prod\n"))}},
		"hex":            {"printf '", "' | xxd -r -p", []string{hex.EncodeToString([]byte(npm))}},
	} {
		text := c.before + strings.Join(c.pieces, "") + c.after
		got := r.Text(text).String()
		if !strings.HasPrefix(got, strings.TrimRight(c.before, "\x1b[1m")) || !strings.HasSuffix(got, c.after) {
			t.Errorf("%s: redact %q = %q", kind, text, got)
		}
		for _, p := range c.pieces {
			if len(p) > 8 && strings.Contains(got, p) {
				t.Errorf("%s: %q is left of %q: %q", kind, p, text, got)
			}
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, part, want string }{
		{`plain`, "lai", "lai"},
		{`a\"b\"c`, "b", "b"},
		{`x\u0041y`, "A", `\u0041`},
		{`x\u0041y`, "xAy", `x\u0041y`},
		{"a\x1b[1mbc\x1b[0md", "bc", "bc"},
		{"a\x1b[1mb\x1b[2mc\x1b[0md", "bc", "b\x1b[2mc"},
		{`"ab" + "cd"`, "abcd", `ab" + "cd`},
		{"ab\\\ncd", "abcd", "ab\\\ncd"},
		{"x%5Fy", "_", "%5F"},
	} {
		v := decode(c.raw, true)
		i := strings.Index(v.text, c.part)
		if i < 0 {
			t.Errorf("view of %q is %q, without %q", c.raw, v.text, c.part)
			continue
		}
		got := v.locate([]span{{from: i, to: i + len(c.part)}})[0]
		if c.raw[got.from:got.to] != c.want {
			t.Errorf("%q in %q lies at %q, want %q", c.part, c.raw, c.raw[got.from:got.to], c.want)
		}
	}
}
