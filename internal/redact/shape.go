package redact

import "strings"

// crypt reads the hash of a password, which gives the password away to whoever has time: $6$salt$hash,
// {SSHA}base64.
func (c *scan) crypt(i int) int {
	s := c.s
	if i+8 >= len(s) {
		return i + 1
	}
	if s[i] == '{' {
		n := strings.IndexByte(s[i:i+min(16, len(s)-i)], '}')
		if n < 3 {
			return i + 1
		}
		switch strings.ToUpper(s[i+1 : i+n]) {
		case "SSHA", "SHA", "SSHA256", "SSHA512", "SHA256", "SHA512", "SMD5", "MD5", "CRYPT", "BCRYPT", "PBKDF2", "ARGON2":
			from := i + n + 1
			end := (base64s | equals | dot | dollar).run(s, from)
			if end-from >= 20 {
				c.add(from, end, "password-hash")
				return end
			}
		}
		return i + 1
	}
	id := (alnum | dash).run(s, i+1)
	if id >= len(s) || s[id] != '$' {
		return i + 1
	}
	switch name := s[i+1 : id]; name {
	case "1", "2a", "2b", "2x", "2y", "5", "6", "7", "y", "gy", "apr1", "scrypt", "sha1", "argon2i", "argon2d", "argon2id", "pbkdf2-sha256", "pbkdf2-sha512", "pbkdf2", "bcrypt-sha256", "P", "H":
	default:
		return i + 1
	}
	end := i
	for end < len(s) && ((wordDash | dot | plus | equals | dollar).has(s[end]) || s[end] == ',') {
		end++
	}
	last := s[strings.LastIndexByte(s[:end], '$')+1 : end]
	if len(last) < 20 || !random(last) {
		return i + 1
	}
	c.add(i, end, "password-hash")
	return end
}

// element reads <password>value</password>, from the '<' at i on.
func (c *scan) element(i int) int {
	s := c.s
	if strings.HasPrefix(s[i:], "<<<") {
		return c.hereString(i)
	}
	from := i + 1
	if from >= len(s) || !(letters | underscore).has(s[from]) {
		return from
	}
	end := from
	for end < len(s) && ((wordDash | dot).has(s[end]) || s[end] == ':') {
		end++
	}
	name := s[from:end]
	st := nameStrength(name[strings.LastIndexByte(name, ':')+1:])
	if st <= bare {
		return from
	}
	for n := 0; end < len(s) && s[end] != '>' && n < 120; n++ {
		if s[end] == '<' || s[end] == '\n' {
			return from
		}
		end++
	}
	if end >= len(s) || s[end] != '>' || s[end-1] == '/' {
		return from
	}
	value := end + 1
	if strings.HasPrefix(s[value:], "<![CDATA[") {
		value += len("<![CDATA[")
	}
	to := value
	for to < len(s) && to-value < 1024 && s[to] != '<' && s[to] != ']' {
		to++
	}
	if to == len(s) || !strings.HasPrefix(s[to:], "</") && !strings.HasPrefix(s[to:], "]]>") {
		return from
	}
	for value < to && space.has(s[value]) {
		value++
	}
	for to > value && space.has(s[to-1]) {
		to--
	}
	if value < to && credential(s[value:to], st, quoted) {
		c.add(value, to, kindOf(st))
		return to
	}
	return from
}

// identified reads the password of SQL's IDENTIFIED [WITH plugin] BY [PASSWORD] 'x'.
func (c *scan) identified(j int) int {
	s := c.s
	_, end := c.line(j, 120)
	n := strings.IndexAny(s[j:end], "'\"`\x01\x04")
	if n < 0 {
		// Oracle takes the password without quotes.
		if at := blank.run(s, j); len(s) > at+3 && equalFold("by ", s[at:at+3]) {
			from := blank.run(s, at+3)
			to := (word | dollar).run(s, from)
			if v := s[from:to]; len(v) >= 6 && digit.count(v) > 0 && credential(v, passwd, quoted) {
				c.add(from, to, "password")
				return to
			}
		}
		return j
	}
	if !strings.Contains(strings.ToUpper(s[j:j+n]), "BY") && !strings.Contains(strings.ToUpper(s[j:j+n]), "AS") {
		return j
	}
	l, ok := c.quotedAt(j + n)
	if ok && len(l.text(s)) >= 4 && !reference(l.text(s)) && !placeholder(l.text(s)) {
		c.add(l.from, l.to, "password")
		return l.end
	}
	return j
}

func (l literal) text(s string) string { return s[l.from:l.to] }
