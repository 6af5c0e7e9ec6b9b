package main

import (
	"bytes"
	"context"

	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"
)

// bench is the place where the figures are taken: the binaries, built as released,
// and folders of its own.
type bench struct {
	scale   float64 // 0: full
	dir     string
	duplex  string
	noop    string
	repo    string
	commit  string
	machine string
}

func newBench(ctx context.Context, scale float64) (*bench, error) {
	dir, err := os.MkdirTemp("", "duplex-long-")
	if err != nil {
		return nil, err
	}
	b := &bench{scale: scale, dir: dir, duplex: filepath.Join(dir, "duplex"), noop: filepath.Join(dir, "noop"), repo: filepath.Join(dir, "repo"),
		machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
	source := filepath.Join(dir, "noop.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.duplex, "./cmd/duplex"},
		{"go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.noop, source},
		{"git", "init", "-q", "-b", "main", b.repo},
	} {
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			b.close()
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		b.commit = strings.TrimSpace(string(out))
	}
	return b, os.WriteFile(filepath.Join(b.repo, "a.go"), []byte("package a\n"), 0o600)
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// size is a count at full scale, or the smaller one of CI.
func (b *bench) size(full, ci int) int {
	if b.scale == 0 {
		return full
	}
	return int(float64(ci) * b.scale)
}

// home makes a state folder of its own.
func (b *bench) home(name string) string { return filepath.Join(b.dir, "home-"+name) }

// cost is what one process took.
type cost struct {
	cpu, wall time.Duration
	written   int64 // bytes
	out       []byte
}

// run measures one process.
func (b *bench) run(ctx context.Context, home string, stdin []byte, argv ...string) (cost, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = b.repo
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "DUPLEX_HOME=" + home}
	c.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	begun := time.Now()
	err := c.Run()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", strings.Join(argv[1:], " "), err, errs.String())
	}
	s := c.ProcessState
	return cost{cpu: s.UserTime() + s.SystemTime(), wall: time.Since(begun), written: written(s), out: out.Bytes()}, nil
}

// series is one kind of process, measured many times.
type series []time.Duration

func (s series) at(share float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := append(series(nil), s...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	return sorted[min(int(float64(len(sorted))*share), len(sorted)-1)]
}

func (s series) median() time.Duration { return s.at(0.5) }

// ratio of two medians.
func ratio(a, b series) float64 { return float64(a.median()) / float64(b.median()) }

// check prints a figure beside what was promised.
func check(name string, got, most float64, unit string) error {
	sign := "ok"
	if got > most {
		sign = "OVER"
	}
	fmt.Printf("  %-46s %8.2f %s  (at most %.2f) %s\n", name, got, unit, most, sign)
	if got > most {
		return fmt.Errorf("%s is %.2f %s, promised at most %.2f", name, got, unit, most)
	}
	return nil
}

// rounds runs several commands in turn, so that what disturbs the machine hits all
// alike, and gives the CPU time of each.
func rounds(n int, kinds ...func(i int) (cost, error)) ([]series, error) {
	out := make([]series, len(kinds))
	for i := range n {
		for k, run := range kinds {
			c, err := run(i)
			if err != nil {
				return nil, err
			}
			out[k] = append(out[k], c.cpu)
		}
	}
	return out, nil
}
