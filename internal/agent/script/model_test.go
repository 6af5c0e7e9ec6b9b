package script

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func load(t testing.TB, text string) *Script {
	t.Helper()
	s, err := Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const plain = `{"work": {"item": "tests/\\S+\\.txt", "find": "ls tests/*/*.txt", "replace": [{"match": "old", "with": "new"}],
	"verify": {"items": 3, "run": "verify"}, "final": ["check all"]}, "end": "done"}`

// world answers the model's calls from files in memory, as package scripted does
// from a folder.
type world struct {
	files   map[string]string
	context []Message
	actions []string
	answers map[string]Message // of commands
	n       int
}

func newWorld() *world {
	w := &world{files: map[string]string{}, answers: map[string]Message{}}
	for _, dir := range []string{"a", "b", "c"} {
		for i := range 5 {
			w.files[fmt.Sprintf("tests/%s/%d.txt", dir, i)] = "one\nold two\n"
		}
	}
	return w
}

func (w *world) hear(role Role, text string) {
	w.context = append(w.context, Message{Role: role, Text: text})
}

// step is one call of the model with its tools; false when it ended its turn.
func (w *world) step(s *Script) (Reply, bool) {
	reply := Next(w.context, s)
	for i := range reply.Uses {
		w.n++
		reply.Uses[i].ID = fmt.Sprint("call", w.n)
	}
	w.context = append(w.context, Message{Role: Assistant, Text: reply.Text, Uses: reply.Uses, Extra: reply.Extra})
	for _, u := range reply.Uses {
		w.actions = append(w.actions, strings.TrimSpace(u.Name+" "+u.Input.Path+u.Input.Command))
		m := w.run(u)
		m.Role, m.Of = Tool, u.ID
		w.context = append(w.context, m)
	}
	return reply, len(reply.Uses) > 0
}

func (w *world) run(u Use) Message {
	in := u.Input
	if m, ok := w.answers[in.Command]; ok && u.Name == Bash {
		return m
	}
	switch u.Name {
	case Read:
		text, ok := w.files[in.Path]
		if !ok {
			return Message{Text: "no such file", Result: Failed}
		}
		return Message{Text: Numbered(text), Result: OK}
	case Write:
		w.files[in.Path] = in.Content
	case Edit:
		if strings.Count(w.files[in.Path], in.Old) != 1 {
			return Message{Text: "not once", Result: Failed}
		}
		w.files[in.Path] = strings.Replace(w.files[in.Path], in.Old, in.New, 1)
	case Bash:
		if strings.HasPrefix(in.Command, "ls ") {
			var names []string
			for name := range w.files {
				names = append(names, name)
			}
			slices.Sort(names)
			return Message{Text: strings.Join(names, "\n"), Result: OK}
		}
	}
	return Message{Text: "ok", Result: OK}
}

func (w *world) toEnd(t *testing.T, s *Script) Reply {
	t.Helper()
	for range 300 {
		if reply, more := w.step(s); !more {
			return reply
		}
	}
	t.Fatal("the model does not come to an end")
	return Reply{}
}

func TestWorksThroughAList(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), load(t, plain)
	w.hear(User, "Replace old by new.")
	if reply := w.toEnd(t, s); reply.Text != "done" {
		t.Errorf("ended with %q, want done", reply.Text)
	}
	for name, text := range w.files {
		if text != "one\nnew two\n" {
			t.Errorf("%s is %q", name, text)
		}
	}
	got := map[string]int{}
	for _, a := range w.actions {
		got[a]++
	}
	if got["Bash verify"] != 5 || got["Bash check all"] != 1 || got["Bash ls tests/*/*.txt"] != 1 || w.actions[0] != "Bash ls tests/*/*.txt" {
		t.Errorf("actions: %q", w.actions)
	}
}

