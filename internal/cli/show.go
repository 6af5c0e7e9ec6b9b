package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/tracker"
)

func (a *App) showCommand() *cobra.Command {
	var brief bool
	c := &cobra.Command{Use: "show [JOB]", Short: "Where a job stands, and what you may do", GroupID: "look", Args: oneJob,
		Long: `Where a job stands now, in one page: who holds it, how full the context is, the
last step, checks as they are and as they were on day one, what is open, what is
decided, what led nowhere, what comes next. The last line says what you may do.
--brief prints what the next session starts from, for agents without MCP.`,
		Example: "  duplex show\n  duplex show k7m2\n  duplex show k7m2 --brief",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.show(cmd.Context(), first(args), brief)
		}}
	c.Flags().BoolVar(&brief, "brief", false, "one line of standing, then the brief")
	return c
}

func (a *App) show(ctx context.Context, name string, brief bool) error {
	t, err := a.look(ctx)
	if err != nil {
		return err
	}
	id, by, err := a.find(ctx, t, name)
	if err != nil {
		return err
	}
	shown, err := t.Show(ctx, id)
	if err != nil {
		return err
	}
	v := &showing{a: a, p: a.page(), Shown: shown, by: by}
	switch {
	case brief:
		b, err := t.Brief(ctx, id, tracker.BriefRequest{})
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.showJSON("brief/1", b)
		}
		v.p.line("%s at position %s: %s; %s", b.Short, thousands(b.Position), v.stands(), v.held())
		v.p.line("")
		v.p.line("%s", strings.TrimRight(b.Text, "\n"))
	case a.asJSON:
		shown.Open, shown.DeadEnds, shown.Decisions, shown.Sittings = listed(shown.Open), listed(shown.DeadEnds), listed(shown.Decisions), listed(shown.Sittings)
		return a.showJSON("standing/1", shown)
	default:
		v.all()
	}
	return v.p.flush()
}

// showing is the page about one job.
type showing struct {
	a *App
	p *page
	tracker.Shown
	by tracker.Actor
}

// columns is the width to write for: the terminal's within reason, 100 where
// there is none.
func (a *App) columns() int {
	if a.Width == 0 {
		return 100
	}
	return min(max(a.Width, 60), 120)
}

// factIndent is where the second column of a page of facts begins.
const factIndent = 14

func (v *showing) all() {
	for _, l := range wrap(v.Goal, v.a.columns(), 4) {
		v.p.line("%s", v.a.paint(bold, l))
	}
	v.p.line("%s", v.identity())
	v.p.line("")
	v.now()
	v.p.line("")
	v.checks()
	v.items()
	v.measuredByItself()
	v.warnings()
	v.p.line("")
	for _, l := range v.mayDo() {
		v.p.line("%s", l)
	}
}

// identity is where and since when.
func (v *showing) identity() string {
	s := &v.Standing
	age := "open for " + v.a.age(s.Opened)
	switch {
	case s.Done():
		age = "finished after " + span(s.Outcome.At.Sub(s.Opened))
	case v.Place == job.PlaceRunning:
		age = "running for " + v.a.age(s.Opened)
	}
	out := fmt.Sprintf("%s at position %s, %s", s.Short, thousands(s.Position), age)
	for _, w := range s.Workspaces {
		out += ", " + baseName(w.Path)
		if w.Branch != "" {
			out += " on " + w.Branch
		}
	}
	return out + ", times " + v.a.offset()
}

// baseName is the last part of a path, of whichever system wrote it.
func baseName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 && i < len(path)-1 {
		return path[i+1:]
	}
	return path
}

