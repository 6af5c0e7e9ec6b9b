package script

import (
	"strings"
)

// Reply is what the model answers. Calls have no ids yet: the program gives
// them. A reply without calls ends the turn.
type Reply struct {
	Text  string
	Uses  []Use
	Extra string // the extra of the script that this is
	Wait  string // a file to wait for before the reply comes
	Limit *Reset // the provider refuses instead: a rate limit
	Crash bool   // the process dies in the middle of the last call
}

// Next is the model. It knows the script, which is what it is able to do, and
// the context, which is all it knows of the work: no progress is kept anywhere
// else, so a model whose context lost the list of what is left starts again.
func Next(context []Message, s *Script) Reply {
	p := s.look(context)
	reply := s.work(p)
	for i := range s.Extras {
		e := &s.Extras[i]
		did := p.did[e.Name]
		if did >= max(e.Do.Times, 1) || (did == 0 || e.When.writing != nil) && !e.holds(context, p, reply) {
			continue
		}
		return e.apply(s, p, reply)
	}
	return reply
}

// holds tells whether everything that When asks for is so.
func (e *Extra) holds(context []Message, p *progress, reply Reply) bool {
	w := e.When
	if p.written < w.Items {
		return false
	}
	if w.match != nil && !w.match.MatchString(p.newest) {
		return false
	}
	if w.item != nil && (!p.justWrote || !w.item.MatchString(p.last)) {
		return false
	}
	if w.writing != nil && !w.writing.MatchString(reply.writes()) {
		return false
	}
	if w.unless != nil {
		for _, m := range context {
			if m.Role != Assistant && w.unless.MatchString(m.Text) {
				return false
			}
		}
	}
	return true
}

// writes is the file that the reply writes, if it does.
func (r Reply) writes() string {
	for _, u := range r.Uses {
		if u.Name == Edit || u.Name == Write {
			return u.Input.Path
		}
	}
	return ""
}

// apply makes the extra's reply from the one that would be given without it.
func (e *Extra) apply(s *Script, p *progress, reply Reply) Reply {
	d := e.Do
	if d.drop != nil {
		item := reply.writes()
		before := p.read[item]
		reply = Reply{Text: reply.Text, Uses: []Use{s.Work.write(item, before, d.drop.ReplaceAllString(s.Work.rewrite(before), ""), p.failed[item] > 0)}}
	}
	switch {
	case d.Run != "":
		reply = Reply{Uses: []Use{{Name: Bash, Input: Input{Command: d.Run}}}}
	case d.Call != nil:
		reply = Reply{Uses: []Use{*d.Call}}
	case d.End != "":
		reply = Reply{Text: d.End}
	case d.Limit != "":
		reset, _ := d.limit() // read by Load
		reply = Reply{Limit: &reset}
	}
	if d.Say != "" {
		reply.Text = d.Say
	}
	reply.Extra, reply.Wait, reply.Crash = e.Name, d.Wait, d.Crash
	return reply
}

// Summary is what the model makes of a full context: generic text that keeps
// the last lines and what it was told to keep, and loses the rest.
func Summary(context []Message, steer string) string {
	first, last := "", []string(nil)
	for _, m := range context {
		if m.Role == System {
			continue
		}
		if first == "" && m.Role == User {
			first = clip(m.Text, 160)
		}
		for line := range strings.Lines(m.Text) {
			if line = strings.TrimSpace(line); line != "" {
				last = append(last, clip(line, 120))
			}
		}
	}
	if len(last) > 3 {
		last = last[len(last)-3:]
	}
	text := "This session is being continued from an earlier conversation that ran out of context.\nSummary:\nThe request was: " +
		first + "\nThe work is under way. The last lines were:\n" + strings.Join(last, "\n")
	if steer = strings.TrimSpace(steer); steer != "" {
		text += "\n" + steer
	}
	return text
}

// clip cuts text to one line of at most n bytes, at a rune.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
