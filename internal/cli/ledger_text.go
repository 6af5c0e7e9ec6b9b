package cli

import "strings"

// Words for sessions.

// agentTitle is an agent's name as people know it.
func agentTitle(name string) string {
	switch name {
	case "claude":
		return "Claude Code"
	case "codex":
		return "Codex"
	case "gemini":
		return "Gemini CLI"
	case "":
		return "an agent"
	}
	return name
}

func sessionName(agent, model string) string {
	switch {
	case model == "":
		return agentTitle(agent)
	case agentTitle(agent) == agent && strings.HasPrefix(model, agent):
		return model
	}
	return agentTitle(agent) + " " + model
}

// endWord is how a session ended, in a word for the middle of a line.
func endWord(reason string) string {
	switch reason {
	case "limit":
		return "at its context limit"
	case "":
		return "ended"
	}
	return reason
}

// Text of the ledger on its way to a terminal.

// oneLine is text of the ledger as one line of at most n columns: control
// characters are dropped, for a transcript must not drive a terminal.
func oneLine(s string, n int) string { return cut(s, n) }

// tame drops escape sequences and control characters, all but line ends and tabs.
func tame(s string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	escape := 0 // 1: after ESC, 2: inside a control sequence, 3: inside a string that BEL or ESC \ ends
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' && escape == 0: // an unended sequence costs its line only
			escape = 0
			b.WriteRune(r)
		case r == 0x1b:
			escape = 1
		case escape == 1:
			escape = 0
			switch r {
			case '[':
				escape = 2
			case ']', 'P', '_', '^', 'X':
				escape = 3
			}
		case escape == 2:
			if r >= 0x40 && r <= 0x7e {
				escape = 0
			}
		case escape == 3:
			if r == 0x07 {
				escape = 0
			}
		case r < 0x20 || r >= 0x7f && r < 0xa0:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// glue is a blank that wrap does not break at.
const glue = "\u00a0"

// wrap breaks text into lines of at most n columns, between words only: names,
// ids and positions are never broken. Beyond most lines it ends in "…"; zero: all.
func wrap(s string, n, most int) []string {
	var out []string
	line, width := "", 0
	apart := func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }
	for _, w := range strings.FieldsFunc(tame(s), apart) {
		w = strings.ReplaceAll(w, glue, " ")
		k := len([]rune(w))
		switch {
		case line == "":
			line, width = w, k
		case width+1+k <= n:
			line, width = line+" "+w, width+1+k
		default:
			out = append(out, line)
			line, width = w, k
		}
		if most > 0 && len(out) == most {
			last := out[most-1]
			if i := strings.LastIndexByte(last, ' '); len([]rune(last)) >= n && i > 0 {
				last = last[:i]
			}
			out[most-1] = last + "…"
			return out
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
