package redact

import "strings"

// url reads scheme://user:password@host and the addresses that are credentials as a whole, from the colon at
// i on.
func (c *scan) url(i int) int {
	s := c.s
	from := i + len("://")
	end := from
	for end < len(s) && !endsAuthority(s[end]) {
		end++
	}
	if end < len(s) && s[end] == '#' { // in a password that nobody encoded; a fragment has no @
		if n := strings.IndexByte(s[end:min(len(s), end+64)], '@'); n > 0 && strings.IndexFunc(s[end:end+n], endsURL) < 0 {
			for end += n; end < len(s) && !endsAuthority(s[end]); end++ {
			}
		}
	}
	at := strings.LastIndexByte(s[from:end], '@')
	if at < 0 {
		// A slash in a password that nobody encoded: user:pa/ss@host.
		colon := strings.IndexByte(s[from:end], ':')
		if colon < 0 || end == from+colon+1 || digit.has(s[from+colon+1]) || end == len(s) || (space | quote).has(s[end]) || s[from] == '[' {
			return c.webhook(i, from, end)
		}
		far := end
		for far < len(s) && far < end+64 && charOf[s[far]]&(space|quote) == 0 && s[far] != '@' && s[far] != '<' {
			far++
		}
		if far == len(s) || s[far] != '@' {
			return c.webhook(i, from, end)
		}
		at = far - from
	}
	user, pass, both := strings.Cut(s[from:from+at], ":")
	to := from + at
	switch {
	case both && urlPassword(pass, user):
		if len(user) >= 20 && random(user) && !uuid(user) { // two keys
			c.add(from, from+len(user), "url-password")
		}
		c.add(from+len(user)+1, to, "url-password")
	case !both && len(user) >= 16 && random(user) && !reference(user) && !placeholder(user): // a token as the user
		c.add(from, to, "url-password")
	}
	return c.webhook(i, to+1, max(end, to+1))
}

func endsURL(r rune) bool { return r == '/' || r < 0x80 && charOf[byte(r)]&(space|quote) != 0 }

func endsAuthority(b byte) bool {
	return charOf[b]&(space|quote) != 0 || b == '/' || b == '?' || b == '#' || b == '<' || b == '>' || b == '\\'
}

// urlPassword says whether the password of a URL is one: not a reference, not stars, not the name of the user
// once more, as in the address of a test database.
func urlPassword(pass, user string) bool {
	if pass == "" || reference(pass) || pass == user || strings.Trim(pass, "*x.X") == "" {
		return false
	}
	if len(pass) < 4 || (uppers | underscore).only(pass+user) {
		return false
	}
	return !placeholder(pass) && !naming(pass) && !constant(pass)
}

