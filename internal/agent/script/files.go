package script

import (
	"path"
	"strings"
)

// Keeps gives the glob pattern of the transcripts that the scripted agent keeps:
// those of all folders stand beside each other.
func (Adapter) Keeps(home, _ string, env func(string) string) []string {
	base := env("SCRIPT_HOME")
	if base == "" {
		if home == "" {
			return nil
		}
		base = path.Join(home, ".duplex-script")
	}
	return []string{path.Join(base, "sessions", "*.jsonl")}
}

// SessionOf is the id of the session whose transcript is at path.
func (Adapter) SessionOf(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	id, ok := strings.CutSuffix(name, ".jsonl")
	if !ok {
		return ""
	}
	return id
}
