package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-5777983b/duplex/internal/redact"
)

// limit is how long an answer is at most, in characters: an agent pays for each.
const limit = 8000

// answer is what a tool found or did: in words, and as an object. Agents are shown
// either, so each says all of it.
type answer struct {
	schema string // as in docs/json.md
	text   string
	// sizes are the object whole, and then with less and less in it: the first that
	// fits is given.
	sizes []any
}

// said is the answer of an act: one object that always fits.
func said(schema string, v any, format string, args ...any) answer {
	return answer{schema: schema, text: fmt.Sprintf(format, args...), sizes: []any{v}}
}

// sealed brings an answer through the funnel.
func (a answer) sealed(r *redact.Redactor) result {
	text, _ := cut(a.text, 0, limit)
	out := result{Content: []content{{"text", r.Text(text)}}}
	for _, v := range a.sizes {
		object, err := r.JSON(headed{a.schema, v})
		if err != nil {
			return refusedBy(r, fmt.Errorf("a fault of duplex: %w", err))
		}
		out.Structured = object
		if shown(object.Bytes()) <= limit {
			break
		}
	}
	return out
}

// headed is an object whose first field is its schema.
type headed struct {
	schema string
	object any
}

// MarshalJSON puts the schema in front.
func (h headed) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(h.object)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(map[string]string{"schema": "duplex." + h.schema})
	if err != nil || len(body) <= len("{}") {
		return head, err
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}

// shown counts the characters of an object as its reader gets it: <, > and & are one
// each, though encoding/json writes six.
func shown(object []byte) int {
	n := utf8.RuneCount(object)
	for i := 0; i+6 <= len(object); i++ {
		if object[i] != '\\' {
			continue
		}
		if s := string(object[i : i+6]); s == `\u003c` || s == `\u003e` || s == `\u0026` {
			n -= 5
		}
		i++ // what is escaped is no escape itself
	}
	return n
}

// page is a text by pieces: what tools answer whose nature is a text.
type page struct {
	Job      string `json:"job"`
	Position int64  `json:"position"`
	Text     string `json:"text"`
	From     int    `json:"from,omitempty"` // characters before this piece
	Rest     int    `json:"rest,omitempty"` // characters after it
	More     string `json:"more,omitempty"` // how to get them
}

// paged is the piece of a text that begins at a character. more says how to get the
// next one, from its first character on.
func paged(job string, position int64, text string, from int, more func(from int) string) answer {
	p := page{Job: job, Position: position, From: from}
	total := utf8.RuneCountInString(text)
	for size := limit - 400; ; size = size * 9 / 10 { // escapes take room that only counting finds
		var end int
		p.Text, end = cut(text, from, size)
		if p.Rest = total - end; p.Rest > 0 {
			p.More = more(end)
		}
		b, err := json.Marshal(p)
		if err != nil || shown(b) <= limit-100 || size < 100 {
			break
		}
	}
	said := p.Text
	if p.Rest > 0 {
		said += fmt.Sprintf("\n[%d more characters: %s]", p.Rest, p.More)
	}
	return answer{schema: "page/1", text: said, sizes: []any{p}}
}

// cut gives at most n characters of a text from a character on, up to a line's end
// where one is near, and where the piece ends.
func cut(text string, from, n int) (piece string, end int) {
	runes := []rune(text)
	from = min(from, len(runes))
	end = min(from+n, len(runes))
	if end < len(runes) {
		for back := end; back > from+n*3/4; back-- {
			if runes[back-1] == '\n' {
				end = back
				break
			}
		}
	}
	return strings.TrimRight(string(runes[from:end]), "\n"), end
}
