package redact

import "strings"

// The rules of this file are for values whose name stands somewhere else than right before them.

// namedBeside reads a value whose name is the value of another field: name: DB_PASSWORD, value: x.
func (c *scan) namedBeside(name string, after int) (int, bool) {
	s := c.s
	if name == "default" { // variable "db_password" { default = "x" }
		before := s[max(0, after-200):after]
		n := strings.LastIndex(before, "variable \"")
		if n < 0 || strings.Contains(before[n:], "}") {
			return 0, false
		}
		before = before[n+len("variable \""):]
		st := nameStrength(before[:(wordDash|dot).run(before, 0)])
		if st < weak {
			return 0, false
		}
		return c.value(blank.run(s, after), st, line, false), true
	}
	if !equalFold("value", name) && !equalFold("val", name) {
		return 0, false
	}
	from := max(0, after-200)
	before := s[from:after]
	at := -1
	for _, k := range [...]string{"name", "Name", "key", "Key", "NAME", "KEY", "id", "setting", "keyName"} {
		if j := strings.LastIndex(before, k); j > at && j+len(k) < len(before) && j > 0 && !word.has(before[j-1]) {
			if b := before[j+len(k)]; b == '=' || b == ':' || quote.has(b) || blank.has(b) {
				at = j + len(k)
			}
		}
	}
	if at < 0 || strings.Contains(before[at:], "}") || strings.Contains(before[at:], "/>") || strings.Contains(before[at:], "</") || strings.Count(before[at:], "\n") > 1 {
		return 0, false
	}
	j := at
	for j < len(before) && (charOf[before[j]]&(quote|blank|equals) != 0 || before[j] == ':') {
		j++
	}
	st := nameStrength(before[j:(wordDash|dot).run(before, j)])
	beside := before[j:(wordDash|dot).run(before, j)]
	if st < weak && (strings.HasPrefix(beside, "key") && strings.Contains(before[max(0, at-8):at], "Name") || c.cookieOf(beside, blank.run(s, after))) {
		st = token // the keys of a storage account, the cookies of a browser
	}
	if st < weak {
		return 0, false
	}
	return c.value(blank.run(s, after), st, line, false), true
}

// cookieOf says whether the value at i belongs to a cookie with this name that opens a session: an object with
// the other fields of a cookie around it.
func (c *scan) cookieOf(name string, i int) bool {
	s := c.s
	around := s[max(0, i-300):min(len(s), i+300)]
	if !strings.Contains(around, "httpOnly") && !strings.Contains(around, "sameSite") && !strings.Contains(around, "HttpOnly") {
		return false
	}
	l, ok := c.literalAt(i, inline)
	return ok && c.sessionCookie(name, l.text(s))
}

// namedBefore reads <entry key="password">x</entry>, <string name="api_key">x</string> and the part of a form
// that name="password" introduces.
func (c *scan) namedBefore(name string, after int) int {
	if !equalFold("name", name) && !equalFold("key", name) {
		return after
	}
	s := c.s
	if after >= len(s) || !quote.has(s[after]) {
		return after
	}
	to := (wordDash | dot).run(s, after+1)
	if to >= len(s) || s[to] != s[after] {
		return after
	}
	st := nameStrength(s[after+1 : to])
	if st < weak {
		return after
	}
	at := to + 1
	if n := space.run(s, at); n > at+1 && strings.Count(s[at:n], "\n")+strings.Count(s[at:n], "\x05") >= 2 { // a form
		at = n
		end := at
		for end < len(s) && !newline.has(s[end]) {
			end++
		}
		if credential(s[at:end], st, quoted) {
			c.add(at, end, kindOf(st))
			return end
		}
		return after
	}
	for n := 0; n < 80 && at < len(s) && s[at] != '>' && s[at] != '<' && !newline.has(s[at]); n++ {
		at++
	}
	if at >= len(s) || s[at] != '>' || s[at-1] == '/' {
		return after
	}
	return max(after, c.elementText(at+1, st))
}

