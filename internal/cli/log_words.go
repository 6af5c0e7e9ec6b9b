package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// words says what an entry is, in the language of the log. ok is false for what
// has nothing to say.
func (v *telling) words(e job.Entry) (l told, ok bool) {
	switch p := e.Payload.(type) {
	case *job.Step:
		return v.step(p), true
	case *job.Opened:
		return v.opened(e, p), true
	case *job.Amended:
		return v.amended(p), true
	case *job.SessionStarted, *job.SessionEnded, *job.LeaseTaken, *job.LeaseReleased, *job.HandedOver, *job.TookOver:
		return v.sitting(e)
	case *job.Instructed, *job.Asked, *job.Answered, *job.Decided, *job.Raised, *job.Settled, *job.DeadEnd:
		return v.said(e)
	case *job.Touched:
		return told{text: orNone(p.Title, "looked"), quiet: true, more: paths(p.Paths)}, true
	case *job.Spent:
		return v.spent(p), true
	case *job.Seen:
		return seen(p), true
	case *job.Measured:
		return told{text: fmt.Sprintf("measured %s: %g %s", p.Name, p.Value, p.Unit)}, true
	case *job.SafePoint:
		return safePoint(p), true
	case *job.WentBack:
		return wentBack(p), true
	case *job.Paused:
		return v.paused(p), true
	case *job.Resumed:
		return told{text: "goes on" + colon(p.Why)}, true
	case *job.Checked:
		return v.checked(p), true
	case *job.Finished:
		return v.finished(p), true
	}
	return v.rare(e)
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// step is a meaningful call with its result.
func (v *telling) step(p *job.Step) told {
	l := told{text: orNone(p.Title, "a call of class "+orNone(string(p.Class), "unknown")), loose: true}
	if v.full && p.Command != "" {
		l.text = p.Command
	}
	if p.Class == job.ClassDelegate && !strings.HasPrefix(p.Title, "delegated") {
		l.text = "delegated: " + p.Title
	}
	if p.Agent != "" {
		l.text += " (by a sub-agent)"
	}
	if p.Of != "" {
		l.text = "later, of " + v.named(p.Of) + ": " + p.Title
	}
	l.result = result(p)
	if p.Result == job.Failed && !v.bare {
		l.more = failure(p, v.full)
	}
	if v.full {
		l.more = append(l.more, paths(p.Paths)...)
		if p.Result != job.Failed && !v.bare {
			l.more = append(l.more, firstLines(p.Receipt.Text, 12)...)
		}
	}
	return l
}

// result is what came of a step, short enough to stand beside it, and how long it
// took when that is to be told in minutes.
func result(p *job.Step) string {
	out := outcome(p)
	if took := time.Duration(p.Millis) * time.Millisecond; took >= time.Minute {
		out = strings.TrimPrefix(out+", "+span(took), ", ")
	}
	return out
}

func outcome(p *job.Step) string {
	var parts []string
	if t := p.Tests; t != nil {
		if t.Failed > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
		}
		if t.Passed > 0 || t.Failed == 0 {
			parts = append(parts, thousands(int64(t.Passed))+" passed")
		}
		if t.Skipped > 0 {
			parts = append(parts, fmt.Sprintf("%d skipped", t.Skipped))
		}
	}
	text := strings.Join(parts, ", ")
	if p.Tests != nil && p.Tests.Failed > 0 && p.Result == job.OK {
		return "✕ " + text // a pipe hid the exit code
	}
	switch p.Result {
	case job.Denied:
		return "✕ denied"
	case job.ResultUnknown:
		return "– outcome unknown"
	case job.Failed:
		switch {
		case text != "":
		case p.Exit != nil:
			text = fmt.Sprintf("exit %d", *p.Exit)
		default:
			text = "failed"
		}
		return "✕ " + text
	}
	switch {
	case text != "":
		return "✓ " + text
	case p.Added+p.Removed > 0:
		return fmt.Sprintf("+%d −%d", p.Added, p.Removed)
	case p.Class == job.ClassCommand || p.Class == job.ClassTest:
		return "✓"
	}
	return ""
}

