package agent

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/job"
)

// ReadsOf lists the files that a shell line shows or searches, by name as the
// line gives them, moved below a `cd` in front. Patterns with * are left out:
// only the shell knows what they stand for.
func ReadsOf(command string) []job.Touch { return touches(stages(command), readsOf) }

func readsOf(s stage) ([]string, job.Role) {
	switch s.name() {
	case "cat", "bat", "less", "more", "nl", "tac", "wc", "jq":
		ops := s.operands("")
		if s.name() == "jq" && len(ops) > 0 {
			ops = ops[1:]
		}
		return ops, job.RoleRead
	case "head", "tail":
		return s.operands("nc"), job.RoleRead
	case "sed", "awk", "gawk":
		if s.name() == "sed" && (s.flag("i") || s.has("--in-place")) {
			return nil, ""
		}
		return s.afterScript("ef"), job.RoleRead
	case "grep", "egrep", "fgrep", "rg", "ag", "ack":
		return slices.DeleteFunc(s.afterScript("ef"), func(w string) bool { return path.Ext(w) == "" }), job.RoleSearch
	case "git":
		verb, rest := s.git()
		if verb != "show" || len(rest) == 0 {
			return nil, ""
		}
		if _, file, ok := strings.Cut(rest[len(rest)-1], ":"); ok {
			return []string{file}, job.RoleRead
		}
	}
	return nil, ""
}

// EditsOf lists the files that a shell line writes, moves or removes.
func EditsOf(command string) []job.Touch { return touches(stages(command), editsOf) }

func editsOf(s stage) ([]string, job.Role) {
	files := slices.DeleteFunc(slices.Clone(s.writes), func(w string) bool { return strings.HasPrefix(w, "/dev/") })
	switch s.name() {
	case "sed":
		if s.flag("i") || s.has("--in-place") {
			files = append(files, s.afterScript("ef")...)
		}
	case "tee", "rm", "mv", "touch", "truncate":
		files = append(files, s.operands("s")...)
	case "cp":
		if ops := s.operands(""); len(ops) == 2 {
			files = append(files, ops[1])
		}
	case "gofmt", "prettier", "black":
		if s.flag("w") || s.has("--write") || s.name() == "black" {
			files = append(files, s.operands("")...)
		}
	case "git":
		if verb, rest := s.git(); verb == "mv" || verb == "rm" || verb == "checkout" && slices.Contains(rest, "--") {
			i := slices.Index(rest, "--") + 1
			files = append(files, stage{words: append([]string{verb}, rest[i:]...)}.operands("")...)
		}
	}
	return files, job.RoleEdit
}

// SearchesOf lists the symbols that a shell line searches for.
func SearchesOf(command string) []job.Touch { return searchesOf(stages(command)) }

func searchesOf(all []stage) []job.Touch {
	var out []job.Touch
	for _, s := range all {
		switch s.name() {
		case "grep", "egrep", "fgrep", "rg", "ag", "ack":
			pattern := ""
			if ops := s.operands("ABCmtg"); len(ops) > 0 {
				pattern = ops[0]
			}
			for i, w := range s.words {
				if w == "-e" && i+1 < len(s.words) {
					pattern += " " + s.words[i+1]
				}
			}
			out = append(out, SymbolTouches(pattern, job.RoleSearch, "")...)
		}
	}
	return out
}

// afterScript gives the operands after a script or pattern, which comes first
// unless a flag in valued brought it.
func (s stage) afterScript(valued string) []string {
	ops := s.operands(valued + "ABCmtgF")
	if s.flag(valued) || len(ops) == 0 {
		return ops
	}
	return ops[1:]
}

// touches collects the files of every stage, below the folder `cd` moved to.
func touches(all []stage, files func(stage) ([]string, job.Role)) []job.Touch {
	var out []job.Touch
	dir := ""
	for _, s := range all {
		if s.name() == "cd" && len(s.words) == 2 {
			dir = below(dir, s.words[1])
			continue
		}
		names, role := files(s)
		for _, name := range names {
			if name == "" || name == "-" || strings.ContainsAny(name, "*?[{$`\n") || len(out) == job.MaxPaths {
				continue
			}
			t := job.Touch{Name: below(dir, name), Role: role}
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

func below(dir, name string) string {
	if dir == "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
		return name
	}
	return path.Join(dir, name)
}

// Symbols lists the identifiers in a text, in order, each once: camelCase from
// 6 characters, with "_" from 8, none above 64, at most job.MaxSymbols. Shorter
// and plainer words are as often prose as names.
func Symbols(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(out) == job.MaxSymbols {
			break
		}
		if !seen[w] && symbol(w) {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

func symbol(w string) bool {
	if len(w) < 6 || len(w) > 64 || unicode.IsDigit(rune(w[0])) {
		return false
	}
	lower, inner, under, letters := false, false, false, 0
	for i, r := range w {
		lower = lower || unicode.IsLower(r)
		inner = inner || i > 0 && unicode.IsUpper(r)
		under = under || r == '_'
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 4 && (lower && inner || under && len(w) >= 8)
}

// SymbolTouches are the symbols of a text with a role and the path they stood in.
func SymbolTouches(text string, role job.Role, in string) []job.Touch {
	var out []job.Touch
	for _, s := range Symbols(text) {
		out = append(out, job.Touch{Name: s, Role: role, In: in})
	}
	return out
}

// mentionBytes is how much of an output is looked at for paths.
const mentionBytes = 20_000

// Mentions lists the files that an output names, each once, at most
// job.MaxPaths: words with a slash and a file extension.
func Mentions(output string) []job.Touch {
	if output = output[:min(len(output), mentionBytes)]; !utf8.ValidString(output) { // which is far faster to see than to mend
		output = strings.ToValidUTF8(output, "")
	}
	var out []job.Touch
	seen := map[string]bool{}
	for at := 0; len(out) < job.MaxPaths; {
		// Outputs are long and few of their words have a slash: look for those.
		slash := strings.IndexByte(output[at:], '/')
		if slash < 0 {
			break
		}
		from, to := at+slash, at+slash+1
		for from > at && !endsName(output[from-1]) {
			from--
		}
		for to < len(output) && !endsName(output[to]) {
			to++
		}
		word := output[from:to]
		at = to
		if strings.Contains(word, "://") {
			continue
		}
		name, _, _ := strings.Cut(word, ":") // a.go:12:3
		name = strings.TrimRight(strings.TrimPrefix(name, "./"), ".")
		if len(name) > 2 && (name[:2] == "a/" || name[:2] == "b/") && inDiff(output[:from]) {
			name = name[2:]
		}
		ext := path.Ext(name)
		if len(ext) < 2 || len(ext) > 8 || len(name) > 300 || strings.HasSuffix(name, "/"+ext) || number(ext[1:]) || seen[name] || elsewhere(name) {
			continue
		}
		seen[name] = true
		out = append(out, job.Touch{Name: name, Role: job.RoleResult})
	}
	return out
}

// inDiff reports whether what stands before a name makes it one side of a diff.
func inDiff(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.HasPrefix(line, "diff --git ") || line == "--- " || line == "+++ "
}

// elsewhere reports whether a file is of a module that somebody else wrote, or of git.
func elsewhere(name string) bool {
	return strings.Contains(name, "node_modules/") || strings.Contains(name, "site-packages/") || strings.Contains(name, "@v") ||
		strings.HasPrefix(name, ".../") || strings.HasPrefix(name, "refs/") || strings.Contains(name, ".git/")
}

// endsName reports whether a byte stands beside a name rather than in it.
func endsName(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`()[]{}<>,;|=*", c) >= 0
}
