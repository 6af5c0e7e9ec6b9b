package redact

import "strings"

// says reads what a sentence says after a word like password at s[i:j]: "the password is x", "use token x",
// "password for the staging box: x". What cannot be told from an ordinary word is left.
func (c *scan) says(i, j int) int {
	s := c.s
	if equalFold("contrase", s[i:j]) && strings.HasPrefix(s[j:], "ña") {
		j += len("ña")
	}
	if k := blank.run(s, j); k < len(s) && (s[k] == ',' || s[k] == '|' || s[j] == '\t' || newline.has(s[k]) || quote.has(s[j])) {
		c.column(i, j)
	}
	st := nameStrength(s[i:j])
	if st == none && motDe(s, i, j) {
		st = passwd
	}
	if at := blank.run(s, j); at > j && !(dash | dot | dollar).has(s[max(i, 1)-1]) {
		if end := c.toldBoth(at, s[i:j]); end > at {
			return end
		}
	}
	if st == bare && i > 0 { // API key, access key
		if before := alnum.runBack(s, i-1); before < i-1 && blank.has(s[i-1]) {
			st = nameStrength(s[before:i-1] + "_" + s[i:j])
		}
	}
	if st < token || j >= len(s) || !blank.has(s[j]) || i > 0 && ((dash|dot).has(s[i-1]) || s[i-1] == '$' || s[i-1] == '/') {
		return j
	}
	at := blank.run(s, j)
	// SQL, Ruby and configuration files put a literal right behind: PASSWORD 'x'.
	if at < len(s) && quote.has(s[at]) {
		if l, ok := c.quotedAt(at); ok && credential(l.text(s), st, quoted) && c.closed(l) {
			c.add(l.from, l.to, kindOf(st))
			return l.end
		}
		return j
	}
	for words := 0; words < 9 && at < len(s); words++ {
		end := at
		for end < len(s) && charOf[s[end]]&(space|quote) == 0 {
			end++
		}
		w := strings.TrimRight(s[at:end], ",;:")
		var buf [64]byte
		low := lowerInto(&buf, w)
		if says := connects(low); says || words == 0 && !plainWord(low) {
			from := at
			if says {
				from = blank.run(s, end)
				for range 2 { // "is now x", "has been set to x"
					k := letters.run(s, from)
					if k < len(s) && blank.has(s[k]) && connects(lowerInto(&buf, s[from:k])) {
						from = blank.run(s, k)
					}
				}
			}
			if to := c.told(from, st, says); to > from {
				return to
			}
			if !says {
				return j
			}
		}
		if end == at || end < len(s) && !blank.has(s[end]) || strings.HasSuffix(s[at:end], ".") || strings.HasSuffix(s[at:end], "?") {
			return j
		}
		at = blank.run(s, end)
	}
	return j
}

// motDe says whether the word passe at s[i:j] is a part of the French word for password.
func motDe(s string, i, j int) bool {
	return s[i:j] == "passe" && strings.HasSuffix(s[:i], "ot de ")
}

// quotedAfter reads the literal that stands right behind a name, as in SQL, Gradle and Lisp: storePassword "x".
// After the word send it is what an expect script answers to a prompt.
func (c *scan) quotedAfter(i, j int) int {
	s := c.s
	name := s[wordDash.runBack(s, i):j]
	st := nameStrength(name)
	if st < weak {
		if name != "send" || !strings.Contains(s[max(0, i-200):i], "assword") {
			return j
		}
		st = passwd
	}
	l, ok := c.quotedAt(j + 1)
	v := strings.TrimRight(l.text(s), "\\rn\x05")
	if !ok || !c.closed(l) || !credential(v, st, quoted) {
		return j
	}
	// "pass `name` to it" is a sentence, and so is most of what stands in backticks.
	if (name == "send" || s[j+1] == '`' || equalFold("pass", name)) && !strict(v) && !random(v) {
		return j
	}
	c.add(l.from, l.to, kindOf(st))
	return l.end
}

// closed says whether a literal has its closing quote.
func (c *scan) closed(l literal) bool { return l.end > l.to }

// told cuts out the value that a sentence gives at from, when it is one beyond doubt.
func (c *scan) told(from int, st strength, says bool) int {
	s := c.s
	for from < len(s) && s[from] == '*' {
		from++
	}
	if from >= len(s) {
		return from
	}
	if quote.has(s[from]) {
		l, ok := c.quotedAt(from)
		if ok && c.closed(l) && credential(l.text(s), st, quoted) {
			c.add(l.from, l.to, kindOf(st))
			return l.end
		}
		return from
	}
	to := from
	for to < len(s) && charOf[s[to]]&(space|quote) == 0 && strings.IndexByte("<>()|\\", s[to]) < 0 {
		to++
	}
	for to > from && strings.IndexByte(".,;:?*]}", s[to-1]) >= 0 {
		to--
	}
	v := s[from:to]
	if !strict(v) && !(says && identifier(v) && digit.count(v) > 0 && len(v) >= 6) || technical(v) || strings.IndexByte(v, '=') >= 0 || identifier(v) && !random(v) && (st < passwd || strings.IndexByte(v, '_') >= 0) {
		return from
	}
	if st == token && (len(v) < 12 || !random(v)) {
		return from
	}
	if !credential(v, st, line) {
		return from
	}
	c.add(from, to, kindOf(st))
	return to
}

