package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/job"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command  string
		class    job.Class
		title    string
		readOnly bool
	}{
		{"go test ./...", job.ClassTest, "go test ./...", false},
		{"cd /w/repo && go test -run TestA ./a 2>&1 | tail -5", job.ClassTest, "go test -run TestA ./a 2>&1 | tail -5", false},
		{"CI=1 npx vitest run billing", job.ClassTest, "CI=1 npx vitest run billing", false},
		{"npm run test:unit -- --watch=false", job.ClassTest, "npm run test:unit -- --watch=false", false},
		{"timeout 60 python -m pytest -q tests/", job.ClassTest, "timeout 60 python -m pytest -q tests/", false},
		{"uv run pytest", job.ClassTest, "uv run pytest", false},
		{"bundle exec rspec", job.ClassTest, "bundle exec rspec", false},
		{"./gradlew :app:test", job.ClassTest, "./gradlew :app:test", false},
		{"bash -lc 'cargo test --all'", job.ClassTest, "bash -lc 'cargo test --all'", false},
		{"pnpm --filter api test -- auth.spec", job.ClassTest, "pnpm --filter api test -- auth.spec", false},
		{"pnpm exec vitest run", job.ClassTest, "pnpm exec vitest run", false},
		{"npx vitest@3 run", job.ClassTest, "npx vitest@3 run", false},
		{"yarn workspace web test", job.ClassTest, "yarn workspace web test", false},
		{"nx affected -t test", job.ClassTest, "nx affected -t test", false},
		{"mise run lint && mise run test:ci 2>&1 | tail", job.ClassTest, "mise run lint && mise run test:ci 2>&1 | tail", false},
		{"mise exec -- go test ./a", job.ClassTest, "mise exec -- go test ./a", false},
		{"docker compose exec -T app npm test", job.ClassTest, "docker compose exec -T app npm test", false},
		{"docker run --rm -v .:/w img go test ./...", job.ClassTest, "docker run --rm -v .:/w img go test ./...", false},
		{"cargo +nightly test", job.ClassTest, "cargo +nightly test", false},
		{"xcodebuild -scheme App test", job.ClassTest, "xcodebuild -scheme App test", false},
		{"python manage.py test shop", job.ClassTest, "python manage.py test shop", false},
		{"python3 tests/test_cart.py", job.ClassTest, "python3 tests/test_cart.py", false},
		{"./scripts/run-tests.sh", job.ClassTest, "./scripts/run-tests.sh", false},
		{"node --test", job.ClassTest, "node --test", false},
		{"go test ./... > /tmp/log 2>&1", job.ClassTest, "go test ./... > /tmp/log 2>&1", false},
		{"cd /w\n# all of it\nexport A=1\ngo test \\\n  ./...", job.ClassTest, "go test ./...", false},
		{"npm run check", job.ClassTest, "npm run check", false},
		{"npm run build:test-data", job.ClassCommand, "npm run build:test-data", false},
		{"go build test", job.ClassCommand, "go build test", false},
		{"docker run --rm img make build", job.ClassCommand, "docker run --rm img make build", false},
		{"python testament.py", job.ClassCommand, "python testament.py", false},
		{"cd /w\ncd sub", job.ClassCommand, "cd /w", true},
		{"make check", job.ClassTest, "make check", false},
		{"go build ./... && go test ./a", job.ClassTest, "go build ./... && go test ./a", false},
		{"go vet ./...", job.ClassCommand, "go vet ./...", false},
		{"npm install", job.ClassCommand, "npm install", false},
		{"npm run build", job.ClassCommand, "npm run build", false},
		{"git add -A && git commit -q -m 'suite: move a.go' -m why", job.ClassCommit, "commit “suite: move a.go”", false},
		{"git commit -am \"one\ntwo\"", job.ClassCommit, "commit “one”", false},
		{"git commit -m \"$(cat <<'EOF'\nfirst line\n\nbody\nEOF\n)\"", job.ClassCommit, "commit “first line”", false},
		{"git -C sub commit --message=moved", job.ClassCommit, "commit “moved”", false},
		{"go test ./... && git commit -m green", job.ClassCommit, "commit “green”", false},
		{"git commit --amend --no-edit", job.ClassCommit, "git commit --amend --no-edit", false},
		{"echo git commit -m no", job.ClassCommand, "echo git commit -m no", true},
		{"cat a.go", "", "cat a.go", true},
		{"cd sub; grep -rn 'go test' . | head -3 2>/dev/null", "", "cd sub; grep -rn 'go test' . | head -3 2>/dev/null", true},
		{"sed -n 1,40p a.go", "", "sed -n 1,40p a.go", true},
		{"sed -i s/a/b/ a.go", job.ClassCommand, "sed -i s/a/b/ a.go", false},
		{"cat a.go > b.go", job.ClassCommand, "cat a.go > b.go", false},
		{"ls && rm -rf x", job.ClassCommand, "ls && rm -rf x", false},
		{"find . -name '*.go' -delete", job.ClassCommand, "find . -name '*.go' -delete", false},
		{"find . -name '*.go' | xargs wc -l", "", "find . -name '*.go' | xargs wc -l", true},
		{"cat $(git ls-files | head -1)", "", "cat $(git ls-files | head -1)", true},
		{"cat $(rm -v x)", job.ClassCommand, "cat $(rm -v x)", false},
		{"git status --short && git diff HEAD", "", "git status --short && git diff HEAD", true},
		{"git stash", job.ClassCommand, "git stash", false},
		{"git branch new", job.ClassCommand, "git branch new", false},
		{"git log --oneline | head", "", "git log --oneline | head", true},
		{"for f in *.go; do cat $f; done", "", "for f in *.go; do cat $f; done", true},
		{"if ! go vet ./a; then exit 1; fi", job.ClassCommand, "if ! go vet ./a; then exit 1; fi", false},
		{"# say it\n\necho hi", job.ClassCommand, "echo hi", true},
		{"cat > a.go <<'EOF'\ngo test\nEOF\n", job.ClassCommand, "cat > a.go <<'EOF'", false},
		{"python - <<EOF\nimport pytest\nEOF", job.ClassCommand, "python - <<EOF", false},
		{"duplex brief", "", "duplex brief", true},
		{"duplex decide 'keep it'", job.ClassCommand, "duplex decide 'keep it'", false},
		{"", job.ClassCommand, "", false},
	} {
		class, title := Classify(c.command)
		if class != c.class || title != c.title {
			t.Errorf("Classify(%q) = %q, %q; want %q, %q", c.command, class, title, c.class, c.title)
		}
		if got := ReadOnly(c.command); got != c.readOnly {
			t.Errorf("ReadOnly(%q) = %v, want %v", c.command, got, c.readOnly)
		}
	}
}

