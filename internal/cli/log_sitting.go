package cli

import (
	"fmt"

	"github.com/seed-5777983b/duplex/internal/job"
)

// sitting tells of sessions, leases and what went from one to the next.
func (v *telling) sitting(e job.Entry) (told, bool) {
	switch p := e.Payload.(type) {
	case *job.SessionStarted:
		v.seats.put(e.Session, v.seatOf(e, p))
		return v.began(&pending{started: p, entry: e}), true
	case *job.SessionEnded:
		l := told{text: v.seatName(e.Session) + " ended: " + orNone(p.Reason, "unknown"), loose: true}
		if p.Reason == "crashed" || p.Reason == "failed" {
			l.text = "✕ " + v.seatName(e.Session) + " " + p.Reason
		}
		if p.Evidence != "" {
			l.more = []string{p.Evidence}
		}
		return l, true
	case *job.LeaseTaken:
		how := map[string]string{"free": "it was free", "renewed": "it was its own", "gone": "the holder's process was gone", "expired": "the old one had run out", "taken": "a person took it from a live session"}
		return told{text: fmt.Sprintf("lease under token %d: %s", p.Token, orNone(how[p.How], p.How)), quiet: true}, true
	case *job.LeaseReleased:
		return told{text: "lease given back" + colon(p.Why), quiet: true}, true
	case *job.HandedOver:
		return v.handedOver(p), true
	case *job.TookOver:
		return v.tookOver(e, p), true
	}
	return told{}, false
}

func (v *telling) handedOver(p *job.HandedOver) told {
	across, behind, n, stayed := counts(p.Sections)
	at := p.Why
	switch p.Why {
	case "level":
		at = fmt.Sprintf("at %d %% of the context", int(p.Fill*100+0.5))
	case "compaction":
		at = "before a compaction"
	case "end":
		at = "at the session's end"
	case "crash":
		at = "after a crash, from what was recorded"
	case "request":
		at = "on request"
	case "adopted":
		at = "at adoption"
	}
	l := told{text: fmt.Sprintf("▼ handed over %s: %s in %s tokens went across, %d stayed behind", at, plural(n, "line"), thousands(int64(p.Tokens)), stayed), loose: true, speech: true}
	l.more = append(l.more, "across: "+orNone(across, "nothing"))
	if behind != "" {
		l.more = append(l.more, "behind: "+behind)
	}
	if p.Next != "" {
		l.more = append(l.more, "next: "+p.Next)
	}
	if p.Claim != "" {
		l.more = append(l.more, "claimed: “"+p.Claim+"”")
	}
	if p.Repaired > 0 {
		l.more = append(l.more, fmt.Sprintf("examined by %s, %d of them repaired it", plural(p.Probes, "question"), p.Repaired))
	}
	return l
}

func (v *telling) tookOver(e job.Entry, p *job.TookOver) told {
	seat, _ := v.seats.get(e.Session)
	who := v.seatName(e.Session)
	l := told{speech: true}
	switch {
	case p.How == "compact":
		l.text = "▼ " + who + ", goes on after a compaction"
	case p.From != "" && p.From != e.Session:
		l.text = "▼ " + who + ", took over from " + v.shortSeat(p.From)
	case p.How == "resume" || p.How == "clear" || p.How == "fork":
		l.text = "▼ " + who + ", goes on after " + p.How
	default:
		l.text = "▼ " + who + ", begins"
	}
	l.text += seat.work
	if p.Empty {
		l.text += ", with an empty brief"
		return l
	}
	_, _, n, _ := counts(p.Sections)
	l.more = append(l.more, fmt.Sprintf("given %s in %s tokens", plural(n, "line"), thousands(int64(p.Tokens))))
	if len(p.Stale) > 0 && !v.full {
		l.more[len(l.more)-1] += fmt.Sprintf(", %d of them stale by now", len(p.Stale))
	}
	if v.full {
		for _, s := range p.Stale {
			l.more = append(l.more, "stale: "+s)
		}
	}
	return l
}

func (v *telling) shortSeat(id job.ID) string {
	if s, ok := v.seats.get(id); ok {
		return s.name
	}
	return "an earlier session"
}
