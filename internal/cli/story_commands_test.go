//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/job"
)

// The commands of the stories beyond those of testscript:
//
//	clock TIME|+DURATION         set the clock, or move it forward
//	repo FOLDER                  make a git repository of a folder's files, with one commit
//	start NAME GOAL [FLAG…]      duplex start; $NAME is the job's short name
//	let NAME REGEXP              $NAME is what the first group finds in the last output
//	agent NAME SCRIPT PROMPT [FLAG…]  start a session of the scripted agent beside the story; its id is NAME,
//	                             and what it prints is told as a person reads it
//	background NAME COMMAND…     start a process that goes on beside the story
//	until NAME|FILE TEXT         wait until a line it printed begins with a text, or a text stands in a file
//	join NAME                    wait for its end; ! join: it ends with an error
//	freeze|thaw|interrupt|kill9  NAME, or a file with a process id: stop, continue, Ctrl-C, kill -9
//	hook AGENT EVENT [NAME=VALUE…]  call duplex hook with the event in a file, by hand
//	golden NAME                  the last output is the text in testdata/story/<story>/NAME

type playKey struct{}

// play is what runs beside one story.
type play struct {
	running   map[string]*running
	variables []string // those that setup gave the story
}

// running is one process beside a story, with what it printed so far.
type running struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	said   strings.Builder
	more   *sync.Cond
	closed bool
	joined bool
	ended  chan struct{} // and all it printed is there
	err    error
}

func playOf(ts *testscript.TestScript) *play { return ts.Value(playKey{}).(*play) }

func usage(ts *testscript.TestScript, ok bool, how string) {
	if !ok {
		ts.Fatalf("usage: %s", how)
	}
}

func clockCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "clock TIME|+DURATION")
	ts.Check(storyClock(ts.Getenv("STORY_CLOCK")).move(args[0]))
}

func repoCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "repo FOLDER")
	dir := ts.MkAbs(args[0])
	for _, a := range [][]string{{"init", "-q", dir}, {"-C", dir, "add", "-A"}, {"-C", dir, "commit", "-q", "-m", "begin"}} {
		ts.Check(ts.Exec("git", a...))
	}
}

// startCommand begins a job and remembers what it is called.
func startCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "start NAME GOAL [FLAG…]")
	program, err := lookPath("duplex", ts.Getenv("PATH"))
	ts.Check(err)
	c := exec.Command(program, append([]string{"start"}, args[1:]...)...)
	c.Args[0], c.Dir, c.Env, c.Stderr = "duplex", ts.MkAbs("."), environ(ts), ts.Stderr()
	out, err := c.Output()
	fmt.Fprintf(ts.Stdout(), "%s", out)
	ts.Check(err)
	name := opened.FindSubmatch(out)
	if name == nil {
		ts.Fatalf("it names no job")
	}
	ts.Setenv(args[0], string(name[1]))
	ts.Setenv("STORY_JOBS", ts.Getenv("STORY_JOBS")+" "+string(name[1]))
}

var opened = regexp.MustCompile(`(?m)^(\S+) is open`)

func letCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "let NAME REGEXP")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	out := ts.ReadFile("stdout")
	m := re.FindStringSubmatch(out)
	if len(m) < 2 {
		ts.Fatalf("no %s in the last output:\n%s", args[1], out)
	}
	ts.Setenv(args[0], m[1])
}

func backgroundCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "background NAME COMMAND…")
	p, name := playOf(ts), args[0]
	if p.running[name] != nil {
		ts.Fatalf("%s runs already", name)
	}
	program, err := lookPath(args[1], ts.Getenv("PATH"))
	ts.Check(err)
	r := &running{cmd: exec.Command(program, args[2:]...), ended: make(chan struct{})}
	r.cmd.Args[0] = args[1]
	r.more = sync.NewCond(&r.mu)
	r.cmd.Dir = ts.MkAbs(".")
	r.cmd.Env = environ(ts)
	read, write := io.Pipe()
	r.cmd.Stdout, r.cmd.Stderr = write, write
	ts.Check(r.cmd.Start())
	p.running[name] = r
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		r.listen(read)
	}()
	go func() {
		r.err = r.cmd.Wait()
		write.Close()
		<-heard
		close(r.ended)
	}()
	ts.Defer(func() {
		_ = r.cmd.Process.Signal(syscall.SIGCONT)
		_ = r.cmd.Process.Kill()
		<-r.ended
		if !r.joined {
			ts.Logf("[%s]\n%s", name, r.text())
		}
	})
}

// environ is what a command of the story is given.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range append(playOf(ts).variables, "DUPLEX_JOB", "DUPLEX_OFF") {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func lookPath(program, path string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if file, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w", program, exec.ErrNotFound)
}

// agentCommand sits a person down at the scripted agent: what they would type.
func agentCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 3, "agent NAME SCRIPT PROMPT [FLAG…]")
	line := []string{args[0], "duplex", "agent-script", "--script", ts.MkAbs(args[1]), "--prompt", args[2]}
	if !slices.Contains(args, "--resume") {
		line = append(line, "--session-id", args[0])
	}
	backgroundCommand(ts, false, append(line, args[3:]...))
}

