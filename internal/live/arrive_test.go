//go:build unix

package live_test

import (
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// TestBriefAtStart: a session that starts in a job's folder begins with the job's
// brief, in the very request that its model reads.
func TestBriefAtStart(t *testing.T) {
	w := newWorld(t, play.Script{Turns: []play.Turn{{Text: "I see where it stands."}}})
	short := w.start("Prices carry a tax of 19 percent", "--check", "go test ./...")
	w.duplex("decide", "Tax is rounded half up", "--why", "the books do")
	w.duplex("raise", "Refunds have no tax yet")
	w.showOnFailure()

	w.claude("Go on.").done()

	first := w.model.Requests()[0]
	for _, want := range []string{"<duplex-brief", short, "Prices carry a tax of 19 percent", "Tax is rounded half up", "Refunds have no tax yet", "go test ./..."} {
		if !first.Says(want) {
			t.Errorf("the model did not read %q in\n%s", want, first.Text())
		}
	}
	if strings.Count(first.Text(), "<duplex-brief") != 1 {
		t.Error("the brief is not there once")
	}
	if took := kind(w.entries(), "took over"); len(took) != 1 || took[0].Payload.How != "startup" {
		t.Errorf("the ledger does not tell of one take-over at startup:\n%s", tell(w.entries()))
	}
}
