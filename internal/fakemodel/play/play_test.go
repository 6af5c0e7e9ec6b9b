package play

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const ask = `{"model":"claude-opus-5-5","stream":true,"system":"be brief","messages":[{"role":"user","content":"look around"}]}`

func post(t *testing.T, m *Server, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "sk-dummy")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// said puts a stream together again, as an agent does.
func said(t *testing.T, stream io.Reader) (text string, tools []string, stop string, out float64) {
	t.Helper()
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Delta struct {
				Text        string
				Thinking    string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
			Usage map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		text += e.Delta.Text
		if e.Delta.PartialJSON != "" {
			tools = append(tools, e.Delta.PartialJSON)
		}
		if e.Type == "message_delta" {
			stop = e.Delta.StopReason
			out, _ = e.Usage["output_tokens"].(float64)
		}
	}
	return text, tools, stop, out
}

func TestTurnsInTheirOrder(t *testing.T) {
	t.Parallel()
	m := New(t, Script{
		Turns: []Turn{
			{Thinking: "hm", Text: "I look.", Tools: []Tool{Call("Bash", map[string]any{"command": "ls"})}, Usage: Usage{In: 900, Out: 40}},
			{Text: "There is <one> file."},
		},
		Default: &Turn{Text: "over"},
	})
	want := []struct {
		text, tool, stop string
		out              float64
	}{{"I look.", `{"command":"ls"}`, "tool_use", 40}, {"There is <one> file.", "", "end_turn", 5}, {"over", "", "end_turn", 5}, {"over", "", "end_turn", 5}}
	for i, w := range want {
		text, tools, stop, out := said(t, post(t, m, messages, ask).Body)
		if text != w.text || strings.Join(tools, "") != w.tool || stop != w.stop || out != w.out {
			t.Errorf("answer %d is %q, %q, %s, %v; want %+v", i+1, text, tools, stop, out, w)
		}
	}
	var played []string
	for _, r := range m.Requests() {
		played = append(played, r.Played)
	}
	if !slices.Equal(played, []string{"turn 1", "turn 2", "default", "default"}) {
		t.Errorf("played %q", played)
	}
}

func TestPlainAnswer(t *testing.T) {
	t.Parallel()
	m := New(t, Script{Turns: []Turn{{Text: "Yes.", Usage: Usage{In: 3, CacheRead: 4, CacheWrite: 5, CacheHour: 6, Out: 7}}}})
	var got struct {
		Type, Role, Model string
		Content           Content
		StopReason        string `json:"stop_reason"`
		Usage             map[string]any
	}
	if err := json.NewDecoder(post(t, m, messages, strings.Replace(ask, "true", "false", 1)).Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "message" || got.Model != "claude-opus-5-5" || got.Content.String() != "Yes." || got.StopReason != "end_turn" {
		t.Errorf("got %+v", got)
	}
	for kind, want := range map[string]float64{"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 11, "output_tokens": 7} {
		if got.Usage[kind] != want {
			t.Errorf("%s is %v, want %v", kind, got.Usage[kind], want)
		}
	}
}

func TestRulesComeFirst(t *testing.T) {
	t.Parallel()
	m := New(t, Script{
		Rules: []Rule{
			{Match: `look.*around`, Once: true, Turn: Turn{Status: 529, Headers: map[string]string{"Retry-After": "7"}}},
			{When: func(r Request) bool { return r.Ask.Model == "claude-haiku-4-5" }, Turn: Turn{Text: "small"}},
		},
		Turns: []Turn{{Text: "one"}},
	})
	first := post(t, m, messages, ask)
	if first.StatusCode != 529 || first.Header.Get("Retry-After") != "7" {
		t.Errorf("the rule for once gave %s, %v", first.Status, first.Header)
	}
	if text, _, _, _ := said(t, post(t, m, messages, strings.Replace(ask, "opus-5-5", "haiku-4-5", 1)).Body); text != "small" {
		t.Errorf("the rule for a model gave %q", text)
	}
	if text, _, _, _ := said(t, post(t, m, messages, ask).Body); text != "one" {
		t.Errorf("rules moved on in the turns: %q", text)
	}
}

func TestAnswersThatBreak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turn Turn
		want string // in the stream; the end of a message never
	}{
		"error event": {Turn{Text: "half", SSEError: json.RawMessage(`{"type":"error","error":{"type":"overloaded_error"}}`)}, "overloaded_error"},
		"cut":         {Turn{Text: "half", Cut: true}, "half"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := New(t, Script{Turns: []Turn{c.turn}})
			stream, err := io.ReadAll(post(t, m, messages, ask).Body)
			if !strings.Contains(string(stream), c.want) || strings.Contains(string(stream), "message_stop") {
				t.Errorf("the stream is %s", stream)
			}
			if c.turn.Cut && err == nil {
				t.Error("the connection ended as if nothing was wrong")
			}
		})
	}
}