// The whole point of the model: what it knows is its context. A new context
// starts at the first file, unless a brief says where the work stands.
func TestOnlyABriefCarriesAcross(t *testing.T) {
	t.Parallel()
	s := load(t, plain)
	rereads := func(brief string) (int, []string) {
		w := newWorld()
		done := map[string]bool{}
		for _, name := range []string{"tests/a/0.txt", "tests/a/1.txt", "tests/a/2.txt", "tests/a/3.txt", "tests/a/4.txt", "tests/b/0.txt", "tests/b/1.txt"} {
			w.files[name] = "one\nnew two\n"
			done[name] = true
		}
		w.hear(System, brief)
		w.hear(User, "Go on.")
		n := 0
		for range 10 {
			w.step(s)
		}
		for _, a := range w.actions {
			if done[strings.TrimPrefix(a, "Read ")] {
				n++
			}
		}
		first := slices.Clone(w.actions)
		w.toEnd(t, s)
		for name, text := range w.files {
			if strings.Contains(text, "old") {
				t.Errorf("with brief %q, %s was left out", brief, name)
			}
		}
		return n, first
	}
	without, actions := rereads("")
	if without != 7 || actions[0] != "Bash ls tests/*/*.txt" {
		t.Errorf("without a brief %d of 10 actions re-read what was done: %q, want 7", without, actions)
	}
	with, actions := rereads("Left and next (duplex)\n- left in tests/b: 2.txt, 3.txt and 1 more [duplex, 1330]\n- next: rewrite tests/b/2.txt [agent, 1329]\n")
	if with != 0 || actions[0] != "Read tests/b/2.txt" || actions[1] != "Edit tests/b/2.txt" {
		t.Errorf("with a brief %d of 10 actions re-read what was done: %q, want 0", with, actions)
	}
}

// The lines are as package handover writes them.
func TestABriefIsUnderstood(t *testing.T) {
	t.Parallel()
	for _, item := range []string{`tests/\\S+\\.txt`, `[\\w/]+\\.txt`} {
		for brief, want := range map[string]string{
			"#21 duplex: left in tests/b/: 2.txt, 4.txt +1 more [stale: 2.txt is gone]":                                            "Read tests/b/2.txt, Read tests/b/4.txt, Bash ls tests/*/*.txt, Read tests/b/3.txt",
			"#9 duplex: next: go on in tests/c/ with 1.txt":                                                                        "Bash ls tests/*/*.txt, Read tests/c/1.txt, Read tests/c/2.txt, Read tests/c/3.txt",
			"#9 agent: next: then tests/c/3.txt and `x`":                                                                           "Bash ls tests/*/*.txt, Read tests/c/3.txt, Read tests/c/4.txt",
			"#21 duplex: left in tests/b/: 2.txt\n#21 duplex: done in tests/b/: 0.txt, 3.txt\n#9 agent: edited in tests/c/: 0.txt": "Read tests/b/2.txt, Bash ls tests/*/*.txt, Read tests/b/4.txt, Read tests/c/1.txt",
			"#21 duplex: left in tests/b/: 2.txt, 3.txt\n#22 duplex: left in tests/a/: 4.txt\nnext: go on in tests/a/ with 4.txt":  "Read tests/a/4.txt, Read tests/b/2.txt, Read tests/b/3.txt, Bash ls tests/*/*.txt",
		} {
			s := load(t, strings.ReplaceAll(plain, `tests/\\S+\\.txt`, item))
			w := newWorld()
			for name := range w.files {
				w.files[name] = "new\n" // nothing to change: only reads are seen
			}
			w.hear(System, brief)
			w.hear(User, "Go on.")
			w.toEnd(t, s)
			if got := strings.Join(w.actions[:min(len(w.actions), strings.Count(want, ",")+1)], ", "); got != want {
				t.Errorf("item %s, told %q: %s; want %s", item, brief, got, want)
			}
		}
	}
}

func TestDoneAfterABriefCountsNoMore(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), load(t, plain)
	w.hear(User, "Go.")
	for range 7 {
		w.step(s)
	}
	if w.files["tests/a/2.txt"] != "one\nnew two\n" {
		t.Fatalf("three items should be done: %q", w.actions)
	}
	w.files["tests/a/1.txt"] = "one\nold two\n" // gone back to a safe point
	w.hear(System, "left in tests/a: 1.txt, 2.txt")
	w.actions = nil
	w.step(s) // the verify that was due
	w.step(s)
	if w.actions[1] != "Read tests/a/1.txt" {
		t.Errorf("after going back it did %q, want tests/a/1.txt read again", w.actions)
	}
}