// now is the upper half: what changes from minute to minute.
func (v *showing) now() {
	s, p := &v.Standing, v.p
	p.fact("standing", "%s", v.stands())
	p.fact("held by", "%s", v.held())
	if c := v.context(); c != "" {
		p.fact("context", "%s", c)
	}
	last, failed := s.Newest[job.KindStep], s.Failure
	if last.ID != "" {
		word := ""
		if failed != nil && failed.ID == last.ID {
			word = ", " + v.a.paint(colourFail, "✕") + " failed"
		}
		p.fact("last step", "%s  %s, %s%s", thousands(last.Position), oneLine(last.Text, v.room(32)), v.a.when(last.At), word)
	}
	if failed != nil && failed.ID != last.ID && !s.Done() {
		p.fact("failed", "%s  %s, %s", thousands(failed.Position), oneLine(failed.Text, v.room(32)), v.a.when(failed.At))
	}
	if r := s.InFlight; r != nil {
		p.fact("in flight", "%s  %s: what came of it is unknown", thousands(r.Position), oneLine(r.Text, v.room(40)))
	}
	if sp := s.SafePoint; sp != nil {
		green := ""
		if sp.Green {
			green = ", checks green"
		}
		p.fact("safe point", "%d, %s, %s%s; %s since", sp.Number, v.a.when(sp.At), sp.Why, green, plural(int(s.Changed), "edit"))
	}
	p.fact("budget", "%s", v.a.budgetLine(s, v.Spend))
	if own := s.Spend.Pico; len(v.Children) > 0 && own != v.Spend.Pico {
		p.fact("", "%s of it by child jobs", usd(v.Spend.Pico-own))
	}
	if m := modelsLine(s.Spend.Models); m != "" {
		p.fact("spent on", "%s", m)
	}
}

func (v *showing) room(less int) int { return max(v.a.columns()-factIndent-less, 30) }

// stands is the standing in a line: numbers first, then the place the job is in.
func (v *showing) stands() string {
	s := &v.Standing
	var out string
	if m, ok := s.Newest[job.KindMeasured]; ok {
		out = m.Text + "; "
	}
	done := plural(int(s.Steps), "step")
	if s.Sessions > 1 {
		done += " in " + plural(s.Sessions, "session")
	}
	if len(s.Checks) > 0 {
		passed := 0
		for _, c := range s.Checks {
			if c.State == job.CheckPassed {
				passed++
			}
		}
		pass := "checks pass"
		if len(s.Checks) == 1 {
			pass = "check passes"
		}
		out += fmt.Sprintf("%d of %d %s after %s; ", passed, len(s.Checks), pass, done)
	} else {
		out += done + ", no checks; "
	}
	return out + v.where()
}

// where is the place the job is in, with the reason.
func (v *showing) where() string {
	s := &v.Standing
	if o := s.Outcome; o != nil {
		by := ""
		if o.Outcome == job.OutcomeAccepted || o.Outcome == job.OutcomeAbandoned {
			by = " by a person"
		}
		out := fmt.Sprintf("%s%s %s", o.Outcome, by, v.a.when(o.At))
		if o.Reason != "" {
			out += ": " + oneLine(o.Reason, 120)
		}
		if s.Done() || s.Pause == nil {
			return out
		}
	}
	if v.Place == job.PlaceRunning {
		return "running"
	}
	out := string(v.Place)
	if p := s.Pause; p != nil {
		out += fmt.Sprintf(" since %s, %s", v.a.when(p.Since), p.Reason)
		switch {
		case p.Until > 0:
			out += " until " + v.a.when(p.Until)
		case p.Reason == job.PauseRate:
			out += ", until when is unknown"
		}
		if p.Evidence != "" && p.Reason != job.PauseAnswer {
			out += ": " + oneLine(p.Evidence, 100)
		}
		return out
	}
	if v.Place == job.PlaceReady && s.Sessions == 0 {
		return out + ", not begun"
	}
	if v.Place == job.PlaceReady {
		return out + ", waiting for " + v.a.age(s.Updated)
	}
	return out
}

func (a *App) now() job.Time { return job.At(a.Now()) }