// failure is what a failed step said: the tests that failed, else the first line
// that tells.
func failure(p *job.Step, full bool) []string {
	if full {
		return firstLines(p.Receipt.Text, 24)
	}
	if t := p.Tests; t != nil && len(t.Failures) > 0 {
		return []string{"failed: " + strings.Join(t.Failures[:min(len(t.Failures), 3)], ", ") + more(len(t.Failures)-3)}
	}
	return firstLines(p.Receipt.Text, 1)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func firstLines(s string, n int) []string {
	var out []string
	for _, l := range strings.Split(tame(s), "\n") {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		if len(out) == n {
			break
		}
		out = append(out, l)
	}
	return out
}

func paths(list []job.Touch) []string {
	var names []string
	for i, t := range list {
		if i == 6 {
			names = append(names, fmt.Sprintf("%d more", len(list)-6))
			break
		}
		names = append(names, string(t.Role)+" "+t.Name)
	}
	if len(names) == 0 {
		return nil
	}
	return []string{strings.Join(names, ", ")}
}

func (v *telling) opened(e job.Entry, p *job.Opened) told {
	v.goal = p.Goal
	l := told{text: "opened by " + whoSaid(e.Author) + ": “" + p.Goal + "”", speech: true}
	if p.Unnamed {
		l.text = "opened by itself, from a session nobody began a job for: “" + p.Goal + "”"
	}
	l.more = agreed(p.Checks, p.Protect, p.KeepTests)
	if b := budgetWords(p.Budget, v.a); b != "" {
		l.more = append(l.more, "budget: "+b)
	}
	return l
}

// agreed is what a job is held to.
func agreed(checks []job.Check, protect []string, keep *job.KeepTests) []string {
	var out []string
	for _, c := range checks {
		out = append(out, "check "+c.ID+": "+c.Command)
	}
	if len(protect) > 0 {
		out = append(out, "stays: "+strings.Join(protect, ", "))
	}
	if keep != nil {
		out = append(out, "stays: every test ("+keep.List+")")
	}
	return out
}

func budgetWords(b job.Budget, a *App) string {
	var parts []string
	if b.Pico > 0 {
		parts = append(parts, usd(b.Pico))
	}
	if b.Tokens > 0 {
		parts = append(parts, thousands(b.Tokens)+" tokens")
	}
	if b.Sessions > 0 {
		parts = append(parts, plural(b.Sessions, "session"))
	}
	if b.Deadline > 0 {
		parts = append(parts, "until "+b.Deadline.Time().In(a.zone()).Format("Mon 2 Jan 15:04"))
	}
	return strings.Join(parts, ", ")
}

func (v *telling) amended(p *job.Amended) told {
	var parts []string
	l := told{speech: true}
	if p.Goal != nil {
		parts = append(parts, "the goal is “"+*p.Goal+"”")
	} else if p.Named && p.Why == "" && len(p.AddChecks)+len(p.DropChecks) == 0 && p.Budget == nil && p.Workspace == nil {
		parts = append(parts, "the goal is confirmed")
	}
	if len(p.DropChecks) > 0 {
		parts = append(parts, "check "+strings.Join(p.DropChecks, ", ")+" is dropped")
	}
	if p.Budget != nil {
		parts = append(parts, "budget "+orNone(budgetWords(*p.Budget, v.a), "without limit"))
	}
	if p.Workspace != nil {
		parts = append(parts, "goes on in "+p.Workspace.Path+" too")
	}
	if len(p.AcceptTests) > 0 {
		parts = append(parts, "the loss of "+strings.Join(p.AcceptTests, ", ")+" is accepted")
	}
	if p.Setup != nil {
		parts = append(parts, "setup "+orNone(*p.Setup, "none"))
	}
	if p.OnCrash != nil {
		parts = append(parts, "after a crash: "+*p.OnCrash)
	}
	var protect []string
	if p.Protect != nil {
		if protect = *p.Protect; len(protect) == 0 {
			parts = append(parts, "nothing is protected any more")
		}
	}
	l.more = agreed(p.AddChecks, protect, p.KeepTests)
	if p.Why != "" {
		l.more = append(l.more, "why: "+p.Why)
	}
	l.text = "amended" + colon(strings.Join(parts, "; "))
	return l
}

// said tells what persons and agents put on record.
func (v *telling) said(e job.Entry) (told, bool) {
	l := told{speech: true}
	switch p := e.Payload.(type) {
	case *job.Instructed:
		l.text = whoSaid(e.Author) + ": “" + p.Text + "”"
		if p.Standing {
			l.text += " (binds to the end)"
		}
	case *job.Asked:
		v.keep(e, p.Text)
		l.text = "? " + whoSaid(e.Author) + " asks: “" + p.Text + "”"
		if len(p.Options) > 0 {
			l.more = append(l.more, "options: "+strings.Join(p.Options, " · "))
		}
	case *job.Answered:
		l.text = whoSaid(e.Author) + " answers: “" + p.Text + "”"
	case *job.Decided:
		v.keep(e, p.Text)
		l.text = "◆ decided: " + p.Text
		if p.Supersedes != "" {
			l.more = append(l.more, "in place of "+v.named(p.Supersedes))
		}
		if p.Why != "" {
			l.more = append(l.more, "why: "+p.Why)
		}
		if len(p.Rejected) > 0 {
			l.more = append(l.more, "rejected: "+strings.Join(p.Rejected, "; "))
		}
	case *job.Raised:
		v.keep(e, p.Text)
		l.text = "open: " + p.Text
		if p.Next {
			l.text = "next: " + p.Text
		}
	case *job.Settled:
		l.text = "settled " + v.named(p.Item) + colon(p.How)
	case *job.DeadEnd:
		v.keep(e, p.Text)
		l.text = "✕ dead end: " + p.Text
		if p.Why != "" {
			l.more = append(l.more, "why: "+p.Why)
		}
		if p.Command != "" {
			l.more = append(l.more, "command: "+p.Command)
		}
	default:
		return l, false
	}
	return l, true
}

func (v *telling) spent(p *job.Spent) told {
	l := told{text: fmt.Sprintf("%s: %s tokens", p.Model, thousands(p.Tokens.Total())), quiet: true, cost: "unpriced"}
	if p.Purpose != "" {
		l.text += " for " + p.Purpose
	}
	if p.Estimate {
		l.text += ", an estimate"
	}
	if p.Pico != nil {
		l.cost = cents(*p.Pico)
	}
	return l
}

func seen(p *job.Seen) told {
	l := told{text: fmt.Sprintf("seen: %s uncommitted", plural(len(p.Changed)+p.More, "file")), quiet: true}
	if p.Branch != "" {
		l.text += " on " + p.Branch
	}
	for _, f := range p.Folders {
		l.more = append(l.more, fmt.Sprintf("%s: %d done, %d left", f.Path, len(f.Done)+f.MoreDone, len(f.Left)+f.MoreLeft))
	}
	return l
}

func safePoint(p *job.SafePoint) told {
	l := told{text: fmt.Sprintf("◆ safe point %d, %s", p.Number, p.Why)}
	if p.Green {
		l.text += ", checks green"
	}
	if p.NotCovered > 0 {
		l.text += fmt.Sprintf("; %s not in it", plural(p.NotCovered, "path"))
	}
	return l
}

func wentBack(p *job.WentBack) told {
	what := "went back to safe point"
	if p.Undone {
		what = "undid that: as in safe point"
	}
	l := told{text: fmt.Sprintf("◆ %s %d: %d written, %d removed; what was there is safe point %d", what, p.To, p.Written, p.Removed, p.Undo), speech: true}
	if p.Why != "" {
		l.more = []string{"why: " + p.Why}
	}
	return l
}

func (v *telling) paused(p *job.Paused) told {
	l := told{text: "waits: " + strings.TrimPrefix(string(p.Reason), "waiting "), speech: true}
	switch {
	case p.Until > 0:
		l.text += " until " + p.Until.Time().In(v.a.zone()).Format("Mon 15:04")
	case p.Reason == job.PauseRate:
		l.text += ", until when is unknown"
	}
	if p.Evidence != "" && p.Reason != job.PauseAnswer && p.Reason != job.PauseCrashed {
		l.text += " (" + p.Evidence + ")"
	}
	return l
}

// rare tells the kinds one seldom meets, and those of a newer version.
func (v *telling) rare(e job.Entry) (told, bool) {
	switch p := e.Payload.(type) {
	case *job.Moved:
		return told{text: "moved to another store; the chain goes on from its old head"}, true
	case *job.Linked:
		return told{text: p.Relation + " job " + v.named(p.To)}, true
	case *job.Reconciled:
		var pico int64
		for _, m := range p.Models {
			if m.Pico != nil {
				pico += *m.Pico
			}
		}
		return told{text: "reconciled with the total that " + agentTitle(p.Source) + " gives", cost: usd(pico)}, true
	case *job.Lesson:
		return told{text: "lesson, " + p.Text, speech: true}, true
	case *job.Refused:
		return told{text: fmt.Sprintf("✕ refused: %s under token %d, %d is current", p.Act, p.Token, p.Current) + colon(p.What), speech: true}, true
	case *job.Gap:
		return told{text: fmt.Sprintf("✕ gap: %s could not be recorded: %s", thousands(p.Count), p.What), speech: true}, true
	case *job.Scrubbed:
		return told{text: fmt.Sprintf("scrubbed: the content of %s is dropped", entries(int64(len(p.Entries)))) + colon(p.Why)}, true
	case job.Erased:
		return told{text: string(p.As) + ": its content is dropped", quiet: true}, true
	case job.Unknown:
		return told{text: string(p.As) + ": of a kind this version does not know", quiet: true}, true
	}
	return told{}, false
}