func TestAFailingFinalCommandGivesTheNextList(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), load(t, plain)
	w.answers["check all"] = Message{Text: "FAIL tests/b/3.txt:2", Result: Failed}
	w.hear(User, "Go.")
	reply := w.toEnd(t, s)
	if reply.Text != "This still fails: check all" || w.actions[len(w.actions)-1] != "Read tests/b/3.txt" {
		t.Errorf("ended with %q after %q", reply.Text, w.actions[len(w.actions)-3:])
	}
}

func TestTwoRefusalsEndTheTurn(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), load(t, plain)
	w.answers["ls tests/*/*.txt"] = Message{Text: "the lease has gone to session 4", Result: Denied}
	w.hear(User, "Go.")
	if reply := w.toEnd(t, s); !strings.Contains(reply.Text, "gone to session 4") || len(w.actions) != 2 {
		t.Errorf("ended with %q after %q", reply.Text, w.actions)
	}
}

func TestAFailedEditBecomesAWrite(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), load(t, plain)
	w.files = map[string]string{"tests/a/0.txt": "old\n"}
	w.hear(User, "Go.")
	w.step(s)
	w.step(s)
	w.files["tests/a/0.txt"] = "old\nold\n" // somebody changed it meanwhile
	w.toEnd(t, s)
	if got := w.files["tests/a/0.txt"]; got != "new\nnew\n" {
		t.Errorf("file is %q after %q", got, w.actions)
	}
}

func TestExtras(t *testing.T) {
	t.Parallel()
	s := load(t, `{"work": {"item": "tests/\\S+\\.txt", "find": "ls all", "replace": [{"match": "old", "with": "new"}]}, "extras": [
		{"name": "decide", "when": {"items": 1}, "do": {"run": "duplex decide x"}},
		{"name": "twice", "when": {"item": "a/1"}, "do": {"run": "again", "times": 2}},
		{"name": "cheat", "when": {"writing": "a/2"}, "do": {"drop": "(?m)^one\\n"}},
		{"name": "crash", "when": {"writing": "a/3", "unless": "crashed"}, "do": {"crash": true}},
		{"name": "limit", "when": {"item": "a/4"}, "do": {"limit": "2h"}},
		{"name": "other", "when": {"model": "script-large"}, "do": {"say": "hello"}}]}`).For("script-small")
	w := newWorld()
	w.hear(User, "Go.")
	var extras []string
	for range 40 {
		reply, more := w.step(s)
		if reply.Extra != "" {
			extras = append(extras, reply.Extra)
		}
		if reply.Extra == "crash" && (!reply.Crash || reply.writes() != "tests/a/3.txt") {
			t.Errorf("crash is %+v", reply)
		}
		if reply.Limit != nil {
			if reply.Limit.In.Hours() != 2 {
				t.Errorf("limit is %+v", reply.Limit)
			}
			break
		}
		if !more {
			break
		}
	}
	if got := strings.Join(extras, " "); got != "decide twice twice cheat crash limit" {
		t.Errorf("extras were %s", got)
	}
	if got := w.files["tests/a/2.txt"]; got != "new two\n" {
		t.Errorf("the cheated file is %q", got)
	}

	again := newWorld()
	again.hear(System, "The last session crashed.")
	again.hear(User, "Go.")
	for range 12 {
		if reply, _ := again.step(s); reply.Extra == "crash" {
			t.Error("unless did not keep it from crashing")
		}
	}
}

func TestEditsAreSmallAndUnique(t *testing.T) {
	t.Parallel()
	w := load(t, plain).Work
	for _, c := range []struct{ before, after, old, new string }{
		{"a\nb\nc\n", "a\nx\nc\n", "b\n", "x\n"},
		{"a\nb\na\nb\n", "a\nb\na\nx\n", "b\na\nb\n", "b\na\nx\n"},
		{"x\nb\ny\nb\nz\n", "x\nb\ny\nc\nz\n", "y\nb\nz\n", "y\nc\nz\n"},
		{"a\nc\n", "a\nb\nc\n", "a\nc\n", "a\nb\nc\n"},
		{"b\n", "x\n", "b\n", "x\n"},
		{"b", "x", "", ""}, // nothing stands still: the whole file is written
		{"1\n2\n3\n4\n", "1\n2\nnew\n3\n4\n", "2\n3\n", "2\nnew\n3\n"},
	} {
		u := w.write("f", c.before, c.after, false)
		if u.Name == Edit {
			if u.Input.Old != c.old || u.Input.New != c.new {
				t.Errorf("%q to %q: edit %q to %q, want %q to %q", c.before, c.after, u.Input.Old, u.Input.New, c.old, c.new)
			}
			if got := strings.Replace(c.before, u.Input.Old, u.Input.New, 1); got != c.after {
				t.Errorf("%q became %q, want %q", c.before, got, c.after)
			}
		} else if u.Input.Content != c.after {
			t.Errorf("%q: wrote %q, want %q", c.before, u.Input.Content, c.after)
		}
	}
}

