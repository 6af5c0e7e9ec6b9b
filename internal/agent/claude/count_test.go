package claude_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
)

// The count of this file is the referee of the reader: it goes through the raw
// JSON of a transcript with encoding/json and regular expressions, decides by
// itself what was a command, an edit, a commit or a test run and how it ended, and
// shares no code with what it judges.

// deed is one call that ought to be a step with its result; one that only looks
// ought to have its result at least.
type deed struct {
	id, kind, command string // kind: command, edit, commit, test, look
	ended             bool   // its result stands in the file
	failed            bool   // as the row says
	refused, unknown  bool   // as its text says
	exit              string // as its text says: "3", or nothing
	commit            string // the id, as git said it
}

type rawRow struct {
	Type    string          `json:"type"`
	Message json.RawMessage `json:"message"`
}

type rawBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

// deeds counts one transcript by hand, in order of the calls.
func deeds(t testing.TB, path string) (all []*deed) {
	t.Helper()
	byID := map[string]*deed{}
	for _, line := range rawLines(t, path) {
		var row rawRow
		var message struct {
			Content json.RawMessage `json:"content"`
		}
		var blocks []rawBlock
		if json.Unmarshal(line, &row) != nil || json.Unmarshal(row.Message, &message) != nil || json.Unmarshal(message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_use" && row.Type == "assistant":
				if d := deedOf(b); d != nil && byID[d.id] == nil {
					byID[d.id], all = d, append(all, d)
				}
			case b.Type == "tool_result" && row.Type == "user" && byID[b.ToolUseID] != nil:
				byID[b.ToolUseID].end(b)
			}
		}
	}
	return all
}

