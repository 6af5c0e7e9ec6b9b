package agent

import (
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// effect is what one simple command does, as far as its name tells.
type effect int

const (
	neutral effect = iota // cd, echo: says nothing about the line it stands in
	reads
	acts
	tests
	commits
)

// Classify says what a shell line is as a step, and its title: one line for
// people. A line that only reads and searches has no class. What a line does
// most counts: a commit, then a test run, then anything else.
func Classify(command string) (job.Class, string) {
	return classify(command, stages(command))
}

// CommandLine fills in what a shell line says of a call, reading it once: its
// class and title, whether it may change something, what it reads, writes and
// searches for.
func (c *Call) CommandLine(command string) {
	all := stages(command)
	c.Command = command
	c.Class, c.Title = classify(command, all)
	c.Changes = !readOnly(all)
	c.Paths = append(touches(all, readsOf), touches(all, editsOf)...)
	c.Paths = c.Paths[:min(len(c.Paths), job.MaxPaths)]
	c.Symbols = searchesOf(all)
	c.Symbols = c.Symbols[:min(len(c.Symbols), job.MaxSymbols)]
}

func classify(command string, all []stage) (job.Class, string) {
	most, sawRead := neutral, false
	message := ""
	for _, s := range all {
		e := s.effect()
		sawRead = sawRead || e == reads
		if e > most {
			most = e
		}
		if e == commits && message == "" {
			message = s.message()
		}
	}
	title := commandTitle(command)
	switch most {
	case commits:
		if message != "" {
			title = "commit “" + job.Clip(OneLine(message), 90) + "”"
		}
		return job.ClassCommit, title
	case tests:
		return job.ClassTest, title
	case acts:
		return job.ClassCommand, title
	}
	if sawRead {
		return "", title
	}
	return job.ClassCommand, title
}

// ReadOnly reports whether a shell line only looks: what it runs is known to
// change nothing. A line that is not understood may change something.
func ReadOnly(command string) bool { return readOnly(stages(command)) }

func readOnly(all []stage) bool {
	for _, s := range all {
		if e := s.effect(); e != neutral && e != reads {
			return false
		}
	}
	return len(all) > 0
}

// OneLine folds white space, so that text of several lines fits one.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// commandTitle is the first line of a command that does something, without the
// `cd` in front of it.
func commandTitle(command string) string {
	line, first := "", ""
	for l := range strings.Lines(strings.ReplaceAll(command, "\\\n", " ")) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if first == "" {
			first = l
		}
		if !preamble(l) {
			line = l
			break
		}
	}
	if line == "" {
		line = first
	}
	for strings.HasPrefix(line, "cd ") {
		_, rest, ok := strings.Cut(line, "&&")
		if !ok {
			break
		}
		line = strings.TrimSpace(rest)
	}
	return job.Clip(OneLine(line), 120)
}

// preamble reports whether a line of a script only makes ready for the next ones.
func preamble(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	switch word {
	case "cd", "set", "export", "echo":
		return !strings.ContainsAny(line, "&|;>$`")
	}
	return false
}

// readers only show. Those with files as operands are in fileReaders.
const readers = " cat bat head tail less more nl ls ll tree wc file stat du df which type whereis whoami id uname ps env printenv" +
	" grep egrep fgrep zgrep rg ag ack find fd fdfind locate sort uniq cut tr paste comm diff cmp jq yq column xxd od hexdump" +
	" strings basename dirname realpath readlink md5sum sha1sum sha256sum cksum awk gawk sed lsof man tac rev fold expand "

const neutrals = " cd pushd popd echo printf true false test [ [[ : set export unset local declare sleep wait pwd date exit return break continue shift read trap ulimit shopt source . "

func (s stage) effect() effect {
	e := s.ownEffect()
	for _, w := range s.writes {
		if w != "/dev/null" && w != "/dev/stderr" && w != "/dev/stdout" {
			return max(e, acts)
		}
	}
	return e
}