func TestSummaryLosesDetail(t *testing.T) {
	t.Parallel()
	context := []Message{{Role: System, Text: "You are x."}, {Role: User, Text: "Move the tests."},
		{Role: Tool, Text: strings.Repeat("tests/a/1.txt\n", 50)}, {Role: Assistant, Text: "Now tests/b/2.txt."}}
	got := Summary(context, "keep: the decision")
	for _, want := range []string{"Move the tests.", "Now tests/b/2.txt.", "keep: the decision"} {
		if !strings.Contains(got, want) {
			t.Errorf("summary lacks %q: %q", want, got)
		}
	}
	if Tokens([]Message{{Text: got}}) > 120 {
		t.Errorf("summary is long: %q", got)
	}
}

func TestFullScript(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, string(data))
	if len(s.For("script-small").Extras) != len(s.For("script-large").Extras)-1 {
		t.Error("the extra of the large model is not its own")
	}
	if got := s.Work.rewrite("\tcheck(t, a, b)\n"); got != "\tif a != b {\n\t\tt.Errorf(\"got %v, want %v\", a, b)\n\t}\n" {
		t.Errorf("rewritten to %q", got)
	}
	// The documentation names every field.
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"about", "compact", "work", "end", "extras", "agents", "item", "find", "left", "done", "next", "replace", "write",
		"verify", "commit", "final", "match", "items", "writing", "unless", "model", "run", "call", "limit", "say", "wait", "drop", "crash", "times"} {
		if !strings.Contains(string(doc), "\n//\t"+field+" ") {
			t.Errorf("doc.go does not explain %s", field)
		}
		if !strings.Contains(string(data), `"`+field+`"`) {
			t.Errorf("testdata/full.json does not use %s", field)
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`:                       "unexpected EOF",
		`{"wrok": {}}`:            `unknown field "wrok"`,
		`{"work": {"item": "x"}}`: "item and replace are needed",
		`{"work": {"item": "(", "replace": [{"match":"a","with":"b"}]}}`: "work: item:",
		`{"extras": [{"name": "a", "do": {}}]}`:                          "extra a: do says nothing",
		`{"extras": [{"do": {"end": "x"}}]}`:                             "needs a name",
		`{"extras": [{"name": "a", "do": {"end": "x", "run": "y"}}]}`:    "one of run, call, end and limit",
		`{"extras": [{"name": "a", "do": {"limit": "soon"}}]}`:           `limit is "soon"`,
		`{"extras": [{"name": "a", "do": {"drop": "x"}}]}`:               "drop needs when.writing",
		`{"compact": "maybe"}`:                                           "auto or off",
		`{"agents": {"a": {"compact": "x"}}}`:                            "agent a:",
	} {
		if _, err := Load([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s) = %v, want %q", text, err, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	data, err := os.ReadFile("testdata/full.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data), "look around")
	f.Add(plain, "left in tests/b: 2.txt, 3.txt")
	f.Add(`{"extras":[{"name":"a","do":{"drop":"x"},"when":{"writing":""}}]}`, "")
	f.Fuzz(func(t *testing.T, text, said string) {
		s, err := Load([]byte(text))
		if err != nil {
			return
		}
		w := newWorld()
		w.hear(User, said)
		for range 8 {
			before := len(w.context)
			first, again := Next(w.context, s), Next(w.context, s)
			if !reflect.DeepEqual(first, again) {
				t.Fatalf("two answers to one context: %+v and %+v", first, again)
			}
			if _, more := w.step(s); !more || len(w.context) == before {
				return
			}
		}
	})
}
