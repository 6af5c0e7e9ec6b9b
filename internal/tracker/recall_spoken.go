package tracker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/agent"
	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
	"github.com/seed-5777983b/duplex/internal/store"
	"github.com/seed-5777983b/duplex/internal/transcript"
)

// Bounds of what is read of transcripts for one search. What is left out is said.
const (
	spokenTime  = 2 * time.Second
	spokenFiles = 200
	spokenText  = 32 << 10 // bytes of one text that are redacted and shown from
	unreadMost  = 10
)

// teller is an adapter that can say what one line of a transcript says by itself.
type teller interface {
	Says(line []byte) []agent.Says
}

// seat is a session whose transcript may be read.
type seat struct {
	Spoken // what every place found in it has in common
	agent  string
}

// recallTranscripts reads the transcripts of the jobs' sessions where they are, the
// newest first, until enough is found or its time is over. Texts are redacted before
// anything of them is handed on.
func (t *Tracker) recallTranscripts(ctx context.Context, r RecallRequest, q query.Query, jobs []store.JobRow, out *Recalled) error {
	seats, err := t.seats(ctx, jobs)
	if err != nil {
		return err
	}
	known := map[string]bool{} // the ledger's hits: they were told
	for _, h := range out.Hits {
		known[fmt.Sprint(h.Session, h.At)] = true
	}
	hurried, done := context.WithTimeout(ctx, spokenTime)
	defer done()
	for i, s := range seats {
		if len(out.Spoken) >= r.Limit {
			out.MoreSpoken = true
			break
		}
		if i == spokenFiles || hurried.Err() != nil {
			out.unread("", fmt.Sprintf("%d older ones, for want of time", len(seats)-i))
			break
		}
		l := listening{seat: s, q: q, r: r, t: t}
		if l.teller, _ = t.Agent(s.agent).(teller); l.teller == nil {
			continue
		}
		if err := l.read(hurried, out); err != nil {
			return err
		}
		for _, x := range l.found {
			if !known[fmt.Sprint(x.Session, x.At)] {
				out.Spoken = append(out.Spoken, x)
			}
		}
	}
	slices.SortStableFunc(out.Spoken, func(a, b Spoken) int { return int(b.At - a.At) })
	if len(out.Spoken) > r.Limit {
		out.Spoken, out.MoreSpoken = out.Spoken[:r.Limit], true
	}
	return ctx.Err()
}

// unread notes what was not read, up to a bound.
func (r *Recalled) unread(file, why string) {
	if len(r.Unread) < unreadMost {
		r.Unread = append(r.Unread, Unread{file, why})
	}
}

// seats are the sessions of the jobs with a transcript, each file once, the newest
// first.
func (t *Tracker) seats(ctx context.Context, jobs []store.JobRow) (list []seat, err error) {
	err = t.store.Read(ctx, func(tx *store.Tx) error {
		list = nil
		files := map[string]bool{}
		for _, j := range jobs {
			sittings, err := tx.Sittings(j.ID)
			if err != nil {
				return err
			}
			for _, s := range slices.Backward(sittings) {
				path := s.Transcript
				if row, err := tx.SessionByID(s.ID); err == nil && row.Transcript != "" {
					path = row.Transcript // as it is now, and whole
				}
				if path == "" || files[path] {
					continue
				}
				files[path] = true
				list = append(list, seat{Spoken{Job: j.ID, Short: j.Short, Session: s.ID, Number: numberOf(&s), File: path}, s.Agent})
			}
		}
		return nil
	})
	return list, err
}

// numberOf is a session's number in its job, 0 for a guest.
func numberOf(s *job.Sitting) int {
	if s.Guest {
		return 0
	}
	return s.Number
}

// listening is the reading of one session's transcripts.
type listening struct {
	seat
	teller
	t     *Tracker
	q     query.Query
	r     RecallRequest
	found []Spoken
}

// read reads the session's file and those of its sub-agents.
func (l *listening) read(ctx context.Context, out *Recalled) error {
	files := []string{l.File}
	if with, ok := l.teller.(interface{ Beside(path string) []string }); ok {
		for _, pattern := range with.Beside(l.File) {
			more, err := transcript.Find(pattern)
			if err != nil {
				out.unread(pattern, err.Error())
			}
			files = append(files, more...)
		}
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && job.At(info.ModTime()) < l.r.Since {
			continue
		}
		var all, piece []heard
		err := transcript.Search(ctx, file, l.q, func(line []byte, offset int64) error {
			piece = append(piece, l.hear(line, offset)...)
			if n := len(piece) - l.r.Limit; n > 0 { // the newest are last
				piece = slices.Delete(piece, 0, n)
				out.MoreSpoken = true
			}
			return nil
		}, func() bool {
			all, piece = append(piece, all...), nil
			return len(all) >= l.r.Limit
		})
		all = append(piece, all...) // of a file of one piece, or a piece that was cut short
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			out.unread(file, "there was no time for its rest")
		case errors.Is(err, fs.ErrNotExist):
			out.unread(file, "it is not there any more")
		case err != nil:
			out.unread(file, err.Error())
		}
		for _, h := range all {
			l.tell(file, h)
		}
	}
	return nil
}

// heard is a text that fits, as it stands in the file: not redacted yet.
type heard struct {
	agent.Says
	offset int64
	cut    bool // it is a part of what was said
}

func (l *listening) hear(line []byte, offset int64) (out []heard) {
	for _, s := range l.Says(line) {
		if agent.Ours(s.Text) || s.At != 0 && s.At < l.r.Since {
			continue
		}
		if f := l.q.Find(s.Text); f.All() {
			h := heard{Says: s, offset: offset}
			h.Text, h.cut = around(s.Text, f.Densest(snippet))
			out = append(out, h)
		}
	}
	return out
}

// around is the part of a long text that a place stands in, in whole lines where it
// has any.
func around(text string, at int) (part string, cut bool) {
	if len(text) <= spokenText {
		return text, false
	}
	from, to := max(at-spokenText/2, 0), min(at+spokenText/2, len(text))
	if i := strings.IndexByte(text[from:at], '\n'); from > 0 && i >= 0 {
		from += i + 1
	}
	if i := strings.LastIndexByte(text[at:to], '\n'); to < len(text) && i > 0 {
		to = at + i
	}
	return strings.ToValidUTF8(strings.Clone(text[from:to]), ""), true
}

// tell redacts a text and keeps the part that fits. One that fits only by what was
// taken out of it is no find.
func (l *listening) tell(file string, h heard) {
	text := l.t.redact.Text(h.Text).String()
	f := l.q.Find(text)
	if !f.All() && !(h.cut && f.Some()) {
		return
	}
	s := l.Spoken
	s.File, s.Offset, s.At, s.Author = file, h.offset, h.At, job.Author{Kind: h.By}
	if h.By == job.Agent {
		s.Author.Name = l.agent
	}
	s.Snippet, _ = f.Snippet(text, snippet)
	l.found = append(l.found, s)
}
