package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/query"
)

// SearchRequest says which entries to find.
type SearchRequest struct {
	Query query.Query
	Jobs  []job.ID   // empty: in every job
	Kinds []job.Kind // empty: of any
	Since job.Time   // happened at this time or later
	// Any: an entry that has some of the terms will do.
	Any bool
}

// Match is an entry that was found.
type Match struct {
	job.Entry
	Text  string // what it is found by
	Found query.Found
}

// Matches are entries that were found, newest first, steps after all others.
type Matches struct {
	List []Match
	More bool // older ones may have been left out
	// Seen is how many entries of the store have each term, counted up to seenMost;
	// of the beginning of a word, seenMost.
	Seen []int64
	Of   int64 // about how many entries the store has
}

// Bounds of one search, each for steps and for all others.
const (
	matchesMost  = 200  // entries found
	examinedMost = 4000 // entries that have the words, whether or not they fit otherwise
	examinedOnce = 200
	seenMost     = 1000
	jobsTagged   = 64
)

// Search finds entries by their words. However many have them, a bounded number is
// read, the newest; those of rare kinds are looked for apart from steps, so that
// many steps do not hide a decision. It gives ErrIndex.
func (t *Tx) Search(r SearchRequest) (m Matches, err error) {
	if r.Query.Empty() || !t.s.indexed {
		return m, nil
	}
	err = t.frequencies(r.Query, &m)
	for _, tag := range []string{tagSaid, tagStep} {
		if err == nil && len(m.List) < matchesMost { // so much that was said comes before any step
			err = t.search(r, r.expression(tag, m.Seen), &m)
		}
	}
	if indexDamaged(err) {
		err = fmt.Errorf("%w: %v", ErrIndex, err)
	}
	return m, err
}

func (t *Tx) frequencies(q query.Query, m *Matches) error {
	count := func(into *int64, sql string, args ...any) error {
		_, err := t.c.one(func(r row) error {
			*into = r.int(0)
			return nil
		}, sql, args...)
		return err
	}
	m.Seen = make([]int64, len(q.Terms))
	for i, term := range q.Terms {
		if term.Prefix { // it takes as long as the search itself
			m.Seen[i] = seenMost
			continue
		}
		err := count(&m.Seen[i], "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)", wordsOf(term), seenMost)
		if err != nil {
			return err
		}
	}
	return count(&m.Of, "SELECT max(n) FROM entry")
}

// expression is the request as FTS5 reads it. Words hold letters and digits only, so
// that quoting them is enough.
func (r *SearchRequest) expression(tag string, seen []int64) string {
	s := r.words(seen) + ` AND "` + tag + `"`
	for _, tags := range [][]string{r.kindTags(), r.jobTags()} {
		if len(tags) > 0 {
			s += ` AND ("` + strings.Join(tags, `" OR "`) + `")`
		}
	}
	var not []string
	for _, term := range r.Query.Not {
		if len(term.Words) == 1 { // phrases are held against the text
			not = append(not, wordsOf(term))
		}
	}
	if len(not) > 0 {
		s = "(" + s + ") NOT (" + strings.Join(not, " OR ") + ")"
	}
	return s
}

func (r *SearchRequest) words(seen []int64) string {
	var terms, rare []string
	for i, term := range r.Query.Terms {
		terms = append(terms, wordsOf(term))
		if seen[i] > 0 && seen[i] < seenMost {
			rare = append(rare, wordsOf(term))
		}
	}
	switch {
	case !r.Any:
		return "(" + strings.Join(terms, " AND ") + ")"
	case len(rare) > 0: // what nearly all have picks none out
		terms = rare
	}
	return "(" + strings.Join(terms, " OR ") + ")"
}

func wordsOf(term query.Term) string {
	s := `("` + strings.Join(term.Words, `" AND "`) + `"`
	if term.Prefix {
		s += " *"
	}
	return s + ")"
}

func (r *SearchRequest) kindTags() (tags []string) {
	for _, k := range r.Kinds {
		tags = append(tags, kindTag(k))
	}
	return tags
}

// jobTags are none when the jobs are many: then they are told apart entry by entry.
func (r *SearchRequest) jobTags() (tags []string) {
	if len(r.Jobs) > jobsTagged {
		return nil
	}
	for _, id := range r.Jobs {
		tags = append(tags, jobTag(id))
	}
	return tags
}

// search reads what fits an expression, newest first, and holds it against the rest
// of the request.
func (t *Tx) search(r SearchRequest, expression string, m *Matches) error {
	found, examined := 0, 0
	for last := int64(1) << 62; ; {
		more := false
		err := t.c.query(func(row row) error {
			last, more = row.int(0), true
			examined++
			match, fits, err := r.match(row)
			if err == nil && fits && found < matchesMost {
				m.List = append(m.List, match)
				found++
			}
			return err
		}, `SELECT n, job, position, id, kind, v, recorded_at, happened_at, session, author, author_name, late, guest, payload
			FROM (SELECT rowid AS at FROM search WHERE search MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?) JOIN entry ON n = at
			ORDER BY at DESC`, expression, last, examinedOnce)
		if err != nil || !more {
			return err
		}
		if found >= matchesMost || examined >= examinedMost {
			m.More = true
			return nil
		}
	}
}

// match reads a row. fits is false for one that the index alone could not tell.
func (r *SearchRequest) match(row row) (m Match, fits bool, err error) {
	m.Envelope = job.Envelope{
		Job: job.ID(row.str(1)), Position: row.int(2), ID: job.ID(row.str(3)), Kind: job.Kind(row.str(4)), V: int(row.int(5)),
		RecordedAt: job.Time(row.int(6)), HappenedAt: job.Time(row.int(7)), Session: job.ID(row.str(8)),
		Author: job.Author{Kind: job.AuthorKind(row.str(9)), Name: row.str(10)}, Late: row.int(11) != 0, Guest: row.int(12) != 0,
	}
	if m.HappenedAt < r.Since || len(r.Jobs) > 0 && !slices.Contains(r.Jobs, m.Job) {
		return m, false, nil
	}
	if m.Payload, err = job.Decode(m.Kind, m.V, row.bytes(13)); err != nil {
		return m, false, torn(m.Job, fmt.Sprintf("entry %d", m.Position), err)
	}
	m.Text = job.Text(m.Payload)
	m.Found = r.Query.Find(m.Text)
	return m, m.Found.All() || r.Any && m.Found.Some(), nil
}
