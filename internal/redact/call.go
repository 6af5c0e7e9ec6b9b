package redact

import "strings"

// call reads the arguments of a call, from the opening parenthesis at i on: setPassword("x"),
// define('DB_PASSWORD', 'x'), login("user", "x").
func (c *scan) call(i int) int {
	s := c.s
	at := c.prefixed(space.run(s, i+1))
	if at >= len(s) || i == 0 {
		return i + 1
	}
	name := s[(word|dot).runBack(s, i):i]
	if name == "" { // auth=("user", "x")
		to := i
		for to > 0 && (blank.has(s[to-1]) || s[to-1] == '=') {
			to--
		}
		if strings.IndexByte(s[to:i], '=') >= 0 {
			name = s[word.runBack(s, to):to]
		}
	}
	if !quote.has(s[at]) {
		if takesLogin(name) {
			c.login(at)
		}
		return i + 1
	}
	first, ok := c.quotedAt(at)
	if !ok && first.end <= at+1 {
		return i + 1
	}
	if takesLogin(name) {
		c.login(at)
		return i + 1
	}
	if st := nameStrength(name); st >= token && !asks(name) {
		if v := first.text(s); first.end > first.to && credential(v, st, quoted) && (st == passwd && digit.count(v) > 0 || random(v)) {
			c.add(first.from, first.to, kindOf(st))
			return first.end
		}
	}
	// The name of a credential, a comma, its value.
	label := first.text(s)
	next := blank.run(s, first.end)
	if next >= len(s) || s[next] != ',' || first.end == first.to || len(label) > 64 || !(wordDash | dot).only(label) {
		return i + 1
	}
	value := c.prefixed(space.run(s, next+1))
	if value >= len(s) || !quote.has(s[value]) {
		return i + 1
	}
	if end, ok := c.headerValue(label, value); ok {
		return max(i+1, end)
	}
	if st := nameStrength(label); st >= weak {
		l, ok := c.quotedAt(value)
		if v := l.text(s); ok && credential(v, st, quoted) && (digit.count(v) > 0 || lowers.count(label) == 0 || !alnum.only(label)) { // scrypt('password', 'salt')
			c.add(l.from, l.to, kindOf(st))
			return l.end
		}
	}
	return i + 1
}

// takesLogin says whether a function takes a user and a password as literals.
func takesLogin(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	if len(name) < 3 || len(name) > 32 {
		return false
	}
	var buf [64]byte
	switch strings.ReplaceAll(lowerInto(&buf, name), "_", "") {
	case "auth", "login", "basicauth", "httpbasicauth", "httpdigestauth", "setbasicauth", "usernamepasswordcredentials", "credentials", "basicawscredentials",
		"getconnection", "connect", "mysqli", "mysqliconnect", "mysqlconnect", "pgconnect", "pdo", "networkcredential", "passwordauthentication",
		"authenticate", "createconnection", "plainauth", "userpassword", "newstaticcredentials", "newstaticcredentialsprovider", "signin", "simplebinds",
		"simplebind", "bind", "plaincredentials", "passwordcredential", "usernamepassword", "sshlogin", "ftplogin", "setcredentials", "withcredentials",
		"withbasicauth", "httpauth", "proxyauth", "aiohttpbasicauth", "creds", "passwordauth", "passwordauthenticator", "plaintextauthprovider":
		return true
	}
	return false
}

// asks says whether a function reads, checks or hashes a credential rather than being given one to use.
func asks(name string) bool {
	var buf [64]byte
	low := lowerInto(&buf, name[strings.LastIndexByte(name, '.')+1:])
	for _, p := range [...]string{"get", "read", "fetch", "load", "find", "prompt", "ask", "input", "is", "has", "parse", "reset", "delete", "remove", "revoke", "test"} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

// login cuts out the arguments after the first that can only be passwords.
func (c *scan) login(at int) {
	s := c.s
	for n := 0; n < 5 && at < len(s); n++ {
		at = c.prefixed(space.run(s, at))
		if at >= len(s) {
			return
		}
		if quote.has(s[at]) {
			l, ok := c.quotedAt(at)
			if v := l.text(s); ok && n > 0 && l.end > l.to && strict(v) && credential(v, passwd, quoted) {
				c.add(l.from, l.to, "password")
			}
			at = max(l.end, at+1)
		} else {
			at = (wordDash | dot | blank).run(s, at)
		}
		if at = space.run(s, at); at >= len(s) || s[at] != ',' {
			return
		}
		at++
	}
}
