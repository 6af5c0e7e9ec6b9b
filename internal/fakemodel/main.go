// Command fakemodel is a scripted model server for anyone who drives a real agent
// offline: go run ./internal/fakemodel --help. Package play is the server itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed-5777983b/duplex/internal/fakemodel/play"
)

const help = `Plays a model that says what a script says, on 127.0.0.1, so that a real agent can
be driven without a network. It speaks Anthropic Messages (streamed and plain, counts
of tokens, the list of models).

usage: go run ./internal/fakemodel --port N [--script FILE] [--log DIR]

  --port N       the port; 0 takes a free one. The address is printed.
  --script FILE  what to play, as JSON; "done" to everything without it
  --log DIR      each request as DIR/0001.json …, without its credentials

A script:

  {
    "rules": [
      {"match": "\"name\":\"Bash\"", "turn": {"status": 529}, "once": true}
    ],
    "turns": [
      {"text": "I look first.", "tools": [{"name": "Bash", "input": {"command": "ls"}}],
       "usage": {"in": 900, "cache_read": 52000, "cache_write": 1200, "out": 40}},
      {"thinking": "Two files.", "text": "There are two files."}
    ],
    "default": {"text": "done"}
  }

A request goes to the first rule whose regular expression finds something in its body;
else to the next turn; when those are over, to the default. A turn may also have

  stop                    the reason to stop (tool_use or end_turn by itself)
  status, headers, body   an HTTP error instead of an answer, such as 429
  sse_error               the stream ends in this error event
  delay                   seconds before the answer begins
  hang, cut               the answer begins and never ends, or the connection drops

POST /__script begins another script, GET /__state says how far it is. Claude Code
comes here when its environment has

  ANTHROPIC_BASE_URL=http://127.0.0.1:N  ANTHROPIC_API_KEY=dummy
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1  DISABLE_AUTOUPDATER=1
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until ctx ends. Exit codes: 0 ended by a signal, 1 could not serve, 2 wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fakemodel", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, help) }
	port := flags.Int("port", -1, "")
	file := flags.String("script", "", "")
	log := flags.String("log", "", "")
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	case *port < 0 || flags.NArg() > 0:
		fmt.Fprint(stderr, "which port: say --port N, or --help\n")
		return 2
	}
	m, err := serve(*port, *file, *log)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintln(stdout, m.URL())
	<-ctx.Done()
	if err := m.Close(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func serve(port int, file, log string) (*play.Server, error) {
	var s play.Script
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if s, err = play.Parse(b); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return play.Serve(port, s, log)
}
