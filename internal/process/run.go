package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	defaultTail  = 64 << 10
	defaultGrace = 2 * time.Second
	// flush is how long a pipe may stay open after the process ended: bash's
	// `exec > >(tee log)` writes its last lines then.
	flush = 250 * time.Millisecond
	// burial is how often orphans that have ended are taken out of the table.
	burial = 5 * time.Second
	// markVariable names every run that a process is part of, outermost first.
	markVariable = "DUPLEX_TREE"
)

// Spec is a command to run.
type Spec struct {
	Dir            string
	Env            []string // nil: ours
	Argv           []string // the program is looked for in Env's PATH
	Shell          string   // a command line for sh -c (cmd /C on Windows), when Argv is empty
	Stdin          io.Reader
	Stdout, Stderr io.Writer     // get everything as it is written; the same writer for both keeps its order
	Timeout        time.Duration // none when 0
	Grace          time.Duration // between asking the tree to end and killing it; 2 s when 0
	TailBytes      int           // how much Output keeps; 64 KB when 0
	OnStart        func(Ident)   // told who was started, before anything is waited for
	Bound          bool          // the tree also ends when we are killed and cannot end it (not on Windows)
	// Mark names the tree for KillMarked, which another process may call when this
	// one was killed: letters and digits, of no other tree. A random one when empty.
	Mark string
	// Orphans: what became our child while the command ran is of its tree, whatever
	// it did to its environment. Call Subreaper first, and start nothing meanwhile.
	Orphans bool
}

// Result is how a command ended. It passed when Passed says so and not before.
type Result struct {
	Exit                int // -1 when it did not end by itself
	TimedOut, Cancelled bool
	Signal              string // what ended it, as "killed"; empty when it exited
	Output              string // the tail of both streams, as they were written
	Truncated           int64  // bytes of output before that tail
	Duration            time.Duration
	Started             bool
	Err                 string // why it could not start
}

// Run runs a command in a session of its own and waits for it. When its time
// is up or ctx is cancelled the whole tree ends, grandchildren that made their
// own session and were given to init included; what is left of the tree when
// the command ends by itself ends too (Detach is for what shall outlive it).
// A reader that never ends, given as Stdin, keeps a goroutine until it does.
func Run(ctx context.Context, s Spec) Result {
	begun := time.Now()
	result := Result{Exit: -1}
	if ctx.Err() != nil {
		result.expired(ctx)
		return result
	}
	cmd, mark, err := s.command()
	if err != nil {
		result.Err = err.Error()
		return result
	}
	out, err := s.capture(cmd)
	if err != nil {
		result.Err = err.Error()
		return result
	}
	var g *guard
	if s.Bound {
		g = newGuard(mark)
		defer g.release()
	}
	if err := s.start(cmd); err != nil {
		out.close()
		result.Err = err.Error()
		return result
	}
	g.watch(cmd.Process.Pid)
	out.copy()
	result.Started = true
	seen, _ := readRow(cmd.Process.Pid) // in the table, ended or not, until it is waited for
	if s.OnStart != nil {
		s.OnStart(Ident{Host: hostID(), Boot: bootID(), PID: cmd.Process.Pid, Start: seen.start})
	}
	t := newTree(cmd.Process.Pid, seen.start, mark)
	t.leader, t.orphans = true, s.Orphans

	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var timeUp <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		timeUp = timer.C
	}
	var look <-chan time.Time
	if s.Orphans {
		ticker := time.NewTicker(burial)
		defer ticker.Stop()
		look = ticker.C
	}
	for running := true; running; {
		running = false
		select {
		case <-ended:
			out.drained(flush)
		case <-timeUp:
			result.TimedOut = true
		case <-ctx.Done():
			result.expired(ctx)
		case <-look:
			bury(cmd.Process.Pid, g)
			running = true
		}
	}
	grace := s.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	t.end(grace)
	if s.Orphans {
		bury(cmd.Process.Pid, g)
	}
	if result.TimedOut || result.Cancelled {
		<-ended
	}
	out.drained(endure)
	out.close()
	result.Output, result.Truncated = out.tail.text()
	result.Duration = time.Since(begun)
	result.read(cmd.ProcessState)
	return result
}

