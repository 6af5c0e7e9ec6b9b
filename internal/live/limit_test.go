//go:build unix

package live_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// limited is how a provider refuses an account that has used up what it may.
func limited(headers map[string]string) play.Turn {
	return play.Turn{Status: http.StatusTooManyRequests, Headers: headers, Body: json.RawMessage(
		`{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`)}
}

// untilTime is what it tells of the limit's end.
func untilTime(t time.Time) map[string]string {
	const unified = "anthropic-ratelimit-unified-"
	return map[string]string{unified + "status": "rejected", unified + "reset": strconv.FormatInt(t.Unix(), 10),
		unified + "representative-claim": "five_hour", unified + "overage-status": "rejected", "retry-after": "7200"}
}

// subscribe gives the agent a subscription's token in place of a key: only then does
// it tell of a limit when that ends.
func (w *world) subscribe() {
	w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_API_KEY=") })
	w.set("CLAUDE_CODE_OAUTH_TOKEN", dummyKey)
}

// listed is the job in what duplex alone lists, with where it stands.
func (w *world) listed() (place, reason, until string) {
	w.Helper()
	jobs := asked[struct {
		Jobs []struct {
			Place    string
			Standing struct {
				Pause *struct{ Reason, Until string }
			}
		}
	}](w).Jobs
	if len(jobs) != 1 {
		w.Fatalf("%d jobs are listed, want 1", len(jobs))
	}
	if p := jobs[0].Standing.Pause; p != nil {
		reason, until = p.Reason, p.Until
	}
	return jobs[0].Place, reason, until
}

// TestObservedLimit: a limit ends the session, and the job waits until the limit
// does. Then it is ready, without anybody having done anything.
func TestObservedLimit(t *testing.T) {
	var ends time.Time
	w := newWorld(t, play.Script{
		Turns: []play.Turn{{Tools: []play.Tool{bash("echo begun")}}},
		Default: &play.Turn{Do: func(play.Request) play.Turn {
			ends = time.Now().Add(30 * time.Second).Truncate(time.Second)
			return limited(untilTime(ends))
		}},
	})
	w.subscribe()
	w.start("Prices carry a tax")
	w.showOnFailure()

	if code := w.claude("Go on.").end(); code != 1 {
		t.Errorf("it ended with %d, want 1", code)
	}
	place, reason, until := w.listed()
	if want := ends.UTC().Format("2006-01-02T15:04:05.000000Z"); place != "waiting" || reason != "rate limit" || until != want {
		t.Errorf("it is %s, for a %s until %s; want waiting, until %s", place, reason, until, want)
	}
	w.until("the limit ends, and the job is ready", func() bool { place, _, _ = w.listed(); return place == "ready to resume" })
	if left := time.Until(ends); left > 0 {
		t.Errorf("it was ready %s before the limit ended", left)
	}
}

// TestObservedLimitWithoutATime: an account with a key is not told when its limit ends, so
// the job says that it does not know, and whoever resumes it finds out.
func TestObservedLimitWithoutATime(t *testing.T) {
	refusal := limited(untilTime(time.Now().Add(2 * time.Hour)))
	w := newWorld(t, play.Script{Turns: []play.Turn{{Tools: []play.Tool{bash("echo begun")}}}, Default: &refusal})
	w.start("Prices carry a tax")
	w.showOnFailure()

	w.claude("Go on.").end()

	if place, reason, until := w.listed(); place != "ready to resume" || reason != "rate limit" || until != "" {
		t.Errorf("it is %s, for a %s until %q; want ready to resume, until a time unknown", place, reason, until)
	}
	if shown := w.duplex(); !strings.Contains(shown, "time unknown") {
		t.Errorf("the list does not say that the time is unknown:\n%s", shown)
	}
	if paused := kind(w.entries(), "paused"); len(paused) != 1 || !strings.Contains(paused[0].Payload.Evidence, "Request rejected (429)") {
		t.Errorf("the pauses are\n%s", tell(paused))
	}
}

// TestObservedWithoutCredit: an account without credit pauses the job, with what the provider said.
func TestObservedWithoutCredit(t *testing.T) {
	w := newWorld(t, play.Script{
		Turns: []play.Turn{{Tools: []play.Tool{bash("echo begun")}}},
		Default: &play.Turn{Status: http.StatusBadRequest, Body: json.RawMessage(
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`)},
	})
	w.start("Prices carry a tax")
	w.showOnFailure()

	w.claude("Go on.").end()

	paused := kind(w.entries(), "paused")
	if len(paused) != 1 || !strings.Contains(paused[0].Payload.Evidence, "Credit balance is too low") {
		t.Errorf("the pauses are\n%s", tell(paused))
	}
	if shown := w.duplex("show"); !strings.Contains(shown, "no credit left") {
		t.Errorf("duplex show does not say why it waits:\n%s", shown)
	}
}
