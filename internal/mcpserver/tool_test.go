package mcpserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/handover"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

type args map[string]any

// A session works through a job by tools alone, and the ledger has it all as its acts.
func TestEveryTool(t *testing.T) {
	w := newWorld(t)
	id, short := w.start("Round prices to full cents", `test "$(sh price.sh)" = 10.00`)
	w.arrive("s1")
	c := w.client("s1")

	text, at := c.must("standing", "standing-short/1", nil)
	if at["short"] != short || at["you"] != "you hold it, under token 1" || !strings.Contains(text, "red") && !strings.Contains(text, "failed") {
		t.Errorf("standing says %v\n%s", at, text)
	}
	c.must("decide", "added/1", args{"text": "round half up", "why": "the till does", "rejected": []string{"banker's rounding"}})
	d := w.last(id, job.KindDecided)
	c.must("decide", "added/1", args{"text": "round half to even", "supersedes": d.Position})
	_, open := c.must("raise", "added/1", args{"text": "the invoice prints three digits", "next": true})
	c.must("raise", "added/1", args{"text": "the export too"})
	c.must("settle", "added/1", args{"item": open["position"], "how": "it prints two now"})
	c.must("settle", "added/1", args{"item": "the export"})
	c.must("dead_end", "added/1", args{"text": "sed over the prices", "why": "it rounds down", "command": "sed s/9$//"})
	w.write("notes.txt", "half up?\n")
	if text, _ := c.must("safe_point", "safe-point/1", args{"why": "before rounding"}); !strings.Contains(text, short+"/2 holds") {
		t.Errorf("safe_point says %s", text)
	}
	if text, _ := c.must("hand_over", "brief/1", args{"next": "round in price.sh"}); !strings.Contains(text, "handed over") {
		t.Errorf("hand_over says %s", text)
	}
	if text, _ := c.must("brief", "page/1", nil); !strings.Contains(text, "round half to even") || !strings.Contains(text, "round in price.sh") {
		t.Errorf("the brief lacks what was recorded:\n%s", text)
	}
	if text, _ := c.must("brief", "page/1", args{"section": "dead-ends"}); !strings.Contains(text, "sed over the prices") {
		t.Errorf("the section lacks the dead end:\n%s", text)
	}
	text, found := c.must("recall", "recall/1", args{"words": "rounds down"})
	if !strings.Contains(text, "sed over the prices") || !strings.Contains(text, history) || found["note"] != history {
		t.Errorf("recall says\n%s\n%v", text, found)
	}
	if text, _ := c.must("recall", "recall/1", args{"words": "rounds", "kinds": []string{"decided"}, "job": short}); !strings.Contains(text, "Nothing found") {
		t.Errorf("recall of decisions says\n%s", text)
	}
	c.refused("recall", args{"words": "x", "kinds": []string{"jokes"}}, "the kinds are", "dead end")
	c.refused("recall", args{"words": " - "}, "no word to look for")
	text, v := c.must("claim_finished", "verdict/1", nil)
	if !strings.Contains(text, "failed") || !strings.Contains(text, "stays open") || v["verdict"].(map[string]any)["outcome"] != "failed" {
		t.Errorf("a claim too early says %s\n%v", text, v)
	}
	w.write("price.sh", "echo 10.00\n")
	if text, _ := c.must("claim_finished", "verdict/1", nil); !strings.Contains(text, "passed") {
		t.Errorf("the claim says %s", text)
	}
	c.refused("decide", args{"text": "one more"}, "passed on", "nothing left to record")

	kinds := []job.Kind{job.KindDecided, job.KindRaised, job.KindSettled, job.KindDeadEnd, job.KindSafePoint, job.KindFinished}
	by := map[job.Kind]int{}
	for _, e := range w.entries(id, kinds...) {
		if e.Author == (job.Author{Kind: job.Agent, Name: "claude"}) && e.Session != "" && e.Token == 1 {
			by[e.Kind]++
		}
	}
	if want := (map[job.Kind]int{job.KindDecided: 2, job.KindRaised: 2, job.KindSettled: 2, job.KindDeadEnd: 1, job.KindSafePoint: 2, job.KindFinished: 2}); !reflect.DeepEqual(by, want) {
		t.Errorf("the session's acts are %v, want %v", by, want)
	}
}

