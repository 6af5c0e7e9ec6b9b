package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

// However much a job holds, an answer is bounded, counts what it leaves out, and says
// how to get it.
func TestBounded(t *testing.T) {
	w := newWorld(t)
	goal := strings.Repeat("Round <every> price & \"quote\" it.\n", 100)
	id, short := w.start(goal, `test "$(sh price.sh)" = 10.00`, "for i in $(seq 3000); do echo line $i of a long complaint; done; false")
	w.arrive("s1")
	c := w.client("s1")
	w.tracker(func(tr *tracker.Tracker) {
		by := tracker.Actor{Author: job.Author{Kind: job.Person}}
		for i := range 25 {
			text := fmt.Sprintf("item %d: %s", i, strings.Repeat("long words “quoted” ", 60))
			for _, add := range []func() (tracker.Added, error){
				func() (tracker.Added, error) { return tr.Decide(t.Context(), by, id, text, text, nil, "") },
				func() (tracker.Added, error) { return tr.Raise(t.Context(), by, id, text, false) },
				func() (tracker.Added, error) { return tr.DeadEnd(t.Context(), by, id, text, "", "") },
			} {
				if _, err := add(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	// call itself holds every answer to the limit.
	text, at := c.must("standing", "standing-short/1", nil)
	if !strings.Contains(text, "more decisions: brief with section decisions") || len(at["open"].([]any)) == 0 {
		t.Errorf("standing says\n%s\n%v", text, at)
	}
	c.must("recall", "recall/1", args{"words": "long words", "limit": 30})
	c.must("take", "taken/1", args{"job": short})
	c.must("hand_over", "brief/1", nil)
	_, v := c.must("claim_finished", "verdict/1", nil)
	results := v["run"].(map[string]any)["results"].([]any)
	if end := results[1].(map[string]any)["output"].(map[string]any)["text"].(string); !strings.HasSuffix(end, "line 3000 of a long complaint") {
		t.Errorf("of a long output its end is shown, not %q", end)
	}

	// A long text is read by pieces, and the pieces are the text.
	var whole tracker.Brief
	w.tracker(func(tr *tracker.Tracker) {
		var err error
		if whole, err = tr.Brief(t.Context(), id, tracker.BriefRequest{Section: "decisions"}); err != nil {
			t.Fatal(err)
		}
	})
	if utf8.RuneCountInString(whole.Text) < 3*limit {
		t.Fatalf("the section has %d characters, too few to be cut", len(whole.Text))
	}
	var pieces []string
	in := args{"section": "decisions"}
	for range 100 {
		text, p := c.must("brief", "page/1", in)
		pieces = append(pieces, p["text"].(string))
		rest, more := p["rest"].(float64)
		if !more {
			break
		}
		next := regexp.MustCompile(`"from": (\d+)`).FindStringSubmatch(text)
		if next == nil || !strings.Contains(text, fmt.Sprintf("%.0f more characters: brief with", rest)) || !strings.Contains(text, `"section": "decisions"`) {
			t.Fatalf("a piece does not say how to get the next:\n%s", text[len(text)-300:])
		}
		in["from"] = json.Number(next[1])
	}
	if got, want := strings.Join(pieces, "\n"), strings.TrimRight(whole.Text, "\n"); lines(got) != lines(want) {
		t.Errorf("%d pieces of %d characters are not the text of %d", len(pieces), len(got), len(want))
	}
}

// lines leaves out blank lines, which stand between pieces.
func lines(s string) string { return regexp.MustCompile(`\n+`).ReplaceAllString(s, "\n") }

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		from, n int
		want    string
		end     int
	}{
		{"abc", 0, 10, "abc", 3}, {"abc", 0, 2, "ab", 2}, {"abc", 2, 2, "c", 3}, {"abc", 9, 2, "", 3}, {"", 0, 5, "", 0},
		{"äöü", 1, 1, "ö", 2}, {"one\ntwo three", 0, 5, "one", 4}, {"one\ntwo three four five", 0, 12, "one\ntwo thre", 12},
	} {
		if got, end := cut(c.text, c.from, c.n); got != c.want || end != c.end {
			t.Errorf("cut(%q, %d, %d) = %q, %d; want %q, %d", c.text, c.from, c.n, got, end, c.want, c.end)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"plain", "<b> & \"q\"\n", `\u003c`, `\\<`, "ä“", ""} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var plain strings.Builder
		e := json.NewEncoder(&plain)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got, want := shown(b), utf8.RuneCountInString(strings.TrimSuffix(plain.String(), "\n")); got != want {
			t.Errorf("%s is shown in %d characters, counted %d", plain.String(), want, got)
		}
	}
}

// The first size that fits is given, and the last where none does.
func TestSizes(t *testing.T) {
	t.Parallel()
	type object struct {
		Text string `json:"text"`
	}
	r := redact.New(nil, nil)
	for _, c := range []struct {
		lengths []int
		want    int
	}{{[]int{10, 5}, 10}, {[]int{9000, 7000, 5}, 7000}, {[]int{9000, 8500}, 8500}} {
		a := answer{schema: "x/1"}
		for _, n := range c.lengths {
			a.sizes = append(a.sizes, object{strings.Repeat("x", n)})
		}
		var got object
		b := a.sealed(r).Structured.Bytes()
		if err := json.Unmarshal(b, &got); err != nil || len(got.Text) != c.want || !strings.HasPrefix(string(b), `{"schema":"duplex.x/1",`) {
			t.Errorf("of %v it gives %d: %.60s %v", c.lengths, len(got.Text), b, err)
		}
	}
	if b := (answer{schema: "x/1", sizes: []any{struct{}{}}}).sealed(r).Structured.Bytes(); string(b) != `{"schema":"duplex.x/1"}` {
		t.Errorf("an empty object is %s", b)
	}
}

// What goes out has been through the funnel: texts, objects, errors, progress.
func TestRedacted(t *testing.T) {
	w := newWorld(t)
	w.start("Round prices")
	w.arrive("s1")
	c := w.client("s1")
	secret := "ghp_" + "k3Jq9ZtR2wXc7LmV" + "5bNsD8yHf4GpQ1aUe6Ko"
	text, at := c.must("decide", "added/1", args{"text": "use " + secret})
	said, _ := c.must("brief", "page/1", nil)
	refusal, _, _ := c.call("standing", args{"job": secret})
	for _, s := range []string{text, fmt.Sprint(at), said, refusal} {
		if strings.Contains(s, secret) {
			t.Errorf("a credential went out: %s", s)
		}
	}
	if !strings.Contains(said, "REDACTED") || !strings.Contains(refusal, "REDACTED") {
		t.Errorf("where is it?\n%s\n%s", said, refusal)
	}
}

// docs/json.md has the objects that only this server gives.
func TestObjectsAreDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for section, v := range map[string]any{"standing-short/1": Standing{}, "page/1": page{}, "line": Line{}, "check line": CheckLine{}} {
		_, after, found := strings.Cut(string(b), "\n## "+section+"\n")
		if !found {
			t.Errorf("docs/json.md has no section %q", section)
		}
		body, _, _ := strings.Cut(after, "\n## ")
		want := map[string]bool{}
		for _, m := range regexp.MustCompile("(?m)^- `([a-z_]+)` \\(").FindAllStringSubmatch(body, -1) {
			want[m[1]] = true
		}
		have := map[string]bool{}
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			have[name] = true
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("docs/json.md: section %q has %v, the object %v", section, want, have)
		}
	}
}