// held says who may act as the job, and until when.
func (v *showing) held() string {
	l := v.Standing.Lease
	if l == nil {
		if last := v.lastSitting(); last != nil {
			out := fmt.Sprintf("nobody; the last was session %d, %s", last.Number, sessionName(last.Agent, last.Model))
			if last.Ended > 0 {
				out += fmt.Sprintf(", %s %s", endWord(last.Reason), v.a.when(last.Ended))
			}
			return out
		}
		return "nobody yet"
	}
	who := "a session"
	for _, x := range v.Sittings {
		if x.ID == l.Session {
			who = fmt.Sprintf("%s, session %d", sessionName(x.Agent, x.Model), x.Number)
		}
	}
	who += fmt.Sprintf(", token %d", l.Token)
	if v.Place == job.PlaceReady {
		return "nobody; the lease of " + who + " has run out"
	}
	switch {
	case l.Driven:
		return who + ", lease to " + v.a.when(max(l.Until, v.Renewed.Add(job.LeaseLength)))
	case l.Process.PID > 0:
		return who + fmt.Sprintf(", as long as process %d lives", l.Process.PID)
	}
	return who + ", lease to " + v.a.when(max(l.Until, v.Renewed.Add(job.RemoteSilence)))
}

func (v *showing) lastSitting() *job.Sitting {
	for i := len(v.Sittings) - 1; i >= 0; i-- {
		if !v.Sittings[i].Guest {
			return &v.Sittings[i]
		}
	}
	return nil
}

// context is how full the newest session's context is, by its own level.
func (v *showing) context() string {
	last := v.lastSitting()
	if last == nil || last.Level <= 0 || last.Context <= 0 || v.Standing.Done() {
		return ""
	}
	used := fmt.Sprintf("%d %% used", 100*last.Context/last.Level)
	if last.Ended > 0 {
		return fmt.Sprintf("%s when session %d left", used, last.Number)
	}
	level := 0.85
	if c, err := v.a.settings(); err == nil {
		level = c.Handover
	}
	return fmt.Sprintf("%s, handover at %d %%", used, int(level*100+0.5))
}

// budgetLine is what is spent of what may be.
func (a *App) budgetLine(s *job.Standing, spend job.Bill) string {
	b := s.Budget
	out := money(spend)
	if b.Pico > 0 {
		out += " of " + usd(b.Pico)
	} else {
		out += ", no limit"
	}
	if b.Tokens > 0 {
		out += fmt.Sprintf(", %s of %s tokens", thousands(spend.Tokens.Total()), thousands(b.Tokens))
	}
	if b.Sessions > 0 {
		out += fmt.Sprintf(", %d of %s", s.Sessions, plural(b.Sessions, "session"))
	}
	if b.Deadline > 0 {
		word := "until "
		if b.Deadline < a.now() && !s.Done() {
			word = a.paint(colourAsk, "deadline passed") + " "
		}
		out += ", " + word + a.when(b.Deadline)
	}
	if spend.Estimate != 0 {
		out += fmt.Sprintf("; %s of it is an estimate", usd(spend.Estimate))
	}
	return out
}

func modelsLine(models []job.ModelBill) string {
	var parts []string
	for _, m := range models {
		amount := cents(m.Pico)
		if m.Pico == 0 && m.Tokens.Total() > 0 {
			amount = "unpriced"
		}
		parts = append(parts, m.Model+" "+amount)
	}
	return strings.Join(parts, ", ")
}

