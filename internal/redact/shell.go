package redact

import "strings"

// argument is one word of a command line, without its quotes.
type argument struct {
	from, to int
	end      int // behind it, quotes included
	quoted   bool
}

func (a argument) text(s string) string { return s[a.from:a.to] }

// argumentAt reads the argument after at, or says that the command ends there.
func (c *scan) argumentAt(at int) (argument, bool) {
	s := c.s
	at = blank.run(s, at)
	if at >= len(s) {
		return argument{}, false
	}
	switch b := s[at]; {
	case charOf[b]&newline != 0, b == '|', b == ';', b == ')', b == '`', b == '&':
		return argument{}, false
	case charOf[b]&quote != 0:
		if l, ok := c.quotedAt(at); ok && l.end > l.to {
			return argument{l.from, l.to, l.end, true}, true
		}
		return argument{}, false
	}
	j := at
	for j < len(s) && charOf[s[j]]&space == 0 {
		switch b := s[j]; {
		case b == '|', b == ';', b == '&' && j+1 < len(s) && s[j+1] == '&', b == '`', b == '\x01', b == '\x02', b == '\x03', b == '\x04':
			return argument{at, j, j, false}, j > at
		case b == '"' || b == '\'':
			n := strings.IndexByte(s[j+1:min(len(s), j+512)], b)
			if n < 0 { // it closes what the command stands in
				return argument{at, j, j, false}, j > at
			}
			if j > at && (s[j-1] == '=' || !(wordDash|dot).has(s[j-1]) || b == '\'') || strings.HasPrefix(s[at:], "-") {
				j += n + 1
			} else {
				return argument{at, j, j, false}, j > at
			}
		case b == ')' && strings.IndexByte(s[at:j], '(') < 0:
			return argument{at, j, j, false}, j > at
		}
		j++
	}
	return argument{at, j, j, false}, j > at
}

// shell reads the command line of the program at i and cuts out what flags says are credentials. flags is a
// list of ways to call it, divided by ";": words that must occur, then where the credential stands:
//
//	-p    the next argument         -p=  attached only            -p*  either
//	-u:   after the colon           -U%  after the percent sign   -u,  after the comma
//	@2    the second argument that is no flag, counted from the last word that must occur; @$ the last
//	?2    the same, if the argument before it is the name of a credential
//	/p    the next argument         /p:   after this prefix
//	#/    user/password             ~/    the same, beyond doubt
//
// A first "(name)" is the whole name of the program, where the keyword is only its beginning.
func (c *scan) shell(i int, flags string) int {
	s := c.s
	end := (wordDash | dot).run(s, i)
	if i > 0 && ((dash|dot).has(s[i-1]) || s[i-1] == '@' || s[i-1] == ':' && i > 1 && s[i-2] != ' ') || end >= len(s) || !blank.has(s[end]) {
		return i
	}
	if strings.HasPrefix(flags, "(") {
		name, rest, _ := strings.Cut(flags[1:], ") ")
		if s[i:end] != name {
			return i
		}
		flags = rest
	}
	var args [48]argument
	n := 0
	for at := end; n < len(args); n++ {
		a, ok := c.argumentAt(at)
		if !ok {
			break
		}
		args[n] = a
		at = a.end
	}
	for way := range strings.SplitSeq(flags, ";") {
		c.arguments(args[:n], way)
	}
	return i
}

// arguments applies one way of calling a program.
func (c *scan) arguments(args []argument, way string) {
	s := c.s
	for spec := range strings.FieldsSeq(way) {
		switch spec[0] {
		case '-', '/', '#', '~':
			for i, a := range args {
				c.option(args, i, a, spec)
			}
		case '@', '?':
			c.positional(args, spec[1:], spec[0] == '?')
		default: // a word that must occur
			at := -1
			for i, a := range args {
				if a.text(s) == spec {
					at = i
					break
				}
			}
			if at < 0 {
				return
			}
			args = args[at+1:]
		}
	}
}

// option applies one spec to one argument.
func (c *scan) option(args []argument, i int, a argument, spec string) {
	s := c.s
	text := a.text(s)
	last := spec[len(spec)-1]
	switch {
	case last == '/':
		user, pass, ok := strings.Cut(text, "/")
		if n := strings.LastIndexByte(pass, '@'); n > 0 {
			pass = pass[:n]
		}
		if ok && word.only(user) && user != "" && !strings.HasPrefix(text, "-") && !strings.ContainsAny(pass, "/.") && (spec == "#/" || strict(pass)) {
			from := a.from + len(user) + 1
			c.secretArgument(from, from+len(pass))
		}
		return
	case spec[0] == '/' && last != ':':
		if text == spec && i+1 < len(args) {
			c.secretArgument(args[i+1].from, args[i+1].to)
		}
		return
	case spec[0] == '/':
		if strings.HasPrefix(text, spec) {
			c.secretArgument(a.from+len(spec), a.to)
		}
		return
	case last == '=':
		if flag := spec[:len(spec)-1]; len(text) > len(flag) && strings.HasPrefix(text, flag) && text[len(flag)] != '-' {
			c.secretArgument(a.from+len(flag), a.to)
		}
		return
	}
	flag := strings.TrimRight(spec, "*:%,")
	from, to := 0, 0
	switch {
	case text == flag && i+1 < len(args):
		from, to = args[i+1].from, args[i+1].to
	case strings.HasPrefix(text, flag) && len(flag) > 2 && text[len(flag):] != "" && text[len(flag)] == '=':
		from, to = a.from+len(flag)+1, a.to
	case strings.HasPrefix(text, flag) && len(flag) == 2 && last != flag[1] && len(text) > 2:
		from, to = a.from+2, a.to
	default:
		return
	}
	from, to = c.unquoted(from, to)
	if last == ':' || last == '%' || last == ',' {
		n := strings.IndexByte(s[from:to], last)
		if n < 0 {
			return
		}
		from += n + 1
	}
	c.secretArgument(from, to)
}

