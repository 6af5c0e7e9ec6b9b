package check

import (
	"strings"
	"unicode/utf8"
)

// telling are the words, in lower case, by which a line says what went wrong.
var telling = []string{
	"error", "fail", "panic", "expected", "assert", "exception", "traceback", "not ok",
	"got ", "got:", "want", "undefined", "cannot", "not found", "denied", "✖", "✗", "●",
}

// FailingOutput picks the lines of an output that say what failed, without
// colours, the last ones when there are more than fit. When no line says so,
// it is the end of the output: a check may fail without a word.
func FailingOutput(output string, maxLines, maxBytes int) string {
	var all, picked []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(plain(readable(line)), " \t\r\n")
		if line == "" {
			continue
		}
		all = append(all, line)
		if tells(line) {
			picked = append(picked, line)
		}
	}
	if len(picked) == 0 {
		picked = all
	}
	return last(picked, maxLines, maxBytes)
}

// readable is the text inside an event of go test -json, and any other line as
// it is.
func readable(line string) string {
	if event, ok := parseEvent(line); ok {
		return event.Output
	}
	return line
}

func tells(line string) bool {
	lower := strings.ToLower(line)
	for _, word := range telling {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return located(line)
}

// located recognises FILE.EXT:LINE, as compilers and tests print it.
func located(line string) bool {
	first, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' &&
		strings.Contains(first, ".") && !strings.ContainsAny(first, " \t")
}

// last joins as many of the last lines as fit, whole; of a line that alone is
// too long, its end.
func last(lines []string, maxLines, maxBytes int) string {
	from, size := len(lines), 0
	for from > 0 && len(lines)-from < maxLines && size+len(lines[from-1])+1 <= maxBytes {
		from--
		size += len(lines[from]) + 1
	}
	if from == len(lines) && from > 0 && maxLines > 0 && maxBytes > 0 {
		line := lines[from-1]
		cut := max(0, len(line)-maxBytes)
		for cut < len(line) && !utf8.RuneStart(line[cut]) {
			cut++
		}
		return line[cut:]
	}
	return strings.Join(lines[from:], "\n")
}
