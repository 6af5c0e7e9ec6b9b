//go:build unix

package live_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-5777983b/duplex/internal/agent/script"
	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// worker is a model that moves files from an old word to a new one. It acts on what
// it is given and on nothing else: the messages of the request are all that it knows,
// so what no brief and no result tells it, it has to look for. It is the model of the
// scripted agent (agent/script), speaking through Claude Code.
type worker struct {
	script *script.Script
	dir    string
	grows  int // tokens by which an answer makes the context grow
	// instead may put another answer in place of the model's own; nil keeps it.
	instead func(script.Reply) *play.Turn

	mu       sync.Mutex
	sittings [][]move // one of each context, in order
	spent    tokens
}

// move is one call that the model made.
type move struct {
	name, path string
	known      bool // it read a file that was done already
}

// firstTokens is how full a context is before the model has said anything.
const firstTokens = 20_000

func newWorker(w *world, grows int) *worker {
	w.Helper()
	text, err := json.Marshal(map[string]any{
		"end": "All files are moved.",
		"work": map[string]any{"item": `notes/\d+\.txt`, "find": "ls notes/*.txt", "replace": []map[string]string{{"match": "old", "with": "new"}},
			"final": []string{"! grep -rl old notes"}},
	})
	if err != nil {
		w.Fatal(err)
	}
	s, err := script.Load(text)
	if err != nil {
		w.Fatal(err)
	}
	return &worker{script: s, dir: w.repo, grows: grows}
}

// answer is the model: a turn made of a request.
func (k *worker) answer(r play.Request) play.Turn {
	context, answers := k.context(r)
	reply := script.Next(context, k.script)
	turn := play.Turn{Text: reply.Text}
	for _, u := range reply.Uses {
		turn.Tools = append(turn.Tools, k.call(u))
	}
	k.remember(answers == 0, reply)
	if k.instead != nil {
		if other := k.instead(reply); other != nil {
			turn = *other
		}
	}
	turn.Usage = play.Usage{In: 100, CacheRead: firstTokens + k.grows*answers, Out: 50}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spent.Input += int64(turn.Usage.In)
	k.spent.CacheRead += int64(turn.Usage.CacheRead)
	k.spent.Output += int64(turn.Usage.Out)
	return turn
}

// used is what all its answers claimed to have used.
func (k *worker) used() tokens {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spent
}

// context is the request as the model understands it, and how often it has answered.
func (k *worker) context(r play.Request) (context []script.Message, answers int) {
	for _, m := range r.Ask.Messages {
		said := script.Message{Role: script.Role(m.Role)}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				said.Text += b.Text + "\n"
			case "tool_use":
				use := script.Use{ID: b.ID, Name: b.Name}
				_ = json.Unmarshal(b.Input, &use.Input) // an input of another form is of a tool that it does not know
				use.Input.Path = strings.TrimPrefix(use.Input.Path, k.dir+"/")
				said.Uses = append(said.Uses, use)
			case "tool_result":
				result := script.OK
				if b.IsError {
					result = script.Failed
				}
				context = append(context, script.Message{Role: script.Tool, Of: b.ToolUseID, Text: b.Content.String(), Result: result})
			}
		}
		if said.Role == script.Assistant {
			answers++
		}
		if said.Text != "" || len(said.Uses) > 0 {
			context = append(context, said)
		}
	}
	return context, answers
}

// call is a call as Claude Code's tools want it.
func (k *worker) call(u script.Use) play.Tool {
	path := filepath.Join(k.dir, u.Input.Path)
	switch u.Name {
	case script.Read:
		return play.Call("Read", map[string]any{"file_path": path})
	case script.Edit:
		return play.Call("Edit", map[string]any{"file_path": path, "old_string": u.Input.Old, "new_string": u.Input.New})
	case script.Write:
		return play.Call("Write", map[string]any{"file_path": path, "content": u.Input.Content})
	}
	return bash(u.Input.Command)
}

// remember notes what the model did, context by context.
func (k *worker) remember(anew bool, reply script.Reply) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if anew || len(k.sittings) == 0 {
		k.sittings = append(k.sittings, nil)
	}
	last := &k.sittings[len(k.sittings)-1]
	for _, u := range reply.Uses {
		m := move{name: u.Name, path: u.Input.Path}
		if u.Name == script.Read {
			b, err := os.ReadFile(filepath.Join(k.dir, u.Input.Path))
			m.known = err == nil && !strings.Contains(string(b), "old")
		}
		*last = append(*last, m)
	}
}

// rereads counts, in the first moves after each takeover, the files that were read
// again though they were done.
func (k *worker) rereads(moves int) (counts []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, sitting := range k.sittings[min(1, len(k.sittings)):] {
		n := 0
		for _, m := range sitting[:min(moves, len(sitting))] {
			if m.known {
				n++
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// told is what the model did, for a test that fails.
func (k *worker) told() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	for i, sitting := range k.sittings {
		fmt.Fprintf(&b, "context %d:", i+1)
		for _, m := range sitting {
			fmt.Fprintf(&b, " %s %s;", m.name, m.path)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// notes writes the files to be moved, and commits them.
func (w *world) notes(n int) {
	w.Helper()
	for i := 1; i <= n; i++ {
		w.write(filepath.Join(w.repo, "notes", fmt.Sprintf("%02d.txt", i)), fmt.Sprintf("note %d\nthe old word\nend\n", i))
	}
	w.git(w.repo, "add", ".")
	w.git(w.repo, "commit", "-qm", "notes")
}
