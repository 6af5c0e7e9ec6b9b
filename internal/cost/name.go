package cost

import "strings"

// Name is the name under which a model is in the table. Transcripts write one model in several ways:
// claude-sonnet-4-5-20250929, anthropic/claude-sonnet-4.5, claude-sonnet-4-5[1m]. A name that only looks
// like a known one (another provider's resale, a size nobody told us of) stays as it is, and so unpriced.
func Name(model string) string {
	name := strings.ToLower(strings.TrimSpace(model))
	for _, maker := range []string{"anthropic/", "openai/", "google/", "gemini/", "models/"} {
		name = strings.TrimPrefix(name, maker)
	}
	name = strings.TrimSuffix(name, "[1m]") // a setting of the agent, not another model
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-")
	}
	name = withoutDate(strings.TrimSuffix(name, "-latest"))
	if strings.HasPrefix(name, "gemini-") {
		name = strings.TrimSuffix(withoutDay(name), "-preview")
	}
	for _, alias := range aliases {
		if name == alias[0] {
			return alias[1]
		}
	}
	return name
}

// aliases are other names that their makers gave to a model.
var aliases = [...][2]string{
	{"claude-opus-4-0", "claude-opus-4"},
	{"claude-sonnet-4-0", "claude-sonnet-4"},
	{"claude-3-7-sonnet", "claude-sonnet-3-7"},
	{"claude-3-5-haiku", "claude-haiku-3-5"},
	{"gpt-5.6", "gpt-5.6-sol"},
}

// withoutDate takes -20250929 or -2025-09-29 off the end.
func withoutDate(name string) string {
	for _, shape := range []string{"-dddddddd", "-dddd-dd-dd"} {
		if base, ok := cutShape(name, shape); ok {
			return base
		}
	}
	return name
}

// withoutDay takes the -06-05 of gemini-2.5-pro-preview-06-05 off the end.
func withoutDay(name string) string {
	if base, ok := cutShape(name, "-dd-dd"); ok && strings.HasSuffix(base, "-preview") {
		return base
	}
	return name
}

// cutShape takes an ending off in which d stands for a digit.
func cutShape(name, shape string) (base string, found bool) {
	at := len(name) - len(shape)
	if at <= 0 {
		return name, false
	}
	for i := range len(shape) {
		c := name[at+i]
		if shape[i] == 'd' && (c < '0' || c > '9') || shape[i] != 'd' && c != shape[i] {
			return name, false
		}
	}
	return name[:at], true
}