// An agent begins a job: the goal is its words until the person confirms them, and
// nothing is begun beside a job that is open.
func TestStartByAgent(t *testing.T) {
	w := newWorld(t)
	w.arrive("s1")
	c := w.client("s1")
	c.refused("standing", nil, "no job here", "start")
	c.refused("decide", args{"text": "x"}, "sits at no job", "start")
	text, s := c.must("start", "started/1", args{"goal": "Round prices", "checks": []string{`test "$(sh price.sh)" = 10.00`}, "quick_checks": []string{"sh -n price.sh"}})
	if !strings.Contains(text, "red: to be reached") || !strings.Contains(text, "green at the start") || !strings.Contains(text, "confirms") {
		t.Errorf("start says\n%s", text)
	}
	id := job.ID(s["job"].(string))
	o := w.last(id, job.KindOpened)
	if p := o.Payload.(*job.Opened); !p.Unconfirmed || o.Author != (job.Author{Kind: job.Agent, Name: "claude"}) || !p.Checks[1].Quick {
		t.Errorf("opened as %+v by %+v", p, o.Author)
	}
	if text, at := c.must("standing", "standing-short/1", nil); at["you"] != "you hold it, under token 1" || !strings.Contains(text, "until the person confirms") {
		t.Errorf("standing says\n%s", text)
	}
	c.refused("start", args{"goal": "Something else"}, "is open here", "the person")
	w.arrive("s2")
	w.client("s2").refused("start", args{"goal": "Something else"}, "is open here")
	if n := len(w.entries(id, job.KindOpened)); n != 1 {
		t.Errorf("%d jobs were opened", n)
	}
}

// One that cannot begin begins nothing.
func TestStartThatCannot(t *testing.T) {
	w := newWorld(t)
	w.arrive("s1")
	c := w.client("s1")
	c.refused("start", args{"goal": "  "}, "goal is empty")
	c.refused("start", args{"goal": "g", "checks": []string{""}}, "command of a check")
	c.refused("start", args{"goal": "g", "protect": []string{"[a"}}, "protect")
	c.refused("start", args{"goal": "g", "checks": make([]string, 11)}, "10 at most")
	c.refused("standing", nil, "no job here")
}

func TestTake(t *testing.T) {
	w := newWorld(t)
	_, one := w.start("The first")
	id, two := w.start("The second")
	w.arrive("s1") // two are open: it is bound to none
	c := w.client("s1")
	c.refused("decide", args{"text": "x"}, "sits at no job")
	c.refused("standing", nil, one, two)
	if text, _ := c.must("take", "taken/1", args{"job": two}); !strings.Contains(text, "under token 1") || !strings.Contains(text, "The second") {
		t.Errorf("take says\n%s", text)
	}
	c.must("decide", "added/1", args{"text": "x"})
	if d := w.last(id, job.KindDecided); d.Token != 1 || d.Session == "" {
		t.Errorf("decided %+v", d)
	}
	w.arrive("s2")
	other := w.client("s2")
	other.refused("take", args{"job": two}, "held", "a person's act")
	other.refused("take", args{"job": two, "take": true}, "a person alone")
	other.refused("take", args{"job": two, "force": true}, "only a person may force")
	other.refused("take", args{"job": "nope"}, "nope")
	if _, at := other.must("standing", "standing-short/1", args{"job": two}); !strings.Contains(at["you"].(string), "you may look") || at["holder"] == nil {
		t.Errorf("to the other it stands as %v", at)
	}
}

// Who may not act may look.
func TestWhoMayAct(t *testing.T) {
	w := newWorld(t)
	id, short := w.start("Round prices")
	w.arrive("holder")
	w.client("holder").must("raise", "added/1", args{"text": "the export"})
	w.arrive("guest")
	acts := map[string]any{"decide": args{"text": "x"}, "raise": args{"text": "x"}, "settle": args{"item": "the export"}, "dead_end": args{"text": "x"},
		"safe_point": nil, "hand_over": nil, "claim_finished": nil}
	looks := func(c client, as string) {
		t.Helper()
		if _, at := c.must("standing", "standing-short/1", nil); !strings.Contains(at["you"].(string), as) {
			t.Errorf("standing tells it that it is %v, want %s", at["you"], as)
		}
		c.must("brief", "page/1", nil)
		c.must("recall", "recall/1", args{"words": "export"})
	}
	refuses := func(who, session string, words string) {
		t.Helper()
		c := w.client(session)
		for tool, in := range acts {
			text, _, refused := c.call(tool, in)
			if !refused || !strings.Contains(text, words) {
				t.Errorf("%s: %s says %q; want a refusal with %q", who, tool, text, words)
			}
		}
	}
	refuses("a guest", "guest", "guest")
	looks(w.client("guest"), "a guest")

	nobody := w.client("")
	for tool, in := range acts {
		nobody.refused(tool, in, "no session of yours is known")
	}
	nobody.refused("start", args{"goal": "x"}, "no session of yours is known")
	nobody.refused("take", args{"job": short}, "no session of yours is known")
	looks(nobody, "no session of yours")

	before := len(w.entries(id, job.KindRefused))
	w.tracker(func(tr *tracker.Tracker) {
		if _, err := tr.Take(w.Context(), tracker.APerson(), id, tracker.TakeRequest{Dir: w.repo, Take: true}); err != nil {
			t.Fatal(err)
		}
	})
	w.arrive("next")
	refuses("one that was replaced", "holder", "lease has gone")
	looks(w.client("holder"), "replaced")
	if n := len(w.entries(id, job.KindRefused)) - before; n < 3 {
		t.Errorf("%d of its acts are recorded as refused", n)
	}
	if n := len(w.entries(id, job.KindDecided, job.KindRaised, job.KindSettled, job.KindDeadEnd, job.KindFinished)); n != 1 {
		t.Error("somebody who may not act did")
	}
}