// webhook cuts out the path of an address that lets everybody in who knows it. The host is s[host:end].
func (c *scan) webhook(colon, host, end int) int {
	s := c.s
	if host > len(s) || s[colon-min(colon, 1)] != 's' && s[colon-min(colon, 1)] != 'p' || end >= len(s) || s[end] != '/' {
		return min(host, len(s))
	}
	name := s[host:end]
	path := end
	for query := false; path < len(s) && charOf[s[path]]&(space|quote) == 0 && strings.IndexByte("<>\\)]}", s[path]) < 0; path++ {
		query = query || s[path] == '?'
		if s[path] == '&' && !query { // a parameter of the URL around
			break
		}
	}
	marks := ""
	switch {
	case strings.HasPrefix(name, "hooks.slack"):
		marks = "/services/ /workflows/ /triggers/"
	case strings.HasSuffix(name, "discord.com"), strings.HasSuffix(name, "discordapp.com"):
		marks = "/api/webhooks/"
	case strings.HasSuffix(name, ".office.com"):
		marks = "/webhookb2/ /webhook/"
	case name == "api.telegram.org":
		marks = "/bot /file/bot"
	case name == "hooks.zapier.com":
		marks = "/hooks/catch/"
	case name == "maker.ifttt.com":
		marks = "/key/"
	case strings.HasSuffix(name, "feishu.cn"), strings.HasSuffix(name, "larksuite.com"):
		marks = "/hook/"
	case name == "hook.make.com", strings.HasPrefix(name, "hook.") && strings.HasSuffix(name, ".make.com"), name == "hooks.airtable.com", strings.HasSuffix(name, "webhook.site"):
		marks = "/"
	case strings.HasPrefix(name, "outlook.webhook"):
		marks = "/"
	case strings.HasPrefix(name, "chat.googleapis.com"):
		return host // its key and token are parameters
	default:
		marks = "/hooks/"
		if !strings.Contains(name, "chat.") && !strings.Contains(name, "mattermost") && !strings.HasPrefix(name, "hooks.") {
			return host
		}
	}
	for mark := range strings.FieldsSeq(marks) {
		if n := strings.Index(s[end:path], mark); n >= 0 {
			from := end + n + len(mark)
			if text := s[from:path]; len(text) >= 10 && digit.count(text) > 0 && !reference(text) && !strings.Contains(text, "XXX") && !strings.ContainsAny(text, "{$") {
				c.add(from, path, "webhook")
				return path
			}
		}
	}
	return host
}

// userinfo reads user:password before an '@' that no scheme announces: the DSN of Go's MySQL driver, Oracle's
// thin driver, and user:password@host.
func (c *scan) userinfo(i int) int {
	s := c.s
	if i+1 >= len(s) || !alnum.has(s[i+1]) && s[i+1] != '/' {
		return i + 1
	}
	from := i
	for from > 0 && i-from < 120 {
		b := s[from-1]
		if charOf[b]&(space|quote) != 0 || strings.IndexByte(",;()<>[]{}", b) >= 0 {
			break
		}
		from--
	}
	before := s[from:i]
	if from == i {
		return i + 1
	}
	rest := s[i+1:]
	if strings.HasPrefix(rest, "tcp(") || strings.HasPrefix(rest, "unix(") || strings.HasPrefix(rest, "udp(") || strings.HasPrefix(rest, "cloudsql(") || strings.HasPrefix(rest, "tcp6(") {
		before = before[strings.LastIndexByte(before, '=')+1:]
		if user, pass, ok := strings.Cut(before[strings.LastIndex(before, "//")+1:], ":"); ok && urlPassword(pass, strings.Trim(user, "/")) {
			c.add(i-len(pass), i, "url-password")
		}
		return i + 1
	}
	if n := strings.Index(before, "thin:"); n >= 0 {
		if user, pass, ok := strings.Cut(before[n+len("thin:"):], "/"); ok && urlPassword(pass, user) {
			c.add(i-len(pass), i, "url-password")
		}
		return i + 1
	}
	if strings.Contains(before, "//") || strings.HasPrefix(rest, "sha256:") {
		return i + 1
	}
	if n := strings.LastIndexAny(before, "="); n >= 0 {
		before = before[n+1:]
	}
	user, pass, ok := strings.Cut(before, ":")
	if !ok || user == "" || !(letters | underscore).has(user[0]) || len(pass) < 8 || strings.ContainsAny(pass, ":/") || !hostAt(rest) || !strict(pass) {
		return i + 1
	}
	if urlPassword(pass, user) {
		c.add(i-len(pass), i, "url-password")
	}
	return i + 1
}

// hostAt says whether s begins with a host: a name with a dot and no digit first, an address, or a name with a
// port.
func hostAt(s string) bool {
	n := (alnum | dash | dot).run(s, 0)
	if n < 3 || !alnum.has(s[0]) {
		return false
	}
	if n+1 < len(s) && s[n] == ':' && digit.has(s[n+1]) {
		return true
	}
	return (letters.has(s[0]) || strings.Count(s[:n], ".") == 3) && strings.IndexByte(s[:n-1], '.') > 0
}
