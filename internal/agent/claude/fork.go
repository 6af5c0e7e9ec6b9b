package claude

import "strings"

// ForkedFrom reads `claude --resume ID --fork-session`. The hook of a fork's start does
// not name the session it comes from, and its transcript is not written yet.
func (Adapter) ForkedFrom(args []string) string {
	from, fork := "", false
	for i := range args {
		switch name, value := option(args[i:]); name {
		case "--fork-session":
			fork = true
		case "--resume", "-r":
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
