//go:build unix

package live_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// refused is an answer of the provider that is none.
func refused(status int, kind, message string) play.Turn {
	body, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}}) // strings only
	return play.Turn{Status: status, Body: body}
}

// subscription has the agent show a token of a subscription in place of a key. It is
// made up here, and opens nothing.
func (w *world) subscription() {
	w.env = slices.DeleteFunc(w.env, func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_API_KEY=") })
	w.set("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-"+"oat01-"+strings.Repeat("0", 20))
}

// limitedUntil is the refusal of a subscription whose five hours end at a time.
func limitedUntil(at time.Time) play.Turn {
	turn := refused(429, "rate_limit_error", "This request would exceed your account's rate limit.")
	reset := fmt.Sprint(at.Unix())
	turn.Headers = map[string]string{"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": reset,
		"anthropic-ratelimit-unified-representative-claim": "five_hour", "anthropic-ratelimit-unified-5h-status": "rejected",
		"anthropic-ratelimit-unified-5h-reset": reset, "anthropic-ratelimit-unified-overage-status": "rejected"}
	return turn
}

// writing is the model that does the one thing there is to do.
func writing(file string) []play.Turn {
	return []play.Turn{{Tools: []play.Tool{play.Call("Write", map[string]any{"file_path": file, "content": "done\n"})}}, {Text: "It is done."}}
}

// TestLimitWithATime: a subscription is used up until a time. The job is paused until
// then and says so; a run that may wait waits, and goes on in the same session.
func TestLimitWithATime(t *testing.T) {
	w := newWorld(t, play.Script{})
	w.subscription()
	job := w.start("There is a note", "--check", "test -f note.txt")
	w.showOnFailure()

	// Nobody waits: the list says until when.
	until := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	load(w, play.Script{Turns: []play.Turn{limitedUntil(until)}})
	printed, code := w.drive(job, "--wait", "0")
	if code != 6 || !strings.Contains(printed, "waits: rate limit until") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	if shown := w.duplex("jobs"); !strings.Contains(shown, "until "+until.UTC().Format("15:04")) {
		t.Errorf("the list does not say until when, %s:\n%s", until.UTC(), shown)
	}
	// Again before that time: it is not tried.
	from := len(w.model.Requests())
	if printed, code := w.drive(job, "--wait", "1m"); code != 6 || len(w.model.Requests()) != from {
		t.Errorf("before its time it ended with %d and was asked %d times\n%s", code, len(w.model.Requests())-from, printed)
	}

}

// TestShortLimit: a run that may wait for a limit waits, and goes on in the same
// session.
func TestShortLimit(t *testing.T) {
	w := newWorld(t, play.Script{})
	w.subscription()
	job := w.start("There is a note", "--check", "test -f note.txt")
	w.showOnFailure()
	limited := play.Turn{Do: func(play.Request) play.Turn { return limitedUntil(time.Now().Add(5 * time.Second)) }}
	load(w, play.Script{Turns: append([]play.Turn{{Tools: []play.Tool{play.Call("Read", map[string]any{"file_path": filepath.Join(w.repo, "price.go")})}}, limited},
		writing(filepath.Join(w.repo, "note.txt"))...)})
	printed, code := w.drive(job)
	if code != 0 || !strings.Contains(printed, "rate limit, until") || !strings.Contains(printed, "goes on with its context") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	all := w.entries(job)
	paused := kind(all, "paused")
	if len(paused) == 0 || paused[len(paused)-1].Payload.Until == "" {
		t.Errorf("no pause has a time:\n%s", tell(all))
	}
	requests := w.model.Requests()
	if last := requests[len(requests)-1]; !last.Says("func Price") {
		t.Error("after the limit the model does not have what it read before it")
	}
}

// TestLimitWithoutATime: a key is limited, and nothing says until when. That is said,
// and after a while it is tried again.
func TestLimitWithoutATime(t *testing.T) {
	w := newWorld(t, play.Script{})
	job := w.start("There is a note", "--check", "test -f note.txt")
	w.showOnFailure()
	limit := refused(429, "rate_limit_error", "This request would exceed your account's rate limit. Try again later.")
	limit.Headers = map[string]string{"retry-after": "7200"}

	load(w, play.Script{Default: &limit})
	if printed, code := w.drive(job, "--wait", "30s"); code != 6 || !strings.Contains(printed, "time unknown") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	if shown := w.duplex("jobs"); !strings.Contains(shown, "time unknown") {
		t.Errorf("the list does not say that the time is unknown:\n%s", shown)
	}

	load(w, play.Script{Turns: append([]play.Turn{limit}, writing(filepath.Join(w.repo, "note.txt"))...)})
	printed, code := w.drive(job)
	if code != 0 || !strings.Contains(printed, "time unknown: tried again in 1m0s") || !strings.Contains(printed, "passed") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
}

// TestProviderRefuses: what no waiting mends ends the run at once, and says what to do.
func TestProviderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		turn  play.Turn
		args  []string
		code  int
		says  []string
		asked int // at most
	}{
		"credentials": {refused(401, "authentication_error", "invalid x-api-key"), nil, 1, []string{"refuses the credentials (401)", "log in"}, 2},
		"model":       {refused(404, "not_found_error", "model: claude-none"), []string{"--agent", "claude:claude-none"}, 1, []string{"claude-none", "name another model"}, 2},
		"credit":      {refused(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."), nil, 6, []string{"no credit left"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, play.Script{})
			job := w.start("There is a note", "--check", "test -f note.txt")
			w.showOnFailure()
			load(w, play.Script{Default: &c.turn})
			printed, code := w.drive(append([]string{job}, c.args...)...)
			if code != c.code {
				t.Errorf("it ended with %d, want %d\n%s", code, c.code, printed)
			}
			for _, want := range c.says {
				if !strings.Contains(printed, want) {
					t.Errorf("it does not say %q:\n%s", want, printed)
				}
			}
			if n := len(w.model.Requests()); n > c.asked {
				t.Errorf("the provider was asked %d times", n)
			}
			if shown := w.duplex("jobs"); !strings.Contains(shown, "by hand") {
				t.Errorf("the job is not ready to resume:\n%s", shown)
			}
		})
	}
}

