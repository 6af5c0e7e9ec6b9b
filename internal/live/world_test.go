//go:build unix

package live_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

// program is the path of duplex, built for these tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(withProgram(m.Run))
}

func withProgram(run func() int) int {
	dir, err := os.MkdirTemp("", "duplex-live-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "duplex")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/duplex").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build duplex: %v\n%s", err, out)
		return 1
	}
	return run()
}

// world is one person's machine: a home, a repository, duplex with its store, and
// an agent whose model plays a script. Nothing in it reaches beyond the machine.
type world struct {
	*testing.T
	home  string
	repo  string // where the work is done
	model *play.Server
	env   []string
}

// newWorld makes a world and runs the test beside others. It skips where the agent
// is not installed.
func newWorld(t *testing.T, s play.Script) *world {
	t.Helper()
	claudeProgram(t)
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, home: filepath.Join(root, "home"), repo: filepath.Join(root, "shop"), model: play.New(t, s)}
	state, tmp, cache := filepath.Join(root, "state"), filepath.Join(root, "tmp"), buildCache()
	for _, dir := range []string{w.home, tmp, cache, filepath.Join(state, "cache")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(cache, filepath.Join(state, "cache", "go-build")); err != nil { // of clean checkouts
		t.Fatal(err)
	}
	w.env = []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + w.home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TERM=xterm-256color", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
		"GOCACHE=" + cache, "GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local", "DUPLEX_HOME=" + state,
		"ANTHROPIC_BASE_URL=" + w.model.URL(), "ANTHROPIC_API_KEY=" + dummyKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1",
	}
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = Mara\n\temail = mara@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n")
	w.repository(w.repo)
	w.Cleanup(w.endAll)
	return w
}

