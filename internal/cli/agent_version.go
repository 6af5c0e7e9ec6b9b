package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-5777983b/duplex/internal/process"
)

// release is the version of an agent's program.
type release [3]int

func (r release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

func (r release) before(other release) bool { return slices.Compare(r[:], other[:]) < 0 }

func parseRelease(text string) (release, error) {
	var r release
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &r[0], &r[1], &r[2]); err != nil {
		return r, fmt.Errorf("%.40q is no version", text)
	}
	return r, nil
}

// claudeVersion asks Claude Code for its version. The error is exec.ErrNotFound when it
// is not on the PATH, as where only an editor brings it.
func (a *App) claudeVersion(ctx context.Context) (release, error) {
	program, err := process.Look("claude", a.Environ)
	if err != nil {
		return release{}, err
	}
	r := process.Run(ctx, process.Spec{Argv: []string{program, "--version"}, Dir: a.Dir, Timeout: 20 * time.Second,
		Env: append(slices.Clone(a.Environ), "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")})
	if !r.Passed() {
		return release{}, fmt.Errorf("%s --version did not answer: %s%s", program, r.Err, r.Output)
	}
	return parseRelease(r.Output)
}
