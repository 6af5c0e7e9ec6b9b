package redact

import "strings"

// vendor is a form of credential that its issuer made recognisable: a prefix and what follows.
type vendor struct {
	prefix string
	kind   string
	set    charset // of what follows
	min    int     // how much of it tells a credential, also one that was cut off, from a name
	full   int     // how much there is when nothing was cut off; 0 when that differs. min == full: exactly
}

// vendor cuts out the credential that starts at i and returns where it ends, or i.
func (c *scan) vendor(i int, candidates []vendor) int {
	s := c.s
	for n := range candidates {
		v := &candidates[n]
		if !strings.HasPrefix(s[i:], v.prefix) {
			continue
		}
		if v.kind == "jwt" {
			if end := c.jwt(i); end > i {
				return end
			}
			continue
		}
		body := i + len(v.prefix)
		end := v.set.run(s, body)
		for end > body && s[end-1] == '.' {
			end--
		}
		if v.set&plus != 0 {
			end = beforePath(s, body, end)
		}
		end, text := c.continued(v, body, end)
		if len(text) >= v.min && (v.min != v.full || len(text) == v.full) && v.drawn(text) && c.alone(v, i, end) {
			c.add(i, end, v.kind)
			return end
		}
	}
	return i
}

// alone guards the prefixes that are short enough to turn up by chance in the middle of base64.
func (c *scan) alone(v *vendor, i, end int) bool {
	s := c.s
	if len(v.prefix) <= 4 && i > 1 && s[i-1] == '-' && word.has(s[i-2]) {
		return false
	}
	if v.kind == "twitter" && strings.HasPrefix(s[i+len(v.prefix):], "AA") { // zeroes in base64
		return false
	}
	switch v.prefix[:3] {
	case "EAA", "AAA", "cfl":
		return (i == 0 || !(plus | dash).has(s[i-1])) && (end == len(s) || !(plus | equals | wordDash).has(s[end]))
	}
	return true
}

// drawn says whether the body of a token looks like one and not like documentation.
func (v *vendor) drawn(body string) bool {
	if len(v.prefix) >= 4 && v.set&uppers != 0 && uppers.count(body) >= 3 && lowers.count(body) >= 3 && switches(body) >= 2 && letters.only(body) {
		return !repeats(body) && !placeholder(body) // drawn without a digit, which happens to short ones
	}
	if v.set == uppers|digit && v.min == v.full { // one in thirty AWS key ids has no digit
		return !repeats(body) && !strings.Contains(body, "EXAMPLE") && !strings.Contains(body, "XXXX")
	}
	return drawn(body, v.set)
}

func drawn(body string, set charset) bool {
	digits := digit.count(body)
	if set == alnum && alnum.only(body) && switches(body) >= 4 && len(body) >= 20 && !repeats(body) { // case that changes all the time
		return true
	}
	if digits == 0 && switches(body) < 3 || len(body) >= 24 && digits < 2 && switches(body) < 6 || repeats(body) || wordy(body) && !(alnum.only(body) && digits > 0 && switches(body) >= 3) {
		return false
	}
	var buf [64]byte
	low := lowerInto(&buf, body)
	for _, w := range [...]string{"example", "xxxx", "your", "placeholder", "redacted", "abcdefgh", "12345678901"} {
		if strings.Contains(low, w) {
			return false
		}
	}
	return true
}

// beforePath leaves words behind a slash alone: they go on a path in which a token of base64 stands.
func beforePath(s string, body, end int) int {
	for {
		n := strings.LastIndexByte(s[body:end], '/')
		if n < 12 || end-body-n < 4 || !lowers.only(s[body+n+1:end]) {
			return end
		}
		end = body + n
	}
}

// continued follows a token that was broken over lines by a terminal, or over the elements of an array by a
// stream, to its end. text is what follows the prefix, put together.
func (c *scan) continued(v *vendor, body, end int) (to int, text string) {
	s := c.s
	text = s[body:end]
	for range 8 {
		if end >= len(s) || len(text) < 4 || v.full > 0 && len(text) >= v.full {
			return end, text
		}
		next := end
		switch {
		case s[end] == '\n' || s[end] == softNewline:
			next = lineStart(s, body, end)
		case quote.has(s[end]) && end+1 < len(s) && s[end+1] == ',':
			if next = blank.run(s, end+2); next >= len(s) || s[next] != s[end] {
				return end, text
			}
			next++
		default:
			return end, text
		}
		stop := v.set.run(s, next)
		more := s[next:stop]
		alone := stop == len(s) || newline.has(s[stop]) || quote.has(s[stop])
		switch {
		case !alone, v.full > 0 && len(text)+len(more) > v.full:
			return end, text
		case v.full > 0 && len(text)+len(more) == v.full:
		case len(more) < 8 || !random(more) || v.full > 0 && len(more) < 16:
			return end, text
		}
		end = stop
		text += more
	}
	return end, text
}

