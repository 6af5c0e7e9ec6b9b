package redact

import "strings"

// form is how a value is written, which says how much of code and prose it could be instead.
type form uint8

const (
	quoted form = iota // "value"
	env                // NAME=value: a shell or env file, where everything is literal
	tight              // name=value without blanks, not in an argument list: a connection string, a command line
	line               // name: value or name=value up to the end of a line, as in YAML and INI files
	inline             // followed by more on the same line, as in an argument list
)

// credential decides whether v, the value of a name of strength st, is one. It is none when it is a
// placeholder, a reference to where the credential is kept, an id, a path, a type, or code.
func credential(v string, st strength, f form) bool {
	if len(v) < 4 || len(v) > 4096 || reference(v) || placeholder(v) || located(v) {
		return false
	}
	if identified(v) && (st < token || len(v) != 66 || v[:2] != "0x") { // a key of 256 bits is one with 0x too
		return false
	}
	switch st {
	case passwd:
		return !(v[0] == '/' && strings.Count(v, "/") > 1) && passwordLike(v, f) // PWD is a folder
	case token:
		return tokenLike(v, f)
	case weak:
		if f != env && (uuid(v) || anyHex.only(v)) {
			return false
		}
		return len(v) >= 16 && tokenLike(v, f) && random(v)
	}
	return false
}

func passwordLike(v string, f form) bool {
	digits, lettersN := digit.count(v), letters.count(v)
	symbols := len(v) - digits - lettersN - (underscore | dot | dash).count(v)
	switch {
	case strings.IndexByte(v, ' ') >= 0:
		return !prose(v)
	case lettersN == 0 && symbols == 0:
		return digits == len(v) && (f == env || f == quoted || len(v) >= 6) && st20(v)
	case constant(v) || naming(v):
		return false
	case f != quoted && (digits+lettersN < 4 || strings.ContainsAny(v, "{}")):
		return false
	case f == quoted:
		return !dottedName(v) && !(strings.IndexByte(v, '/') > 0 && digits == 0 && wordy(v)) // a path in a store
	case f == env:
		return true
	case strings.IndexByte(v, '[') > 0 && identifier(v[:strings.IndexByte(v, '[')]): // args[1]
		return false
	case identifier(v):
		// hunter2 at the end of a line is a value; before a comma it is a variable.
		return (f == line || f == tight) && digits > 0 || random(v)
	}
	if digits == 0 && f != tight { // a type that may be missing, or an exclamation
		if v = strings.TrimRight(v, "?!"); v == "" || identifier(v) {
			return false
		}
	}
	return digits > 0 || symbols > 0
}

// strict says whether v is a password and not the name of something, whatever stands around it.
func strict(v string) bool {
	digits, lettersN := digit.count(v), letters.count(v)
	if len(v) < 6 || len(v) > 128 || digits == 0 || lettersN < 3 || technical(v) || located(v) || strings.IndexByte(v, ' ') >= 0 || wordy(v) && identifier(v) {
		return false
	}
	symbols := len(v) - digits - lettersN - (underscore | dot | dash | plus).count(v)
	return !wordy(v) || symbols > strings.Count(v, ":") || uppers.count(v) > 0 && lowers.count(v) > 0
}

// st20 keeps numbers out that are years or counts of seconds in round figures.
func st20(v string) bool { return !strings.HasSuffix(v, "000") }

func tokenLike(v string, f form) bool {
	digits, lettersN := digit.count(v), letters.count(v)
	switch {
	case len(v) < 8 || lettersN < 2 || strings.IndexByte(v, ' ') >= 0 || constant(v) || dated(v):
		return false
	case f == env && digits > 0 && len(v) >= 10 && !dottedName(v) && !strings.ContainsAny(v, "/:"):
		return true
	case wordy(v), f != quoted && f != env && identifier(v) && variable(v):
		return false
	}
	return digits > 0 || switches(v) >= 5 || len(v)-digits-lettersN >= 3
}

// variable says whether an identifier is rather the name of something than a token: Uint8Array, dk.key1024,
// testEd25519PrivateKey.
func variable(v string) bool {
	if len(v) < 16 || strings.IndexByte(v, '.') > 0 && digit.count(v) < 4 {
		return true
	}
	var buf [64]byte
	low := lowerInto(&buf, v)
	return strings.Contains(low, "key") || strings.Contains(low, "secret") || strings.Contains(low, "token")
}

// random says whether v looks drawn rather than named: digits spread through it, or case that changes all
// the time.
func random(v string) bool {
	digits := digit.count(v)
	return digits >= 3 && !wordy(v) || digits > 0 && switches(v) >= 3 || switches(v) >= 6 && len(v) < 5*switches(v)
}

// switches counts changes between lower case, upper case and digits inside runs of letters and digits. A
// capital that begins a word counts once, as the change before it.
func switches(v string) int {
	n := 0
	for i := 1; i < len(v); i++ {
		a, b := charOf[v[i-1]]&alnum, charOf[v[i]]&alnum
		if a == 0 || b == 0 {
			continue
		}
		if lowers&a != 0 && lowers&b == 0 || digit&a != 0 && digit&b == 0 {
			n++
		}
	}
	return n
}