// checks shows each check with its last result, and what it was on day one.
func (v *showing) checks() {
	s, p, a := &v.Standing, v.p, v.a
	width := 20
	for _, c := range s.Checks {
		width = max(width, min(len([]rune(c.Command)), a.columns()-factIndent-47))
	}
	for i, c := range s.Checks {
		state, at := "not run", ""
		switch {
		case c.State == job.CheckPassed:
			state = "passed"
		case c.State != "":
			state = string(c.State)
			if c.Note != "" {
				state = c.Note
			}
		}
		if c.At > 0 {
			at = a.when(c.At)
		}
		line := fmt.Sprintf("%s %s%s%s%s", a.mark(c.State), pad(oneLine(c.Command, width), width+2), pad(oneLine(state, 16), 18), pad(at, 11), a.paint(dim, dayOne(c)))
		p.fact(onlyFirst(i, "checks"), "%s", strings.TrimRight(line, " "))
	}
	if len(s.Checks) == 0 {
		p.fact("checks", "none: a finish will be unverified; add one: duplex amend %s --check \"…\"", s.Short)
	}
	var stays []string
	stays = append(stays, s.Protect...)
	if s.KeepTests != nil {
		stays = append(stays, "every test ("+s.KeepTests.List+")")
	}
	if len(stays) > 0 {
		p.fact("stays", "%s", oneLine(strings.Join(stays, ", "), v.room(0)))
	}
	v.tests()
}

// tests says which tests were lost and which protected files differ, as the last
// run of the checks found them.
func (v *showing) tests() {
	p := v.p
	for i, l := range v.Losses {
		if i == 5 {
			p.fact("", "%d more: duplex log %s --kind checked", len(v.Losses)-5, v.Standing.Short)
			break
		}
		accepted := ""
		if l.Accepted {
			accepted = ", accepted by a person"
		}
		p.fact(onlyFirst(i, "lost tests"), "%s %s: %s%s", v.a.paint(colourFail, "✕"), oneLine(l.Name, 60), l.Loss, accepted)
	}
	if c := v.Checked; c != nil {
		if c.ListError != "" {
			p.fact("tests", "cannot be listed: %s", oneLine(c.ListError, v.room(20)))
		}
		if len(c.Changed) > 0 {
			p.fact("changed", "protected files differ from day one: %s", oneLine(strings.Join(c.Changed, ", "), v.room(40)))
		}
	}
}

// dayOne is what a check was before the work began.
func dayOne(c job.CheckNow) string {
	switch {
	case c.Baseline == "":
		return ""
	case c.Baseline == job.CheckPassed:
		return "green on day one: proves nothing yet"
	case c.Baseline == job.CheckFailed:
		return "red on day one"
	}
	return "could not run on day one"
}

// items shows what is open, what led nowhere, what is decided, and what is next.
func (v *showing) items() {
	s, p := &v.Standing, v.p
	for i, q := range v.Questions {
		p.fact(onlyFirst(i, "asked"), "%s %s  “%s”", v.a.paint(colourAsk, "?"), thousands(q.Position), oneLine(q.Text, v.room(14)))
		if len(q.Options) > 0 {
			p.fact("", "       %s", oneLine(strings.Join(q.Options, " · "), v.room(8)))
		}
	}
	const most = 8
	for i, o := range v.Open {
		if i == most {
			p.fact("", "%d more: duplex log %s --kind raised", s.OpenItems-most, s.Short)
			break
		}
		p.fact(onlyFirst(i, "open"), "%s  %s", thousands(o.Position), oneLine(o.Text, v.room(8)))
	}
	var dead []string
	for i, d := range v.DeadEnds {
		if i == most {
			dead = append(dead, fmt.Sprintf("%d more", s.DeadEnds-most))
			break
		}
		dead = append(dead, thousands(d.Position)+" "+oneLine(d.Text, 40))
	}
	for i, l := range wrap(strings.Join(dead, ", "), v.room(0), 4) {
		p.fact(onlyFirst(i, "dead ends"), "%s", l)
	}
	if s.InForce > 0 {
		p.fact("decisions", "%sduplex log %s --decided", pad(fmt.Sprintf("%d in force", s.InForce), 41), s.Short)
	}
	if next := nextOf(s); next != "" && !s.Done() {
		p.fact("next", "%s", oneLine(next, v.room(0)))
	}
	for i, c := range v.Children {
		cs := c.Standing
		p.fact(onlyFirst(i, "children"), "%s%s%s%s", pad(cs.Short, 8), pad(oneLine(cs.Goal, 44), 46), pad(string(c.Place), 17), money(cs.Spend))
	}
}

