package redact

import "strings"

// pair reads what stands around a '=' or ':' at i as a name and its value, and returns where to go on.
func (c *scan) pair(i int) int {
	s := c.s
	after := i + 1
	compares := false
	switch {
	case s[i] == ':' && strings.HasPrefix(s[i:], "://"):
		return c.url(i)
	case s[i] == ':' && after < len(s) && s[after] == ':':
		return c.twoColons(i)
	case s[i] == ':' && after < len(s) && s[after] == '=':
		after++
	case s[i] == '=' && after < len(s) && s[after] == '>':
		after++
	case s[i] == '=' && after < len(s) && s[after] == '=':
		for after < len(s) && s[after] == '=' {
			after++
		}
		compares = true
	case s[i] == '=' && i > 0 && s[i-1] == '!':
		compares = true
	case s[i] == '=' && i > 0 && (s[i-1] == '<' || s[i-1] == '>'), s[i] == '=' && after < len(s) && s[after] == '~':
		return after
	}
	if compares && i > 0 && s[i-1] == '!' {
		i--
	}
	if i == 0 {
		return after
	}
	nameFrom, nameTo := c.nameBefore(i)
	if nameFrom == nameTo {
		return after
	}
	name := s[nameFrom:nameTo]
	if inBlob(s, nameFrom, nameTo) || s[i] == ':' && s[nameFrom-min(nameFrom, 1)] == ':' && nameFrom > 0 && after < len(s) && !blank.has(s[after]) && !digit.only(name) {
		return after // the end of base64, a field of a record
	}
	if s[i] == ':' && digit.only(name) {
		return max(c.telegram(nameFrom, i), c.pgpass(nameFrom, i), c.pwdump(i), c.numbered(nameFrom, after))
	}
	if end, ok := c.headerValue(name, after); ok {
		return max(after, end)
	}
	st := c.named(nameFrom, nameTo, i)
	if st == none {
		if len(name) <= 2 {
			return max(after, c.jwk(name, after))
		}
		if end, ok := c.namedBeside(name, after); ok {
			return max(after, end)
		}
		return max(after, c.namedBefore(name, after))
	}
	if st == bare || equalFold("key", name) && s[i] == '=' {
		if end := c.namedBefore(name, after); end > after || st == bare {
			return end
		}
	}
	valueAt := c.valueStart(after, nameFrom, i)
	if s[i] == ':' && equalFold("pass", name) { // may be the verdict of a test
		_, end := c.line(valueAt, 80)
		if name == "PASS" || digit.count(s[min(valueAt, end):end]) == 0 {
			return after
		}
	}
	if i == nameTo && nameFrom > 0 && valueAt < len(s) && quote.has(s[valueAt]) && s[valueAt] == s[nameFrom-1] {
		return after // "password=" + x: the quote closes
	}
	if end := c.toldBoth(valueAt, name); end > valueAt {
		return end
	}
	f := line
	switch {
	case s[i] == '=' && after == i+1 && valueAt == after && c.startsEnv(name, nameFrom):
		f = env
	case s[i] == '=' && after == i+1 && valueAt == after && i == nameTo:
		f = tight
	case s[i] == '=' && !c.startsLine(nameFrom):
		f = inline
	}
	return max(after, c.value(valueAt, st, f, compares))
}

// value cuts out the value at i if it is a credential, and returns where it ends.
func (c *scan) value(i int, st strength, f form, compares bool) int {
	s := c.s
	if i < len(s) && s[i] == '{' {
		return c.nested(i, st)
	}
	if i < len(s) && newline.has(s[i]) {
		return c.bullets(i, st)
	}
	if i < len(s) && s[i] == '[' {
		if markerEnd(s, i) > i {
			return markerEnd(s, i)
		}
		return c.list(i, st)
	}
	l, ok := c.literalAt(i, f)
	if !ok {
		return i
	}
	if l.code {
		return c.wrapped(l, st)
	}
	end := c.prefix(l.from)
	if w := word.run(s, l.from); end == l.from && w-l.from >= 16 {
		end = c.longWord(l.from, w)
	}
	if end >= l.to { // its issuer says more about it, and where it ends
		return end
	}
	if compares && (l.form != quoted || !random(s[l.from:l.to]) && digit.count(s[l.from:l.to]) == 0) {
		return l.end
	}
	v := s[l.from:l.to]
	if credential(v, st, l.form) {
		c.add(l.from, l.to, kindOf(st))
		return l.end
	}
	if at := c.fallback(l.end); at > l.end { // process.env.X || "value"
		if l, ok := c.quotedAt(at); ok && credential(l.text(s), st, quoted) {
			c.add(l.from, l.to, kindOf(st))
			return l.end
		}
	}
	if l.form == quoted && strings.ContainsAny(v, ":=@") {
		return i // a connection string or a URL: other rules read inside
	}
	return i
}