// connects says whether what follows the word is the value.
func connects(low string) bool {
	switch low {
	case "is", "was", "=", "to", "->", "→", "=>", "as", "are", "remains", "being", "now", "still", "set", "changed", "lautet", "ist", "est", "es", "è", "é", "-", "–", "—", "equals", "currently", "actually":
		return true
	}
	return false
}

// plainWord is a word of a sentence and not a value.
func plainWord(low string) bool {
	return low == "" || letters.only(low) || low[0] == '(' || strings.Trim(low, "abcdefghijklmnopqrstuvwxyz'") == ""
}

// technical is a term with digits in it: sha256-hashed, base64, utf-8, 2fa, port:8080.
func technical(v string) bool {
	var buf [64]byte
	low := lowerInto(&buf, v)
	for _, p := range [...]string{"sha", "md5", "base64", "utf", "oauth", "http", "ipv", "x509", "bcrypt", "argon", "aes", "rsa", "ed25519",
		"v1", "v2", "v3", "k8s", "s3", "ec2", "2fa", "mfa", "pbkdf2", "rfc", "iso", "tls1", "ssl3", "p256", "secp", "pkcs", "ntlm", "python3", "node", "id="} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return wordy(v) && identifier(v) && !strings.ContainsAny(v, "-!@#$%^&*") && len(v) < 7
}

// netrc reads "machine host login user password x", after the word machine.
func (c *scan) netrc(j int) int {
	s := c.s
	at := j
	for word := 0; word < 8; word++ {
		at = space.run(s, at)
		end := at
		for end < len(s) && charOf[s[end]]&space == 0 {
			end++
		}
		switch s[at:end] {
		case "":
			return j
		case "password", "passwd":
			from := space.run(s, end)
			to := from
			for to < len(s) && charOf[s[to]]&(space|quote) == 0 {
				to++
			}
			if word >= 1 && from < to && !reference(s[from:to]) && !placeholder(s[from:to]) {
				c.add(from, to, "password")
				return to
			}
			return j
		case "login", "account":
		default:
			if word == 1 {
				return j // a sentence
			}
		}
		at = end
	}
	return j
}

// sets reads "NAME value" after a word that sets one: ENV, setenv, SetEnv, fastcgi_param, requirepass.
func (c *scan) sets(j int) int {
	s := c.s
	from := blank.run(s, j)
	if from == j {
		return j
	}
	if s[from-1] == ' ' && from < len(s) && s[from] == '-' { // set -gx
		from = blank.run(s, (wordDash).run(s, from))
	}
	to := (wordDash | dot).run(s, from)
	if to >= len(s) || !blank.has(s[to]) {
		return j
	}
	st := nameStrength(s[from:to])
	if st < weak || lowers.count(s[from:to]) > 0 { // "set password policy" is a sentence
		return j
	}
	at := blank.run(s, to)
	if s[j-1] == 't' && at < len(s) && !quote.has(s[at]) { // and "set PWD automatically" too
		if l, ok := c.literalAt(at, env); !ok || !strict(l.text(s)) && !random(l.text(s)) && (l.to-l.from < 8 || digit.count(l.text(s)) == 0) {
			return j
		}
	}
	return max(j, c.value(at, st, env, false))
}

// toldBoth reads a user and a password after a word that announces both (login: app / x), and a passphrase of
// words.
func (c *scan) toldBoth(at int, name string) int {
	s := c.s
	var buf [64]byte
	switch lowerInto(&buf, name) {
	case "login", "logins", "credentials", "creds", "pass", "userpass", "account", "pw":
	case "passphrase", "mnemonic", "phrase", "seed":
		return c.words(at)
	default:
		return at
	}
	for range 2 { // "login with", "credentials are"
		k := letters.run(s, at)
		switch lowerInto(&buf, s[at:k]) {
		case "with", "using", "are", "is", "as", "via":
			at = blank.run(s, k)
		}
	}
	user := at
	for user < len(s) && (wordDash | dot).has(s[user]) {
		user++
	}
	mid := blank.run(s, user)
	if user == at || mid >= len(s) || s[mid] != '/' && s[mid] != ':' {
		return at
	}
	from := blank.run(s, mid+1)
	if from < len(s) && quote.has(s[from]) {
		from++
	}
	to := from
	for to < len(s) && charOf[s[to]]&(space|quote) == 0 && s[to] != ',' && s[to] != ')' {
		to++
	}
	for to > from && strings.IndexByte(".;:", s[to-1]) >= 0 {
		to--
	}
	if v := s[from:to]; !strict(v) || strings.ContainsAny(v, "/=") || s[mid] == ':' && (from > mid+1 || hostAt(s[at:])) {
		return at
	}
	c.add(from, to, "password")
	return to
}

// words cuts out four or more plain words up to the end of the line: a passphrase.
func (c *scan) words(at int) int {
	s := c.s
	if at < len(s) && quote.has(s[at]) {
		return at
	}
	end := at
	for end < len(s) && (lowers.has(s[end]) || s[end] == ' ') {
		end++
	}
	for end > at && s[end-1] == ' ' {
		end--
	}
	v := s[at:end]
	if n := strings.Count(v, " "); n < 3 || n > 23 || prose(v) || end < len(s) && charOf[s[end]]&(newline|quote) == 0 && s[end] != '.' {
		return at
	}
	c.add(at, end, "password")
	return end
}
