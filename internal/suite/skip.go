package main

import "strings"

// skip is a stage's word that it could not look.
type skip struct{ reason string }

func (s *skip) Error() string { return s.reason }

// allowedSkips are the reasons for which CI may leave something out. A reason is compared by its beginning,
// so a test says `t.Skip("only on windows: junctions are not symlinks")`. Anything else that is skipped
// fails CI: a test that silently stopped running is a test that is gone.
var allowedSkips = []struct{ begins, because string }{
	{"only on windows", "the others have nothing to test there"},
	{"only on darwin", "the others have nothing to test there"},
	{"only on linux", "the others have nothing to test there"},
	{"not on windows", "it lacks what the test is about"},
	{"root is not held back by file modes", "the test takes a right away, and root keeps it"},
	{noDatabase, "it is on a server that some networks do not reach"},
	{noCompiler, "the race detector links C"},
}

func allowed(reason string) bool {
	for _, a := range allowedSkips {
		if strings.HasPrefix(reason, a.begins) {
			return true
		}
	}
	return false
}