// wordy says whether v is made of words, small numbers and versions: us-east-1, db-credentials-v2, sha256,
// server.key, accessTokenExpired.
func wordy(v string) bool {
	for i := 0; i < len(v); {
		if !alnum.has(v[i]) {
			if v[i] >= 0x80 {
				return false
			}
			i++
			continue
		}
		j := alnum.run(v, i)
		if !wordPart(v[i:j]) {
			return false
		}
		i = j
	}
	return true
}

func wordPart(p string) bool {
	digits := digit.count(p)
	switch {
	case digits == 0:
		n := switches(p)
		return n <= 1 || n*4 <= len(p) && (len(p) < 16 || spoken(p))
	case digits == len(p):
		return digits <= 4
	case len(p) <= 4:
		return true
	}
	// letters, then a few digits: sha256, oauth2, ed25519, v12
	n := letters.run(p, 0)
	if n >= 6 && digits <= 4 && n+digits == len(p) && wordPart(p[:n]) { // EncapsulationKey1024
		return true
	}
	return n > 0 && n <= 10 && n+digits == len(p) && digits <= 5 && (digits <= 3 || n <= 3) && switches(p[:n]) <= 1
}

// spoken says whether letters could be words: a third of a word are vowels, and consonants stand in short runs.
func spoken(p string) bool {
	vowels, run, longest := 0, 0, 0
	for i := range len(p) {
		switch lowerByte(p[i]) {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			vowels++
			run = 0
		default:
			run++
			longest = max(longest, run)
		}
	}
	return vowels*100 >= 28*len(p) && longest < 7
}

// identifier says whether v can be the name of something in code: a, a.b, a_b[0].
func identifier(v string) bool {
	if v == "" || digit.has(v[0]) {
		return false
	}
	for i := range len(v) {
		if !(word | dot).has(v[i]) {
			return false
		}
	}
	return true
}

// dottedName is a name in parts: auth.password.label, os.environ.
func dottedName(v string) bool {
	return strings.IndexByte(v, '.') > 0 && identifier(v) && wordy(v) && digit.count(v) == 0
}

// constant is the name of a constant or of an environment variable: OPENAI_API_KEY.
func constant(v string) bool {
	v = v[strings.LastIndexByte(v, '.')+1:]
	return len(v) >= 6 && (uppers | digit | underscore).only(v) && strings.IndexByte(v, '_') > 0 && (wordy(v) || strings.Count(v, "_") >= 2)
}

