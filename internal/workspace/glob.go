package workspace

import (
	"fmt"
	"regexp"
	"strings"
)

// CheckGlobs refuses patterns that name nothing or cannot be meant, before anybody
// relies on them. In one that was agreed already, a "[" without an end is the sign.
func CheckGlobs(globs []string) error {
	for _, g := range globs {
		if unclosed(g) {
			return fmt.Errorf("pattern %q: its \"[\" is not closed; the sign itself is written \"\\[\"", g)
		}
	}
	_, err := compileGlobs(globs)
	return err
}

// compileGlobs makes one matcher of patterns written as in .gitignore: without
// a "/" inside, a pattern names files and folders anywhere, else it counts
// from the top; "*" and "?" stop at "/", "**" does not; a folder that matches
// matches with all in it. A later "!pattern" takes away.
func compileGlobs(globs []string) (func(path string) bool, error) {
	type rule struct {
		re     *regexp.Regexp
		negate bool
	}
	var rules []rule
	for _, g := range globs {
		pattern, negate := strings.CutPrefix(g, "!")
		if strings.Trim(pattern, "/ ") == "" {
			return nil, fmt.Errorf("pattern %q names nothing", g)
		}
		re, err := regexp.Compile(globRegexp(pattern))
		if err != nil {
			return nil, fmt.Errorf("pattern %q: it is written as in .gitignore", g)
		}
		rules = append(rules, rule{re, negate})
	}
	return func(path string) bool {
		matched := false
		for _, r := range rules {
			if r.negate == matched && r.re.MatchString(path) {
				matched = !r.negate
			}
		}
		return matched
	}, nil
}

// unclosed finds a set without an end, which git would take for a pattern that
// matches nothing.
func unclosed(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			set := glob[min(i+2, len(glob)):] // a "]" that comes first belongs to the set
			end := strings.IndexByte(set, ']')
			if end < 0 {
				return true
			}
			i += 2 + end
		}
	}
	return false
}

// globRegexp translates one pattern.
func globRegexp(glob string) string {
	folder := strings.HasSuffix(glob, "/")
	body := strings.TrimSuffix(glob, "/")
	anchored := strings.Contains(body, "/")
	body = strings.TrimPrefix(body, "/")
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	if !anchored {
		b.WriteString(`(?:.*/)?`)
	}
	for i := 0; i < len(body); {
		rest := body[i:]
		switch {
		case strings.HasPrefix(rest, "**/") && (i == 0 || body[i-1] == '/'):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case rest == "**" && (i == 0 || body[i-1] == '/'):
			b.WriteString(`.+`)
			i += 2
		case rest[0] == '*':
			b.WriteString(`[^/]*`)
			i++
		case rest[0] == '?':
			b.WriteString(`[^/]`)
			i++
		case rest[0] == '[' && strings.IndexByte(rest[1:], ']') > 0:
			end := 1 + strings.IndexByte(rest[1:], ']')
			set := strings.ReplaceAll(rest[1:end], `\`, `\\`)
			if strings.HasPrefix(set, "!") {
				set = "^/" + set[1:]
			}
			b.WriteString("[" + set + "]")
			i += end + 1
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
			i++
		}
	}
	if folder {
		b.WriteString(`/.+\z`)
	} else {
		b.WriteString(`(?:/.+)?\z`)
	}
	return b.String()
}
