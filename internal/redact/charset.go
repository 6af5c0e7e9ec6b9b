package redact

// charset is a set of bytes, as bits of charOf.
type charset uint16

const (
	hexLower   charset = 1 << iota // a-f
	lower                          // g-z
	hexUpper                       // A-F
	upper                          // G-Z
	digit                          // 0-9
	underscore                     // _
	dash                           // -
	dot                            // .
	plus                           // + and /
	equals                         // =
	tilde                          // ~
	blank                          // space and tab
	newline                        // line feed, carriage return and their escaped form
	quote                          // every form of quote
	dollar                         // $

	hexes    = digit | hexLower
	anyHex   = hexes | hexUpper
	lowers   = hexLower | lower
	uppers   = hexUpper | upper
	letters  = lowers | uppers
	alnum    = letters | digit
	word     = alnum | underscore
	wordDash = word | dash
	base64s  = alnum | plus
	base64x  = wordDash | plus // both alphabets
	space    = blank | newline
)

// What the view holds for bytes that were escaped in the original: a quote closes only the quote of its own
// depth, and an escaped newline may stand inside a quoted value where a real one ends it.
const (
	quote1      = '\x01' // \" and &quot;
	quote2      = '\x02' // \\\"
	quote3      = '\x03' // deeper
	apostrophe1 = '\x04' // \'
	softNewline = '\x05' // \n, \\n, \r
)

// charOf is a table of constants: it lies in the binary and costs nothing at start.
var charOf = [256]charset{
	'a': hexLower, 'b': hexLower, 'c': hexLower, 'd': hexLower, 'e': hexLower, 'f': hexLower,
	'g': lower, 'h': lower, 'i': lower, 'j': lower, 'k': lower, 'l': lower, 'm': lower,
	'n': lower, 'o': lower, 'p': lower, 'q': lower, 'r': lower, 's': lower, 't': lower,
	'u': lower, 'v': lower, 'w': lower, 'x': lower, 'y': lower, 'z': lower,
	'A': hexUpper, 'B': hexUpper, 'C': hexUpper, 'D': hexUpper, 'E': hexUpper, 'F': hexUpper,
	'G': upper, 'H': upper, 'I': upper, 'J': upper, 'K': upper, 'L': upper, 'M': upper,
	'N': upper, 'O': upper, 'P': upper, 'Q': upper, 'R': upper, 'S': upper, 'T': upper,
	'U': upper, 'V': upper, 'W': upper, 'X': upper, 'Y': upper, 'Z': upper,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit,
	'5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	'_': underscore, '-': dash, '.': dot, '+': plus, '/': plus, '=': equals, '~': tilde,
	' ': blank, '\t': blank, '\n': newline, '\r': newline, softNewline: newline,
	'"': quote, '\'': quote, '`': quote, quote1: quote, quote2: quote, quote3: quote, apostrophe1: quote, '$': dollar,
}

func (c charset) has(b byte) bool { return charOf[b]&c != 0 }

// run returns the end of the run of c that starts at i.
func (c charset) run(s string, i int) int {
	for i < len(s) && charOf[s[i]]&c != 0 {
		i++
	}
	return i
}

// runBack returns the start of the run of c that ends before i.
func (c charset) runBack(s string, i int) int {
	for i > 0 && charOf[s[i-1]]&c != 0 {
		i--
	}
	return i
}

// only says whether s has no other byte than those of c.
func (c charset) only(s string) bool { return c.run(s, 0) == len(s) }

// count returns how many bytes of s are in c.
func (c charset) count(s string) int {
	n := 0
	for i := range len(s) {
		if charOf[s[i]]&c != 0 {
			n++
		}
	}
	return n
}

func lowerByte(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
