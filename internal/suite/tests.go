package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const noCompiler = "no C compiler"

// tests runs every test of the module and reports each by itself.
func tests(ctx context.Context, s *suite) error {
	args := []string{"test", "-json", "-timeout", "25m"}
	if s.strict {
		args = append(args, "-count=1")
	}
	counted, err := s.goTest(ctx, nil, append(args, "./...")...)
	s.report.Passed += counted.passed
	for _, f := range counted.failures {
		s.report.failed(f.Name, f.Output)
	}
	for _, left := range counted.skips {
		if s.strict && !allowed(left.Reason) {
			s.report.failed(left.Name, "skipped, for a reason that is not on the list in skip.go: "+left.Reason)
			err = errReported
			continue
		}
		s.report.skipped(left.Name, left.Reason)
	}
	if len(counted.failures) > 0 {
		return errReported
	}
	return err
}

// raced are the packages whose code is about things that happen at once. The whole tree takes too long.
var raced = []string{"internal/job", "internal/tracker", "internal/spool"}

func race(ctx context.Context, s *suite) error {
	compiler, err := s.output(ctx, nil, "go", "env", "CC")
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(strings.Fields(compiler + " cc")[0]); err != nil {
		return &skip{noCompiler}
	}
	args := []string{"test", "-json", "-race", "-timeout", "10m"}
	for _, folder := range raced {
		if _, err := os.Stat(filepath.Join(s.root, folder)); err == nil {
			args = append(args, "./"+folder)
		}
	}
	counted, err := s.goTest(ctx, []string{"CGO_ENABLED=1", "DUPLEX_SCALE=0.1"}, args...)
	for _, f := range counted.failures {
		s.report.failed("race: "+f.Name, f.Output)
	}
	if len(counted.failures) > 0 {
		return errReported
	}
	return err
}

// goTest runs one `go test -json` and says how it goes along the way.
func (s *suite) goTest(ctx context.Context, variables []string, args ...string) (tally, error) {
	cmd := s.command(ctx, variables, "go", args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	events, err := cmd.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := cmd.Start(); err != nil {
		return tally{}, err
	}
	progress := &progress{suite: s, began: time.Now(), spoke: time.Now()}
	counted, readErr := readEvents(events, progress.event)
	err = cmd.Wait()
	if readErr != nil {
		return counted, readErr
	}
	if err != nil && len(counted.failures) == 0 {
		return counted, fmt.Errorf("%w\n%s%s", err, complaints.Bytes(), counted.stray)
	}
	if ctx.Err() != nil {
		return counted, errors.New("interrupted")
	}
	return counted, nil
}

// progress writes a line for each package that ends, and for a long one what it is at.
type progress struct {
	suite        *suite
	began, spoke time.Time
}

const silence = 30 * time.Second

func (p *progress) event(e event, seen *packageTally) {
	if e.Test != "" {
		if time.Since(p.spoke) > silence {
			p.spoke = time.Now()
			fmt.Fprintf(p.suite.out, "  …                  %4.0f s  %s %s\n", time.Since(p.began).Seconds(), short(e.Package), e.Test)
		}
		return
	}
	word := map[string]string{"pass": "ok", "fail": "FAILED"}[e.Action]
	if word == "" || seen.passed+seen.failed+seen.skipped == 0 && word == "ok" {
		return
	}
	p.spoke = time.Now()
	fmt.Fprintf(p.suite.out, "  %-18s %4.0f s  %-6s  %d tests", short(e.Package), e.Elapsed, word, seen.passed+seen.failed+seen.skipped)
	if seen.failed > 0 {
		fmt.Fprintf(p.suite.out, ", %d failed", seen.failed)
	}
	if seen.skipped > 0 {
		fmt.Fprintf(p.suite.out, ", %d skipped", seen.skipped)
	}
	fmt.Fprintln(p.suite.out)
}
