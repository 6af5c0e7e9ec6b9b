package redact

import "strings"

// KnownValues picks, from NAME=value lines as env files and os.Environ have them, the values that are
// credentials by their names, and the passwords of addresses. They are what New takes as known.
func KnownValues(lines []string) []string {
	var out []string
	for _, l := range lines {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "export "), "=")
		value = strings.Trim(strings.TrimSpace(value), "\"'`")
		if !ok || len(value) < shortest || reference(value) || placeholder(value) {
			continue
		}
		if pass := passwordOf(value); len(pass) >= shortest {
			out = append(out, pass)
		}
		if name = strings.TrimSpace(name); name == "PWD" || name == "OLDPWD" {
			continue // the shell's folder: a job whose folder is hidden cannot be worked on
		}
		if nameStrength(name) >= weak && !located(value) {
			out = append(out, value)
		}
	}
	return out
}

// passwordOf returns the password in scheme://user:password@host, or nothing.
func passwordOf(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return ""
	}
	user, pass, ok := strings.Cut(rest[:at], ":")
	if !ok || !urlPassword(pass, user) {
		return ""
	}
	return pass
}
