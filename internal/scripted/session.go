package scripted

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent/script"
)

// session is one run of the agent on one session.
type session struct {
	o      *Options
	script *script.Script
	model  string
	window int64

	id      string
	main    *transcript
	env     []string // of hooks and tools
	prompt  string   // id of the turn's prompt
	prompts int
	opened  int // how often this session was begun or resumed
	ids     int

	*thread // the main one
	totals  map[string]script.Usage
}

// thread is a context with its file: the session's own, or a sub-agent's.
type thread struct {
	context []script.Message
	file    *transcript
	agent   string // id of the sub-agent
	cached  int64  // tokens of the context that the provider has seen
	used    script.Usage
	turns   int
}

// begin opens the transcript of a new, resumed or forked session.
func begin(o *Options, s *script.Script) (_ *session, source string, err error) {
	n := &session{o: o, script: s, id: o.Session, totals: map[string]script.Usage{}, thread: &thread{}}
	source = "startup"
	var past script.Past
	var copied []script.Line
	if o.Resume != "" {
		source = "resume"
		old, lines, err := reopen(o.path(o.Resume))
		if err != nil {
			return nil, "", err
		}
		past = script.Recall(lines)
		if o.Fork {
			old.close()
			source, copied = "fork", lines
		} else {
			n.id, n.main = o.Resume, old
		}
	}
	n.model = o.Model
	if n.model == "" {
		n.model = past.Model
	}
	if n.model == "" {
		n.model = "script-small"
	}
	if n.window = o.Window; n.window <= 0 {
		n.window = script.Window(n.model)
	}
	if n.window == 0 {
		return nil, "", fmt.Errorf("model %q is unknown: script-small and script-large are there, or give its --window", n.model)
	}
	if n.id == "" {
		n.id = newID()
	}
	if n.main == nil {
		if n.main, err = create(o.path(n.id)); err != nil {
			return nil, "", err
		}
	}
	n.file, n.opened, n.prompts, n.totals = n.main, past.Opened+1, past.Prompts, past.Totals
	if n.totals == nil {
		n.totals = map[string]script.Usage{}
	}
	n.environ()
	n.context = append([]script.Message{n.self()}, past.Context...)
	from := ""
	if o.Fork {
		from = o.Resume
	}
	if err := n.open(source, from); err != nil {
		return nil, "", err
	}
	for _, l := range copied {
		if l.Type == script.LineSession {
			continue
		}
		l.SessionID = n.id
		if err := n.main.add(l); err != nil {
			return nil, "", err
		}
	}
	return n, source, n.mend(past.Dangling)
}

// mend tells the model of calls whose result a crash took away.
func (s *session) mend(dangling []script.Use) error {
	for _, u := range dangling {
		if err := s.addResult(s.thread, u, done{text: script.OutcomeUnknown, result: script.Unknown}); err != nil {
			return err
		}
	}
	return nil
}

// self is what the model is told about itself.
func (s *session) self() script.Message {
	return script.Message{Role: script.System, Text: "You are " + s.model + ", an agent that works in " + s.o.Dir +
		" by calling tools: Bash, Read, Edit, Write, Grep, Glob, Agent, AskUser. Work until nothing is left to do, then say so."}
}

func (s *session) environ() {
	s.env = append(append([]string(nil), s.o.Env...),
		script.EnvSession+"="+s.id, script.EnvPID+"="+strconv.Itoa(os.Getpid()))
	if s.o.Window > 0 {
		s.env = append(s.env, script.EnvWindow+"="+strconv.FormatInt(s.o.Window, 10))
	}
}

// open writes the line that says a session begins here.
func (s *session) open(source, from string) error {
	l := s.line(s.thread, script.LineSession)
	l.Agent, l.Version, l.Source, l.From = "script", script.Version, source, from
	l.Dir, l.Branch, l.Model, l.Window = s.o.Dir, branch(s.o.Dir), s.model, s.window
	return s.main.add(l)
}

