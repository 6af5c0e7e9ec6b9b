package install

import (
	"path"
	"strings"
)

// Line is what an agent runs at each of its hooks: this program, or the one that is
// called so by then, or nothing at all. A program that is gone must not be an error to
// the agent. Nothing of the text changes between versions of Duplex. program is an
// absolute path; empty: the one on the PATH, for a file that others read too.
//
// It is a line for sh, which Claude Code also uses on Windows.
func Line(program, agent string) string {
	const byName = "command -v duplex >/dev/null && exec duplex hook "
	if program == "" {
		return byName + agent + "; exit 0"
	}
	p := Word(program)
	return "test -x " + p + " && exec " + p + " hook " + agent + "; " + byName + agent + "; exit 0"
}

// Word is a text as one word of sh.
func Word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@%=", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// written reports whether a line is one that setup writes, or once wrote, for an agent:
// with whatever program, or the call alone.
func written(line, agent string) bool {
	if line == Line("", agent) {
		return true
	}
	if rest, ok := strings.CutPrefix(line, "test -x "); ok { // the program stands in it twice
		once := (len(line) - len(Line("/", agent)) + 2) / 2
		return once > 0 && once <= len(rest) && line == Line(unword(rest[:once]), agent)
	}
	p, ok := strings.CutSuffix(line, " hook "+agent)
	if !ok {
		return false
	}
	p = unword(p)
	return program(p) && Word(p)+" hook "+agent == line || p == "duplex"
}

// calls reports whether a line, whoever wrote it, calls Duplex's hook.
func calls(line, agent string) bool {
	i := strings.LastIndex(line, " hook "+agent)
	return i >= 0 && strings.Contains(line[:i], "duplex")
}

// program reports whether a path is one of a program called duplex.
func program(p string) bool {
	base := path.Base(strings.ReplaceAll(p, `\`, "/"))
	return base == "duplex" || base == "duplex.exe"
}

func unword(w string) string {
	if inner, ok := strings.CutPrefix(w, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, "'")
	}
	return w
}
