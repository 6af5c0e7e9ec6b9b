package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStages(t *testing.T) {
	t.Parallel()
	green := stage{"green", func(context.Context, *suite) error { return nil }}
	red := stage{"red", func(context.Context, *suite) error { return errors.New("a line is wrong") }}
	unreachable := stage{"unreachable", func(context.Context, *suite) error { return &skip{noDatabase + ": no such host"} }}
	unfetched := stage{"unfetched", func(context.Context, *suite) error { return &skip{"staticcheck cannot be fetched"} }}
	byTest := stage{"by test", func(_ context.Context, s *suite) error { s.report.failed("job.TestX", "got 1"); return errReported }}

	tests := []struct {
		name   string
		strict bool
		only   []string
		stages []stage
		want   string
	}{
		{"green", true, nil, []stage{green}, "1 passed, 0 failed, 0 skipped"},
		{"red", false, nil, []stage{green, red}, "1 passed, 1 failed, 0 skipped"},
		{"red does not end the run", false, nil, []stage{red, green}, "1 passed, 1 failed, 0 skipped"},
		{"reported test by test", true, nil, []stage{byTest}, "0 passed, 1 failed, 0 skipped"},
		{"a laptop without a network", false, nil, []stage{unfetched, unreachable}, "0 passed, 0 failed, 2 skipped"},
		{"CI without a network", true, nil, []stage{unfetched, unreachable}, "0 passed, 1 failed, 1 skipped"},
		{"only what was asked for", true, []string{"green"}, []stage{green, red}, "1 passed, 0 failed, 0 skipped"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := &suite{out: &out, strict: test.strict, only: test.only}
			if err := s.runStages(t.Context(), test.stages); err != nil {
				t.Fatal(err)
			}
			s.report.writeText(&out)
			if got := lastLine(out.String()); got != test.want {
				t.Errorf("closing line is %q, want %q, in\n%s", got, test.want, out.String())
			}
		})
	}
}

func TestUnknownStage(t *testing.T) {
	t.Parallel()
	s := &suite{out: new(bytes.Buffer), only: []string{"gofmtt"}}
	if err := s.runStages(t.Context(), stages()); err == nil || !strings.Contains(err.Error(), "gofmtt") {
		t.Errorf("got %v, want an error that names gofmtt", err)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var r report
	r.Passed, r.Seconds = 40, 61.2
	r.failed("store.TestAppend/torn", "append_test.go:9: got 1\n--- FAIL\n")
	r.skipped("git.TestJunction", "only on windows")
	var text, encoded bytes.Buffer
	r.writeText(&text)
	want := `
Left out
  git.TestJunction: only on windows

Failed
  store.TestAppend/torn
      append_test.go:9: got 1
      --- FAIL

61 s
40 passed, 1 failed, 1 skipped
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	if err := r.writeJSON(&encoded); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(strings.Join(strings.Fields(encoded.String()), ""), `{"schema":"duplex.suite/1"`) {
		t.Errorf("JSON begins with %.40q, want its schema first", encoded.String())
	}
	var back report
	if err := json.Unmarshal(encoded.Bytes(), &back); err != nil || back.Failures[0] != r.Failures[0] || back.Skips[0] != r.Skips[0] {
		t.Errorf("JSON reads back as %+v, %v", back, err)
	}
}

func TestGofmtStage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "a.go", "package a\n")
	s := &suite{root: root}
	if err := gofmt(t.Context(), s); err != nil {
		t.Errorf("formatted source: %v", err)
	}
	write(t, root, "b.go", "package   a\n")
	if err := gofmt(t.Context(), s); err == nil || !strings.Contains(err.Error(), "b.go") {
		t.Errorf("got %v, want an error that names b.go", err)
	}
}

func TestVetStageSeesOtherSystems(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "go.mod", "module x\n\ngo 1.26\n")
	write(t, root, "a.go", "package a\n")
	s := &suite{root: root}
	if err := vet(t.Context(), s); err != nil {
		t.Errorf("sound module: %v", err)
	}
	write(t, root, "a_windows_test.go", "package a\n\nvar _ int = \"x\"\n")
	if err := vet(t.Context(), s); err == nil || !strings.Contains(err.Error(), "on windows") {
		t.Errorf("got %v, want an error on windows", err)
	}
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