// branch reads what .git/HEAD points to; git itself is not asked.
func branch(dir string) string {
	for {
		if data, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD")); err == nil {
			name, _ := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: refs/heads/")
			return name
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// line begins a line of a thread's transcript.
func (s *session) line(t *thread, kind string) script.Line {
	return script.Line{Type: kind, UUID: s.nextID(""), Time: s.o.Now().UTC().Truncate(time.Microsecond), SessionID: s.id,
		AgentID: t.agent, PromptID: s.prompt}
}

// nextID makes ids that are the same in every run of the same session, and
// differ between the times it is resumed.
func (s *session) nextID(prefix string) string {
	s.ids++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", s.id, s.opened, s.ids))
	return prefix + hex.EncodeToString(sum[:12])
}

func newID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// Run runs the agent and returns its exit code: 0 when its turns ended, also
// when a hook stopped them or a question is open; 1 for an error, a limit or a
// bound reached; 143 when it was told to end (SIGTERM, SIGINT or ctx).
func Run(ctx context.Context, o Options) int {
	s, err := o.complete()
	if err != nil {
		complain(o.Stderr, err)
		return 1
	}
	n, source, err := begin(&o, s)
	if err != nil {
		complain(o.Stderr, err)
		return 1
	}
	ctx, stop := ended(ctx)
	defer stop()
	code, err := n.run(ctx, source)
	n.main.close()
	if err != nil && !errors.Is(err, errAborted) {
		complain(o.Stderr, err)
		return 1
	}
	return code
}

// complain prints an error that keeps the agent from working.
func complain(w interface{ Write([]byte) (int, error) }, err error) {
	if w != nil {
		_, _ = fmt.Fprintf(w, "agent-script: %v\n", err)
	}
}

var errAborted = errors.New("told to end")

// run takes the session through its prompts to its end.
func (s *session) run(ctx context.Context, source string) (int, error) {
	if err := s.print(script.StreamLine{Type: script.StreamSystem, Subtype: "init", Model: s.model, Dir: s.o.Dir, Window: s.window,
		Tools: []string{script.Bash, script.Read, script.Edit, script.Write, script.Grep, script.Glob, script.Agent, script.AskUser}}); err != nil {
		return 1, err
	}
	if err := s.started(ctx, source, ""); err != nil {
		return 1, err
	}
	var last turn
	for _, prompt := range s.o.Prompts {
		var err error
		switch prompt {
		case "/clear":
			err = s.clear(ctx)
		case "/compact":
			err = s.compact(ctx, "manual")
		default:
			if last, err = s.turn(ctx, prompt); err == nil {
				err = s.printResult(last)
			}
		}
		if err != nil {
			return 1, err
		}
		if last.failed {
			break
		}
	}
	if err := s.end("other"); err != nil {
		return 1, err
	}
	switch {
	case last.reason == script.EndAborted:
		return 143, errAborted
	case last.failed:
		return 1, nil
	}
	return 0, nil
}

// started calls the hook of a session that begins, and adds what it says.
func (s *session) started(ctx context.Context, source, from string) error {
	in := script.HookInput{Event: script.HookSessionStart, Source: source, Model: s.model, From: from}
	if source == "fork" {
		in.From = s.o.Resume
	}
	if source == "resume" || source == "fork" {
		in.ContextTokens = script.Tokens(s.context)
	}
	return s.inject(s.thread, in.Event, s.fire(ctx, in).context)
}

// inject adds what a hook wants the model to know.
func (s *session) inject(t *thread, event, text string) error {
	if text == "" {
		return nil
	}
	t.context = append(t.context, script.Message{Role: script.System, Text: text})
	l := s.line(t, script.LineContext)
	l.Hook, l.Text = event, text
	return t.file.add(l)
}

// clear ends the session and goes on in a new one with an empty context.
func (s *session) clear(ctx context.Context) error {
	old := s.id
	if err := s.end("clear"); err != nil {
		return err
	}
	s.main.close()
	s.opened, s.ids, s.prompts, s.prompt = 1, 0, 0, ""
	s.id = s.nextID("")
	file, err := create(s.o.path(s.id))
	if err != nil {
		return err
	}
	s.main, s.thread, s.totals = file, &thread{file: file}, map[string]script.Usage{}
	s.environ()
	s.context = []script.Message{s.self()}
	if err := s.open("clear", old); err != nil {
		return err
	}
	return s.started(ctx, "clear", old)
}

// end calls the last hook and writes the totals, which only a clean exit has.
// It takes no longer than a hook may, also when the program was told to end.
func (s *session) end(reason string) error {
	s.fire(context.Background(), script.HookInput{Event: script.HookSessionEnd, Reason: reason})
	l := s.line(s.thread, script.LineTotals)
	l.Totals = s.totals
	if err := s.main.add(l); err != nil {
		return err
	}
	l = s.line(s.thread, script.LineEnd)
	l.Reason = reason
	return s.main.add(l)
}

// spend counts what a call of the model used.
func (s *session) spend(t *thread, u script.Usage) {
	s.totals[s.model] = s.totals[s.model].Plus(u)
	if t != nil {
		t.used = t.used.Plus(u)
	}
}

// wait blocks until a file is there; a fifo until somebody wrote to it.
func wait(ctx context.Context, path string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := os.Stat(path)
		if err == nil && info.Mode()&os.ModeNamedPipe == 0 {
			return
		}
		if err == nil {
			written := make(chan struct{})
			go func() {
				defer close(written)
				if f, err := os.Open(path); err == nil { // until a writer comes, and has closed it
					_, _ = io.Copy(io.Discard, f)
					_ = f.Close()
				}
			}()
			select {
			case <-written:
			case <-ctx.Done():
			}
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
