package scripted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/process"
)

const (
	maxOutput   = 30_000  // bytes of a command's output that the model gets
	maxRead     = 256_000 // bytes of a file
	maxFound    = 200     // lines of a search
	toolTimeout = 2 * time.Hour
)

// done is what came of a tool call, and what hooks are told of it.
type done struct {
	text     string // what the model reads
	result   script.Outcome
	response script.ToolResponse
	millis   int64
	asked    bool // a question that nobody answered
	aborted  bool
}

func ok(text string) done {
	return done{text: text, result: script.OK, response: script.ToolResponse{Text: text}}
}

func failed(text string) done { return done{text: text, result: script.Failed} }

// tool runs one call. Crash means: not to its end.
func (s *session) tool(ctx context.Context, u script.Use, crash bool) done {
	begun := s.o.Now()
	var d done
	switch u.Name {
	case script.Bash:
		d = s.bash(ctx, u.Input, crash)
	case script.Edit, script.Write:
		d = s.change(u, crash)
	default:
		if crash {
			s.o.Kill()
		}
		d = s.look(ctx, u)
	}
	d.millis = s.o.Now().Sub(begun).Milliseconds()
	return d
}

// look runs the tools that change nothing here.
func (s *session) look(ctx context.Context, u script.Use) done {
	switch u.Name {
	case script.Read:
		return s.read(u.Input.Path)
	case script.Grep, script.Glob:
		return s.search(u)
	case script.Agent:
		return s.delegate(ctx, u)
	case script.AskUser:
		if text := s.o.Answer; text != "" {
			s.o.Answer = ""
			return ok(text)
		}
		d := failed("Nobody is here to answer. The question stays open.")
		d.asked = true
		return d
	}
	return failed("No such tool: " + u.Name)
}

func (s *session) bash(ctx context.Context, in script.Input, crash bool) done {
	spec := process.Spec{Shell: in.Command, Dir: s.o.Dir, Env: s.env, TailBytes: maxOutput, Timeout: toolTimeout}
	if in.Timeout > 0 {
		spec.Timeout = time.Duration(in.Timeout) * time.Millisecond
	}
	if crash {
		spec.OnStart = func(process.Ident) { s.o.Kill() }
	}
	r := process.Run(ctx, spec)
	switch {
	case !r.Started && !r.Cancelled:
		return failed("The command could not start: " + r.Err)
	case r.Cancelled:
		d := failed(script.ExitText(137, r.Output))
		d.aborted = true
		return d
	case r.TimedOut:
		return failed(script.ExitText(124, r.Output+"\nThe command took longer than "+spec.Timeout.String()+" and was ended."))
	case r.Signal != "":
		return failed(script.ExitText(137, r.Output))
	case r.Exit != 0:
		return failed(script.ExitText(r.Exit, r.Output))
	}
	return done{text: r.Output, result: script.OK, response: script.ToolResponse{Stdout: r.Output}}
}

func (s *session) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.o.Dir, path)
}

func (s *session) read(path string) done {
	data, err := os.ReadFile(s.abs(path))
	switch {
	case err != nil:
		return failed(plainly(err))
	case len(data) > maxRead:
		return failed(fmt.Sprintf("%s has %d bytes, which is too much to read", path, len(data)))
	}
	return ok(script.Numbered(string(data)))
}

// plainly leaves out the folder, so that the text is the same everywhere.
func plainly(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return filepath.Base(at.Path) + ": " + at.Err.Error()
	}
	return err.Error()
}

// change writes a file, or half of it.
func (s *session) change(u script.Use, crash bool) done {
	in, path := u.Input, s.abs(u.Input.Path)
	before, err := os.ReadFile(path)
	after := in.Content
	switch {
	case u.Name == script.Edit && err != nil:
		return failed(plainly(err))
	case u.Name == script.Edit:
		if n := strings.Count(string(before), in.Old); in.Old == "" || n != 1 {
			return failed(fmt.Sprintf("old_string stands %d times in %s: it must stand there once", n, in.Path))
		}
		after = strings.Replace(string(before), in.Old, in.New, 1)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return failed(plainly(err))
	}
	if crash {
		after = after[:len(after)/2]
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return failed(plainly(err))
	}
	if err := os.WriteFile(path, []byte(after), 0o644); err != nil {
		return failed(plainly(err))
	}
	if crash {
		s.o.Kill()
	}
	return ok("The file " + in.Path + " has been updated.")
}

// search runs Grep and Glob over the folder, without what stands in .git.
func (s *session) search(u script.Use) done {
	in := u.Input
	pattern := in.Pattern
	if u.Name == script.Glob {
		pattern = globPattern(in.Pattern)
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return failed("the pattern cannot be read: " + err.Error())
	}
	var found []string
	root := s.abs(in.In)
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case len(found) >= maxFound:
			return fs.SkipAll
		case !e.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(s.o.Dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if u.Name == script.Glob {
			if match.MatchString(name) {
				found = append(found, name)
			}
			return nil
		}
		found = append(found, grep(match, path, name, maxFound-len(found))...)
		return nil
	})
	if err != nil {
		return failed(plainly(err))
	}
	if len(found) == 0 {
		return ok("Nothing found.")
	}
	return ok(strings.Join(found, "\n"))
}

func grep(match *regexp.Regexp, path, name string, most int) []string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) > maxRead {
		return nil
	}
	var found []string
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if len(found) < most && match.MatchString(line) {
			found = append(found, fmt.Sprintf("%s:%d:%s", name, n, strings.TrimRight(line, "\r\n")))
		}
	}
	return found
}

// globPattern makes a regexp of a pattern in which ** crosses folders.
func globPattern(glob string) string {
	p := regexp.QuoteMeta(glob)
	p = strings.ReplaceAll(p, `\*\*/`, `(.*/)?`)
	p = strings.ReplaceAll(p, `\*`, `[^/]*`)
	return "^" + strings.ReplaceAll(p, `\?`, `[^/]`) + "$"
}
