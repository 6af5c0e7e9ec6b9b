package redact

import "strings"

// longestKey bounds a private key, so that a BEGIN without its END takes no more than a key with it.
const longestKey = 32 << 10

// pemBegin reads a private key from the word BEGIN at s[i:j] on, and keeps its first and last line: they say
// what was there. A key that was cut off ends where its lines stop looking like base64.
func (c *scan) pemBegin(i, j int) int {
	s := c.s
	if !dashesBefore(s, i) {
		return j
	}
	body, ok := labelEnd(s, j)
	if !ok {
		return j
	}
	rest := s[body:min(len(s), body+longestKey)]
	for at := 0; ; {
		n := strings.Index(rest[at:], "-END ")
		if n < 0 {
			break
		}
		at += n
		if _, ok := labelEnd(s, body+at+len("-END")); ok && !strings.Contains(rest[:at], "-BEGIN ") {
			to := body + strings.LastIndexFunc(rest[:at+1], notDash) + 1
			from, to := c.trimKey(body, to)
			c.add(from, to, "private-key")
			return body + at + len("-END ")
		}
		at++
	}
	from, to := c.trimKey(body, c.keyLines(body))
	c.add(from, to, "private-key")
	return max(j, to)
}

// pemEnd reads a private key backwards from the word END at s[i:j], for text whose beginning was cut off.
func (c *scan) pemEnd(i, j int) int {
	s := c.s
	if _, ok := labelEnd(s, j); !ok || !dashesBefore(s, i) {
		return j
	}
	end := i
	for end > 0 && s[end-1] == '-' {
		end--
	}
	from := end
	for from > 0 && end-from < longestKey {
		to := space.runBack(s, from)
		start := (base64s | equals).runBack(s, to)
		if to == from || to-start < 4 || to-start < 32 && from != end {
			break
		}
		from = start
	}
	if from, to := c.trimKey(from, end); to-from >= 16 {
		c.add(from, to, "private-key")
	}
	return j
}

func notDash(r rune) bool { return r != '-' }

func dashesBefore(s string, i int) bool {
	return i >= 5 && (s[i-5:i] == "-----" || s[i-5:i] == "---- ")
}

// labelEnd says whether the label after BEGIN or END at i names a private key, and where its line ends.
func labelEnd(s string, i int) (int, bool) {
	label := s[i:min(len(s), i+64)]
	n := strings.Index(label, "----")
	if n < 0 || !strings.Contains(label[:n], "PRIVATE KEY") && !strings.Contains(label[:n], "OpenVPN Static key") {
		return i, false
	}
	for i += n; i < len(s) && s[i] == '-'; i++ {
	}
	return i, true
}

// trimKey leaves the line ends around a key in place.
func (c *scan) trimKey(from, to int) (int, int) {
	for from < to && (space | quote).has(c.s[from]) {
		from++
	}
	for to > from && (space | quote).has(c.s[to-1]) {
		to--
	}
	return from, to
}

// keyLines returns where the lines that can belong to a key end, from i on.
func (c *scan) keyLines(i int) int {
	s := c.s
	end := i
	for i < len(s) && i-end < 64 {
		start := space.run(s, i)
		if l := listed(s, start); start > i && l > start && l < len(s) && base64s.has(s[l]) && (s[start] != '+' || s[l] != '+') {
			start = l
		}
		j := (base64s | equals).run(s, start)
		switch {
		case j < len(s) && s[j] == ':' || j+4 < len(s) && s[j] == '-' && strings.Contains(s[j:min(len(s), j+8)], "Info"): // Proc-Type, DEK-Info
			for j < len(s) && !newline.has(s[j]) {
				j++
			}
			if j-start > 80 {
				return end
			}
		case strings.HasPrefix(s[start:], "Proc-Type"), strings.HasPrefix(s[start:], "DEK-Info"):
			for j < len(s) && !newline.has(s[j]) {
				j++
			}
		case j-start < 16, j-start < 24 && wordy(s[start:j]):
			return end
		default:
			end = j
		}
		i = j
	}
	return end
}

// putty reads the private lines of a PuTTY key, after the word Private at j.
func (c *scan) putty(j int) int {
	s := c.s
	if !strings.HasPrefix(s[j:], "-Lines:") {
		return j
	}
	from := digit.run(s, blank.run(s, j+len("-Lines:")))
	from, to := c.trimKey(from, c.keyLines(from))
	c.add(from, to, "private-key")
	return max(j, to)
}
