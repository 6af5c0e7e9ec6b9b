package job

import "strings"

// maxText bounds what an entry is found by, in bytes.
const (
	maxSaid  = 8 << 10
	maxShown = 1 << 10 // of an output, at each of its ends
)

// Text is what an entry says in words, with an empty line between one thing and the
// next: what it is about first, its evidence last. Entries are found by it. It is empty for those that nobody
// looks for by words: costs, looks, leases, checkpoints.
func Text(p Payload) string {
	switch p := p.(type) {
	case *Opened:
		return joined(p.Goal, commands(p.Checks))
	case *Amended:
		goal := ""
		if p.Goal != nil {
			goal = *p.Goal
		}
		return joined(goal, p.Why, commands(p.AddChecks), lines(p.AcceptTests))
	case *Instructed:
		return joined(p.Text)
	case *Asked:
		return joined(p.Text, lines(p.Options))
	case *Answered:
		return joined(p.Text)
	case *Decided:
		return joined(p.Text, p.Why, lines(p.Rejected))
	case *Raised:
		return joined(p.Text)
	case *Settled:
		return joined(p.How)
	case *DeadEnd:
		return joined(p.Text, p.Why, p.Command)
	case *Step:
		return p.text()
	case *HandedOver:
		if p.Claim == "" {
			return joined(p.Next)
		}
		return joined(p.Next, "claim of the agent: "+p.Claim)
	case *Paused:
		return joined(p.Evidence)
	case *Resumed:
		return joined(p.Why)
	case *SafePoint:
		return joined(p.Why)
	case *WentBack:
		return joined(p.Why)
	case *Checked:
		return joined(p.ListError, results(p.Results), losses(p.Losses))
	case *Finished:
		return joined(p.Reason, results(p.Results), losses(p.Losses))
	case *Lesson:
		return joined(p.Text)
	case *Gap:
		return joined(p.What)
	case *SessionEnded:
		return joined(p.Evidence)
	}
	return ""
}

func (p *Step) text() string {
	said := []string{p.Title}
	if p.Command != p.Title {
		said = append(said, p.Command)
	}
	for _, list := range [][]Touch{p.Paths, p.Symbols} {
		for _, t := range list {
			if t.Role == RoleEdit && !strings.Contains(p.Title, t.Name) {
				said = append(said, t.Name)
			}
		}
	}
	if p.Tests != nil {
		said = append(said, p.Tests.Failures...)
	}
	return joined(joined(said...), ends(p.Receipt.Text))
}

func commands(checks []Check) string {
	var out []string
	for _, c := range checks {
		out = append(out, c.Command)
	}
	return joined(out...)
}

// results are the checks that did not pass: the others say nothing but that.
func results(list []CheckResult) string {
	var out []string
	for _, r := range list {
		if r.State != CheckPassed {
			out = append(out, r.Command, r.Reason, ends(r.Output.Text))
		}
	}
	return joined(out...)
}

func losses(list []TestLoss) string {
	var out []string
	for _, l := range list {
		out = append(out, l.Name)
	}
	return joined(out...)
}

func lines(list []string) string { return joined(list...) }

// joined are the texts that are not empty, up to the bound.
func joined(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		if t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(upTo(t, maxSaid-b.Len()))
		if b.Len() >= maxSaid {
			break
		}
	}
	return b.String()
}

// ends are the beginning and the end of an output, whole lines where it has any.
func ends(s string) string {
	if len(s) <= 2*maxShown {
		return s
	}
	head, tail := upTo(s, maxShown), s[len(s)-maxShown:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return head + "\n" + strings.ToValidUTF8(tail, "")
}

func upTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(n, 0)], "")
}