// elementText cuts out the text of an element that begins at from, up to its closing tag.
func (c *scan) elementText(from int, st strength) int {
	s := c.s
	if strings.HasPrefix(s[from:], "<![CDATA[") {
		from += len("<![CDATA[")
	}
	to := from
	for to < len(s) && to-from < 1024 && s[to] != '<' && s[to] != ']' {
		to++
	}
	if to == len(s) || !strings.HasPrefix(s[to:], "</") && !strings.HasPrefix(s[to:], "]]>") {
		return from
	}
	for from < to && space.has(s[from]) {
		from++
	}
	end := to
	for end > from && space.has(s[end-1]) {
		end--
	}
	if from < end && credential(s[from:end], st, quoted) {
		c.add(from, end, kindOf(st))
		return to
	}
	return from
}

// propertyList reads <key>Password</key><string>x</string>, after the tag <key> at i.
func (c *scan) propertyList(i int) int {
	s := c.s
	to := (wordDash | dot | blank).run(s, i)
	st := nameStrength(s[i:to])
	if st < weak || !strings.HasPrefix(s[to:], "</key>") {
		return i
	}
	at := to + len("</key>")
	if at < len(s) && newline.has(s[at]) {
		at = listed(s, at+1)
	}
	at = space.run(s, at)
	if !strings.HasPrefix(s[at:], "<string>") {
		return i
	}
	return c.elementText(at+len("<string>"), st)
}

// nested reads {"value": "x"}, as Terraform prints its outputs.
func (c *scan) nested(i int, st strength) int {
	s := c.s
	end := min(len(s), i+300)
	if n := strings.IndexByte(s[i:end], '}'); n > 0 {
		end = i + n
	}
	n := strings.Index(s[i:end], "value")
	if n < 0 || !quote.has(s[i+n-1]) && !space.has(s[i+n-1]) {
		return i
	}
	at := i + n + len("value")
	for at < end && (charOf[s[at]]&(blank|equals) != 0 || s[at] == ':' || quote.has(s[at]) && at == i+n+len("value")) {
		at++
	}
	if at >= end || !quote.has(s[at]) {
		return i
	}
	if l, ok := c.quotedAt(at); ok && credential(l.text(s), st, quoted) {
		c.add(l.from, l.to, kindOf(st))
		return l.end
	}
	return i
}

// bullets reads a list of lines that begin with a dash, from the line end at i on.
func (c *scan) bullets(i int, st strength) int {
	s := c.s
	for range 32 {
		if i >= len(s) || !newline.has(s[i]) {
			return i
		}
		at := blank.run(s, listed(s, i+1))
		if at+2 >= len(s) || s[at] != '-' || s[at+1] != ' ' {
			return i
		}
		l, ok := c.literalAt(at+2, line)
		if !ok {
			return i
		}
		if v := l.text(s); !strings.Contains(v, ":") && credential(v, st, l.form) && (l.form == quoted || strict(v) || random(v)) {
			c.add(l.from, l.to, kindOf(st))
		}
		i = l.end
	}
	return i
}