func TestHangs(t *testing.T) {
	t.Parallel()
	m := New(t, Script{Turns: []Turn{{Text: "half", Hang: true}}})
	stream := bufio.NewReader(post(t, m, messages, ask).Body)
	for line := ""; !strings.Contains(line, "half"); {
		var err error
		if line, err = stream.ReadString('\n'); err != nil {
			t.Fatalf("ended before its text came: %v", err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(stream)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("it ended by itself: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	m := New(t, Script{Turns: []Turn{{Text: "late", Delay: 0.1}}})
	began := time.Now()
	if text, _, _, _ := said(t, post(t, m, messages, ask).Body); text != "late" || time.Since(began) < 100*time.Millisecond {
		t.Errorf("%q after %s", text, time.Since(began))
	}
}

// TestModelThatReads: a turn can be made of what was asked.
func TestModelThatReads(t *testing.T) {
	t.Parallel()
	m := New(t, Script{Default: &Turn{Do: func(r Request) Turn {
		if results := r.Results(); len(results) > 0 {
			return Turn{Text: "it says " + results[0].Content.String()}
		}
		return Turn{Tools: []Tool{Call("Bash", map[string]any{"command": "cat notes"})}}
	}}})
	if _, tools, _, _ := said(t, post(t, m, messages, ask).Body); len(tools) != 1 {
		t.Errorf("calls are %q", tools)
	}
	result := `{"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"blue"}]}]}]}`
	if text, _, _, _ := said(t, post(t, m, messages, result).Body); text != "it says blue" {
		t.Errorf("answer is %q", text)
	}
}

func TestWhatWasAsked(t *testing.T) {
	t.Parallel()
	log := t.TempDir()
	m, err := Serve(0, Script{CountTokens: 77, Models: []json.RawMessage{[]byte(`{"id":"m"}`)}}, log)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(ask))
	_ = z.Close()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+messages+"?beta=true", &zipped)
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("Authorization", "Bearer very-secret")
	if answer, err := http.DefaultClient.Do(r); err != nil {
		t.Fatal(err)
	} else {
		answer.Body.Close()
	}
	got := m.Wait(t, "the zipped question", func(r Request) bool { return r.Says("look around") && r.Says("be brief") })
	if got.N != 1 || got.Path != messages || got.Headers["authorization"] != "(withheld)" || got.Last("user") != "look around" || !got.Asked() {
		t.Errorf("kept %+v", got)
	}
	counted, _ := io.ReadAll(post(t, m, counting, ask).Body)
	if !strings.Contains(string(counted), "77") {
		t.Errorf("the count is %s", counted)
	}
	listed, err := http.Get(m.URL() + models)
	if err != nil {
		t.Fatal(err)
	}
	defer listed.Body.Close()
	if b, _ := io.ReadAll(listed.Body); !strings.Contains(string(b), `{"id":"m"}`) {
		t.Errorf("the list of models is %s", b)
	}
	if nothing := post(t, m, "/v1/else", "no json"); nothing.StatusCode != http.StatusNotFound {
		t.Errorf("another path gives %s", nothing.Status)
	}
	if all := m.Requests(); len(all) != 4 || all[1].Asked() {
		t.Errorf("%d requests are known, want 4, of which one asked the model", len(all))
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(log, "*.json"))
	if len(files) != 4 {
		t.Fatalf("log has %q", files)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(b), "very-secret") || strings.Contains(string(b), "sk-dummy") {
			t.Errorf("%s holds a credential, or cannot be read (%v)", f, err)
		}
	}
}

func TestControls(t *testing.T) {
	t.Parallel()
	m := New(t, Script{Turns: []Turn{{Text: "old"}, {Text: "old"}}})
	post(t, m, messages, ask)
	if got := post(t, m, "/__script", `{"turns":[{"text":"new"}]}`); got.StatusCode != http.StatusOK {
		t.Fatalf("another script: %s", got.Status)
	}
	if text, _, _, _ := said(t, post(t, m, messages, ask).Body); text != "new" {
		t.Errorf("after another script it says %q", text)
	}
	if wrong := post(t, m, "/__script", `{"turn":[]}`); wrong.StatusCode != http.StatusBadRequest {
		t.Errorf("a script with an unknown key: %s", wrong.Status)
	}
	state, _ := io.ReadAll(post(t, m, "/__state", "").Body)
	if string(state) != `{"requests":2,"turns":1}` {
		t.Errorf("state is %s", state)
	}
}

// TestManyAtOnce: each turn is played once, whoever asks.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	var s Script
	for range n {
		s.Turns = append(s.Turns, Turn{Text: "x"})
	}
	m := New(t, s)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			answer, err := http.Post(m.URL()+messages, "application/json", strings.NewReader(ask))
			if err != nil {
				t.Error(err)
				return
			}
			answer.Body.Close()
		})
	}
	all.Wait()
	played := map[string]bool{}
	for _, r := range m.Requests() {
		played[r.Played] = true
	}
	if len(played) != n || played["default"] {
		t.Errorf("played %v", played)
	}
}

func TestScriptsThatAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"turns":[{"txet":"x"}]}`:    "txet",
		`{"rules":[{"match":"("}]}`:   "rule 1",
		`{} {}`:                       "after its end",
		``:                            "read script",
		`{"turns":{"text":"a turn"}}`: "read script",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"rules":[{"match":"a.b","turn":{"status":429,"body":{"x":1}},"once":true}],"turns":[{"text":"x","usage":{"in":1}}],"default":{"hang":true}}`))
	f.Add([]byte(`{"turns":[{"tools":[{"name":"Bash"}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		for _, turn := range s.Turns {
			message, events := anthropic(turn, "m")
			if _, err := json.Marshal(message); err != nil {
				t.Errorf("a parsed turn cannot be sent: %v", err)
			}
			if events[len(events)-1].Name != "message_stop" {
				t.Errorf("a stream ends in %s", events[len(events)-1].Name)
			}
		}
	})
}

func FuzzAsk(f *testing.F) {
	f.Add([]byte(ask))
	f.Add([]byte(`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":"x"},7]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Request
		_ = json.Unmarshal(b, &r.Ask)
		for _, m := range r.Ask.Messages {
			if !r.Says(m.Content.String()) {
				t.Errorf("the model reads %q and the request does not say so", m.Content)
			}
		}
		r.Results()
	})
}