func (r *running) listen(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		r.mu.Lock()
		r.said.WriteString(told(line))
		r.closed = err != nil
		r.more.Broadcast()
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// told is a line of the scripted agent's output as a person reads it: what it
// says, what it calls, and what came of it. Other lines stay as they are.
func told(line string) string {
	var l script.StreamLine
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &l) != nil || l.SessionID == "" {
		return line
	}
	var b strings.Builder
	switch {
	case l.Type == script.StreamResult:
		fmt.Fprintf(&b, "(turn ended: %s)\n", l.TerminalReason)
	case l.Message == nil:
		fmt.Fprintf(&b, "(%s)\n", l.Subtype)
	default:
		for _, block := range l.Message.Content {
			switch block.Type {
			case "tool_use":
				fmt.Fprintf(&b, "$ %s %s\n", block.Name, first(block.Input.Command, block.Input.Path, block.Input.Pattern, block.Input.Question, block.Input.Prompt))
			default:
				for line := range strings.Lines(strings.TrimRight(block.Text+block.Content, "\n")) {
					b.WriteString(job.Clip(strings.TrimRight(line, "\n"), 160) + "\n")
				}
			}
		}
	}
	return b.String()
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (r *running) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

// patience ends a story that waits for what never comes.
const patience = 2 * time.Minute

func untilCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "until NAME|FILE TEXT")
	if strings.Contains(args[0], "/") {
		untilFile(ts, args[0], args[1])
		return
	}
	r := playOf(ts).named(ts, args[0])
	late := time.AfterFunc(patience, func() {
		r.mu.Lock()
		r.closed = true
		r.more.Broadcast()
		r.mu.Unlock()
	})
	defer late.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !strings.Contains("\n"+r.said.String(), "\n"+args[1]) {
		if r.closed {
			ts.Fatalf("%s never said %q:\n%s", args[0], args[1], r.said.String())
		}
		r.more.Wait()
	}
}

// untilFile looks again and again: a file tells nobody that it has grown.
func untilFile(ts *testscript.TestScript, file, text string) {
	for late := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile(ts.MkAbs(file))
		if strings.Contains(string(data), text) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("%q never stood in %s (%v):\n%s", text, file, err, data)
		}
	}
}

func joinCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1, "join NAME")
	r := playOf(ts).named(ts, args[0])
	select {
	case <-r.ended:
	case <-time.After(patience):
		ts.Fatalf("%s does not end:\n%s", args[0], r.text())
	}
	delete(playOf(ts).running, args[0])
	r.joined = true
	fmt.Fprint(ts.Stdout(), r.text())
	if failed := r.err != nil; failed != neg {
		ts.Fatalf("%s ended with %v:\n%s", args[0], r.err, r.text())
	}
	var exit *exec.ExitError
	if errors.As(r.err, &exit) {
		fmt.Fprintf(ts.Stdout(), "exit %d\n", exit.ExitCode())
	}
}

func (p *play) named(ts *testscript.TestScript, name string) *running {
	r := p.running[name]
	if r == nil {
		ts.Fatalf("nothing called %s runs beside the story", name)
	}
	return r
}

// signalCommand sends a signal to a process beside the story, or to one whose id
// stands in a file.
func signalCommand(sig os.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		usage(ts, !neg && len(args) == 1, "freeze|thaw|interrupt|kill9 NAME|FILE")
		if r := playOf(ts).running[args[0]]; r != nil {
			ts.Check(r.cmd.Process.Signal(sig))
			return
		}
		pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
		ts.Check(err)
		p, err := os.FindProcess(pid)
		ts.Check(err)
		ts.Check(p.Signal(sig))
	}
}

// hookCommand calls duplex hook as an agent does; $NAME in the file is the
// story's variable of that name.
func hookCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "hook AGENT EVENT [NAME=VALUE…]")
	event := os.Expand(ts.ReadFile(args[1]), ts.Getenv)
	program, err := lookPath("duplex", ts.Getenv("PATH"))
	ts.Check(err)
	log := filepath.Join(ts.Getenv("DUPLEX_HOME"), "hook.log")
	before, _ := os.ReadFile(log) // of hooks that were ended with their agent
	c := exec.Command(program, "hook", args[0])
	c.Args[0] = "duplex"
	c.Dir, c.Env, c.Stdin = ts.MkAbs("."), append(environ(ts), args[2:]...), strings.NewReader(event)
	c.Stdout, c.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(c.Run())
	if after, err := os.ReadFile(log); err == nil && len(after) > len(before) {
		ts.Fatalf("the hook says what went wrong:\n%s", after[len(before):])
	}
}

// goldenCommand holds the last output against a file that a reader can look at;
// -update writes it anew.
func goldenCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "golden NAME")
	got := masked(ts, ts.ReadFile("stdout"))
	path := filepath.Join(storyDir, strings.TrimPrefix(ts.Name(), "script-"), args[0])
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	ts.Check(err)
	if got != string(want) {
		ts.Fatalf("%s differs (write anew with -update):\n%s\nwant:\n%s", path, got, want)
	}
}

var storyDir = filepath.Join("testdata", "story")

// masked takes out what is another in every run: the names of jobs, ids, and the
// folder it played in.
func masked(ts *testscript.TestScript, text string) string {
	for i, name := range strings.Fields(ts.Getenv("STORY_JOBS")) {
		text = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(text, []string{"k7m2", "q4vn", "h3xd"}[i])
	}
	home := []string{ts.Getenv("HOME"), ts.Getenv("WORK")}
	sort.Slice(home, func(i, j int) bool { return len(home[i]) > len(home[j]) })
	for _, h := range home {
		text = strings.ReplaceAll(text, h, "/home/mara")
	}
	for _, m := range []struct{ is, becomes string }{
		{`\b[a-z2-7]{26}\b`, "<id>"}, {`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`, "<session>"}, {`\b[0-9a-f]{40}\b`, "<commit>"},
	} {
		text = regexp.MustCompile(m.is).ReplaceAllString(text, m.becomes)
	}
	return text
}