// TestNobodyIsAsked: what the person's rules do not allow is refused, since nobody is
// there to be asked; the job's own checks and edits in the folder are not.
func TestNobodyIsAsked(t *testing.T) {
	w := newWorld(t, play.Script{})
	job := w.start("There is a note", "--check", "go vet ./...", "--check", "test -f note.txt")
	w.showOnFailure()
	load(w, play.Script{Turns: []play.Turn{{Tools: []play.Tool{bash("make everything")}}, {Text: "I may not."}}})
	printed, code := w.drive(job)
	if code != 6 || !strings.Contains(printed, "the agent's own rules refused 1 of its calls") || !strings.Contains(printed, "permissions.allow") {
		t.Errorf("it ended with %d\n%s", code, printed)
	}

	load(w, play.Script{Turns: append([]play.Turn{{Tools: []play.Tool{bash("go vet ./...")}}}, writing(filepath.Join(w.repo, "note.txt"))...)})
	if printed, code := w.drive(job); code != 0 {
		t.Errorf("it ended with %d\n%s", code, printed)
	}
	ran := false
	for _, e := range kind(w.entries(job), "step") {
		ran = ran || e.Payload.Command == "go vet ./..." && e.Payload.Result == "ok"
	}
	if !ran {
		t.Errorf("the job's check was not run unasked:\n%s", tell(w.entries(job)))
	}
}

func load(w *world, s play.Script) {
	w.Helper()
	if err := w.model.Load(s); err != nil {
		w.Fatal(err)
	}
}
