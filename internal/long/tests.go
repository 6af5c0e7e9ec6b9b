package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// testFigure runs the long form of tests: the same code as in CI, at full scale.
func testFigure(packages, run string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		args := append([]string{"test", "-count=1", "-v", "-timeout", "3h", "-run", run}, strings.Fields(packages)...)
		c := exec.CommandContext(ctx, "go", args...)
		scale := "full"
		if b.scale > 0 {
			scale = fmt.Sprint(b.scale)
		}
		c.Env = append(os.Environ(), "DUPLEX_SCALE="+scaleValue(scale))
		out, err := c.CombinedOutput()
		for _, l := range strings.Split(string(out), "\n") {
			if l = strings.TrimSpace(l); strings.Contains(l, "_test.go:") || strings.HasPrefix(l, "ok") || strings.HasPrefix(l, "FAIL") || strings.HasPrefix(l, "--- FAIL") {
				fmt.Println("  " + l)
			}
		}
		return err
	}
}

// scaleValue is the DUPLEX_SCALE at which the long tests reach their full figures.
func scaleValue(s string) string {
	if s == "full" {
		return "34" // 300 seeds and trees in CI become 10,000
	}
	return s
}
