package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

type recallOptions struct {
	words  []string
	all    bool
	kinds  []string
	limit  int
	since  string
	ledger bool
}

func (a *App) recallCommand() *cobra.Command {
	var o recallOptions
	c := &cobra.Command{Use: "recall WORDS...", Short: "Search what was said, decided and done", GroupID: "look",
		Long: `Search the ledger of this folder's jobs, ended ones too, and the transcripts of
their sessions where they are. Every word has to be there: a "phrase" in quotes, the
begin* of a word, and -word for what must not be there. Decisions, dead ends and what
a person said come before steps. Nothing of a transcript is kept.`,
		Example: "  duplex recall lexer\n  duplex recall '\"old lexer\"' -parser --kind decided\n  duplex recall timeout --all --since 7d\n  duplex recall \"why not regular expressions\" --job k7m2 --json",
		// A word with a dash before it is no flag here.
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			words, err := wordsAmongFlags(cmd, args)
			if help, _ := cmd.Flags().GetBool("help"); help {
				return cmd.Help()
			}
			if err != nil {
				return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
			}
			o.words = words
			return a.recall(cmd.Context(), o)
		}}
	f := c.Flags()
	f.BoolVar(&o.all, "all", false, "every job, of any folder")
	f.StringVar(&a.jobName, "job", "", "this job only")
	f.StringArrayVar(&o.kinds, "kind", nil, "entries of this kind only, as in \"dead end\" (repeat)")
	f.IntVar(&o.limit, "limit", 10, "how many of the ledger, and as many of transcripts, at most 100")
	f.StringVar(&o.since, "since", "", "since then: 2026-11-28, \"2026-11-28 18:00\", or how long ago as in 36h or 7d")
	f.BoolVar(&o.ledger, "ledger", false, "the ledger only: leave transcripts alone")
	return c
}

// wordsAmongFlags parses the flags of a call in which a word may begin with a dash.
func wordsAmongFlags(cmd *cobra.Command, args []string) ([]string, error) {
	const dash = "\x00-" // what pflag takes for no flag
	covered := slices.Clone(args)
	for i, arg := range covered {
		if len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && arg != "-h" {
			covered[i] = dash + arg[1:]
		}
	}
	cmd.DisableFlagParsing = false
	err := cmd.ParseFlags(covered)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if v := f.Value.String(); strings.HasPrefix(v, dash) && err == nil {
			err = f.Value.Set("-" + v[len(dash):])
		}
	})
	var words []string
	for _, w := range cmd.Flags().Args() {
		if rest, found := strings.CutPrefix(w, dash); found {
			w = "-" + rest
		}
		words = append(words, w)
	}
	return words, err
}

func (a *App) recall(ctx context.Context, o recallOptions) error {
	r := tracker.RecallRequest{Words: strings.Join(o.words, " "), Dir: a.Dir, All: o.all, Limit: o.limit, Ledger: o.ledger}
	if query.Parse(r.Words).Empty() {
		return usagef("there is no word to look for; see duplex recall --help")
	}
	if o.limit < 1 || o.limit > 100 {
		return usagef("--limit %d: name a number from 1 to 100", o.limit)
	}
	if o.all && a.jobName != "" {
		return usagef("--all is every job and --job one: leave one of them out")
	}
	var err error
	if r.Kinds, err = kindsNamed(o.kinds); err != nil {
		return err
	}
	if r.Since, err = a.sinceNamed(o.since); err != nil {
		return err
	}
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	by, err := t.Actor(ctx)
	if err == nil && a.jobName != "" {
		r.Job, _, err = a.find(ctx, t, a.jobName)
	}
	if err != nil {
		return err
	}
	r.Own = by.Job
	out, err := t.Recall(ctx, r)
	if err != nil {
		return interrupted(ctx, err)
	}
	if a.asJSON {
		return a.showJSON("recall/1", out)
	}
	return a.showRecalled(out)
}