// longWord looks at a word of 16 bytes or more for forms that no prefix announces.
func (c *scan) longWord(i, j int) int {
	s := c.s
	if end := c.encodedText(i, j); end > i {
		return end
	}
	if n := strings.LastIndexByte(s[i:j], '_'); n > 3 && j-i-n > 20 {
		if tail := s[i+n+1 : j]; grade(s[i:i+n]) && random(tail) && drawn(tail, alnum) {
			c.add(i, j, "token")
			return j
		}
	}
	if j-i == 32 && hexes.only(s[i:j]) && strings.HasPrefix(s[j:], "-us") && digit.run(s, j+3) > j+3 { // Mailchimp
		end := digit.run(s, j+3)
		c.add(i, end, "mailchimp")
		return end
	}
	if j-i == 34 && s[i] == 'S' && s[i+1] == 'K' && hexes.only(s[i+2:j]) && !repeats(s[i+2:j]) {
		c.add(i, j, "twilio")
		return j
	}
	if j-i == 40 && s[i+6] == '_' && strings.HasSuffix(s[i:j], "_mmk") { // MaxMind
		c.add(i, j, "maxmind")
		return j
	}
	if s[i] == 'M' || s[i] == 'N' || s[i] == 'O' {
		return c.discord(i)
	}
	if j-i == 40 && c.afterAccessKey(i) {
		c.add(i, j, "aws")
		return j
	}
	return i
}

// short reads the tokens whose prefix has two bytes: Okta's 00 and, of older Vaults, s and a dot.
func (c *scan) short(i, j int) int {
	s := c.s
	if s[i] == '0' {
		end := wordDash.run(s, i)
		if v := s[i:end]; len(v) == 42 && v[1] == '0' && random(v) && uppers.count(v) >= 3 && lowers.count(v) >= 3 {
			c.add(i, end, "okta")
			return end
		}
		return i
	}
	if j == len(s) || s[j] != '.' {
		return i
	}
	end := alnum.run(s, j+1)
	if v := s[j+1 : end]; len(v) == 24 && digit.count(v) >= 2 && switches(v) >= 5 && drawn(v, alnum) && (end == len(s) || s[end] != '(') {
		c.add(i, end, "vault")
		return end
	}
	return i
}

// grade says whether the head of a token that no table knows still names its grade: acme_live, foo_sk_prod.
func grade(head string) bool {
	if n := strings.LastIndexByte(head, '_'); n > 0 {
		if head[:n] == "pk" {
			return false
		}
		switch head[n+1:] {
		case "live", "prod", "test", "sandbox", "secret", "sk", "pat", "api", "key", "token", "auth", "priv", "private", "sec", "dev", "stg", "svc", "access", "at", "rt":
			return true
		}
	}
	return false
}

// discord reads a bot token: three parts, the first of which is base64 of a number.
func (c *scan) discord(i int) int {
	s := c.s
	a := wordDash.run(s, i)
	if a-i < 23 || a-i > 28 || a >= len(s) || s[a] != '.' {
		return i
	}
	b := wordDash.run(s, a+1)
	if b-a < 6 || b-a > 9 || b >= len(s) || s[b] != '.' {
		return i
	}
	end, _ := c.continued(&vendor{set: wordDash}, b+1, wordDash.run(s, b+1))
	if end-b < 25 {
		return i
	}
	c.add(i, end, "discord")
	return end
}

// afterAccessKey says whether an AWS access key id stands shortly before i, so that the 40 characters at i
// are its secret.
func (c *scan) afterAccessKey(i int) bool {
	before := c.s[max(0, i-160):i]
	return strings.Contains(before, "AKIA") || strings.Contains(before, "ASIA") || strings.Contains(before, "[REDACTED:aws")
}

// jwt reads header.payload.signature; the signature may be cut off.
func (c *scan) jwt(i int) int {
	s := c.s
	a := wordDash.run(s, i)
	if a-i < 12 || a >= len(s) || s[a] != '.' {
		return i
	}
	end := wordDash.run(s, a+1)
	if end-a < 12 && (!strings.HasPrefix(s[a:], "..") || wordDash.run(s, a+2)-a < 12) {
		return i
	}
	for end < len(s) && s[end] == '.' {
		next := wordDash.run(s, end+1)
		if next == end+1 && !strings.HasPrefix(s[end:], "..") {
			break
		}
		end = next
	}
	end, _ = c.continued(&vendor{set: wordDash | dot}, i, end)
	c.add(i, end, "jwt")
	return end
}

// telegram reads a bot token: the number of the bot, a colon, 35 characters that begin with A.
func (c *scan) telegram(from, colon int) int {
	s := c.s
	if n := colon - from; n < 7 || n > 12 || colon+1 >= len(s) || s[colon+1] != 'A' {
		return colon + 1
	}
	end := wordDash.run(s, colon+1)
	if n := end - colon - 1; n < 30 || n > 40 || !random(s[colon+1:end]) {
		return colon + 1
	}
	c.add(from, end, "telegram")
	return end
}

// azure reads a client secret, which has its mark in the middle: abc8Q~...
func (c *scan) azure(i int) int {
	s := c.s
	set := wordDash | dot | tilde
	if i < 5 || s[i-1] != 'Q' || !digit.has(s[i-2]) || !set.has(s[i-3]) || !set.has(s[i-5]) {
		return i + 1
	}
	end := set.run(s, i+1)
	for end > i && s[end-1] == '.' {
		end--
	}
	if end-i < 25 {
		return i + 1
	}
	c.add(i-5, end, "azure")
	return end
}

// atlas reads a Terraform token: 14 characters, .atlasv1., and more.
func (c *scan) atlas(i, j int) int {
	s := c.s
	if i < 15 || s[i-1] != '.' || j >= len(s) || s[j] != '.' {
		return j
	}
	end := (wordDash | equals).run(s, j+1)
	if end-j < 30 {
		return j
	}
	c.add(alnum.runBack(s, i-1), end, "terraform")
	return end
}
