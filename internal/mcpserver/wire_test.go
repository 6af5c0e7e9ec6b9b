package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

// answered is what a test looks at of one line.
type answered struct {
	Version string `json:"jsonrpc"`
	ID      json.RawMessage
	Result  json.RawMessage
	Error   *fault
}

func parse(t *testing.T, lines []string) []answered {
	t.Helper()
	var out []answered
	for _, l := range lines {
		var a answered
		if err := json.Unmarshal([]byte(l), &a); err != nil || a.Version != "2.0" || (a.Result == nil) == (a.Error == nil) {
			t.Errorf("no answer: %s (%v)", l, err)
		}
		out = append(out, a)
	}
	return out
}

// away is a server without a store: what it answers, it answers by itself.
func away() *Server {
	return &Server{Dir: "/", Getenv: func(string) string { return "" }, Log: io.Discard, Version: "0",
		Open: func(context.Context, Need) (*tracker.Tracker, func() error, error) {
			return nil, nil, errors.New("no store")
		}}
}

// Each line stands alone: whatever is wrong with one, the next is answered.
func TestBytes(t *testing.T) {
	t.Parallel()
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", maxLine) + `"}}`
	for _, c := range []struct {
		what, sent string
		id         string
		code       int // 0: a result; 1: nothing at all
	}{
		{"a ping", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `1`, 0},
		{"an id that is a text", `{"jsonrpc":"2.0","id":"a\"b","method":"ping"}`, `"a\"b"`, 0},
		{"an id beyond 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `9007199254740993`, 0},
		{"blanks", " \t\r", ``, 1},
		{"CRLF", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r", `1`, 0},
		{"garbage", `hello`, `null`, notJSON},
		{"bytes that are no text", "\xff\xfe\x00", `null`, notJSON},
		{"half a message", `{"jsonrpc":"2.0","id":1,"meth`, `null`, notJSON},
		{"two on one line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, `null`, notJSON},
		{"a line too long", long, `null`, notJSON},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `null`, notARequest},
		{"a number", `7`, `null`, notARequest},
		{"no version", `{"id":1,"method":"ping"}`, `1`, notARequest},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `1`, notARequest},
		{"a method that is no text", `{"jsonrpc":"2.0","id":1,"method":7}`, `1`, notARequest},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `null`, notARequest},
		{"an id that is a list", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, `null`, notARequest},
		{"the probe of the next protocol", `{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{"_meta":{}}}`, `"p"`, unknownMethod},
		{"a method of no protocol", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 9000) + `"}`, `1`, unknownMethod},
		{"resources, which there are none of", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `1`, unknownMethod},
		{"a notification nobody knows", `{"jsonrpc":"2.0","method":"notifications/odd"}`, ``, 1},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, ``, 1},
		{"a cancellation that says nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}`, ``, 1},
		{"an answer nobody asked for", `{"jsonrpc":"2.0","id":1,"result":{}}`, ``, 1},
		{"a call without a name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, `1`, wrongParams},
		{"a call of a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `1`, wrongParams},
		{"a tool that is not there", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sing"}}`, `1`, wrongParams},
		{"a tool that fails", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"standing"}}`, `1`, 0},
		{"a greeting that says nothing", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`, `1`, 0},
	} {
		var out bytes.Buffer
		after := `{"jsonrpc":"2.0","id":"after","method":"ping"}`
		if err := away().Serve(t.Context(), strings.NewReader(c.sent+"\n"+after+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		got := parse(t, lines)
		want := 2
		if c.code == 1 {
			want = 1
		}
		if len(got) != want {
			t.Errorf("%s: %d answers\n%s", c.what, len(got), out.String())
			continue
		}
		alive := false
		for _, a := range got {
			if string(a.ID) == `"after"` {
				alive = a.Error == nil
				continue
			}
			code := 0
			if a.Error != nil {
				code = a.Error.Code
			}
			if string(a.ID) != c.id || code != c.code {
				t.Errorf("%s: answered %s with code %d, want %s with %d\n%.300s", c.what, a.ID, code, c.id, c.code, out.String())
			}
		}
		if !alive {
			t.Errorf("%s: the next message was not answered\n%.300s", c.what, out.String())
		}
		if out.Len() > 1000+len(instructions) {
			t.Errorf("%s: is answered with %d bytes", c.what, out.Len())
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2024-11-05": "2024-11-05",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "": "2025-11-25"} {
		var out bytes.Buffer
		sent := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q}}`, asked)
		if err := away().Serve(t.Context(), strings.NewReader(sent), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `"protocolVersion":"`+want+`"`) {
			t.Errorf("asked for %q: %s; want %s", asked, out.String(), want)
		}
	}
}

// slow is a server whose store opens when it is let, or when its call is cancelled.
func slow() (s *Server, opening chan struct{}, let chan struct{}) {
	s, opening, let = away(), make(chan struct{}, 100), make(chan struct{})
	s.Open = func(ctx context.Context, _ Need) (*tracker.Tracker, func() error, error) {
		opening <- struct{}{}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-let:
			return nil, nil, errors.New("no store")
		}
	}
	return s, opening, let
}

// dialogue speaks with a server line by line.
type dialogue struct {
	t     *testing.T
	to    io.WriteCloser
	from  *bufio.Scanner
	ended chan error
}

func speak(t *testing.T, s *Server) *dialogue {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	d := &dialogue{t, to, bufio.NewScanner(from), make(chan error, 1)}
	go func() { d.ended <- s.Serve(t.Context(), in, out); out.Close() }()
	t.Cleanup(func() { to.Close(); from.Close() })
	return d
}

func (d *dialogue) send(lines ...string) {
	d.t.Helper()
	if _, err := io.WriteString(d.to, strings.Join(lines, "\n")+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

func (d *dialogue) next() answered {
	d.t.Helper()
	if !d.from.Scan() {
		d.t.Fatal("no answer")
	}
	return parse(d.t, []string{d.from.Text()})[0]
}

func look(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"standing"}}`, id)
}

func act(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"decide","arguments":{"text":"t"}}}`, id)
}

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`