// sinceNamed reads --since: a day, a time, or how long ago.
func (a *App) sinceNamed(s string) (job.Time, error) {
	if s = strings.TrimSpace(s); s == "" {
		return 0, nil
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && fmt.Sprint(n) == days && n >= 0 && n < 36500 {
			return job.At(a.Now().AddDate(0, 0, -n)), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return job.At(a.Now().Add(-d)), nil
	}
	if at, ok := a.timeNamed(s); ok {
		return at, nil
	}
	return 0, usagef("--since %q: write a day as in 2026-11-28, a time as in \"2026-11-28 18:00\", or how long ago as in 36h or 7d", s)
}

// showRecalled writes the page: the ledger first, then what stands in transcripts.
func (a *App) showRecalled(r tracker.Recalled) error {
	p := a.page()
	if r.Loose {
		p.line("Nothing has all of these words. Some of them:")
		p.line("")
	}
	for _, h := range r.Hits {
		p.line("%s  %s", a.paint(bold, h.Short+" "+thousands(h.Position)), a.aboutHit(h))
		if h.Title != "" {
			p.line("    %s", cut(h.Title, a.columns()-4))
		}
		a.snippet(p, h.Snippet)
	}
	if len(r.Spoken) > 0 {
		if len(r.Hits) > 0 {
			p.line("")
		}
		p.line("In transcripts:")
		for _, s := range r.Spoken {
			p.line("%s  %s", a.paint(bold, s.Short), list(whoSaid(s.Author), seatNumber(s.Number), a.when(s.At)))
			a.snippet(p, s.Snippet)
			p.line("    %s", a.paint(dim, fmt.Sprintf("%s, byte %s", fileName(s.File), thousands(s.Offset))))
		}
	}
	a.afterRecall(p, r)
	return p.flush()
}

// aboutHit is what an entry is, who said it, when, and whether it still holds.
func (a *App) aboutHit(h tracker.Hit) string {
	state := ""
	if h.State != job.InForce && h.State != job.Open {
		state = string(h.State)
	}
	return list(string(h.Kind), whoSaid(h.Author), seatNumber(h.Number), a.when(h.At), state)
}

func seatNumber(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("session %d", n)
}

// list is those that are not empty, with commas.
func list(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// snippet adds a part of a text, with what was looked for marked on a terminal.
func (a *App) snippet(p *page, s query.Snippet) {
	at := 0
	for _, l := range wrap(s.Text, a.columns()-4, 0) {
		from := strings.Index(s.Text[at:], l) // not found: it held what must not drive a terminal
		if from < 0 {
			p.line("    %s", l)
			continue
		}
		from += at
		at = from + len(l)
		p.line("    %s", a.marked(l, from, s.Marks))
	}
}

// marked paints the marks in a line that begins at a byte of their text.
func (a *App) marked(line string, from int, marks []query.Mark) string {
	for _, m := range slices.Backward(marks) {
		begin, end := max(m.From-from, 0), min(m.To-from, len(line))
		if begin < end {
			line = line[:begin] + a.paint(bold, line[begin:end]) + line[end:]
		}
	}
	return line
}

// afterRecall says what the page leaves out and what to do next.
func (a *App) afterRecall(p *page, r tracker.Recalled) {
	var says []string
	switch {
	case len(r.Hits)+len(r.Spoken) == 0:
		says = append(says, fmt.Sprintf("Nothing found in %s. Try fewer words, or the beginning of one with *; every job: duplex recall --all", plural(r.Jobs, "job")))
	case len(r.Hits) > 0:
		says = append(says, fmt.Sprintf("One of them whole: duplex log %s %d", r.Hits[0].Short, r.Hits[0].Position))
	}
	if r.More || r.MoreSpoken {
		says = append(says, "There is more: add a word, or raise --limit")
	}
	if r.Unindexed > 0 {
		says = append(says, fmt.Sprintf("About %s are not in the search index yet; the next commands put them there", entries(r.Unindexed)))
	}
	for _, u := range r.Unread {
		says = append(says, "Not read: "+list(fileName(u.File), u.Why))
	}
	if len(r.Hits)+len(r.Spoken) > 0 && len(says) > 0 {
		p.line("")
	}
	for _, s := range says {
		for _, l := range wrap(s, a.columns(), 0) {
			p.line("%s", l)
		}
	}
}
