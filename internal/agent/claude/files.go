package claude

import (
	"path"
	"strings"
	"unicode/utf8"
)

// folderMost is how much of a folder's name Claude Code keeps, in characters; a
// longer one ends in a digest.
const folderMost = 200

// Keeps gives the glob patterns of the transcripts that Claude Code keeps: of
// sessions in a folder or below it, or of all when dir is empty. Folders of other
// names may fit too: a transcript's own header says where its session worked.
func (Adapter) Keeps(home, dir string, env func(string) string) []string {
	base := configDir(home, env)
	if base == "" {
		return nil
	}
	return []string{path.Join(base, "projects", folderName(dir)+"*", "*.jsonl")}
}

// configDir is the folder of Claude Code, empty when it is not known.
func configDir(home string, env func(string) string) string {
	if dir := env("CLAUDE_CONFIG_DIR"); dir != "" || home == "" {
		return dir
	}
	return path.Join(home, ".claude")
}

// SessionOf is the id of the session whose transcript is at path, empty when it is a
// sub-agent's, which earlier versions kept in the same folder.
func (Adapter) SessionOf(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	id, ok := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
	if !ok || strings.HasPrefix(id, "agent-") {
		return ""
	}
	return id
}

// folderName is what Claude Code calls the folder of a working folder's sessions:
// all but ASCII letters and digits are dashes, by characters of UTF-16.
func folderName(dir string) string {
	var b strings.Builder
	for _, r := range dir {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case r > 0xffff && r <= utf8.MaxRune:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
		if b.Len() >= folderMost {
			return b.String()[:folderMost]
		}
	}
	return b.String()
}
