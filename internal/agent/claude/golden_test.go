package claude_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/agent/claude"
	"github.com/seed-5777983b/duplex/internal/job"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRows reads each transcript of testdata and compares its rows with the
// .rows file beside it, where each can be read.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, path := range fixtures(t) {
		rows, r := readAll(t, path)
		got := written(rows, r)
		golden := strings.TrimSuffix(path, ".jsonl") + ".rows"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: rows differ from %s:\n%s", path, filepath.Base(golden), firstDifference(got, string(want)))
		}
	}
}

// TestRowsInPieces: however a file is cut into readings, its rows are the same.
func TestRowsInPieces(t *testing.T) {
	t.Parallel()
	for _, path := range fixtures(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		want, _ := readAll(t, path)
		for seed := range int64(50) {
			if got := inPieces(t, lines, seed); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, seed %d: rows differ when read in pieces:\n%s", path, seed,
					firstDifference(written(got, claude.Adapter{}.NewReader()), written(want, claude.Adapter{}.NewReader())))
			}
		}
	}
}

// TestSpendReader: it gives the usage rows of the full reader and no others.
func TestSpendReader(t *testing.T) {
	t.Parallel()
	spending := func(row agent.Row) bool {
		return row.Kind == agent.RowUsage || row.Kind == agent.RowTotals || row.Kind == agent.RowCompacted
	}
	for _, path := range fixtures(t) {
		all, _ := readAll(t, path)
		var want []agent.Row
		for _, row := range all {
			if spending(row) {
				row.Ordinal = 0
				want = append(want, row)
			}
		}
		got, _ := readWith(t, path, claude.Adapter{}.NewSpendReader())
		for i := range got {
			got[i].Ordinal = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d rows of spending, want %d", path, len(got), len(want))
		}
	}
}

func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts in testdata: %v", err)
	}
	return paths
}

// written renders rows one a line, for a person to read.
func written(rows []agent.Row, r agent.Reader) string {
	var b strings.Builder
	h := r.Header()
	fmt.Fprintf(&b, "session %s from %q in %s on %s, %s %s, started %s\n", h.Session, h.From, h.Dir, h.Branch, h.Model, h.Version, clock(h.Started))
	for _, row := range rows {
		fmt.Fprintf(&b, "%s %s", clock(row.At), row.Kind)
		if row.Side {
			b.WriteString(" (side)")
		}
		switch {
		case row.Call != nil:
			writeCall(&b, row.Call)
		case row.Usage != nil:
			u := row.Usage
			fmt.Fprintf(&b, " %s %s %s", u.Message, u.Model, tokens(u.Tokens))
			fmt.Fprintf(&b, " context=%d final=%t estimate=%t purpose=%q", u.Context, u.Final, u.Estimate, u.Purpose)
		case row.Tasks != nil:
			for _, task := range row.Tasks {
				fmt.Fprintf(&b, " %s:%q:%s", task.ID, task.Text, task.State)
			}
		case row.Totals != nil:
			slices.SortFunc(row.Totals, func(a, b job.ModelDifference) int { return strings.Compare(a.Model, b.Model) })
			for _, d := range row.Totals {
				fmt.Fprintf(&b, " %s %s pico=%d", d.Model, tokens(d.Tokens), *d.Pico)
			}
		default:
			fmt.Fprintf(&b, " %q", row.Text)
			if len(row.Options) > 0 {
				fmt.Fprintf(&b, " %q", row.Options)
			}
			if row.Held != 0 {
				fmt.Fprintf(&b, " held %d tokens", row.Held)
			}
			if row.Until != 0 {
				fmt.Fprintf(&b, " until %s", row.Until.Time().UTC().Format("2006-01-02T15:04:05Z"))
			}
		}
		if row.Call == nil {
			fmt.Fprintf(&b, " [%s]", row.Record)
		}
		b.WriteByte('\n')
	}
	var skipped []string
	for kind, n := range r.Skipped() {
		skipped = append(skipped, fmt.Sprintf("%s ×%d", kind, n))
	}
	slices.Sort(skipped)
	fmt.Fprintf(&b, "skipped: %s\n", strings.Join(skipped, ", "))
	return b.String()
}

func writeCall(b *strings.Builder, c *agent.Call) {
	fmt.Fprintf(b, " %s %s class=%q %q changes=%t", c.ID, c.Name, c.Class, c.Title, c.Changes)
	if c.Added+c.Removed > 0 {
		fmt.Fprintf(b, " +%d-%d", c.Added, c.Removed)
	}
	if c.Commit != "" {
		fmt.Fprintf(b, " commit=%s", c.Commit)
	}
	for _, p := range c.Paths {
		fmt.Fprintf(b, " %s=%s", p.Role, p.Name)
	}
	for _, s := range c.Symbols {
		fmt.Fprintf(b, " %s:%s", s.Role, s.Name)
	}
	if d := c.Done; d != nil {
		fmt.Fprintf(b, " -> %s", d.Result)
		if d.Exit != nil {
			fmt.Fprintf(b, " exit %d", *d.Exit)
		}
		fmt.Fprintf(b, " %dms %q", d.Millis, d.Output)
	}
}

func tokens(t job.Tokens) string {
	return fmt.Sprintf("in=%d write5m=%d write1h=%d read=%d out=%d reasoning=%d", t.Input, t.CacheWrite5m, t.CacheWrite1h, t.CacheRead, t.Output, t.Reasoning)
}

func clock(t job.Time) string { return t.Time().UTC().Format("15:04:05") }

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, a, b)
		}
	}
	return "none"
}
