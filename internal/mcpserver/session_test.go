package mcpserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// After /clear the server still has the environment of the session before; what it is
// asked to do is done by the session that its agent is at now.
func TestAfterClear(t *testing.T) {
	w := newWorld(t)
	id, _ := w.start("Round prices")
	sleeper := exec.Command("sleep", "600") // the agent's process
	if err := sleeper.Start(); err != nil {
		t.Skipf("no process to start: %v", err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	at := agent.Event{Kind: agent.SessionStart, Source: "startup", PID: sleeper.Process.Pid}
	w.hook("before", at)
	c := w.client("before")
	c.must("decide", "added/1", args{"text": "round half up"})
	first := w.last(id, job.KindDecided)
	w.hook("before", agent.Event{Kind: agent.SessionEnd, Reason: "clear", PID: sleeper.Process.Pid})
	at.Source = "clear"
	w.hook("after", at)
	c.must("decide", "added/1", args{"text": "to even"})
	second := w.last(id, job.KindDecided)
	if second.Session == first.Session || second.Token <= first.Token {
		t.Errorf("decided in session %s under token %d, and after /clear in %s under %d", first.Session, first.Token, second.Session, second.Token)
	}
}

// What comes in at once is done in the order it came in.
func TestActsInTheirOrder(t *testing.T) {
	w := newWorld(t)
	id, _ := w.start("Round prices")
	w.arrive("s1")
	var sent strings.Builder
	for i := range 20 {
		fmt.Fprintf(&sent, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"raise","arguments":{"text":"item %d"}}}`+"\n", i, i)
	}
	if err := w.server("s1").Serve(t.Context(), strings.NewReader(sent.String()), io.Discard); err != nil {
		t.Fatal(err)
	}
	raised := w.entries(id, job.KindRaised)
	for i, e := range raised {
		if got := e.Payload.(*job.Raised).Text; got != fmt.Sprintf("item %d", i) {
			t.Fatalf("as number %d %q was raised", i, got)
		}
	}
	if len(raised) != 20 {
		t.Errorf("%d of 20 were raised before the server ended", len(raised))
	}
}

// Several servers at once, of one session and of others, lose nothing.
func TestServersAtOnce(t *testing.T) {
	w := newWorld(t)
	id, _ := w.start("Round prices")
	w.arrive("s1")
	w.arrive("guest")
	one, two, guest := w.client("s1"), w.client("s1"), w.client("guest")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { one.must("raise", "added/1", args{"text": fmt.Sprintf("item %d of one", i)}) })
		all.Go(func() { two.must("decide", "added/1", args{"text": fmt.Sprintf("item %d of two", i)}) })
		all.Go(func() { guest.must("standing", "standing-short/1", nil) })
	}
	all.Wait()
	if n := len(w.entries(id, job.KindRaised, job.KindDecided)); n != 40 {
		t.Errorf("%d of 40 acts are in the ledger", n)
	}
	w.tracker(func(tr *tracker.Tracker) {
		if r, err := tr.Verify(t.Context(), id); err != nil || !r.Holds() {
			t.Errorf("the ledger does not hold: %+v %v", r, err)
		}
	})
}

// A store that another writer holds is waited for, then said to be busy; what is
// asked later is answered again. One that is away costs the calls of that time.
func TestStoreInTheWay(t *testing.T) {
	w := newWorld(t)
	id, _ := w.start("Round prices")
	w.arrive("s1")
	s := w.server("s1")
	s.Open = func(ctx context.Context, n Need) (*tracker.Tracker, func() error, error) {
		o := w.options(map[string]string{"CLAUDE_CODE_SESSION_ID": "s1"})
		o.Busy = 50 * time.Millisecond // nobody wants to wait for this test
		o.Create = false
		tr, err := tracker.Open(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return tr, tr.Close, nil
	}
	c := w.connect(s, nil)
	files, err := filepath.Glob(filepath.Join(w.state, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("where is the store? %v %v", files, err)
	}
	db, err := sql.Open("sqlite", files[0])
	if err != nil {
		t.Fatal(err)
	}
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	c.refused("decide", args{"text": "x"}, "call again later")
	c.must("standing", "standing-short/1", nil)
	if _, err := held.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(held.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	c.must("decide", "added/1", args{"text": "x"})
	if n := len(w.entries(id, job.KindDecided)); n != 1 {
		t.Errorf("%d decisions; one was refused, and one made", n)
	}
	away := w.state + ".away"
	if err := os.Rename(w.state, away); err != nil {
		t.Fatal(err)
	}
	c.refused("decide", args{"text": "y"})
	c.refused("standing", nil)
	if err := os.RemoveAll(w.state); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, w.state); err != nil {
		t.Fatal(err)
	}
	c.must("decide", "added/1", args{"text": "y"})
}

// A long call says how far it is, and ends when its client cancels it.
func TestLongCall(t *testing.T) {
	w := newWorld(t)
	id, _ := w.start("Round prices", "test ! -e slow || exec sleep 600")
	w.write("slow", "")
	w.arrive("s1")
	heard := make(chan string, 100)
	c := w.connect(w.server("s1"), &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		heard <- r.Params.Message
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		p := &mcp.CallToolParams{Name: "claim_finished", Arguments: args{}}
		p.SetProgressToken("claim")
		_, err := c.CallTool(ctx, p)
		ended <- err
	}()
	if said := <-heard; !strings.Contains(said, "c1") {
		t.Errorf("it says %q", said)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a cancelled call was answered")
	}
	c.must("raise", "added/1", args{"text": "later"}) // its turn comes when the other has unwound
	if n := len(w.entries(id, job.KindFinished)); n != 0 {
		t.Errorf("a cancelled claim was judged: %d", n)
	}
}