// A session that no hook has told of is introduced by its first act.
func TestIntroduction(t *testing.T) {
	w := newWorld(t)
	id, _ := w.start("Round prices")
	c := w.client("unheard")
	if _, at := c.must("standing", "standing-short/1", nil); !strings.Contains(at["you"].(string), "no session of yours") {
		t.Errorf("looking introduced it: %v", at["you"])
	}
	off := w.server("unheard")
	env := off.Getenv
	off.Getenv = func(name string) string {
		if name == "DUPLEX_OFF" {
			return "1"
		}
		return env(name)
	}
	w.connect(off, nil).refused("decide", args{"text": "x"}, "switched Duplex off")
	c.must("decide", "added/1", args{"text": "round half up"})
	d := w.last(id, job.KindDecided)
	w.arrive("unheard") // its hooks are set up later: it is the same session
	w.client("unheard").must("decide", "added/1", args{"text": "to even"})
	if again := w.last(id, job.KindDecided); again.Session != d.Session || again.Token != d.Token {
		t.Errorf("it acted as %s under %d, then as %s under %d", d.Session, d.Token, again.Session, again.Token)
	}
}

// It may begin a job by that first act too. Where nothing shall be kept of what git
// ignores, it is told.
func TestIntroducedByStart(t *testing.T) {
	w := newWorld(t)
	w.write(".gitignore", "build.log\n")
	w.write("build.log", "x\n")
	w.write("go.mod", "module example.org/shop\n\ngo 1.26\n")
	text, s := w.client("unheard").must("start", "started/1", args{"goal": "Round prices", "checks": []string{"sh -n price.sh"}})
	if !strings.Contains(text, "not in the safe point: build.log") || !strings.Contains(text, "proposed: --protect '**/*_test.go'") {
		t.Errorf("start says\n%s", text)
	}
	if taken := w.last(job.ID(s["job"].(string)), job.KindLeaseTaken); taken.Token != 0 && taken.Token != 1 || taken.Session == "" {
		t.Errorf("the lease went to %+v", taken)
	}
	w.client("unheard").must("raise", "added/1", args{"text": "the export"})
}

// Who has no job here is told where there is one.
func TestElsewhere(t *testing.T) {
	w := newWorld(t)
	var shorts []string
	for i := range 10 {
		w.repo = t.TempDir()
		w.write("a", "a")
		_, short := w.start(fmt.Sprintf("Goal %d", i))
		shorts = append(shorts, short)
	}
	w.repo = t.TempDir()
	text, _, refused := w.client("").call("standing", nil)
	n := 0
	for _, short := range shorts {
		if strings.Contains(text, "\n"+short+"  ready to resume: Goal") {
			n++
		}
	}
	if !refused || n != 8 || !strings.Contains(text, "and 2 more") {
		t.Errorf("of 10 jobs elsewhere %d are named:\n%s", n, text)
	}
}