// Passed tells whether the command ran to its end and exited with 0.
func (r Result) Passed() bool {
	return r.Started && r.Exit == 0 && r.Signal == "" && !r.TimedOut && !r.Cancelled
}

func (r *Result) expired(ctx context.Context) {
	r.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
	r.Cancelled = !r.TimedOut
}

func (r *Result) read(state *os.ProcessState) {
	if state == nil {
		return
	}
	r.Exit = state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Signal = status.Signal().String()
	}
}

// command builds what is to be started, and the mark its tree carries.
func (s Spec) command() (*exec.Cmd, string, error) {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	argv := s.Argv
	if len(argv) == 0 {
		if strings.TrimSpace(s.Shell) == "" {
			return nil, "", errors.New("no command to run")
		}
		argv = shell(s.Shell)
	}
	path, err := Look(argv[0], env)
	if err != nil {
		return nil, "", err
	}
	mark := s.Mark
	if mark == "" {
		mark = fmt.Sprintf("%016x", rand.Uint64())
	}
	outer, _ := Lookup(env, markVariable)
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: s.Dir}
	cmd.Env = Changed(env, markVariable+"="+strings.TrimPrefix(outer+":"+mark, ":"))
	isolate(cmd)
	return cmd, mark, nil
}

// start starts cmd with the reader as its input. The pipe is ours to feed:
// Wait would otherwise wait for the reader.
func (s Spec) start(cmd *exec.Cmd) error {
	if file, ok := s.Stdin.(*os.File); ok || s.Stdin == nil {
		if ok {
			cmd.Stdin = file
		}
		return cmd.Start()
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(in, s.Stdin) // the command may well end before it has read everything
		_ = in.Close()
	}()
	return nil
}

// capture is the reading end of a command's output.
type capture struct {
	tail    *tail
	streams []stream
	copied  sync.WaitGroup
	done    chan struct{}
}

type stream struct {
	read, write *os.File
	to          io.Writer // may be nil
}

// capture gives cmd pipes to write to: one when both streams go to the same
// place, so that their lines keep the order they were written in.
func (s Spec) capture(cmd *exec.Cmd) (*capture, error) {
	limit := s.TailBytes
	if limit <= 0 {
		limit = defaultTail
	}
	c := &capture{tail: &tail{limit: limit}, done: make(chan struct{})}
	targets := []io.Writer{s.Stdout, s.Stderr}
	if same(s.Stdout, s.Stderr) {
		targets = targets[:1]
	}
	for _, to := range targets {
		read, write, err := os.Pipe()
		if err != nil {
			c.close()
			return nil, fmt.Errorf("open a pipe for output: %w", err)
		}
		c.streams = append(c.streams, stream{read, write, to})
	}
	cmd.Stdout = c.streams[0].write
	cmd.Stderr = c.streams[len(c.streams)-1].write
	return c, nil
}

// same compares two writers; those of a type that cannot be compared differ.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// copy reads until every process that may write has ended or let go. A writer
// that fails gets no more, but the command is still read, or it would block.
func (c *capture) copy() {
	for _, s := range c.streams {
		_ = s.write.Close()
		c.copied.Go(func() {
			buf := make([]byte, 32<<10)
			for to := s.to; ; {
				n, err := s.read.Read(buf)
				_, _ = c.tail.Write(buf[:n])
				if to != nil && n > 0 {
					if _, werr := to.Write(buf[:n]); werr != nil {
						to = nil
					}
				}
				if err != nil {
					return
				}
			}
		})
	}
	go func() {
		c.copied.Wait()
		close(c.done)
	}()
}

// drained waits until everything was read, for at most limit.
func (c *capture) drained(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
}

func (c *capture) close() {
	for _, s := range c.streams {
		_ = s.read.Close()
		_ = s.write.Close()
	}
}
