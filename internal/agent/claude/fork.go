package claude

import "strings"

// ForkedFrom reads `claude --resume ID --fork-session`. The hook of a fork's start does
// not name the session it comes from, and its transcript is not written yet.
func (Adapter) ForkedFrom(args []string) string {
	from, fork := "", false
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch name {
		case "--fork-session":
			fork = true
		case "--resume", "-r":
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			if !strings.HasPrefix(value, "-") {
				from = value
			}
		}
	}
	if !fork {
		return ""
	}
	return from
}
