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
	id := (alnum | dash).run(s[:min(len(s), i+20)], i+1)
	if id >= len(s) || s[id] != '$' {
		return i + 1
	}
	switch name := s[i+1 : id]; name {
	case "1", "2a", "2b", "2x", "2y", "5", "6", "7", "y", "gy", "apr1", "scrypt", "sha1", "argon2i", "argon2d", "argon2id", "pbkdf2-sha256", "pbkdf2-sha512", "pbkdf2", "bcrypt-sha256", "P", "H":
	default:
		return i + 1
	}
	end := i
	for end < len(s) && end < i+256 && ((wordDash | dot | plus | equals | dollar).has(s[end]) || s[end] == ',') {
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
		if i+3 < len(s) && s[i+3] == '<' {
			return i + 3
		}
		return c.hereString(i)
	}
	from := i + 1
	if from < len(s) && s[from] == '-' {
		return c.assigns(i)
	}
	if from >= len(s) || !(letters | underscore).has(s[from]) {
		return from
	}
	end := from
	for end < len(s) && ((wordDash | dot).has(s[end]) || s[end] == ':') {
		end++
	}
	name := s[from:end]
	if name == "key" && end < len(s) && s[end] == '>' {
		return max(from, c.propertyList(end+1))
	}
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
	return max(from, c.elementText(end+1, st))
}

// identified reads the password of SQL's IDENTIFIED [WITH plugin] BY [PASSWORD] 'x', after the first word.
// Oracle takes it without quotes.
func (c *scan) identified(i, j int) int {
	s := c.s
	prose := lowers.has(s[i])
	at := j
	for by, plugin := false, false; ; {
		at = blank.run(s, at)
		end := word.run(s, at)
		w := s[at:end]
		switch {
		case by && at < len(s) && quote.has(s[at]):
			l, ok := c.quotedAt(at)
			if v := l.text(s); ok && len(v) >= 4 && !reference(v) && !placeholder(v) && (!prose || strict(v)) {
				c.add(l.from, l.to, "password")
				return l.end
			}
			return j
		case equalFold("with", w), by && (equalFold("password", w) || equalFold("values", w)):
			if !by { // the plugin's name
				at = blank.run(s, end)
				if at < len(s) && quote.has(s[at]) {
					at++
				}
				plugin = true
				end = word.run(s, at)
				if end < len(s) && quote.has(s[end]) {
					end++
				}
			}
		case equalFold("by", w), equalFold("as", w) && plugin:
			by = true
		case by:
			for end < len(s) && charOf[s[end]]&(space|quote) == 0 && s[end] != ';' {
				end++
			}
			if strict(s[at:end]) {
				c.add(at, end, "password")
				return end
			}
			return j
		default:
			return j
		}
		at = end
	}
}

// secureString reads PowerShell's ConvertTo-SecureString "x", after the first word.
func (c *scan) secureString(j int) int {
	s := c.s
	if !strings.HasPrefix(s[j:], "-SecureString") {
		return j
	}
	at := blank.run(s, j+len("-SecureString"))
	if strings.HasPrefix(s[at:], "-String ") {
		at = blank.run(s, at+len("-String "))
	}
	if at >= len(s) || !quote.has(s[at]) {
		return j
	}
	l, ok := c.quotedAt(at)
	if !ok || !credential(l.text(s), passwd, quoted) {
		return j
	}
	c.add(l.from, l.to, "password")
	return l.end
}

// values reads the rows of an SQL INSERT, when the columns before the word VALUES at s[i:j] name a credential.
func (c *scan) values(i, j int) int {
	s := c.s
	end := space.runBack(s, i)
	if end == 0 || s[end-1] != ')' {
		return j
	}
	from := strings.LastIndexByte(s[max(0, end-1000):end], '(')
	if from < 0 {
		return j
	}
	columns := strings.Split(s[max(0, end-1000)+from+1:end-1], ",")
	strengths := make([]strength, len(columns))
	strongest := none
	for n, name := range columns {
		strengths[n] = nameStrength(strings.Trim(name, " \t\n\r`\"[]\x01\x05"))
		strongest = max(strongest, strengths[n])
	}
	if strongest < weak {
		return j
	}
	at := space.run(s, j)
	for at < len(s) && s[at] == '(' {
		at++
		for n := 0; at < len(s) && s[at-1] != ')'; n++ {
			at = c.prefixed(space.run(s, at))
			if at < len(s) && quote.has(s[at]) {
				l, ok := c.quotedAt(at)
				if ok && n < len(strengths) && credential(l.text(s), strengths[n], quoted) {
					c.add(l.from, l.to, kindOf(strengths[n]))
				}
				at = max(l.end, at+1)
			}
			for at < len(s) && s[at] != ',' && s[at] != ')' {
				if newline.has(s[at]) && s[at] != softNewline {
					return j
				}
				at++
			}
			at = min(at+1, len(s))
		}
		at = space.run(s, at)
		if at < len(s) && s[at] == ',' {
			at = space.run(s, at+1)
		}
	}
	return j
}

func (l literal) text(s string) string { return s[l.from:l.to] }