// Looking waits for nobody, acts wait for each other, and a call that is cancelled is
// not answered.
func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	s, opening, let := slow()
	d := speak(t, s)
	d.send(act(1), act(2), look(3), look(3), ping)
	if a := d.next(); string(a.ID) != "3" || a.Error == nil {
		t.Errorf("an id twice at once: %s %s", a.ID, a.Result)
	}
	if a := d.next(); string(a.ID) != `"ping"` {
		t.Errorf("a ping waited for a call; first came %s", a.ID)
	}
	opened := func(what string) {
		t.Helper()
		select {
		case <-opening:
		case <-time.After(time.Minute):
			t.Fatalf("in vain waited for %s", what)
		}
	}
	opened("the first act, or the look")
	opened("the other of them")
	d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	opened("the second act's turn")
	close(let)
	seen := map[string]bool{string(d.next().ID): true, string(d.next().ID): true}
	if !seen["2"] || !seen["3"] {
		t.Errorf("answered were %v, want 2 and 3", seen)
	}
	d.to.Close()
	if err := <-d.ended; err != nil || d.from.Scan() {
		t.Errorf("it ended with %v, and said %s", err, d.from.Text())
	}
}

func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	s, _, let := slow()
	d := speak(t, s)
	for i := range maxCalls {
		d.send(look(i))
	}
	d.send(look(maxCalls))
	if a := d.next(); a.Error == nil || a.Error.Code != tooBusy {
		t.Errorf("call %d is answered with %+v", maxCalls, a)
	}
	close(let)
	for range maxCalls {
		if a := d.next(); a.Error != nil {
			t.Errorf("call %s: %v", a.ID, a.Error)
		}
	}
}

