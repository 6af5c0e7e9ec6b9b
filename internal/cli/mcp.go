package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/mcpserver"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) mcpCommand() *cobra.Command {
	return &cobra.Command{Use: "mcp", Short: "Serve an agent over MCP, on standard input and output", GroupID: "set", Args: cobra.NoArgs,
		Long: `An agent starts this and calls its tools: standing, brief, recall, decide, raise,
settle, dead_end, safe_point, hand_over, claim_finished, start, take. Each does what
the command of the same meaning does, as the session that calls. What only a person
may do is not offered. docs/mcp.md says how sessions are told and what answers hold.`,
		Example: `  claude mcp add duplex -- duplex mcp
  echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | duplex mcp`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.InTerminal {
				fmt.Fprintln(a.Err, "duplex: an agent starts this and speaks MCP on standard input; Ctrl-D ends it")
			}
			s := mcpserver.Server{Open: a.openForCall, Dir: a.Dir, Getenv: a.Getenv, Version: a.Version.Number, Log: a.Err}
			return s.Serve(cmd.Context(), a.In, a.Out)
		}}
}

// openForCall opens the tracker for one call of a server that lives for days, as a
// command of its own would.
func (a *App) openForCall(ctx context.Context, need mcpserver.Need) (*tracker.Tracker, func() error, error) {
	one := *a
	one.tracker, one.config = nil, nil
	var t *tracker.Tracker
	var err error
	switch need {
	case mcpserver.Look:
		t, err = one.look(ctx)
	case mcpserver.Act:
		t, err = one.open(ctx, opening{})
	case mcpserver.Begin:
		t, err = one.open(ctx, opening{create: true})
	}
	if err != nil {
		if one.tracker != nil { // open, and what hooks had kept could not be taken in
			_ = one.tracker.Close()
		}
		return nil, nil, err
	}
	return t, t.Close, nil
}