// naming is a name that says itself what it is the name of: copperPasswordInput, my-secret, db_password.
func naming(v string) bool {
	if !(letters | underscore | dash | dot).only(v) {
		return false
	}
	var buf [64]byte
	low := lowerInto(&buf, v)
	for _, w := range [...]string{"password", "passwd", "secret", "token", "credential", "apikey", "api_key", "passphrase"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return common(low)
}

// common are words that stand where a password could: types, states, kinds and well-known examples.
func common(low string) bool {
	switch low {
	case "password", "passphrase", "secret", "token", "credential", "credentials", "changeme", "none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "string", "str", "text", "bytes", "buffer",
		"optional", "required", "empty", "unset", "default", "pass", "passwd", "pwd", "number", "integer", "boolean", "bool", "object",
		"any", "auto", "env", "environment", "prompt", "stdin", "file", "plain", "hidden", "masked", "invalid", "incorrect", "wrong",
		"missing", "expired", "changed", "updated", "reset", "field", "input", "label", "current-password", "new-password", "vault",
		"keychain", "keyring", "basic", "bearer", "oauth", "enabled", "disabled", "value", "example", "test", "testing", "demo",
		"char", "varchar", "uuid", "self", "this", "void", "const", "final", "static", "return", "await", "unknown", "never",
		"postgres", "root", "admin", "user", "username", "guest", "mysql", "localhost", "error", "success", "failed", "accepted",
		"denied", "failure", "correct", "valid", "weak", "strong", "later", "here", "ignored", "omitted", "encrypted", "hashed", "ask",
		"internal", "external", "public", "private", "local", "global", "session", "cookie", "header", "query", "body", "form", "read",
		"write", "inherit", "same", "unchanged", "filtered", "protected", "sensitive", "random", "generated", "authentication",
		"authorization", "login", "logout", "signin", "signup", "email", "name", "type", "method", "key", "keys", "id", "code":
		return true
	}
	return false
}

// placeholder is text that stands where a credential goes.
func placeholder(v string) bool {
	var buf [64]byte
	low := lowerInto(&buf, v)
	if common(low) {
		return true
	}
	for _, w := range [...]string{
		"your", "example", "changeme", "change-me", "change_me", "placeholder", "redacted", "xxxx", "****", "....", "todo", "fixme",
		"dummy", "scrubbed", "insert", "replace_", "replace-", "replaceme", "not-a-real", "notreal", "goes-here", "goes_here", "-here", "_here",
		"\u2022\u2022", "…", "fake-", "fake_", "sample", "<", "{{", "${", "%s", "my-", "my_", "foobar", "secret-value", "[redacted",
		"abcdefgh", "12345678901", "test-token", "test_token", "test-key", "test_key", "dummy", "mock-", "mock_", "some-", "some_",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return repeats(v)
}

// repeats is text of too few different characters to be drawn: xxxxxxxx, 00000000, abababab.
func repeats(v string) bool {
	var seen [4]uint64
	n := 0
	for i := range len(v) {
		if bit := uint64(1) << (v[i] & 63); seen[v[i]>>6]&bit == 0 {
			seen[v[i]>>6] |= bit
			n++
		}
	}
	return n <= 2 || len(v) >= 16 && n <= 4
}

// reference says that v tells where the credential is, not what it is.
func reference(v string) bool {
	switch v[0] {
	case '$':
		return len(v) > 1 && (letters|underscore).has(v[1]) || strings.HasPrefix(v, "${") || strings.HasPrefix(v, "$(") || strings.HasPrefix(v, "$$")
	case '<', '{', '[', '(', '|', '>':
		return true
	case '%':
		return len(v) > 1 && (letters.has(v[1]) || v[1] == '(' || v[1] == '{')
	case '#':
		return strings.HasPrefix(v, "#{") || anyHex.only(v[1:]) // a colour
	case '@':
		return len(v) > 1 && (v[1] == '/' || v[1] == '.' || v[1] == '{' || letters.only(v[1:]))
	case '!', '&', '*':
		return len(v) > 2 && letters.only(v[1:])
	case '-':
		return strings.HasPrefix(v, "--")
	}
	if strings.Contains(v, "${") || strings.Contains(v, "$(") || strings.Contains(v, "{{") || strings.Contains(v, "#{") || strings.Contains(v, "::") {
		return true
	}
	if i := strings.IndexByte(v, '{'); i >= 0 && strings.IndexByte(v[i:], '}') > 0 {
		return true
	}
	for _, p := range [...]string{"process.env", "os.environ", "os.getenv", "env.", "env(", "ENV[", "secrets.", "vars.", "var.", "config.",
		"self.", "this.", "arn:", "op://", "vault:", "ssm:", "secretsmanager:", "file:", "base64:$", "ref+", "sops:", "ENC[", "keyring:", "id=", "src=", "env=", "type="} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

// located is a path or an address: what stands in it is for other rules.
func located(v string) bool {
	switch {
	case strings.HasPrefix(v, "/"):
		return strings.IndexByte(v[1:], '/') > 0 && wordy(v) || wordy(v)
	case strings.HasPrefix(v, "./"), strings.HasPrefix(v, "../"), strings.HasPrefix(v, "~/"), len(v) > 2 && letters.has(v[0]) && (v[1:3] == `:\` || v[1:3] == ":/"):
		return true
	}
	return strings.Contains(v, "://")
}

// identified is an id, a digest or a public key, known by how it begins.
func identified(v string) bool {
	for _, p := range [...]string{"toolu_", "msg_", "call_", "chatcmpl-", "resp_", "req_", "run_", "thread_", "asst_", "batch_",
		"sha1-", "sha1:", "sha256-", "sha256:", "sha384-", "sha512-", "sha512:", "md5:", "pk_test_", "pk_live_", "pk.", "pk-lf-",
		"ssh-rsa", "ssh-ed25519", "ecdsa-", "age1", "urn:", "data:", "did:", "spiffe:", "0x", "npm:", "pkg:", "rs_", "fc_", "bash_id"} {
		if strings.HasPrefix(v, p) {
			return p != "sha256:" || !strings.HasPrefix(v, "sha256~")
		}
	}
	return false
}

// dated is a point in time.
func dated(v string) bool {
	return len(v) >= 10 && (v[:2] == "20" || v[:2] == "19") && digit.only(v[:4]) && (v[4] == '-' || v[4] == '/') && digit.only(v[5:7])
}

func uuid(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if v[i] != '-' {
				return false
			}
		} else if !anyHex.has(v[i]) {
			return false
		}
	}
	return true
}

// prose says whether text with spaces is a sentence or a label and not a passphrase.
func prose(v string) bool {
	words := 0
	for w := range strings.FieldsSeq(v) {
		words++
		var buf [64]byte
		switch low := lowerInto(&buf, strings.Trim(w, ".,:;!?()'\"")); low {
		case "must", "be", "is", "the", "your", "enter", "please", "a", "an", "to", "at", "for", "and", "or", "not", "of", "in", "with",
			"password", "passwords", "passphrase", "token", "secret", "key", "new", "old", "confirm", "current", "forgot", "forgotten",
			"required", "invalid", "incorrect", "wrong", "characters", "api", "access", "user", "min", "max", "length", "no", "this",
			"that", "from", "by", "on", "as", "it", "has", "have", "does", "do", "will", "should", "can", "if", "when", "then", "we", "you":
			return true
		}
	}
	return words > 24 || words < 3 && digit.count(v) == 0
}

// lowerInto returns the first 64 bytes of v in lower case.
func lowerInto(buf *[64]byte, v string) string {
	n := min(len(v), len(buf))
	for i := range n {
		buf[i] = lowerByte(v[i])
	}
	return string(buf[:n])
}