// column reads a table whose heading has the name s[i:j]: rows of a CSV file or of a query's result. Cells are
// often no credentials, so a value must be one beyond doubt.
func (c *scan) column(i, j int) int {
	s := c.s
	from, to := c.line(i, 400)
	inListing := listed(s, from) > from && listed(s, from) <= i
	if inListing {
		from = listed(s, from)
	}
	if from > c.heading && from < c.rows {
		return j
	}
	heading := s[from:to]
	mark := byte(',')
	switch {
	case strings.IndexByte(heading, '|') >= 0:
		mark = '|'
	case strings.IndexByte(heading, '\t') >= 0 && strings.IndexByte(heading, ',') < 0:
		mark = '\t'
	case strings.IndexByte(heading, ',') < 0:
		return j
	}
	st := nameStrength(s[i:j])
	for k := range len(heading) { // a heading has nothing but names
		if b := heading[k]; b != mark && charOf[b]&(wordDash|blank|quote|dot) == 0 {
			return j
		}
	}
	if st < weak || cellAt(heading, mark, strings.Count(heading[:i-from], string(mark))) != s[i:j] {
		return j
	}
	n := strings.Count(heading[:i-from], string(mark))
	marks := strings.Count(heading, string(mark))
	c.heading = from
	for range 64 {
		if to >= len(s) || !newline.has(s[to]) {
			break
		}
		from = to + 1
		if inListing {
			from = listed(s, from)
		}
		for to = from; to < len(s) && to-from < 2000 && !newline.has(s[to]); to++ {
		}
		row := s[from:to]
		if strings.Trim(row, "|+-=: \t") == "" && row != "" { // the rule under the heading
			continue
		}
		if strings.Count(row, string(mark)) != marks {
			break
		}
		if v := cellAt(row, mark, n); strict(v) || random(v) && len(v) >= 12 && !uuid(v) {
			at := from + strings.Index(row, v)
			if credential(v, max(st, token), quoted) {
				c.add(at, at+len(v), kindOf(st))
			}
		}
	}
	c.rows = to
	return j
}

// cellAt returns the n-th cell of a row, without blanks and quotes.
func cellAt(row string, mark byte, n int) string {
	for ; n > 0; n-- {
		k := strings.IndexByte(row, mark)
		if k < 0 {
			return ""
		}
		row = row[k+1:]
	}
	if k := strings.IndexByte(row, mark); k >= 0 {
		row = row[:k]
	}
	return strings.Trim(row, " \t\"'`\x01\x02\x03\x04\r")
}

// twoColons reads the two places where they divide name and value: base64 in LDIF, and the value that a CI
// step asks to be masked.
func (c *scan) twoColons(i int) int {
	s := c.s
	at := i + 2
	if strings.HasSuffix(s[:i], "::add-mask") {
		end := at
		for end < len(s) && charOf[s[end]]&(space|quote) == 0 {
			end++
		}
		if v := s[at:end]; len(v) >= 4 && !reference(v) {
			c.add(at, end, "masked")
			return end
		}
		return at
	}
	if at >= len(s) || s[at] != ' ' {
		return at
	}
	from, to := c.nameBefore(i)
	if st := nameStrength(s[from:to]); st >= token {
		return max(at, c.value(at+1, st, line, false))
	}
	return at
}

// pwdump reads user:500:LM:NT:::, from the colon after the number on.
func (c *scan) pwdump(colon int) int {
	s := c.s
	from := colon + 1
	lm := anyHex.run(s, from)
	if lm-from != 32 || lm >= len(s) || s[lm] != ':' {
		return colon
	}
	nt := anyHex.run(s, lm+1)
	if nt-lm != 33 || nt >= len(s) || s[nt] != ':' {
		return colon
	}
	c.add(from, nt, "password-hash")
	return nt
}

// numbered reads "Unseal Key 1: x" and "password 2: x", whose number is s[from:...].
func (c *scan) numbered(from, after int) int {
	s := c.s
	if from < 4 || s[from-1] != ' ' {
		return after
	}
	to := from - 1
	start := wordDash.runBack(s, to)
	st := nameStrength(s[start:to])
	if st == bare && start > 1 && s[start-1] == ' ' {
		st = nameStrength(s[wordDash.runBack(s, start-1):start-1] + "_key")
	}
	if st < weak {
		return after
	}
	return max(after, c.value(blank.run(s, after), st, line, false))
}

// assigns reads name <- "x" and name -> "x", from the arrow at i on.
func (c *scan) assigns(i int) int {
	s := c.s
	from, to := c.nameBefore(i)
	at := blank.run(s, i+2)
	if from == to || at >= len(s) || !quote.has(s[c.prefixed(at)%len(s)]) {
		return i + 2
	}
	if st := nameStrength(s[from:to]); st >= weak {
		return max(i+2, c.value(at, st, inline, false))
	}
	return i + 2
}
