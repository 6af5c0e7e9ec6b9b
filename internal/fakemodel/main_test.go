package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example in the help is a script that is played as it says.
func TestExampleInHelp(t *testing.T) {
	t.Parallel()
	_, example, _ := strings.Cut(help, "A script:\n")
	example, _, _ = strings.Cut(example, "A request goes")
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"--port", "0", "--script", file}, in, io.Discard) }()
	var url [200]byte
	n, err := out.Read(url[:])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"I look first.", "There are two files.", "done"} {
		answer, err := http.Post(strings.TrimSpace(string(url[:n]))+"/v1/messages", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"go"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !strings.Contains(string(b), want) {
			t.Errorf("answered %s, want %q", b, want)
		}
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("ended with %d", code)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, 0, "usage:"},
		{nil, 2, "--port N"},
		{[]string{"--prot", "1"}, 2, "prot"},
		{[]string{"--port", "0", "--script", "no such file"}, 1, "no such file"},
	} {
		var said bytes.Buffer
		if code := run(t.Context(), c.args, io.Discard, &said); code != c.code || !strings.Contains(said.String(), c.says) {
			t.Errorf("%q: exit %d and %q, want %d and %q", c.args, code, said.String(), c.code, c.says)
		}
	}
}