// measuredByItself says what the last takeovers cost: how much was read again,
// and how soon the session was at work.
func (v *showing) measuredByItself() {
	var taken []job.Sitting
	for _, x := range v.Sittings {
		if !x.Guest && x.Number > 1 && x.Actions > 0 {
			taken = append(taken, x)
		}
	}
	if len(taken) > 3 {
		taken = taken[len(taken)-3:]
	}
	for i, x := range taken {
		v.p.fact(onlyFirst(i, "takeovers"), "session %d re-read %d of the first %s; %s", x.Number,
			min(x.Rereads, x.Actions, job.RediscoveryWindow), plural(int(min(x.Actions, job.RediscoveryWindow)), "action"), atWork(x))
	}
}

// atWork says how soon after it began a session first changed something.
func atWork(x job.Sitting) string {
	if x.Productive == 0 {
		return "no edit yet"
	}
	return fmt.Sprintf("at work after %s and %s tokens", span(time.Duration(x.ProductiveAfter)*time.Millisecond), thousands(x.ProductiveTokens))
}

// warnings are what is not as it should be.
func (v *showing) warnings() {
	s := &v.Standing
	warn := func(format string, args ...any) {
		v.p.fact("note", "%s %s", v.a.paint(colourAsk, "!"), fmt.Sprintf(format, args...))
	}
	if s.Unnamed {
		warn("opened by itself and unnamed; name it to keep it: duplex amend %s --goal \"…\"", s.Short)
	} else if s.Unconfirmed {
		warn("the goal is the agent's; confirm it: duplex amend %s --goal \"…\"", s.Short)
	}
	if s.Late > 0 {
		warn("%s by a session that was replaced, recorded as late", entries(s.Late))
	}
	if s.Guests > 0 {
		warn("%s by guests, who do not hold the job", entries(s.Guests))
	}
	if s.LateEdits > 0 {
		warn("%s of these changed the workspace: look at it before you go on", thousands(s.LateEdits))
	}
	if s.Missing > 0 {
		warn("%s could not be recorded: duplex log %s --kind gap", plural(int(s.Missing), "thing"), s.Short)
	}
	if s.Unknown > 0 {
		warn("%s of a kind that this version does not know; install the newer one", entries(s.Unknown))
	}
}

// mayDo is the last line: what one may do as things stand.
func (v *showing) mayDo() []string {
	s := &v.Standing
	switch {
	case s.Done():
		return []string{fmt.Sprintf("Read it as one piece: duplex log %s. What it cost: duplex cost %s", s.Short, s.Short)}
	case s.Lease != nil && v.by.Session == s.Lease.Session:
		return []string{fmt.Sprintf("You hold this job under token %d. Hand over any time: duplex handover %s --next \"…\"", s.Lease.Token, s.Short)}
	case len(v.Questions) > 0:
		return []string{fmt.Sprintf("It waits for your answer: duplex answer %s \"…\"", s.Short)}
	case s.Pause != nil && s.Pause.Reason == job.PauseBudget:
		return []string{fmt.Sprintf("It waits for you: raise the budget, duplex amend %s --usd …, or end it, duplex abandon %s", s.Short, s.Short)}
	case s.Outcome != nil:
		return []string{fmt.Sprintf("It waits for you: duplex finish %s again, duplex resume %s to go on, or duplex accept %s --reason \"…\"", s.Short, s.Short, s.Short)}
	case v.Place == job.PlaceRunning:
		return []string{fmt.Sprintf("You may look. To act, wait for the lease or take over: duplex resume %s --take", s.Short)}
	case v.Place == job.PlaceWaiting:
		return []string{fmt.Sprintf("A duplex run that waits for it goes on by itself. To go on now: duplex resume %s", s.Short)}
	}
	return []string{fmt.Sprintf("Nobody holds it. Go on: duplex resume %s, or duplex run %s", s.Short, s.Short)}
}

func entries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return thousands(n) + " entries"
}