// ownEffect is the effect without that of redirections.
func (s stage) ownEffect() effect {
	name := s.name()
	switch {
	case name == "":
		return neutral
	case among(neutrals, name):
		return neutral
	case name == "git":
		return s.gitEffect()
	case s.runsTests():
		return tests
	case name == "xargs":
		rest := stage{words: bare(flagless(s.words[1:]))}
		return max(rest.effect(), reads)
	case !among(readers, name):
		return s.toolEffect()
	case name == "sed" && (s.flag("i") || s.has("--in-place")),
		(name == "find" || name == "fd" || name == "fdfind") && s.has("-delete", "-exec", "-execdir", "-ok", "-x", "-X"),
		name == "env" && len(s.words) > 1:
		return acts
	}
	return reads
}

// gitEffect: the verbs that only look. `git branch x` and `git tag x` write.
func (s stage) gitEffect() effect {
	verb, rest := s.git()
	switch verb {
	case "commit":
		if slices.Contains(rest, "--dry-run") {
			return reads
		}
		return commits
	case "status", "log", "diff", "show", "blame", "ls-files", "ls-tree", "rev-parse", "grep", "describe", "shortlog",
		"cat-file", "merge-base", "rev-list", "name-rev", "ls-remote", "check-ignore", "for-each-ref", "show-ref", "help", "version", "":
		return reads
	case "branch", "tag", "remote", "stash", "worktree", "config", "reflog", "notes", "submodule":
		looks := map[string]string{"stash": " list show ", "worktree": " list ", "remote": " -v show get-url ", "config": " --get --list -l get list ",
			"branch": " -a -r -v -vv --list --show-current --all ", "tag": " -l --list -n ", "reflog": " show ", "notes": " list show ", "submodule": " status "}[verb]
		if len(rest) == 0 && verb != "stash" || len(rest) > 0 && among(looks, rest[0]) {
			return reads
		}
	}
	return acts
}

// git gives the verb and what follows it, past `-C dir` and `-c name=value`.
func (s stage) git() (string, []string) {
	for i := 1; i < len(s.words); i++ {
		switch w := s.words[i]; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree":
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return w, s.words[i+1:]
		}
	}
	return "", nil
}

// toolEffect: programs with verbs of which some only look.
func (s stage) toolEffect() effect {
	verb := ""
	if ops := s.operands(""); len(ops) > 0 {
		verb = ops[0]
	}
	looks := map[string]string{
		"go": " list doc env version ", "npm": " ls list view info outdated why ", "yarn": " list info why ", "pnpm": " list ls why outdated ",
		"cargo": " tree metadata search ", "pip": " list show freeze ", "docker": " ps images logs inspect ", "kubectl": " get describe logs ",
		"duplex": " show brief log jobs cost lessons verify config version help recall ",
	}
	if among(looks[s.name()], verb) {
		return reads
	}
	return acts
}

// message is the message of a git commit.
func (s stage) message() string {
	for i, w := range s.words {
		if rest, ok := strings.CutPrefix(w, "--message="); ok {
			return firstLine(rest)
		}
		if w == "--message" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.HasSuffix(w, "m") {
			if i+1 < len(s.words) {
				return firstLine(s.words[i+1])
			}
		}
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// CommitID finds the id in what git commit prints: "[main 4e1c9ab] message". When
// several commits were made, it is the last one's.
func CommitID(output string) string {
	id := ""
	for output != "" {
		line, rest, _ := strings.Cut(output, "\n")
		output = rest
		if !strings.HasPrefix(line, "[") {
			continue
		}
		branch, _, closed := strings.Cut(line, "] ")
		space := strings.LastIndexByte(branch, ' ')
		if word := branch[space+1:]; closed && space > 0 && len(word) >= 7 && len(word) <= 40 && strings.Trim(word, "0123456789abcdef") == "" {
			id = word
		}
	}
	return id
}

// LinesChanged counts lines added and removed between two texts: what is left
// of both without their common beginning and end.
func LinesChanged(before, after string) (added, removed int) {
	a, b := lines(before), lines(after)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(b), len(a)
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
