package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex"
	"github.com/seed-5777983b/duplex/internal/job"
)

func (a *App) versionCommand() *cobra.Command {
	var licenses bool
	c := &cobra.Command{Use: "version", Short: "Say which build this is", GroupID: "set",
		Example: "  duplex version\n  duplex version --licenses",
		RunE: func(*cobra.Command, []string) error {
			if licenses {
				_, err := a.Out.Write([]byte(duplex.Licenses))
				return err
			}
			return a.version()
		}}
	c.Flags().BoolVar(&licenses, "licenses", false, "what is linked, and on which terms")
	return c
}

// build is what version prints as JSON.
type build struct {
	Number string `json:"number"`
	Commit string `json:"commit,omitempty"`
	Date   string `json:"date,omitempty"`
	Go     string `json:"go"`
	System string `json:"system"`
	Entry  int    `json:"entry_version"` // of the payloads it writes
	Apply  int    `json:"apply_version"` // of the rules it folds with
}

// version opens nothing: it is what other commands are measured against.
func (a *App) version() error {
	b := build{Number: a.Version.Number, Commit: a.Version.Commit, Date: a.Version.Date, Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Entry: job.PayloadVersion, Apply: job.ApplyVersion}
	if a.asJSON {
		return a.showJSON("version/1", b)
	}
	p := a.page()
	p.line("%s", describe(a.Version))
	if b.Date != "" {
		p.fact("date", "%s", b.Date)
	}
	p.fact("built with", "%s for %s", b.Go, b.System)
	p.fact("ledger", "entries of version %d, folded by rules of version %d", b.Entry, b.Apply)
	return p.flush()
}

func describe(v Version) string {
	out := "duplex " + orNone(v.Number, "of a development build")
	if v.Commit != "" {
		out += fmt.Sprintf(" (%s)", v.Commit[:min(len(v.Commit), 12)])
	}
	return out
}
