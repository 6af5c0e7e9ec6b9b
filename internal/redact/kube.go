package redact

import "strings"

// farthest is how far from "kind: Secret" its data may stand. kubectl writes data before the kind.
const farthest = 64 << 10

// kubeSecret reads the values of a Kubernetes Secret, from the word Secret at i on.
func (c *scan) kubeSecret(i int) int {
	s := c.s
	end := i + len("Secret")
	from, to := c.nameAround(i)
	if !equalFold("kind", s[from:to]) || i < c.kube {
		return end
	}
	// The object reaches from the kind before to the kind after, or to a line of dashes. Its data may be on
	// either side: kubectl sorts the fields.
	low := max(c.kube, i-farthest)
	if n := strings.LastIndex(s[low:from], "kind"); n >= 0 {
		low += n
	}
	if n := strings.LastIndex(s[low:i], "\n---"); n >= 0 {
		low += n
	}
	high := min(len(s), i+farthest)
	if n := strings.Index(s[end:high], "kind"); n >= 0 {
		high = end + n
	}
	if n := strings.Index(s[i:high], "\n---"); n >= 0 {
		high = i + n
	}
	c.kube = end
	for _, name := range [...]string{"data", "stringData"} {
		for at := low; ; {
			n := strings.Index(s[at:high], name)
			if n < 0 {
				break
			}
			at += n + len(name)
			c.secretData(at-len(name), at, high)
		}
	}
	return end
}

// nameAround returns the name before the separator before i.
func (c *scan) nameAround(i int) (from, to int) {
	s := c.s
	for i > 0 && (charOf[s[i-1]]&(quote|blank) != 0) {
		i--
	}
	if i == 0 || s[i-1] != ':' && s[i-1] != '=' {
		return i, i
	}
	return c.nameBefore(i - 1)
}

// secretData cuts out the values of the map named s[from:to], within end.
func (c *scan) secretData(from, to, end int) {
	s := c.s
	if from > 0 && (word.has(s[from-1]) || s[from-1] == '.' || s[from-1] == '-') {
		return
	}
	at := to
	for at < end && charOf[s[at]]&(quote|blank) != 0 {
		at++
	}
	if at >= end || s[at] != ':' && s[at] != '=' {
		return
	}
	at = space.run(s, at+1)
	if at < end && s[at] == '{' {
		c.jsonData(at+1, end)
		return
	}
	if at == to+1 || !newline.has(s[max(0, at-1)]) && !strings.ContainsAny(s[to:min(at, len(s))], "\n\x05") {
		return
	}
	c.yamlData(from, to, end)
}

// jsonData cuts out "name": "value" pairs up to the closing brace.
func (c *scan) jsonData(at, end int) {
	s := c.s
	for at < end {
		at = space.run(s, at)
		if at >= end || !quote.has(s[at]) {
			return
		}
		name, ok := c.quotedAt(at)
		if !ok {
			return
		}
		at = blank.run(s, name.end)
		if at >= end || s[at] != ':' {
			return
		}
		at = space.run(s, at+1)
		if at >= end || !quote.has(s[at]) {
			return
		}
		value, ok := c.quotedAt(at)
		if ok {
			c.secretEntry(value.from, value.to)
		}
		at = space.run(s, max(value.end, at+1))
		if at >= end || s[at] != ',' {
			return
		}
		at++
	}
}

// yamlData cuts out name: value lines that are indented deeper than the name s[from:to].
func (c *scan) yamlData(from, to, end int) {
	s := c.s
	start, _ := c.line(from, 200)
	depth := from - listed(s, start)
	at := to
	for at < end && !newline.has(s[at]) {
		at++
	}
	block := -1 // the depth of the entry whose value is a block of lines
	for at+1 < end {
		lineFrom := min(listed(s, at+1), end)
		at = lineFrom
		for at < end && !newline.has(s[at]) {
			at++
		}
		text := s[lineFrom:at]
		indent := blank.run(text, 0)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if indent <= depth {
			return
		}
		if block >= 0 && indent > block {
			c.secretEntry(lineFrom+indent, lineFrom+len(strings.TrimRight(text, " \t")))
			continue
		}
		block = -1
		n := strings.Index(text, ": ")
		if n < 0 {
			if strings.HasSuffix(text, ":") {
				block = indent
			}
			continue
		}
		v := strings.TrimSpace(text[n+2:])
		value := lineFrom + n + 2 + strings.Index(text[n+2:], v)
		if strings.HasPrefix(v, "|") || strings.HasPrefix(v, ">") {
			block = indent
			continue
		}
		if len(v) > 1 && quote.has(v[0]) && v[0] == v[len(v)-1] {
			value, v = value+1, v[1:len(v)-1]
		}
		c.secretEntry(value, value+len(v))
	}
}

// secretEntry cuts out one value of a Secret: whatever is in it was put there to be kept secret.
func (c *scan) secretEntry(from, to int) {
	if to-from < 3 {
		return
	}
	v := c.s[from:to]
	if reference(v) || strings.HasPrefix(v, "[REDACTED") {
		return
	}
	var buf [64]byte
	if low := lowerInto(&buf, v); strings.Contains(low, "xxxx") || strings.Contains(low, "****") || strings.Contains(low, "redacted") || strings.Contains(low, "changeme") || strings.Contains(low, "your-") {
		return
	}
	c.add(from, to, "secret")
}