// unquoted takes the quotes off an attached value: -p'x'.
func (c *scan) unquoted(from, to int) (int, int) {
	if to-from > 2 && quote.has(c.s[from]) && c.s[from] == c.s[to-1] {
		return from + 1, to - 1
	}
	return from, to
}

// secretArgument cuts out an argument that a program takes as a password, unless it is a reference to one.
func (c *scan) secretArgument(from, to int) {
	from, to = c.unquoted(from, to)
	if to-from < 3 {
		return
	}
	v := c.s[from:to]
	if v[0] == '-' && (len(v) < 8 || digit.count(v) == 0) || reference(v) || placeholder(v) || naming(v) || constant(v) || digit.only(v) && len(v) < 5 || located(v) && wordy(v) {
		return
	}
	c.add(from, to, "password")
}

// positional applies a spec that counts the arguments which are no flags. A place says less than a flag: the
// value must look like a credential.
func (c *scan) positional(args []argument, which string, named bool) {
	s := c.s
	n := 0
	last, before := argument{}, argument{}
	for i, a := range args {
		text := a.text(s)
		if strings.HasPrefix(text, "-") || i > 0 && strings.HasPrefix(args[i-1].text(s), "--") && !strings.Contains(args[i-1].text(s), "=") && len(args)-i > 3 {
			continue
		}
		n++
		before, last = last, a
		if which != "$" && n == int(which[0]-'0') {
			break
		}
	}
	if n == 0 || which != "$" && n != int(which[0]-'0') || named && nameStrength(before.text(s)) < weak {
		return
	}
	from := last.from
	v := last.text(s)
	if user, pass, ok := strings.Cut(v, ":"); ok && !strings.HasPrefix(pass, "/") {
		from += len(user) + 1
		v = pass
	}
	if len(v) >= 8 && (strict(v) || random(v) || uuid(v)) && !located(v) && !strings.Contains(v, "\\") {
		c.secretArgument(from, last.to)
	}
}

// flag reads --password x, -token x and "--password", "x", from the dash at i on.
func (c *scan) flag(i int) int {
	s := c.s
	if i+1 < len(s) && s[i+1] == '>' {
		return c.assigns(i)
	}
	if i > 0 && charOf[s[i-1]]&(space|quote) == 0 && strings.IndexByte("[(,", s[i-1]) < 0 {
		return (dash).run(s, i)
	}
	from := dash.run(s, i)
	if from-i > 2 {
		return from
	}
	to := (wordDash | dot).run(s, from)
	if to-from < 3 || to >= len(s) {
		return max(from, i+1)
	}
	st := nameStrength(s[from:to])
	if st < weak {
		return from
	}
	at := blank.run(s, to)
	switch {
	case at > to && at < len(s) && s[at] != '-' && s[at] != '=':
	case quote.has(s[to]) && to+1 < len(s) && s[to+1] == ',':
		if at = blank.run(s, to+2); at >= len(s) || s[at] != s[to] {
			return to
		}
	default:
		return to
	}
	a, ok := c.argumentAt(at)
	if !ok {
		return to
	}
	f := line
	if a.quoted {
		f = quoted
	}
	if st == weak {
		st = token
	}
	if credential(a.text(s), st, f) {
		c.add(a.from, a.to, kindOf(st))
		return a.end
	}
	return to
}

// echo reads a password that is piped into a program which asks for one, after the word echo at s[i:j].
func (c *scan) echo(i, j int) int {
	s := c.s
	if j >= len(s) || !blank.has(s[j]) {
		return j
	}
	_, end := c.line(j, 1000)
	bar := strings.IndexByte(s[j:end], '|')
	if bar < 0 || !readsPassword(s[j+bar:end]) {
		return j
	}
	for at := j; ; {
		a, ok := c.argumentAt(at)
		if !ok || a.from > j+bar {
			return j
		}
		at = a.end
		from, to := a.from, a.to
		text := a.text(s)
		if strings.HasPrefix(text, "-") || text == "%s" || text == `%s\n` {
			continue
		}
		for to > from && (s[to-1] == softNewline || s[to-1] == '\\') {
			to--
		}
		if strings.Contains(s[j+bar:end], "chpasswd") {
			from += strings.IndexByte(s[from:to], ':') + 1
		}
		if v := s[from:to]; strings.Contains(s[j+bar:end], "base64") && (!strict(v) || strings.ContainsAny(v, " =")) {
			return j
		}
		c.secretArgument(from, to)
		return j
	}
}

// readsPassword says whether a command reads a password from its standard input.
func readsPassword(command string) bool {
	for _, w := range [...]string{"password-stdin", "sudo -S", "sudo -kS", "sudo -Sk", "passwd --stdin", "passphrase-fd", "--with-token", "kinit", "cryptsetup", "chpasswd",
		"smbpasswd", "vault login", "vault kv", "secret create", "secret set", "secret put", "secrets set", "secrets create", "env add", "-pass stdin",
		"-passin stdin", "base64", "login --token", "auth login", "token -", "su -c", "ecryptfs", "veracrypt", "bw login", "htpasswd -i"} {
		if strings.Contains(command, w) {
			return true
		}
	}
	return false
}

// hereString reads a password that is given to a program by <<<, from its first < on.
func (c *scan) hereString(i int) int {
	start, _ := c.line(i, 400)
	if !readsPassword(c.s[start:i]) {
		return i + 3
	}
	if a, ok := c.argumentAt(i + 3); ok {
		c.secretArgument(a.from, a.to)
		return a.end
	}
	return i + 3
}