func kindOf(st strength) string {
	if st == passwd {
		return "password"
	}
	return "token"
}

// wrapped reads SecretStr("value") and []byte("value"): a call around one literal, which only counts when it
// cannot be the name of something.
func (c *scan) wrapped(l literal, st strength) int {
	s := c.s
	at := blank.run(s, l.to+1)
	if at >= len(s) || !quote.has(s[c.prefixed(at)%len(s)]) {
		return l.end
	}
	if v, ok := c.literalAt(at, inline); ok && v.form == quoted {
		text := s[v.from:v.to]
		if (strict(text) || random(text)) && !strings.ContainsAny(text, " /") && credential(text, st, quoted) {
			c.add(v.from, v.to, kindOf(st))
			return v.end
		}
	}
	return l.end
}

// list reads ["one", "two"].
func (c *scan) list(i int, st strength) int {
	s := c.s
	for range 32 {
		i = space.run(s, i+1)
		if i >= len(s) || !quote.has(s[i]) {
			return i
		}
		l, ok := c.quotedAt(i)
		if v := l.text(s); ok && credential(v, st, quoted) && (st == passwd || strict(v) || len(v) >= 12 && random(v)) {
			c.add(l.from, l.to, kindOf(st))
		}
		i = l.end
		if i >= len(s) || s[i] != ',' {
			return i
		}
	}
	return i
}

// valueStart skips what stands between the separator and the value.
func (c *scan) valueStart(i, nameFrom, sep int) int {
	s := c.s
	if s[sep] == ':' && i < len(s) && (s[i] == '-' || s[i] == '?' || s[i] == '+') && nameFrom > 1 && s[nameFrom-1] == '{' {
		if s[i] == '-' {
			return i + 1 // ${NAME:-value}
		}
		return len(s)
	}
	for i < len(s) && (blank.has(s[i]) || s[i] == '*') {
		i++
	}
	// A type stands between the name and the value: password: str = "x".
	if s[sep] == ':' && i < len(s) && (alnum.has(s[i]) || s[i] == '&' || s[i] == '[') {
		k := i
		for k < len(s) && k < i+40 && ((word | dot | blank).has(s[k]) || strings.IndexByte("&[]<>?|'", s[k]) >= 0 && (s[k] != '\'' || s[k-1] == '&')) {
			k++
		}
		if k+1 < len(s) && s[k] == '=' && s[k+1] != '=' && k > i && blank.has(s[k-1]) {
			return blank.run(s, k+1)
		}
	}
	// YAML: the value is a block on the next lines.
	if s[sep] == ':' && i < len(s) && (s[i] == '|' || s[i] == '>') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if j = blank.run(s, j); j < len(s) && newline.has(s[j]) {
			j = listed(s, newline.run(s, j))
			return blank.run(s, j)
		}
	}
	return i
}

// nameBefore returns the name that ends before the separator at i: password, "password", ["password"],
// **Password**.
func (c *scan) nameBefore(i int) (from, to int) {
	s := c.s
	to = i
	for n := 0; to > 0 && blank.has(s[to-1]) && n < 48; n++ {
		to--
	}
	for n := 0; to > 0 && n < 3; n++ {
		b := s[to-1]
		if charOf[b]&quote == 0 && b != ']' && b != '*' && (b != '?' && b != '!' || n > 0) {
			break
		}
		to--
	}
	for n := 0; to > 0 && to < i && blank.has(s[to-1]) && n < 8; n++ { // PASSWORD ?= x
		to--
	}
	from = to
	for from > 0 && to-from < 80 && ((wordDash | dot).has(s[from-1]) || s[from-1] >= 0x80) {
		from--
	}
	return from, to
}

// named judges the name s[from:to] before the separator at sep, with what stands around it.
func (c *scan) named(from, to, sep int) strength {
	s := c.s
	name := s[from:to]
	st := nameStrength(name)
	query := from > 0 && (s[from-1] == '?' || s[from-1] == '&') && s[sep] == '='
	switch {
	case query && st < token:
		return queryStrength(name, st)
	case st == token && c.complains(from):
		return none
	case st > bare:
		return st
	case st == bare || equalFold("phrase", name) || equalFold("code", name): // "API key: x"
		if before := alnum.runBack(s, max(from-1, 0)); from > 0 && s[from-1] == ' ' && before < from-1 {
			return max(st, nameStrength(s[before:from-1]+"_"+name))
		}
	case motDe(s, from, to):
		return passwd
	case equalFold("string", name) || equalFold("str", name), equalFold("text", name): // var password string = "x"
		if before := wordDash.runBack(s, max(from-1, 0)); from > 0 && s[from-1] == ' ' && before < from-1 && s[sep] == '=' {
			return nameStrength(s[before : from-1])
		}
	}
	return st
}