func TestFilesOfACommand(t *testing.T) {
	t.Parallel()
	names := func(list []job.Touch) string {
		var out []string
		for _, n := range list {
			out = append(out, string(n.Role)+" "+n.Name)
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct{ command, reads, edits string }{
		{"cat a.go b.go", "read a.go, read b.go", ""},
		{"cd sub && cat a.go", "read sub/a.go", ""},
		{"cd /w && head -n 20 a.go", "read /w/a.go", ""},
		{"sed -n '1,9p' a.go | head -5", "read a.go", ""},
		{"sed -n -e 1p a.go", "read a.go", ""},
		{"sed -i.bak 's/a/b/' a.go", "", "edit a.go"},
		{"grep -n foo a.go dir", "search a.go", ""},
		{"grep -A 3 -e foo a.go", "search a.go", ""},
		{"cat *.go ~/x.go", "read ~/x.go", ""},
		{"git show HEAD:a/b.go", "read a/b.go", ""},
		{"cat a > b 2>&1", "read a", "edit b"},
		{"echo x | tee -a out.txt >/dev/null", "", "edit out.txt"},
		{"git mv a.go b.go && rm -rf c", "", "edit a.go, edit b.go, edit c"},
		{"git checkout main -- a.go", "", "edit a.go"},
		{"cat 'my file.go'", "read my file.go", ""},
		{"cat <<EOF > x.txt\ncat no.go\nEOF", "", "edit x.txt"},
		{"wc -l < a.go", "", ""},
	} {
		if got := names(ReadsOf(c.command)); got != c.reads {
			t.Errorf("ReadsOf(%q) = %q, want %q", c.command, got, c.reads)
		}
		if got := names(EditsOf(c.command)); got != c.edits {
			t.Errorf("EditsOf(%q) = %q, want %q", c.command, got, c.edits)
		}
	}
	if got := SearchesOf("rg -n 'parseTable|x' . | grep -e old_style_case"); len(got) != 2 ||
		got[0] != (job.Touch{Name: "parseTable", Role: job.RoleSearch}) || got[1].Name != "old_style_case" {
		t.Errorf("SearchesOf = %v, want parseTable and old_style_case", got)
	}
}

func TestCommitID(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"[main 4e1c9ab] billing: four files\n 4 files changed":        "4e1c9ab",
		"[main (root-commit) 0a1b2c3] start":                          "0a1b2c3",
		"[detached HEAD 1234567] x\n[detached HEAD 89abcde] y\n":      "89abcde",
		"noise\n[fix/a-b 1234567890123456789012345678901234567890] x": "1234567890123456789012345678901234567890",
		"nothing to commit, working tree clean":                       "",
		"[main 4e1c9] too short":                                      "",
	} {
		if got := CommitID(output); got != want {
			t.Errorf("CommitID(%q) = %q, want %q", output, got, want)
		}
	}
}

func TestSymbols(t *testing.T) {
	t.Parallel()
	got := Symbols("func parseTable(t *T) { old_style_case(); parseTable; Parse; HTTPServer, x_y, 9abcDefg, __________, MAX_RETRIES }")
	want := []string{"parseTable", "old_style_case", "HTTPServer", "MAX_RETRIES"}
	if !slices.Equal(got, want) {
		t.Errorf("Symbols = %q, want %q", got, want)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	output := "--- FAIL: TestX (0.00s)\n    ./a/b_test.go:12:3: no\nsee https://x.org/y.html and (src/c.ts), v1.2/3.4, 10/2.5 a/b_test.go:9\n" +
		"M\tdocs/r.md\ngo.mod and/or ../up/d.go /etc/x/.hidden dir/ é/ü.go\n" +
		"diff --git a/p/q.go b/p/q.go\n--- a/p/q.go\n+++ b/p/q.go\nb/kept.go\n /m/x@v1.2.3/y.go web/node_modules/z.js .../cut.go refs/heads/x.y .git/hooks/pre.sh"
	var got []string
	for _, m := range Mentions(output) {
		if m.Role != job.RoleResult {
			t.Errorf("%s has the role %s", m.Name, m.Role)
		}
		got = append(got, m.Name)
	}
	if want := []string{"a/b_test.go", "src/c.ts", "docs/r.md", "../up/d.go", "é/ü.go", "p/q.go", "b/kept.go"}; !slices.Equal(got, want) {
		t.Errorf("Mentions = %q, want %q", got, want)
	}
	if got := Mentions(strings.Repeat("x/a.go ", 5000) + "late/b.go"); len(got) != 1 {
		t.Errorf("a long output gives %d paths", len(got))
	}
}

func TestLinesChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after  string
		added, removed int
	}{
		{"", "a\nb\n", 2, 0},
		{"a\nb\nc", "a\nx\ny\nc", 2, 1},
		{"a\n", "a\n", 0, 0},
		{"a\nb\n", "", 0, 2},
	} {
		if a, r := LinesChanged(c.before, c.after); a != c.added || r != c.removed {
			t.Errorf("LinesChanged(%q, %q) = +%d -%d, want +%d -%d", c.before, c.after, a, r, c.added, c.removed)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, seed := range []string{"go test ./... | tail", "bash -lc \"$(bash -c 'eval `x`')\"", "cat <<A <<B\nx\nA\ny\nB\n", "((((", "a'b\"c", ">", "git commit -m", "sed", "xargs xargs xargs", "$($($($($("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		class, title := Classify(command)
		if strings.Contains(title, "\n") || len(title) > 200 {
			t.Errorf("title of %q is no line: %q", command, title)
		}
		if class == "" && !ReadOnly(command) {
			t.Errorf("%q has no class, but may change something", command)
		}
		if n := len(ReadsOf(command)) + len(EditsOf(command)); n > 2*job.MaxPaths {
			t.Errorf("%d paths", n)
		}
		SearchesOf(command)
		for _, m := range Mentions(command) {
			if !strings.Contains(m.Name, "/") || strings.Contains(m.Name, "\n") {
				t.Errorf("%q is no path", m.Name)
			}
		}
		CommitID(command)
	})
}
