package redact

import "strings"

// KnownValues picks, from NAME=value lines, the values to be known as credentials:
// those of credential-like names with at least eight characters.
func KnownValues(lines []string) []string {
	var out []string
	for _, l := range lines {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "export "), "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if ok && len(value) >= 8 && credentialName(strings.TrimSpace(name)) {
			out = append(out, value)
		}
	}
	return out
}

// credentialName reports whether a variable's name says that it holds a credential.
func credentialName(name string) bool {
	n := strings.ToUpper(name)
	for _, part := range []string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
		if strings.Contains(n, part) {
			return !strings.HasSuffix(n, "_FILE") && !strings.HasSuffix(n, "_PATH") && !strings.HasSuffix(n, "_DIR")
		}
	}
	return false
}
