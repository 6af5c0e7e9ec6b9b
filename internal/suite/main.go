// Command suite is the project's one test command: formatting, vet, staticcheck, known vulnerabilities,
// licences, builds for every system, and all tests, with one closing line that says how it went.
//
//	go run ./internal/suite             what a developer runs before a commit
//	go run ./internal/suite --install   what CI runs: missing system packages are installed, and nothing may
//	                                    be left out but for a reason on the list in skip.go
//
// It exists so that a laptop and CI run the same thing. It is not a build tool: `go build ./cmd/duplex` is
// all that a build takes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	allGreen   = 0
	someFailed = 1
	wrongUsage = 2
)

// suite is one run.
type suite struct {
	root    string    // the folder with go.mod
	out     io.Writer // progress, for a person
	strict  bool      // CI: what is left out fails, but for a listed reason
	install bool      // system packages may be installed
	write   bool      // LICENSES.txt is written instead of compared
	only    []string  // names of the stages asked for; all when empty
	report  report
}

// A stage is one thing that is looked at. It returns nil, a skip, or what is wrong.
type stage struct {
	name string
	run  func(context.Context, *suite) error
}

// stages, cheap ones first: a formatting slip should not wait for the tests.
func stages() []stage {
	return []stage{
		{"system packages", systemPackages},
		{"gofmt", gofmt},
		{"go vet", vet},
		{"staticcheck", staticcheck},
		{"licences", licences},
		{"builds", builds},
		{"vulnerabilities", vulnerabilities},
		{"race detector", race},
		{"agents", agents},
		{"tests", tests},
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("suite", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: go run ./internal/suite [--install] [--json] [--write-licences] [stage ...]\n\nstages:")
		for _, s := range stages() {
			fmt.Fprintln(stderr, "  "+s.name)
		}
		fmt.Fprintln(stderr, "\nDUPLEX_SCALE sets the size of the long tests, 1 as CI runs them.")
		flags.PrintDefaults()
	}
	install := flags.Bool("install", false, "install missing system packages, and fail on what is left out (CI)")
	asJSON := flags.Bool("json", false, "print the report as JSON; progress goes to standard error")
	write := flags.Bool("write-licences", false, "write LICENSES.txt anew")
	if err := flags.Parse(args); err != nil {
		return wrongUsage
	}
	root, err := moduleRoot()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return wrongUsage
	}
	s := &suite{
		root: root, out: stdout, install: *install, write: *write, only: flags.Args(),
		strict: *install || os.Getenv("CI") != "",
	}
	if *asJSON {
		s.out = stderr
	}
	began := time.Now()
	if err := s.runStages(ctx, stages()); err != nil {
		fmt.Fprintln(stderr, err)
		return wrongUsage
	}
	s.report.Seconds = time.Since(began).Seconds()
	if *asJSON {
		if err := s.report.writeJSON(stdout); err != nil {
			fmt.Fprintln(stderr, err)
			return someFailed
		}
	}
	s.report.writeText(s.out)
	if s.report.Failed > 0 || ctx.Err() != nil {
		return someFailed
	}
	return allGreen
}

func (s *suite) runStages(ctx context.Context, all []stage) error {
	asked := map[string]bool{}
	for _, name := range s.only {
		asked[name] = true
	}
	for _, st := range all {
		if len(s.only) > 0 && !asked[st.name] || ctx.Err() != nil {
			delete(asked, st.name)
			continue
		}
		delete(asked, st.name)
		began := time.Now()
		err := st.run(ctx, s)
		word := "ok"
		var left *skip
		switch {
		case errors.As(err, &left) && (!s.strict || allowed(left.reason)):
			word = "left out: " + left.reason
			s.report.skipped(st.name, left.reason)
		case errors.As(err, &left):
			word = "FAILED"
			s.report.failed(st.name, "left out: "+left.reason)
		case err != nil:
			word = "FAILED"
			if !errors.Is(err, errReported) {
				s.report.failed(st.name, err.Error())
			}
		default:
			s.report.Passed++
		}
		fmt.Fprintf(s.out, "%-16s %6.1f s  %s\n", st.name, time.Since(began).Seconds(), word)
	}
	for name := range asked {
		return fmt.Errorf("no stage is called %q: go run ./internal/suite --help lists them", name)
	}
	return nil
}

// errReported is a stage's word that what went wrong is in the report already, test by test.
var errReported = errors.New("reported test by test")

// command makes a command that runs in the module's root, with its variables over the environment's.
func (s *suite) command(ctx context.Context, variables []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), variables...)
	return cmd
}

// output runs a command to its end. The error carries what it printed, which is what a person needs.
func (s *suite) output(ctx context.Context, variables []string, name string, args ...string) (string, error) {
	printed, err := s.command(ctx, variables, name, args...).CombinedOutput()
	if err != nil {
		return string(printed), fmt.Errorf("%s\n%s", err, printed)
	}
	return string(printed), nil
}

func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", errors.New("no go.mod here or above: run this in a clone of the project")
		}
		folder = above
	}
}
