package tracker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, b, c := "aaaa0000-0000-4000-8000-000000000001", "bbbb0000-0000-4000-8000-000000000002", "cccc0000-0000-4000-8000-000000000003"
	old := d.kept(a, d.said(a, "Count the marbles with "+credential()), d.reply(a, "ok"))
	d.kept("agent-1", d.said("agent-1", "a sub-agent of an earlier version"))
	d.kept(c, "no transcript at all\n")
	sub := filepath.Join(d.dir, "sub")
	if err := errors.Join(os.Mkdir(sub, 0o700), os.Chtimes(old, time.Now(), time.Now().Add(-time.Hour))); err != nil {
		t.Fatal(err)
	}
	top := d.dir
	d.dir = sub // a session that was begun in a folder of the workspace
	d.kept(b, d.said(b, "<duplex-brief>x</duplex-brief>"), d.said(b, "Count the pebbles"))
	d.dir = top + "-beside" // a folder whose name begins alike
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.kept("dddd", d.said("dddd", "Something else"))
	d.dir = top
	list, err := d.Candidates(context.Background(), d.dir, 10)
	if err != nil || len(list) != 2 || list[0].AgentSession != b || list[1].AgentSession != a {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].First != "Count the pebbles" || !strings.HasPrefix(list[1].First, "Count the marbles with [REDACTED:") || list[1].Bytes == 0 || list[1].At >= list[0].At {
		t.Errorf("%+v", list)
	}
	if _, err := os.Stat(filepath.Join(d.dir, ".git")); err == nil {
		t.Error("looking made something in the folder")
	}
	out := d.adopted("bbbb")
	if out.AgentSession != b || out.Goal != "Count the pebbles" {
		t.Errorf("adopted %+v", out)
	}
	if list, err = d.Candidates(context.Background(), d.dir, 10); err != nil || list[0].Short != out.Short || list[1].Short != "" {
		t.Errorf("after it: %+v, %v", list, err)
	}
	for name, want := range map[string]error{"bbbb": ErrAdopted, "eeee": job.ErrNotFound, "c.jsonl": os.ErrNotExist, d.dir: nil} {
		if _, err := d.Adopt(context.Background(), APerson(), AdoptRequest{File: name, Dir: d.dir}); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("adopt %s: %v, want %v", name, err, want)
		}
	}
	if out, err := d.Adopt(context.Background(), APerson(), AdoptRequest{Last: true, Dir: t.TempDir()}); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("the newest where there is none: %+v, %v", out, err)
	}
}

// A session whose hooks were heard, and that belongs to no job, keeps its row.
func TestAdoptOfASessionThatWasHeard(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := "aaaa0000-0000-4000-8000-000000000001"
	path := d.kept(s, d.said(s, "Count the marbles"), d.reply(s, "seven"))
	if _, err := d.Observe(context.Background(), claude.Adapter{}, agent.Event{Kind: agent.TurnEnd, Session: s, Transcript: path, Dir: d.dir}); err != nil {
		t.Fatal(err)
	}
	out := d.adopted("aaaa")
	if out.Instructions != 1 {
		t.Errorf("%+v", out)
	}
	if r, err := d.Verify(context.Background(), ""); err != nil || !r.Holds() {
		t.Errorf("verify: %v", err)
	}
}

// A fork joins the job of its origin; while another session holds that, as a guest,
// whose words do not bind.
func TestAdoptOfAForkBesideALiveSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, b := "aaaa0000-0000-4000-8000-000000000001", "bbbb0000-0000-4000-8000-000000000002"
	first := d.kept(a, d.said(a, "Count the marbles"))
	origin := d.adopted(a)
	// The session goes on, under a process that lives.
	for _, ev := range []agent.Event{{Kind: agent.SessionStart, Source: "resume", PID: os.Getpid()}, {Kind: agent.Prompt, Prompt: "Go on", PID: os.Getpid()}} {
		ev.Session, ev.Transcript, ev.Dir = a, first, d.dir
		if _, err := d.Observe(context.Background(), claude.Adapter{}, ev); err != nil {
			t.Fatal(err)
		}
	}
	d.kept(b, d.row(b, "user", `"forkedFrom":{"sessionId":"`+a+`","messageUuid":"x"},`, `{"role":"user","content":"Count the pebbles instead"}`))
	out := d.adopted(b)
	s, err := d.Standing(context.Background(), origin.Job)
	if err != nil {
		t.Fatal(err)
	}
	held := s.Lease != nil
	if out.Job != origin.Job || out.Origin != origin.Job || out.Guest != held {
		t.Errorf("adopted into %+v, the job is held: %v", out, held)
	}
	if !held {
		t.Fatal("the session that lives does not hold its job")
	}
	if r, err := d.Verify(context.Background(), ""); err != nil || !r.Holds() {
		t.Errorf("verify: %v", err)
	}
}