// buildCache is the user's own, so that the standard library is not compiled for each world.
func buildCache() string {
	if dir := os.Getenv("GOCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "go-build")
}

// dummyKey is what the agent shows to the scripted model; it opens nothing.
const dummyKey = "dummy"

// set adds to the environment of all that follows.
func (w *world) set(name, value string) { w.env = append(w.env, name+"="+value) }

// repository makes a small Go module with one commit.
func (w *world) repository(dir string) {
	w.Helper()
	w.write(filepath.Join(dir, "go.mod"), "module example.org/shop\n\ngo 1.26\n")
	w.write(filepath.Join(dir, "price.go"), "package shop\n\nfunc Price(n int) int { return n * 10 }\n")
	w.write(filepath.Join(dir, "price_test.go"), "package shop\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) {\n\tif Price(2) != 20 {\n\t\tt.Error(\"two cost 20\")\n\t}\n}\n")
	w.git(dir, "init", "-q")
	w.git(dir, "add", ".")
	w.git(dir, "commit", "-qm", "shop: prices")
}

func (w *world) git(dir string, args ...string) string {
	w.Helper()
	return w.command(dir, "git", args...)
}

func (w *world) write(file, content string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(file string) string {
	w.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

// command runs a program to its end and returns what it printed.
func (w *world) command(dir, name string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, w.env
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		w.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, complaints.Bytes())
	}
	return string(out)
}

// duplex runs one command of duplex in the repository.
func (w *world) duplex(args ...string) string {
	w.Helper()
	return w.command(w.repo, program, args...)
}

// asked runs a command with --json and decodes what it prints.
func asked[T any](w *world, args ...string) T {
	w.Helper()
	var v T
	out := w.duplex(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.Fatalf("duplex %s printed what is no JSON: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

// start begins a job in the repository and returns its short name.
func (w *world) start(goal string, args ...string) string {
	w.Helper()
	return asked[struct{ Short string }](w, append([]string{"start", goal}, args...)...).Short
}

// entry is one entry of a ledger, as duplex log --json prints it.
type entry struct {
	Position int
	Kind     string
	Session  string
	Author   struct{ Kind, Name string }
	Guest    bool
	Late     bool
	Payload  payload
}

// payload has the fields that stories look at, of whatever kind the entry is.
type payload struct {
	Text, Why, What, How, Goal, Reason, Evidence, Title, Command, Result, Source, Claim, Commit string
	Class, Model, Purpose, From, Message, Until, Agent                                          string
	Exit                                                                                        *int
	Receipt                                                                                     struct{ Text string }
	Tests                                                                                       *struct{ Passed, Failed int }
	Estimate, Unnamed                                                                           bool
	Number                                                                                      int
	Tokens                                                                                      json.RawMessage
	Pico                                                                                        *int64
	Models                                                                                      []struct {
		Model  string
		Tokens tokens
		Pico   *int64
	}
	Call string
}

// tokens are disjoint kinds, as duplex counts them.
type tokens struct {
	Input        int64 `json:"input"`
	CacheWrite5m int64 `json:"cache_write_5m"`
	CacheWrite1h int64 `json:"cache_write_1h"`
	CacheRead    int64 `json:"cache_read"`
	Output       int64 `json:"output"`
}

// entries reads a job's ledger; of the folder's job when it is not named.
func (w *world) entries(job ...string) []entry {
	w.Helper()
	lines := strings.Split(strings.TrimSpace(w.duplex(append([]string{"log", "--json"}, job...)...)), "\n")
	var all []entry
	for _, line := range lines[1:] { // behind the head
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.Fatalf("entry %s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// kind picks the entries of one kind.
func kind(all []entry, kind string) []entry {
	return slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.Kind != kind })
}

// tell prints a ledger for the log of a test that fails.
func tell(all []entry) string {
	var b strings.Builder
	for _, e := range all {
		p := e.Payload
		fmt.Fprintf(&b, "  %d %s (%s) %s\n", e.Position, e.Kind, e.Author.Kind, strings.Join(strings.Fields(strings.Join([]string{
			p.Title, p.Result, p.Text, p.Why, p.How, p.Source, p.Reason, p.Evidence, p.What, p.Model, p.Purpose, string(p.Tokens)}, " ")), " "))
	}
	return b.String()
}

// brief is what Duplex gave the model to read in a request, or nothing.
func brief(r play.Request) string {
	_, text, _ := strings.Cut(r.Text(), "<duplex-brief")
	text, _, _ = strings.Cut(text, "</duplex-brief>")
	return text
}

// showOnFailure tells what became of the world when the test fails.
func (w *world) showOnFailure() {
	w.Cleanup(func() {
		if !w.Failed() {
			return
		}
		for _, args := range [][]string{{"jobs"}, {"log", "--full"}} {
			cmd := exec.Command(program, args...)
			cmd.Dir, cmd.Env = w.repo, w.env
			out, _ := cmd.CombinedOutput()
			w.Logf("duplex %s\n%s", strings.Join(args, " "), out)
		}
		if b, err := os.ReadFile(filepath.Join(w.home, "..", "state", "hook.log")); err == nil {
			w.Logf("hook.log\n%s", b)
		}
	})
}

// endAll ends what the world has left behind. Its processes are known by its home
// in their environment, which only Linux shows; elsewhere each run ends its own.
func (w *world) endAll() {
	for _, pid := range w.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// processes lists the living processes of this world.
func (w *world) processes() []int {
	const proc = "/proc"
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join(proc, e.Name(), "environ"))
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), "HOME="+w.home) {
			found = append(found, pid)
		}
	}
	return found
}

// until waits for something that no signal tells of, such as a file of another program.
func (w *world) until(what string, is func() bool) {
	w.Helper()
	deadline := time.Now().Add(patience)
	for !is() {
		if time.Now().After(deadline) {
			w.Fatalf("waited %s in vain for %s", patience, what)
		}
		select {
		case <-w.Context().Done():
			w.Fatalf("the test ended before %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// patience is how long a story waits for what must come.
const patience = 2 * time.Minute

// claudeProgram finds the agent: in the folder that DUPLEX_AGENTS names, or in
// .tools/agents of this checkout, where the suite installs it.
func claudeProgram(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("DUPLEX_AGENTS")
	if folder == "" {
		folder = filepath.Join("..", "..", ".tools", "agents")
	}
	file, err := filepath.Abs(filepath.Join(folder, "node_modules", "@anthropic-ai", "claude-code", "bin", "claude.exe"))
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		t.Skip(noClaude)
	}
	return file
}

// noClaude is the one reason for which these stories are left out. It is not on the
// list of those that CI may leave something out for.
const noClaude = "no Claude Code is installed: go run ./internal/suite agents installs it"