func rawLines(t testing.TB, path string) (lines [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		lines = append(lines, bytes.Clone(s.Bytes()))
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return lines
}

func deedOf(b rawBlock) *deed {
	switch b.Name {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return &deed{id: b.ID, kind: "edit"}
	case "Bash":
		var input struct {
			Command string `json:"command"`
		}
		_ = json.Unmarshal(b.Input, &input)
		return &deed{id: b.ID, kind: byHand(input.Command), command: input.Command}
	}
	return nil
}

var (
	exitText   = regexp.MustCompile(`^Exit code (\d+)`)
	commitText = regexp.MustCompile(`(?m)^\[[\w./() -]+ ([0-9a-f]{7,12})\] `)
	refusals   = regexp.MustCompile(`^(The user doesn't want|Permission (to use|for this action)|Claude requested permissions|PreToolUse:|Hook PreToolUse:)`)
)

func (d *deed) end(b rawBlock) {
	text := ""
	if json.Unmarshal(b.Content, &text) != nil {
		var parts []struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(b.Content, &parts)
		for _, p := range parts {
			text += p.Text + "\n"
		}
	}
	d.ended, d.failed = true, b.IsError
	d.unknown = strings.HasPrefix(text, "[Tool call interrupted") || strings.Contains(text, "stopped while running, not refused")
	if m := exitText.FindStringSubmatch(text); m != nil && b.IsError {
		d.exit = m[1]
	}
	d.refused = b.IsError && !d.unknown && refusals.MatchString(text)
	if m := commitText.FindAllStringSubmatch(text, -1); d.kind == "commit" && m != nil && !b.IsError {
		d.commit = m[len(m)-1][1]
	}
}

// What a command line is, by its text. A line is cut at its operators; what stands
// in here-documents and quotes is put away first.
var (
	quotes    = regexp.MustCompile(`'[^']*'|"(?:[^"\\]|\\.)*"`)
	operators = regexp.MustCompile(`\|\||&&|[;|\n]|\$\(|&\s`)
	heredoc   = regexp.MustCompile(`<<-?\s*\\?['"]?(\w+)['"]?`)
	redirects = regexp.MustCompile(`(^|[^0-9&>=-])>>?\s*[\w./~$"'-]+`)
	harmless  = regexp.MustCompile(`[0-9&]?>>?\s*(/dev/null|&[0-9-])`)
	wrappers  = regexp.MustCompile(`^(?:[A-Za-z_]\w*=\S*(\s+|$)|sudo\s+|time\s+|timeout\s+(?:-\S+\s+)*\S+\s+|env\s+(?:\w+=\S*\s+)+|nice\s+|(while|until|if|then|else|do|elif|!)(\s+|$))*`)
	folder    = regexp.MustCompile(`^(/|~/|\./)?([\w.-]+/)+`)
	gitFlags  = regexp.MustCompile(`^git\s+(?:(-C|-c)\s+\S+\s+|--[\w=-]+\s+)*`)
	commitRun = regexp.MustCompile(`^git\s+commit\b`)
	testRun   = regexp.MustCompile(`^(go\s+test|go\s+tool\s+gotestsum|gotestsum|(npm|yarn|pnpm|bun)\s+(--?\S+\s+\S+\s+)?(run\s+)?test\b|(npx|bunx|pnpm\s+exec|yarn)\s+(vitest|jest|playwright\s+test|mocha)|vitest|jest|pytest|python3?\s+-m\s+(pytest|unittest)|(uv|poetry)\s+run\s+(-\S+\s+)*(pytest|python\s+-m\s+pytest)|cargo\s+(test|nextest)|flutter\s+test|dart\s+test|mise\s+run\s+test|make\s+(\S+\s+)*test)`)
	looking   = regexp.MustCompile(`^(cat|head|tail|less|ls|grep|rg|find|wc|sed|awk|file|stat|which|pwd|echo|printf|cd|tree|du|sort|uniq|cut|tr|diff|jq|true|false|test|sleep|\[|env|ps|date|basename|dirname|realpath|xxd|column|comm|tac|nl|type|whoami|uname|id|df|export|set|source|exit|for|done|fi|read|break|continue|\}|\{|\)|#|` +
		`lsof|strings|sha256sum|xargs|docker\s+ps|git\s+(status|log|diff|show|blame|ls-files|ls-tree|rev-parse|grep|describe|cat-file|merge-base|rev-list|ls-remote|for-each-ref|show-ref|shortlog|check-ignore|reflog|--version$|(branch|tag|remote|stash|worktree|config)\b)|go\s+(list|doc|env|version))($|\s|;)|^$`)
)

func byHand(command string) string {
	command = withoutDocuments(strings.ReplaceAll(command, "\\\n", " "))
	bare := quotes.ReplaceAllString(command, "Q")
	if redirects.MatchString(harmless.ReplaceAllString(bare, "")) {
		bare += "\nwrites" // a name that is in no list
	}
	kind := "look"
	for _, part := range operators.Split(bare, -1) {
		part = strings.Trim(strings.TrimSpace(part), "()")
		part = wrappers.ReplaceAllString(strings.TrimSpace(part), "")
		part = gitFlags.ReplaceAllString(folder.ReplaceAllString(part, ""), "git ")
		switch {
		case commitRun.MatchString(part):
			return "commit"
		case testRun.MatchString(part):
			kind = "test"
		case !looking.MatchString(part) && kind == "look":
			kind = "command"
		}
	}
	return kind
}

func withoutDocuments(command string) string {
	var kept []string
	end := ""
	for line := range strings.SplitSeq(command, "\n") {
		if end != "" {
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		}
		if m := heredoc.FindStringSubmatch(line); m != nil {
			end = m[1]
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// told is what the reader made of a call.
func told(rows []agent.Row) (steps map[string]*agent.Call, open map[string]bool) {
	steps, open = map[string]*agent.Call{}, map[string]bool{}
	for _, row := range rows {
		switch {
		case row.Kind == agent.RowResult && steps[row.Call.ID] == nil: // the first is the call's own end
			steps[row.Call.ID] = row.Call
		case row.Kind == agent.RowCall:
			open[row.Call.ID] = true
		}
	}
	return steps, open
}

// wrong says what the reader got wrong of a deed; nothing when it did not.
func (d *deed) wrong(steps map[string]*agent.Call, open map[string]bool) string {
	c := steps[d.id]
	switch {
	case c == nil && !d.ended && open[d.id]:
		return "" // still in flight where the file ends
	case c == nil:
		return "no result"
	case c.Class == "" && d.kind != "look":
		return "not a step"
	case d.kind == "commit" && c.Class != job.ClassCommit, d.kind == "test" && c.Class != job.ClassTest, d.kind == "edit" && c.Class != job.ClassEdit:
		return "class " + string(c.Class)
	case !d.ended && c.Done.Result != job.ResultUnknown:
		return "no result in the file, yet " + string(c.Done.Result)
	case d.unknown && c.Done.Result != job.ResultUnknown, d.refused && c.Done.Result != job.Denied,
		d.ended && !d.failed && c.Done.Result == job.Failed, d.failed && c.Done.Result == job.OK:
		return "result " + string(c.Done.Result)
	case d.exit != "" && (c.Done.Exit == nil || d.exit != itoa(*c.Done.Exit)):
		return "exit code is not " + d.exit
	case d.commit != "" && d.commit != c.Commit:
		return "commit " + c.Commit + " is not " + d.commit
	}
	return ""
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestStepsByAnIndependentCount: of the commands, edits, commits and test runs of
// whole sessions, at least 99 in 100 are steps with their result, in each kind.
func TestStepsByAnIndependentCount(t *testing.T) {
	t.Parallel()
	t.Run("fixtures", func(t *testing.T) { countSteps(t, fixtures(t)) })
	corpus, ok := shared("corpus")
	if !ok {
		return
	}
	t.Run("recorded sessions", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(corpus, "*__claude__*.jsonl.gz"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sessions in %s: %v", corpus, err)
		}
		countSteps(t, files)
	})
}

func countSteps(t *testing.T, files []string) {
	counted, missed := map[string]int{}, map[string]int{}
	for _, file := range files {
		rows, _ := readAll(t, file)
		steps, open := told(rows)
		for _, d := range deeds(t, file) {
			counted[d.kind]++
			if why := d.wrong(steps, open); why != "" {
				missed[d.kind]++
				t.Logf("%s: %s %s: %s: %.300q", filepath.Base(file), d.kind, d.id, why, d.command)
			}
		}
	}
	for _, kind := range []string{"command", "edit", "commit", "test", "look"} {
		n, miss := counted[kind], missed[kind]
		t.Logf("%s: %d of %d calls have what is theirs", kind, n-miss, n)
		if n == 0 || float64(miss) > .01*float64(n) {
			t.Errorf("%s: %d of %d calls lack it", kind, miss, n)
		}
	}
}
