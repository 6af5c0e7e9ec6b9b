package tracker

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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
