package git

import (
	"bytes"
	"io"
	"strings"
)

// Split cuts what git prints with -z into its records. The bytes of a path
// are kept as they are: a name need not be UTF-8.
func Split(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// Join is the opposite of Split, for feeding git with -z --stdin.
func Join(records []string) io.Reader {
	var b bytes.Buffer
	for _, r := range records {
		b.WriteString(r)
		b.WriteByte(0)
	}
	return &b
}