// complains says whether the word before from makes the token one of a parser: unexpected token: "x".
func (c *scan) complains(from int) bool {
	s := c.s
	if from == 0 || s[from-1] != ' ' {
		return false
	}
	var buf [64]byte
	switch lowerInto(&buf, s[letters.runBack(s, from-1):from-1]) {
	case "unexpected", "unrecognized", "unrecognised", "illegal", "near", "next", "expected":
		return true
	}
	return false
}

// inBlob says whether the name s[from:to] is the end of base64: ...kZPw=
func inBlob(s string, from, to int) bool {
	if to-from >= 16 && random(s[from:to]) {
		return true
	}
	if from == 0 || s[from-1] != '/' && s[from-1] != '+' {
		return false
	}
	start := base64s.runBack(s, from)
	return from-start >= 12 && random(s[start:from])
}

// queryStrength judges a parameter of a URL, where a signature or a bare key opens a door by itself.
func queryStrength(name string, st strength) strength {
	var buf [64]byte
	switch lowerInto(&buf, name) {
	case "sig", "signature", "x-amz-signature", "x-goog-signature", "x-amz-security-token", "key", "auth", "hmac", "sign", "code",
		"sid", "session", "ticket", "assertion", "sas", "jwt", "apikey", "x-oss-signature", "pass", "p", "pw":
		return weakQuery
	}
	return st
}

// weakQuery is for values that must look random but may be hex.
const weakQuery = token

// startsEnv says whether a name written in capitals begins an assignment of a shell or an env file.
func (c *scan) startsEnv(name string, from int) bool {
	if lowers.count(name) > 0 && !c.startsLine(from) {
		return false
	}
	return from == 0 || c.s[from-1] != '.' && c.s[from-1] != '('
}

// startsLine says whether only indentation, a listing prefix, a bullet or a word like export stands before
// from on its line.
func (c *scan) startsLine(from int) bool {
	s := c.s
	if from > 1 && quote.has(s[from-1]) && !word.has(s[from-2]) { // a line inside a literal
		if to := (wordDash | dot).run(s, from); to < len(s) && !quote.has(s[to]) {
			return true
		}
	}
	start, _ := c.line(from, 100)
	start = listed(s, start)
	before := strings.TrimLeft(s[min(start, from):from], " \t-\"'")
	switch strings.TrimRight(before, " \t\"'") {
	case "", "export", "set", "ENV", "ARG", "env", "declare -x", "local", "setenv", "RUN", "export -x", "$", "#", "%":
		return true
	}
	return false
}

// field reads the whole text as the value of a field with this name.
func (c *scan) field(name string) {
	if name == "" {
		return
	}
	s := c.s
	if end, ok := c.headerValue(name, 0); ok && end > 0 {
		return
	}
	if st := nameStrength(name); st > bare && credential(s, st, quoted) {
		c.add(0, len(s), kindOf(st))
	}
}

// fallback returns where the literal begins that stands in when the value before i is empty: || "x", ?? "x",
// or "x".
func (c *scan) fallback(i int) int {
	s := c.s
	at := blank.run(s, i)
	for _, or := range [...]string{"||", "??", "or "} {
		if strings.HasPrefix(s[at:], or) {
			if at = blank.run(s, at+len(or)); at < len(s) && quote.has(s[at]) {
				return at
			}
		}
	}
	return i
}

// pgpass reads host:port:database:user:password, from the port s[from:colon] on.
func (c *scan) pgpass(from, colon int) int {
	s := c.s
	if from == 0 || s[from-1] != ':' || colon-from > 5 {
		return colon
	}
	host := from - 1
	for host > 0 && ((wordDash | dot).has(s[host-1]) || s[host-1] == '*') {
		host--
	}
	if host == from-1 || host > 0 && charOf[s[host-1]]&(space|quote) == 0 && s[host-1] != '+' {
		return colon
	}
	at := colon + 1
	for range 2 { // the database and the user
		n := at
		for n < len(s) && ((wordDash | dot).has(s[n]) || s[n] == '*') {
			n++
		}
		if n == at || n == len(s) || s[n] != ':' {
			return colon
		}
		at = n + 1
	}
	to := at
	for to < len(s) && charOf[s[to]]&(space|quote) == 0 {
		to++
	}
	if v := s[at:to]; !strict(v) || strings.IndexByte(v, ':') >= 0 || letters.count(s[host:at]) < 3 {
		return colon
	}
	c.add(at, to, "password")
	return to
}

// jwk reads a private member of a JSON Web Key.
func (c *scan) jwk(name string, at int) int {
	switch name {
	case "d", "p", "q", "dp", "dq", "qi", "k":
	default:
		return at
	}
	s := c.s
	at = blank.run(s, at)
	if at >= len(s) || !quote.has(s[at]) {
		return at
	}
	to := wordDash.run(s, at+1)
	if to-at < 20 || !strings.Contains(s[max(0, at-4000):min(len(s), at+4000)], "kty") {
		return at
	}
	c.add(at+1, to, "private-key")
	return to
}
