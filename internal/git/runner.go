package git

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Runner starts git in one place with one environment. The zero value runs
// in the current directory and lets git discover the repository. A Runner is
// a value: With returns a changed copy.
type Runner struct {
	Dir    string     // working directory of the process; "" is ours
	Env    []string   // "NAME=value", set after the inherited GIT_* were dropped
	Config []string   // "section.key=value", given as -c before the command
	Files  []*os.File // kept open in the child; a lock lives as long as the git it guards
}

// User returns a Runner for the repository of a person: their configuration
// is read, their hooks and file monitor are not started. dir is the git dir
// (of a linked work tree, its own), top the work tree. Naming both spares the
// discovery, and with it the refusal of repositories another user owns.
func User(dir, top string) Runner {
	return Runner{
		Dir:    top,
		Env:    []string{"GIT_DIR=" + dir, "GIT_WORK_TREE=" + top},
		Config: []string{"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.logAllRefUpdates=false"},
	}
}

// Private returns a Runner for a git dir of our own over somebody's work
// tree: only that dir's configuration counts, neither the user's nor the
// machine's. Paths are taken literally.
func Private(dir, top string) Runner {
	return Runner{Dir: top, Env: []string{
		"GIT_DIR=" + dir,
		"GIT_WORK_TREE=" + top,
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_LITERAL_PATHSPECS=1",
	}}
}

// Storing returns a copy of r that writes new objects to dir and looks for
// others in alternates too.
func (r Runner) Storing(dir string, alternates ...string) Runner {
	quoted := make([]string, len(alternates))
	for i, a := range alternates {
		quoted[i] = quoteAlternate(a)
	}
	return r.With("GIT_OBJECT_DIRECTORY="+dir,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(quoted, string(os.PathListSeparator)))
}

// quoteAlternate quotes a directory the way git's alternates variable wants
// it, so that a colon in a path does not make two directories of it.
func quoteAlternate(dir string) string {
	if !strings.ContainsAny(dir, "\":;\\") {
		return dir
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(dir) + `"`
}

// With returns a copy of r with more environment; a later value wins.
func (r Runner) With(env ...string) Runner {
	r.Env = append(append([]string(nil), r.Env...), env...)
	return r
}

// Run runs git and drops what it prints.
func (r Runner) Run(ctx context.Context, args ...string) error {
	_, err := r.Feed(ctx, nil, args...)
	return err
}

// Output runs git and returns what it prints.
func (r Runner) Output(ctx context.Context, args ...string) ([]byte, error) {
	return r.Feed(ctx, nil, args...)
}

// Line runs git and returns what it prints without the line end.
func (r Runner) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Feed(ctx, nil, args...)
	return strings.TrimRight(string(out), "\r\n"), err
}

// Records runs git and returns the NUL-terminated records it prints.
func (r Runner) Records(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.Feed(ctx, nil, args...)
	return Split(out), err
}

// Feed runs git with stdin and returns what it prints, also when it fails:
// some commands answer in part and exit with 1.
func (r Runner) Feed(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.Bytes(), wrap(ctx, args, complaint.String(), err)
	}
	return out.Bytes(), nil
}

// Stream runs git with stdin and hands its output to read while it runs, so
// that an answer of any size needs no memory. When read returns an error, git
// is stopped and that error returned.
func (r Runner) Stream(ctx context.Context, stdin io.Reader, read func(io.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.command(ctx, args)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return wrap(ctx, args, "", err)
	}
	if err := cmd.Start(); err != nil {
		return wrap(ctx, args, "", err)
	}
	if err := read(out); err != nil {
		cancel()
		_ = cmd.Wait() // it was stopped: how it ended says nothing
		return err
	}
	if err := cmd.Wait(); err != nil {
		return wrap(ctx, args, complaint.String(), err)
	}
	return nil
}

func (r Runner) command(ctx context.Context, args []string) *exec.Cmd {
	var full []string
	for _, c := range r.Config {
		full = append(full, "-c", c)
	}
	cmd := exec.CommandContext(ctx, "git", append(full, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(environment(os.Environ()), r.Env...)
	cmd.ExtraFiles = r.Files
	cmd.WaitDelay = 5 * time.Second // a grandchild that keeps a pipe open does not keep us
	return cmd
}

// environment is what every git gets: the caller's, without any GIT_*, and
// with fixed answers to everything that would ask, lock, translate or connect.
func environment(inherited []string) []string {
	env := make([]string, 0, len(inherited)+16)
	for _, e := range inherited {
		if !strings.HasPrefix(strings.ToUpper(e), "GIT_") {
			env = append(env, e)
		}
	}
	return append(env,
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",     // partial clones (git 2.45 on)
		"GIT_ALLOW_PROTOCOL=none", // and the same for older ones: no transport has that name
		"GIT_AUTHOR_NAME=duplex", "GIT_AUTHOR_EMAIL=duplex@localhost",
		"GIT_COMMITTER_NAME=duplex", "GIT_COMMITTER_EMAIL=duplex@localhost",
	)
}
