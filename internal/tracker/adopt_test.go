package tracker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

// adopting opens a tracker that reads Claude Code.
func adopting(t *testing.T) *Tracker {
	t.Helper()
	tr, err := Open(context.Background(), Options{Dir: t.TempDir(), Settings: DefaultSettings(), Create: true, Now: time.Now, Agents: []agent.Adapter{claude.Adapter{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func TestAdoptRefusesWhatItCannotRead(t *testing.T) {
	tr := adopting(t)
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("no transcript\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Adopt(context.Background(), APerson(), AdoptRequest{File: file, Dir: t.TempDir()}); err == nil {
		t.Error("a text file was adopted")
	}
}

// An adoption that was killed in the middle is gone on with, and ends as if it had
// never been.
func TestAdoptGoesOn(t *testing.T) {
	t.Parallel()
	var lines []string
	row := func(kind, content string) {
		lines = append(lines, fmt.Sprintf(`{"parentUuid":null,"type":%q,"uuid":"u%d","sessionId":"s1","cwd":"/w","version":"2.0.1","timestamp":"2026-11-28T10:00:00.000Z","message":%s}`, kind, len(lines), content))
	}
	row("user", `{"role":"user","content":"Fix the parser"}`)
	for i := range 400 {
		row("assistant", fmt.Sprintf(`{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make"}}],"usage":{"output_tokens":7}}`, i, i))
		row("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"ok"}]}`, i))
	}
	file := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := adopting(t).Adopt(context.Background(), APerson(), AdoptRequest{File: file, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	tr := adopting(t)
	ctx, cancel := context.WithCancel(context.Background())
	read := 0
	_, err = tr.Adopt(ctx, APerson(), AdoptRequest{File: file, Dir: t.TempDir(), Progress: func(int64, int64) {
		if read++; read == 600 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("adopt gives %v, want canceled", err)
	}
	if _, err := tr.Adopt(context.Background(), APerson(), AdoptRequest{File: file, Dir: t.TempDir()}); !errors.Is(err, ErrAdopted) {
		t.Errorf("adopt beside one that runs gives %v, want %v", err, ErrAdopted)
	}
	err = tr.write(context.Background(), APerson(), false, func(c *change) error { // its process ends
		row, err := c.tx.Session("claude", "s1")
		if err != nil {
			return err
		}
		row.Process.Boot = "an earlier one"
		return c.saveSession(row)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tr.Adopt(context.Background(), APerson(), AdoptRequest{File: file, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got.Steps != whole.Steps || got.Spend.Tokens != whole.Spend.Tokens || got.Entries >= whole.Entries {
		t.Errorf("gone on with: %d steps, %+v, %d new entries; in one go: %d, %+v, %d", got.Steps, got.Spend.Tokens, got.Entries, whole.Steps, whole.Spend.Tokens, whole.Entries)
	}
	if r, err := tr.Verify(context.Background(), got.Job); err != nil || !r.Holds() {
		t.Errorf("verify: %v", err)
	}
}

// TestAdoptRealSessions adopts recorded sessions where a checkout of them stands
// beside this one: tokens are those that were counted by hand from the files, less
// what is an estimate and says so.
func TestAdoptRealSessions(t *testing.T) {
	corpus := filepath.Join("..", "..", "..", "shared")
	data, err := os.ReadFile(filepath.Join(corpus, "bench", "cost_truth_dev.json"))
	if err != nil {
		t.Log("no recorded sessions beside this checkout: the small ones of agent/claude stand for them")
		return
	}
	var truth struct {
		Sessions []struct {
			File  string
			Truth struct {
				Input, Output int64
				Creation      int64 `json:"cache_creation"`
				Read          int64 `json:"cache_read"`
			}
		}
	}
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	ten := map[string]bool{}
	for _, name := range []string{"EntityProcess__agentv__claude__f55a87fac8", "FSM1__cipher-box__claude__cc90594f5b", "PackmindHub__context-evaluator__claude__1cc58dcdba",
		"entireio__cli__claude__0966d4666d", "entireio__cli__claude__71f9372275", "entireio__git-sync__claude__6ed8927f47", "flop-labs__technocore-chat__claude__e17ec94dd6",
		"gmeligio__flutter-docker-image__claude__ac75e8952e", "keparlak__NumWordify__claude__a52ef442fd", "teslamint__entirecontext__claude__039c1c243f"} {
		ten[name+".jsonl.gz"] = true
	}
	tr := adopting(t)
	for _, s := range truth.Sessions {
		if !ten[s.File] {
			continue
		}
		t.Run(s.File, func(t *testing.T) {
			out, err := tr.Adopt(context.Background(), APerson(), AdoptRequest{File: filepath.Join(corpus, "corpus", s.File), Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			got := out.Spend.Tokens.Minus(out.Spend.Guessed)
			want := job.Tokens{Input: s.Truth.Input, Output: s.Truth.Output, CacheRead: s.Truth.Read}
			if got.Input != want.Input || got.Output != want.Output || got.CacheRead != want.CacheRead || got.CacheWrite5m+got.CacheWrite1h != s.Truth.Creation {
				t.Errorf("tokens %+v, want %+v and %d written to the cache", got, want, s.Truth.Creation)
			}
			if out.Instructions == 0 {
				t.Error("no instruction of the person was found")
			}
			b, err := tr.Brief(context.Background(), out.Job, BriefRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if b.Repaired > 0 {
				t.Logf("the brief needed %d repairs of %d questions", b.Repaired, b.Probes)
			}
			r, err := tr.Verify(context.Background(), out.Job)
			if err != nil || !r.Holds() {
				t.Errorf("verify: %v", err)
			}
			if _, err := tr.Adopt(context.Background(), APerson(), AdoptRequest{File: filepath.Join(corpus, "corpus", s.File), Dir: t.TempDir()}); err == nil {
				t.Error("the same session was adopted twice")
			}
		})
	}
}
