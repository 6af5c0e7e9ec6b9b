package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/process"
)

// The states of a case.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// Errors of a listing. Neither is ever an empty pass: without a list nothing
// can be said about what survived.
var (
	ErrCannotList = errors.New("the tests cannot be listed")
	ErrNoTests    = errors.New("no tests were listed")
)

// Case is one test case: a leaf, which has no cases below it.
type Case struct {
	Name       string // its whole path, as the runner prints it: TestSums/adds_two
	Suite      string // the package or file it stands in; may be empty
	State      string // passed, failed or skipped; empty when it was listed without being run
	Assertions int    // how many ways it has to fail, as far as its source shows; -1 unknown
}

// Listing is every case of a folder, sorted by suite and name.
type Listing struct {
	Cases   []Case
	Command string
}

func (l *Listing) sort() {
	slices.SortStableFunc(l.Cases, func(a, b Case) int {
		if c := strings.Compare(a.Suite, b.Suite); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// maxListing bounds what a listing command may print, in bytes.
const maxListing = 64 << 20

// ListCommand lists the cases that a person's command prints on its standard
// output, one a line: a name, with "SKIP " before it when it is skipped, or
// {"name":…,"suite":…,"state":…,"assertions":…}. Empty lines and the closing
// lines of go test -list, cargo test -- --list and pytest --collect-only -q
// are no cases. The errors are ErrCannotList and ErrNoTests.
func ListCommand(ctx context.Context, dir string, env []string, command string) (Listing, error) {
	l := Listing{Command: command}
	var wrong error
	size := 0
	lines := &lineWriter{line: func(line string) {
		if size += len(line); size > maxListing && wrong == nil {
			wrong = fmt.Errorf("%w: it printed more than %d MB", ErrCannotList, maxListing>>20)
		}
		c, ok, err := parseCase(line)
		switch {
		case wrong != nil:
		case err != nil:
			wrong = fmt.Errorf("%w: %q is no case: %v", ErrCannotList, clip(line, 200), err)
		case ok:
			l.Cases = append(l.Cases, c)
		}
	}}
	ran := process.Run(ctx, process.Spec{Dir: dir, Env: env, Shell: command, Stdout: lines, TailBytes: tailBytes, Bound: true})
	lines.flush()
	if err := ended(ctx, ran); err != nil {
		return Listing{Command: command}, err
	}
	if wrong != nil {
		return Listing{Command: command}, wrong
	}
	if ran.Exit != 0 {
		return Listing{Command: command}, fmt.Errorf("%w: `%s` exited with %d\n%s", ErrCannotList, command, ran.Exit, FailingOutput(ran.Output, 10, 2000))
	}
	if len(l.Cases) == 0 {
		return l, fmt.Errorf("%w: `%s` printed no case", ErrNoTests, command)
	}
	l.sort()
	return l, nil
}

// ended is the error of a command that did not come to its own end.
func ended(ctx context.Context, ran process.Result) error {
	switch {
	case ran.Cancelled || ran.TimedOut:
		return fmt.Errorf("%w: %w", ErrCannotList, context.Cause(ctx))
	case !ran.Started:
		return fmt.Errorf("%w: %s", ErrCannotList, ran.Err)
	case ran.Signal != "":
		return fmt.Errorf("%w: the command was ended by a signal: %s", ErrCannotList, ran.Signal)
	}
	return nil
}

// parseCase reads one line of a listing; ok is false for a line that is no case.
func parseCase(line string) (c Case, ok bool, err error) {
	line = strings.TrimSpace(strings.ToValidUTF8(plain(line), "\uFFFD"))
	if line == "" || closing(line) {
		return Case{}, false, nil
	}
	if strings.HasPrefix(line, "{") {
		c, err := parseJSONCase(line)
		return c, err == nil, err
	}
	c = Case{Name: line, Assertions: -1}
	if rest, ok := strings.CutPrefix(line, "SKIP "); ok {
		c.Name, c.State = strings.TrimSpace(rest), skipped
	}
	c.Name = strings.TrimSuffix(c.Name, ": test") // cargo test -- --list
	return c, c.Name != "", nil
}

func parseJSONCase(line string) (Case, error) {
	fields := struct {
		Name, Suite, State string
		Assertions         *int
	}{}
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		return Case{}, err
	}
	c := Case{Name: strings.TrimSpace(fields.Name), Suite: fields.Suite, State: fields.State, Assertions: -1}
	if fields.Assertions != nil {
		c.Assertions = max(-1, *fields.Assertions)
	}
	if c.Name == "" {
		return Case{}, errors.New(`it has no "name"`)
	}
	if !slices.Contains([]string{"", passed, failed, skipped}, c.State) {
		return Case{}, fmt.Errorf("its state is %q, not passed, failed or skipped", c.State)
	}
	return c, nil
}

// closing recognises the lines with which list commands end; their times and
// totals differ from one listing to the next.
func closing(line string) bool {
	if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") { // go test -list
		return true
	}
	if _, number := leadingNumber(line); !number {
		return false
	}
	_, rest, _ := strings.Cut(line, " ")
	return strings.HasPrefix(rest, "tests collected in ") || strings.HasPrefix(rest, "test collected in ") || // pytest
		strings.HasSuffix(rest, " benchmarks") && (strings.HasPrefix(rest, "tests, ") || strings.HasPrefix(rest, "test, ")) // cargo
}
