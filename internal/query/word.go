package query

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxWord is how much of a word counts, in bytes: a longer one is data, not a word.
const MaxWord = 64

// Word is one word of a text, and where it stands there, in bytes.
type Word struct {
	Text     string // in lower case, without accents
	From, To int
}

// Words are the words of a text in order: runs of letters and digits. In scripts
// that write no space between words each character is one, so that a run of them is
// a phrase.
func Words(text string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for at := 0; at < len(text); {
			from := at
			plain := true // lower-case ASCII, as it stands
			for at < len(text) && letter(text[at]) != 0 {
				plain = plain && letter(text[at]) == text[at]
				at++
			}
			if at < len(text) && text[at] >= utf8.RuneSelf {
				at, plain = pastWord(text, from, at), false
			}
			if at == from {
				_, n := utf8.DecodeRuneInString(text[at:])
				at += n
				continue
			}
			word := text[from:at]
			if !plain {
				word = folded(word)
			}
			if word != "" && !yield(Word{cutWord(word), from, at}) {
				return
			}
		}
	}
}

// letter gives what an ASCII letter or digit is folded to, 0 for what is neither.
func letter(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		return c
	case c >= 'A' && c <= 'Z':
		return c - 'A' + 'a'
	}
	return 0
}

// pastWord is where the word ends that begins at from and is known up to at.
func pastWord(text string, from, at int) int {
	for i, r := range text[at:] {
		switch {
		case alone(r):
			if at+i == from {
				return at + i + utf8.RuneLen(r)
			}
			return at + i
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !(unicode.IsMark(r) && at+i > from):
			return at + i
		}
	}
	return len(text)
}

// alone reports whether a character is a word by itself.
func alone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// folded is a word in lower case, without accents: those of Latin letters, whether
// they are one character with them or two. What folds to a plain letter begins with a
// byte that MayFold knows.
func folded(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch low := unicode.ToLower(r); {
		case r >= 0x300 && r <= 0x36f: // an accent by itself
		case r > lastAccented && low <= lastAccented: // a sign that looks like a letter
			b.WriteRune(r)
		case low < utf8.RuneSelf || low > lastAccented:
			b.WriteRune(low)
		default:
			if i := strings.IndexRune(accented, low); i >= 0 {
				low = rune(unaccented[i/2])
			}
			b.WriteRune(low)
		}
	}
	return b.String()
}

const lastAccented = 0x17f

// accented letters, two bytes each, and the plain ones they are looked for as.
const (
	accented = "àáâãäåāăą" + "çćĉċč" + "ďđ" + "èéêëēĕėęě" + "ĝğġģ" + "ĥħ" + "ìíîïĩīĭįı" + "ĵ" + "ķ" + "ĺļľŀł" +
		"ñńņň" + "òóôõöøōŏő" + "ŕŗř" + "śŝşš" + "ţťŧ" + "ùúûüũūŭůűų" + "ŵ" + "ýÿŷ" + "źżž"
	unaccented = "aaaaaaaaa" + "ccccc" + "dd" + "eeeeeeeee" + "gggg" + "hh" + "iiiiiiiii" + "j" + "k" + "lllll" +
		"nnnn" + "ooooooooo" + "rrr" + "ssss" + "ttt" + "uuuuuuuuuu" + "w" + "yyy" + "zzz"
)

// MayFold reports whether a byte begins a letter that is folded to a plain one.
func MayFold(b byte) bool { return b >= 0xc3 && b <= 0xc5 || b == 0xcc || b == 0xcd }

func cutWord(w string) string {
	if len(w) <= MaxWord {
		return w
	}
	n := MaxWord
	for !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}