// What is under way when the client goes is answered when it ends soon; the server
// ends with it.
func TestEndInACall(t *testing.T) {
	t.Parallel()
	s, opening, let := slow()
	d := speak(t, s)
	d.send(look(1))
	<-opening
	if _, err := io.WriteString(d.to, `{"jsonrpc":"2.0","id":2,"met`); err != nil {
		t.Fatal(err)
	}
	d.to.Close()
	if a := d.next(); string(a.ID) != "null" || a.Error == nil || a.Error.Code != notJSON {
		t.Errorf("half a line at the end: %+v", a)
	}
	close(let)
	if a := d.next(); string(a.ID) != "1" || a.Result == nil {
		t.Errorf("the call under way: %+v", a)
	}
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
}

// What does not end soon is cancelled.
func TestEndInALongCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, opening, _ := slow()
		begin := time.Now()
		var out bytes.Buffer
		if err := s.Serve(t.Context(), strings.NewReader(look(1)+"\n"), &out); err != nil {
			t.Error(err)
		}
		<-opening
		if took := time.Since(begin); took != afterEnd || out.Len() > 0 {
			t.Errorf("it ended after %s and said %s", took, out.String())
		}
	})
}

// A fault of ours costs its call.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := away()
	s.Open = func(context.Context, Need) (*tracker.Tracker, func() error, error) { panic("a nil map") }
	d := speak(t, s)
	d.send(act(1))
	if a := d.next(); !strings.Contains(string(a.Result), "a fault of duplex: a nil map; the work can go on") {
		t.Errorf("it says %s", a.Result)
	}
	d.send(ping)
	if a := d.next(); a.Error != nil {
		t.Error("it answers no more")
	}
}

// A client that goes without waiting, and one that reads no more, end the server.
func TestClientGone(t *testing.T) {
	t.Parallel()
	s, opening, _ := slow()
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), in, out) }()
	go func() { _, _ = io.WriteString(to, look(1)+"\n"+ping+"\n") }()
	<-opening
	from.Close() // the ping cannot be answered: the call is cancelled
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server goes on for nobody")
	}
}

func FuzzServe(f *testing.F) {
	for _, s := range []string{ping, look(1), act(1), "", "\n\n", "[]", "{}", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":-1.5e3,"method":"tools/call","params":{"name":"decide","arguments":{"text":null}}}`,
		"\x00\xff\n" + ping, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		var out bytes.Buffer
		if err := away().Serve(t.Context(), io.MultiReader(bytes.NewReader(sent), strings.NewReader("\n"+`{"jsonrpc":"2.0","id":"last one","method":"ping"}`+"\n")), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for _, l := range lines {
			var a answered
			if err := json.Unmarshal([]byte(l), &a); err != nil || a.Version != "2.0" {
				t.Errorf("no answer: %s", l)
			}
		}
		if !strings.Contains(out.String(), `"id":"last one","result":{}`) && !bytes.Contains(sent, []byte("last one")) {
			t.Errorf("the last message was not answered:\n%s", out.String())
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"text":"t","why":"w","rejected":["a"],"supersedes":7}`, `{}`, `null`, `[]`, `{"text":"t","supersedes":1.5}`, `{"text":{}}`, ``, `{"text":"` + "\xff" + `"}`} {
		f.Add([]byte(s))
	}
	type takes struct {
		Text       string   `json:"text" says:"text" most:"20"`
		Rejected   []string `json:"rejected,omitempty" says:"some" most:"3"`
		Supersedes name     `json:"supersedes,omitempty" says:"which"`
		From       int      `json:"from,omitempty" says:"from"`
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := read[takes]("x", raw)
		if err == nil && (len(in.Text) > 20 || len(in.Rejected) > 3 || in.From < 0) {
			t.Errorf("%q is read as %+v", raw, in)
		}
	})
}
