// Package git runs the git command with an environment that nobody outside
// can bend: inherited GIT_* variables are dropped, nothing prompts, nothing
// takes optional locks, no hook, file monitor or network transport starts.
//
// It knows how to start git, feed it, read its NUL-separated answers and say
// what went wrong. It knows nothing of safe points: which commands are run,
// and why, is the business of package workspace. It is not a git library; the
// git program is the one that agrees with the user's repository.
package git
