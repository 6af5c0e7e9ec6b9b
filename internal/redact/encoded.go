package redact

import "strings"

// encodedText looks at the word s[i:j] as the beginning of base64 or hex. When that is text, the text is
// scanned like any other, and a credential in it takes the whole run away: there is no cutting inside.
func (c *scan) encodedText(i, j int) int {
	s := c.s
	if i < c.encoded || c.depth >= deepest || i > 0 && plus.has(s[i-1]) {
		return i
	}
	var buf [96]byte
	if n := j - i; n >= 32 && n%2 == 0 && anyHex.only(s[i:j]) {
		if head := fromHex(buf[:0], s[i:i+8]); printable(head) {
			c.encoded = j
			if text := fromHex(nil, s[i:j]); printable(text) && c.hides(string(text)) {
				c.add(i, j, "encoded")
				return j
			}
			return i
		}
	}
	if head, ok := fromBase64(buf[:0], s[i:i+8]); !ok || !printable(head) {
		c.encoded = base64x.run(s, j)
		return i
	}
	end, text := c.base64Run(i)
	c.encoded = end
	if end-i < 24 || len(text) > 64<<10 {
		return i
	}
	raw, ok := fromBase64(make([]byte, 0, len(text)*3/4), text)
	if ok && printable(raw) && c.hides(string(raw)) {
		c.add(i, end, "encoded")
		return end
	}
	return i
}

// base64Run returns the base64 that begins at i and where it ends. Lines of equal length go on with the next,
// as base64 and its like print them.
func (c *scan) base64Run(i int) (end int, text string) {
	s := c.s
	end = base64x.run(s, i)
	width := end - i
	text = s[i:end]
	for line := width; line == width && width >= 60 && end < len(s) && newline.has(s[end]) && len(text) < 64<<10; {
		start := lineStart(s, i, end)
		next := base64x.run(s, start)
		if line = next - start; line == 0 || line > width {
			break
		}
		text += s[start:next]
		end = next
	}
	return equals.run(s, end), text
}

// hides says whether text has a credential in it.
func (c *scan) hides(text string) bool {
	v := decode(text, true)
	in := scan{s: v.text, index: c.index, known: c.known, depth: c.depth + 1}
	in.run()
	return len(in.out) > 0 || len(c.known.find(v.text)) > 0
}

// printable says whether b is text: line ends, tabs and ASCII, with room for letters of other alphabets.
func printable(b []byte) bool {
	odd := 0
	for _, x := range b {
		switch {
		case x >= 0x80:
			odd++
		case x < ' ' && x != '\n' && x != '\r' && x != '\t' || x == 0x7f:
			return false
		}
	}
	return len(b) > 0 && odd*8 <= len(b)
}

// fromBase64 appends what s stands for in either alphabet, padded or cut off anywhere.
func fromBase64(dst []byte, s string) ([]byte, bool) {
	s = strings.TrimRight(s, "=")
	var bits uint32
	n := 0
	for i := range len(s) {
		var x byte
		switch b := s[i]; {
		case 'A' <= b && b <= 'Z':
			x = b - 'A'
		case 'a' <= b && b <= 'z':
			x = b - 'a' + 26
		case '0' <= b && b <= '9':
			x = b - '0' + 52
		case b == '+' || b == '-':
			x = 62
		case b == '/' || b == '_':
			x = 63
		default:
			return dst, false
		}
		bits = bits<<6 | uint32(x)
		if n += 6; n >= 8 {
			n -= 8
			dst = append(dst, byte(bits>>n))
		}
	}
	return dst, true
}

func fromHex(dst []byte, s string) []byte {
	for i := 0; i+1 < len(s); i += 2 {
		dst = append(dst, hexDigit(s[i])<<4|hexDigit(s[i+1]))
	}
	return dst
}
