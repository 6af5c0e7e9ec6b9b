package duplex_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// sound is a small module that breaks no rule, though it comes close to each. Every planted fault is one file
// put beside or over it.
var sound = map[string]string{
	"cmd/duplex/main.go": `package main
		import ("fmt"; "os"; "` + module + `/internal/cli")
		var version = "0.1.0"
		func main() { fmt.Println(version); os.Exit(cli.Main(os.Stdout)) }`,
	"internal/cli/cli.go": `package cli
		import ("fmt"; "io"; "` + module + `/internal/tracker")
		// Main runs.
		func Main(w io.Writer) int { fmt.Fprintln(w, tracker.Name); return 0 }`,
	"internal/tracker/tracker.go": `package tracker
		import ("time"; "` + module + `/internal/job"; "` + module + `/internal/store")
		const Name = job.Name
		// Now is now.
		func Now() time.Time { store.Put(); return time.Now() }`,
	"internal/store/store.go": `package store
		import "` + module + `/internal/redact"
		var empty = redact.Text{}
		// Put puts.
		func Put(texts ...redact.Text) []redact.Text { return append([]redact.Text{}, texts...) }`,
	"internal/store/store_test.go": `package store_test
		import ("os"; "` + module + `/internal/store/storetest")
		var seen = map[string]bool{}
		func TestMain() { seen["x"] = storetest.Run(); os.Exit(0) }`,
	"internal/store/storetest/storetest.go": `package storetest
		import "` + module + `/internal/store"
		// Run runs.
		func Run() bool { store.Put(); return true }`,
	"internal/job/job.go": `package job
		import ("errors"; "path/filepath"; "regexp"; "sync"; "time")
		const Name = "job"
		var ErrNotFound = errors.New("no such job")
		var kinds = map[string]bool{"step": true}
		var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("x") })
		var _ error = ErrNotFound
		// Age is how old it is.
		func Age(now, then time.Time) (string, bool) {
			kinds := map[string]bool{}
			kinds[filepath.Base(Name)] = true
			return now.Sub(then).String(), word().MatchString(Name)
		}`,
	"internal/redact/redact.go": `package redact
		type Text struct{ s string } // Text is clean.
		type JSON struct{ b []byte } // JSON is clean.
		type Redactor struct{ key []byte } // Redactor cleans.
		// Text cleans s.
		func (r *Redactor) Text(s string) Text { return Text{s} }
		// Join joins.
		func Join(texts ...Text) Text { return texts[0] }
		func (t Text) String() string { return t.s }`,
}

func TestArchitectureAcceptsSoundCode(t *testing.T) {
	t.Parallel()
	for _, fault := range planted(t, "", "") {
		t.Error(fault)
	}
}

func TestArchitectureCatchesPlantedFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, source string
		want               string // the fault begins so, the path and line apart
	}{
		{"sideways", "internal/store/extra.go", `package store; import _ "` + module + `/internal/git"`, "store imports git sideways on floor 1"},
		{"upward", "internal/job/extra.go", `package job; import _ "` + module + `/internal/store"`, "job on floor 0 imports store above it on floor 1"},
		{"one agent uses another", "internal/agent/codex/codex.go", `package codex; import _ "` + module + `/internal/agent/claude"`, "agent/codex imports agent/claude sideways"},
		{"unlisted package", "internal/cache/cache.go", `package cache`, "package cache has no row"},
		{"unlisted command", "cmd/other/main.go", `package main`, "package cmd/other has no row"},
		{"test support in the product", "internal/tracker/extra.go", `package tracker; import _ "` + module + `/internal/store/storetest"`, "store/storetest is test support"},
		{"file that says nothing", "internal/store/helpers.go", `package store`, "this file name says nothing"},
		{"package that says nothing", "internal/store/extra.go", `package util`, "this package name says nothing"},

		{"pure reads the clock", "internal/job/extra.go", `package job; import "time"; func f() time.Time { return time.Now() }`, "job is pure and uses time.Now"},
		{"pure reads the clock, renamed", "internal/job/extra.go", `package job; import clock "time"; func f(t clock.Time) any { return clock.Since(t) }`, "job is pure and uses time.Since"},
		{"pure hands the clock on", "internal/job/extra.go", `package job; import "time"; type j struct { now func() time.Time }; func f() j { return j{time.Now} }`, "job is pure and uses time.Now"},
		{"pure reads files", "internal/cost/cost.go", `package cost; import _ "os"`, "cost is pure and imports os"},
		{"pure reads files by pattern", "internal/lesson/lesson.go", `package lesson; import "path/filepath"; func f() { filepath.Glob("*") }`, "lesson is pure and uses path/filepath.Glob"},
		{"pure runs programs", "internal/agent/claude/claude.go", `package claude; import _ "os/exec"`, "agent/claude is pure and imports os/exec"},
		{"pure uses the network", "internal/handover/handover.go", `package handover; import _ "net/http"`, "handover is pure and imports net/http"},
		{"pure is random", "internal/job/extra.go", `package job; import _ "math/rand/v2"`, "job is pure and imports math/rand/v2"},
		{"pure is secretly random", "internal/job/extra.go", `package job; import _ "crypto/rand"`, "job is pure and imports crypto/rand"},
		{"pure logs", "internal/agent/agent.go", `package agent; import _ "log/slog"`, "agent is pure and imports log/slog"},

		{"exit below", "internal/cli/extra.go", `package cli; import "os"; func f() { os.Exit(1) }`, "os.Exit outside a program"},
		{"exit by log", "internal/hook/hook.go", `package hook; import "log"; func f() { log.Fatal("x") }`, "log.Fatal outside a program"},
		{"exit handed on", "internal/hook/hook.go", `package hook; import "os"; func f() func(int) { return os.Exit }`, "os.Exit outside a program"},
		{"print", "internal/cli/extra.go", `package cli; import "fmt"; func f() { fmt.Println("x") }`, "fmt.Println outside a program"},
		{"print to the terminal", "internal/cli/extra.go", `package cli; import ("fmt"; "os"); func f() { fmt.Fprintln(os.Stdout, "x") }`, "os.Stdout outside a program"},
		{"print by builtin", "internal/cli/extra.go", `package cli; func f() { println("x") }`, "builtin.println outside a program"},

		{"package without words", "internal/git/git.go", "\npackage git", "package git does not say why it exists"},
		{"function without words", "internal/store/extra.go", "package store; func Get() {}", "Get has no comment"},
		{"method without words", "internal/store/extra.go", "package store; func (d *DB) Get() {}; type DB struct{} // DB is one.", "Get has no comment"},
		{"type without words", "internal/store/extra.go", "package store; type DB struct{}", "DB has no comment"},

		{"init", "internal/store/extra.go", `package store; func init() {}`, "init: list it where it is used"},
		{"pattern compiled at start", "internal/cli/extra.go", `package cli; import "regexp"; var x = regexp.MustCompile("x")`, "regexp.MustCompile at start"},
		{"patterns compiled at start", "internal/cli/extra.go", `package cli; import "regexp"; var x = []*regexp.Regexp{regexp.MustCompile("x")}`, "regexp.MustCompile at start"},

		{"variable without a value", "internal/job/extra.go", `package job; var last string`, "package variable last has no value"},
		{"variable assigned", "internal/job/extra.go", `package job; var last = ""; func f() { last = "x" }`, "package variable last is changed here"},
		{"table added to", "internal/job/extra.go", `package job; func f() { kinds["gap"] = true }`, "package variable kinds is changed here"},
		{"table taken from", "internal/job/extra.go", `package job; func f() { delete(kinds, "step") }`, "package variable kinds is changed here"},
		{"table lent for writing", "internal/job/extra.go", `package job; func f() any { return &kinds }`, "package variable kinds is changed here"},
		{"counter", "internal/store/extra.go", `package store; var n = 0; func f() { n++ }`, "package variable n is changed here"},
		{"cache", "internal/store/extra.go", `package store; var seen = make(map[string]bool)`, "package variable seen is made to change"},
		{"lock", "internal/store/extra.go", `package store; import "sync"; var mu = sync.Mutex{}`, "package variable mu is made to change"},
		{"singleton", "internal/store/extra.go", `package store; type db struct{}; var open = &db{}`, "package variable open is made to change"},

		{"text built outside", "internal/store/extra.go", `package store; import "` + module + `/internal/redact"; var x = redact.Text{"secret"}`, "builds redact.Text by itself"},
		{"text converted outside", "internal/store/extra.go", `package store; import "` + module + `/internal/redact"; func f(s string) any { return redact.Text(s) }`, "converts to redact.Text by itself"},
		{"text converted outside, renamed", "internal/store/extra.go", `package store; import r "` + module + `/internal/redact"; func f(b []byte) any { return (r.JSON)(b) }`, "converts to redact.JSON by itself"},
		{"text under another name", "internal/store/extra.go", `package store; import "` + module + `/internal/redact"; type clean redact.Text`, "renames redact.Text by itself"},
		{"unsafe", "internal/store/extra.go", `package store; import _ "unsafe"`, "unsafe can make redacted text"},
		{"linkname", "internal/store/extra.go", "package store\n//go:linkname f redact.f\nfunc f()", "go:linkname can reach past"},
		{"text that converts", "internal/redact/redact.go", "package redact\ntype Text string // Text is clean.\ntype JSON struct{ b []byte } // JSON is clean.", "redact.Text can be made by a conversion"},
		{"text with an open field", "internal/redact/redact.go", "package redact\ntype Text struct{ s string } // Text is clean.\ntype JSON struct{ Raw []byte } // JSON is clean.", "redact.JSON can be made by a conversion"},
		{"text without a redactor", "internal/redact/extra.go", "package redact\n// Trust trusts.\nfunc Trust(s string) Text { return Text{s} }", "redact.Trust makes redacted text without a Redactor"},
		{"text that decodes itself", "internal/redact/extra.go", "package redact\n// UnmarshalJSON fills j.\nfunc (j *JSON) UnmarshalJSON([]byte) error { return nil }", "redact.JSON.UnmarshalJSON lets a decoder"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			found := planted(t, test.path, test.source)
			if len(found) == 0 {
				t.Fatalf("nothing found in %s: %s\nwant %q", test.path, test.source, test.want)
			}
			for _, fault := range found {
				if !strings.HasPrefix(fault, test.path+":") || !strings.Contains(fault, test.want) {
					t.Errorf("found %q\nwant only %q in %s", fault, test.want, test.path)
				}
			}
		})
	}
}

// words document a package.
const words = "// Package x exists.\n"

// planted checks the sound module with one more file, which brings its own words when it begins with a newline.
func planted(t *testing.T, path, source string) []string {
	t.Helper()
	module := fstest.MapFS{}
	for name, content := range sound {
		module[name] = &fstest.MapFile{Data: []byte(words + content)}
	}
	if path != "" && strings.HasPrefix(source, "\n") {
		module[path] = &fstest.MapFile{Data: []byte(source)}
	} else if path != "" {
		module[path] = &fstest.MapFile{Data: []byte(words + source)}
	}
	packages, err := load(module)
	if err != nil {
		t.Fatal(err)
	}
	return faults(packages)
}
