package agent

import "strings"

// Ours reports whether a text came from Duplex: a brief, a driver's prompt, a
// hook's answer. Such text is never taken for a person's word, whoever carries it.
func Ours(text string) bool {
	text = strings.TrimSpace(text)
	return strings.Contains(text, "<duplex-") || strings.Contains(text, "<duplex>") || strings.HasPrefix(text, "[duplex]")
}
