package redact

// scan walks a view once. Most bytes are passed over by one table look-up; a rule is called where a word or
// a byte asks for it, and reads only its surroundings, so that the whole stays linear.
type scan struct {
	s     string
	index *index
	known *known
	out   []span
	depth int // how many encodings deep: base64 of text is scanned like text

	encoded int // up to here a run was already looked at as base64 or hex
	kube    int // up to here a Secret was already read
	heading int // where the heading of the table was that was read last
	rows    int // and where its rows ended
}

// deepest is how many encodings inside each other are undone.
const deepest = 2

// add notes a credential, unless it is empty or already a marker.
func (c *scan) add(from, to int, kind string) {
	if from < to && !inMarker(c.s, from) {
		c.out = append(c.out, span{from: from, to: to, kind: kind})
	}
}

func (c *scan) run() {
	s := c.s
	for i := 0; i < len(s); {
		b := s[i]
		if charOf[b]&word != 0 {
			j := i + 1
			for j < len(s) && charOf[s[j]]&word != 0 {
				j++
			}
			i = c.word(i, j)
			continue
		}
		switch b {
		case '=', ':':
			i = c.pair(i)
		case '(':
			i = c.call(i)
		case '<':
			i = c.element(i)
		case '@':
			i = c.userinfo(i)
		case '~':
			i = c.azure(i)
		case '$', '{':
			i = c.crypt(i)
		case '-':
			i = c.flag(i)
		case '[':
			i = max(i+1, markerEnd(s, i))
		default:
			i++
		}
	}
}

// word looks at the word s[i:j] and returns where to go on.
func (c *scan) word(i, j int) int {
	s := c.s
	if end := c.prefix(i); end > i {
		return end
	}
	if j == i+1 && s[i] == 's' || s[i] == '0' {
		if end := c.short(i, j); end > i {
			return end
		}
	}
	if j-i >= 16 {
		if end := c.longWord(i, j); end > i {
			return end
		}
	}
	if j+1 < len(s) && s[j] == ' ' && charOf[s[j+1]]&quote != 0 {
		if end := c.quotedAfter(i, j); end > j {
			return end
		}
	}
	if c.index.mayBeKeyword(s[i:j]) {
		if k := c.index.keyword(s[i:j]); k != nil {
			return max(j, c.keyword(k, i, j))
		}
	}
	return j
}

// prefix looks for a vendor's credential at i and returns where it ends, or i.
func (c *scan) prefix(i int) int {
	if v := c.index.starts(c.s, i); v != nil {
		return c.vendor(i, v)
	}
	return i
}

// keyword calls the rule that a word asks for.
func (c *scan) keyword(k *keyword, i, j int) int {
	switch k.rule {
	case ruleBegin:
		return c.pemBegin(i, j)
	case ruleEnd:
		return c.pemEnd(i, j)
	case rulePutty:
		return c.putty(j)
	case ruleScheme:
		return c.scheme(i, j)
	case ruleSays:
		return c.says(i, j)
	case ruleSQL:
		return c.identified(i, j)
	case ruleKube:
		return c.kubeSecret(i)
	case ruleShell:
		return c.shell(i, k.flags)
	case ruleEcho:
		return c.echo(i, j)
	case ruleSets:
		return c.sets(j)
	case ruleAtlas:
		return c.atlas(i, j)
	case ruleNetrc:
		return c.netrc(j)
	case ruleSecure:
		return c.secureString(j)
	case ruleProtocol:
		return c.protocol(i, j)
	case ruleValues:
		return c.values(i, j)
	}
	return j
}

// line returns the bounds of the line around i, no further than far in either direction.
func (c *scan) line(i, far int) (from, to int) {
	from, to = i, i
	for from > 0 && i-from < far && !newline.has(c.s[from-1]) {
		from--
	}
	for to < len(c.s) && to-i < far && !newline.has(c.s[to]) {
		to++
	}
	return from, to
}