// The acts of a person are not offered, and say so under the names that are tried.
func TestPersonActs(t *testing.T) {
	w := newWorld(t)
	_, short := w.start("Round prices")
	w.arrive("s1")
	c := w.client("s1")
	for _, tool := range offered() {
		if personActs[tool.Name] != "" {
			t.Errorf("%s is offered", tool.Name)
		}
	}
	for act := range personActs {
		c.refused(act, args{"job": short, "reason": "x"}, "not offered to agents")
	}
	for argument := range personArguments {
		c.refused("claim_finished", args{argument: true}, argument, "person")
	}
	id, _ := w.start("Another") // by the person
	instruction := func() job.Entry {
		var pos int64
		w.tracker(func(tr *tracker.Tracker) {
			a, err := tr.Instruct(w.Context(), tracker.APerson(), id, "never touch the legacy folder")
			if err != nil {
				t.Fatal(err)
			}
			pos = a.Position
		})
		return job.Entry{Envelope: job.Envelope{Position: pos}}
	}()
	w.arrive("s2")
	other := w.client("s2")
	other.must("take", "taken/1", args{"job": string(id)})
	other.refused("settle", args{"item": instruction.Position}, "person's word")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	type takes struct {
		Text  string   `json:"text" says:"the text" most:"10"`
		Item  name     `json:"item,omitempty" says:"which"`
		List  []string `json:"list,omitempty" says:"some" most:"2"`
		Next  bool     `json:"next,omitempty" says:"next"`
		From  int      `json:"from,omitempty" says:"where"`
		Which string   `json:"which,omitempty" says:"one of them" one:"a|b"`
	}
	for in, want := range map[string]string{
		``:                               "x wants text: the text",
		`null`:                           "x wants text: the text",
		`{"text":null}`:                  "x wants text: the text",
		`[]`:                             "the arguments of x are no object",
		`{"text":7}`:                     "text of x is no text",
		`{"text":"12345678901"}`:         "text of x is too long: 10 characters at most; say it shorter, or in several",
		`{"text":"t","list":"a"}`:        "list of x is no list of texts",
		`{"text":"t","list":[1]}`:        "list of x is no list of texts",
		`{"text":"t","list":["","",""]}`: "list of x has 3; 2 at most",
		`{"text":"t","next":"yes"}`:      "next of x is no true or false",
		`{"text":"t","from":-1}`:         "from of x is less than nothing",
		`{"text":"t","from":1.5}`:        "from of x is no whole number",
		`{"text":"t","which":"c"}`:       "which of x is one of a, b",
		`{"text":"t","item":1.5}`:        "item of x is no text",
		`{"text":"t","Text":"u"}`:        "x takes no Text; it takes text, item, list, next, from, which",
		`{"text":"t","force":true}`:      "x takes no force here: " + personArguments["force"],
	} {
		if _, err := read[takes]("x", json.RawMessage(in)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
	got, err := read[takes]("x", json.RawMessage(`{"text":"t","item":1329,"list":["a"],"next":true,"from":7,"which":"b"}`))
	if want := (takes{"t", "1329", []string{"a"}, true, 7, "b"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := read[struct{}]("x", json.RawMessage(`{"a":1}`)); err == nil || err.Error() != "x takes no arguments, and got a" {
		t.Error(err)
	}
}

// What tools/list says enters prompts: it is whole, and short.
func TestListed(t *testing.T) {
	w := newWorld(t)
	c := w.client("")
	r, err := c.ListTools(w.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; a == nil || a.ReadOnlyHint != slices.Contains([]string{"standing", "brief", "recall"}, tool.Name) || tool.Title == "" {
			t.Errorf("%s is annotated %+v", tool.Name, a)
		}
		schema := tool.InputSchema.(map[string]any)
		for argument, p := range schema["properties"].(map[string]any) {
			if p.(map[string]any)["description"] == "" {
				t.Errorf("%s does not say what %s is", tool.Name, argument)
			}
		}
		if !strings.Contains(instructions, tool.Name) {
			t.Errorf("the instructions do not say when to call %s", tool.Name)
		}
	}
	if want := []string{"standing", "brief", "recall", "decide", "raise", "settle", "dead_end", "safe_point", "hand_over", "claim_finished", "start", "take"}; !slices.Equal(names, want) {
		t.Errorf("offered are %v, want %v", names, want)
	}
	b, err := json.Marshal(r.Tools)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 9000 || len(instructions) > 1500 {
		t.Errorf("the tools take %d bytes, the instructions %d", len(b), len(instructions))
	}
	if i := c.InitializeResult(); i.Instructions != instructions || i.ServerInfo.Name != "duplex" || i.ProtocolVersion != versions[0] {
		t.Errorf("the server greets with %+v", i)
	}
	for _, tool := range r.Tools {
		if tool.Name != "brief" {
			continue
		}
		var sections []string
		for _, s := range tool.InputSchema.(map[string]any)["properties"].(map[string]any)["section"].(map[string]any)["enum"].([]any) {
			sections = append(sections, fmt.Sprint(s))
		}
		if !slices.Equal(sections, handover.Sections()) {
			t.Errorf("brief takes the sections %v; there are %v", sections, handover.Sections())
		}
	}
}
