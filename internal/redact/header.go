package redact

import "strings"

// headerValue reads the value of a header that carries credentials, when name is one.
func (c *scan) headerValue(name string, after int) (end int, ok bool) {
	if n := len(name); n < 6 || n > 24 {
		return 0, false
	}
	var buf [64]byte
	switch lowerInto(&buf, strings.TrimLeft(name, "-")) {
	case "authorization", "proxy-authorization", "x-authorization", "http_authorization":
		return c.authorization(after), true
	case "cookie", "set-cookie", "http_cookie", "cookies":
		return c.cookies(after), true
	}
	return 0, false
}

// authorization reads "Bearer x", "Basic x", "Token token=x", or a bare token.
func (c *scan) authorization(i int) int {
	s := c.s
	for i < len(s) && (blank.has(s[i]) || quote.has(s[i])) {
		i++
	}
	j := wordDash.run(s, i)
	if j < len(s) && s[j] == ' ' && j > i && j-i <= 24 {
		if end := c.scheme(i, j); end > j {
			return end
		}
		end, _ := c.bearer(blank.run(s, j), false) // a scheme of somebody's own
		return end
	}
	return c.opaque(i)
}

// opaque cuts out the token at i, which stands where a credential must be.
func (c *scan) opaque(i int) int {
	s := c.s
	j := i
	for j < len(s) && (base64x|dot|equals|tilde).has(s[j]) || j < len(s) && (s[j] == ':' || s[j] == '%' || s[j] == '|') {
		j++
	}
	v := strings.TrimRight(s[i:j], ".:")
	if len(v) < 8 || reference(v) || placeholder(v) || naming(v) || constant(v) || wordy(v) && digit.count(v) < 8 {
		return i
	}
	c.add(i, i+len(v), "authorization")
	return i + len(v)
}

// scheme reads the credential after the scheme s[i:j].
func (c *scan) scheme(i, j int) int {
	s := c.s
	if j >= len(s) || !blank.has(s[j]) {
		return j
	}
	at := blank.run(s, j)
	var buf [64]byte
	switch low := lowerInto(&buf, s[i:j]); low {
	case "bearer", "ssws", "token", "apikey", "api-key", "key", "sso-key", "hawk", "negotiate", "ntlm", "bot", "genie-key", "privatetoken", "jwt", "oauth":
		if k := word.run(s, at); k < len(s) && s[k] == '=' && k > at && k-at < 12 { // Token token="x"
			if l, ok := c.literalAt(k+1, inline); ok && (low != "oauth") && credential(s[l.from:l.to], token, quoted) {
				c.add(l.from, l.to, "authorization")
				return l.end
			}
		}
		if l, ok := c.bearer(at, low == "bearer" || low == "ssws"); ok {
			return l
		}
	case "basic":
		k := (base64s | equals).run(s, at)
		if v := s[at:k]; len(v) >= 8 && basicAuth(v) {
			c.add(at, k, "authorization")
			return k
		}
	}
	label := ""
	switch {
	case strings.HasPrefix(s[i:j], "AWS4-HMAC"):
		label = "Signature="
	case equalFold("digest", s[i:j]):
		label = " response="
	default:
		return j
	}
	_, end := c.line(at, 600)
	k := strings.Index(s[at:end], label)
	if k < 0 {
		return j
	}
	from := at + k + len(label)
	if from < end && quote.has(s[from]) {
		from++
	}
	c.add(from, anyHex.run(s, from), "authorization")
	return from
}

// bearer cuts out a token after a scheme. In prose ("Bearer schemes are") the next word is no token.
func (c *scan) bearer(at int, sure bool) (int, bool) {
	s := c.s
	k := (base64x | dot | equals | tilde).run(s, at)
	if k < len(s) && s[k] == ':' && alnum.run(s, k+1)-k > 16 { // number:token
		k = alnum.run(s, k+1)
	}
	v := strings.TrimRight(s[at:k], ".")
	if len(v) < 8 || reference(v) || placeholder(v) || digit.count(v) == 0 && switches(v) < 4 || wordy(v) && len(v) < 24 || !sure && !random(v) {
		return at, false
	}
	c.add(at, at+len(v), "authorization")
	return at + len(v), true
}

// basicAuth says whether v is base64 of user:password.
func basicAuth(v string) bool {
	var buf [256]byte
	text, ok := fromBase64(buf[:0], v)
	return ok && printable(text) && strings.IndexByte(string(text), ':') >= 0
}

// cookies cuts out the cookies that open a session, and leaves the others: they tell what was asked for.
func (c *scan) cookies(i int) int {
	s := c.s
	end := min(len(s), i+4096)
	if n := strings.IndexAny(s[i:end], "\n\r\x05"); n >= 0 {
		end = i + n
	}
	for i < end {
		for i < end && (blank.has(s[i]) || s[i] == ';' || s[i] == ',' || quote.has(s[i]) && i+1 < end && word.has(s[i+1])) {
			i++
		}
		from := i
		for i < end && ((wordDash | dot).has(s[i]) || s[i] == '%') {
			i++
		}
		if i >= end || s[i] != '=' || i == from {
			return i
		}
		name := s[from:i]
		i++
		v := i
		for i < end && s[i] != ';' && s[i] != ',' && charOf[s[i]]&(space|quote) == 0 {
			i++
		}
		if value := s[v:i]; c.sessionCookie(name, value) {
			c.add(v, i, "cookie")
		}
	}
	return i
}

func (c *scan) sessionCookie(name, v string) bool {
	if len(v) < 8 || reference(v) || placeholder(v) {
		return false
	}
	var buf [64]byte
	low := lowerInto(&buf, name)
	for _, w := range [...]string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "secret", "key", "ticket", "identity", "access"} {
		if strings.Contains(low, w) {
			return !wordy(v) || digit.count(v) >= 8
		}
	}
	return len(v) >= 20 && random(v) && !uuid(v) && !strings.HasPrefix(v, "GA1")
}

// protocol reads the line by which a client of Redis, SMTP, IMAP or FTP logs in, from its command s[i:j] on.
func (c *scan) protocol(i, j int) int {
	s := c.s
	at := blank.run(s, j)
	if at == j || i > 0 && charOf[s[i-1]]&(space|quote) == 0 && s[i-1] != '>' && s[i-1] != '+' && (s[i-1] != '-' || i > 1 && s[i-2] != '\n') {
		return j
	}
	for n := 0; n < 3 && at < len(s); n++ {
		end := at
		for end < len(s) && charOf[s[end]]&(space|quote) == 0 {
			end++
		}
		v := s[at:end]
		plain := n == 1 && (s[j:at] == " PLAIN " || s[j:at] == " LOGIN ") && len(v) >= 12 && (base64s | equals).only(v)
		if plain || strict(v) && !reference(v) && !placeholder(v) && strings.IndexByte(v, '=') < 0 {
			c.add(at, end, "password")
			return end
		}
		if end < len(s) && quote.has(s[end]) && end == at {
			end++
		}
		if at = blank.run(s, end); at == end {
			return j
		}
	}
	return j
}
