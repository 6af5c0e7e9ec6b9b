package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Script is what a model is good for. It is made by Load, which compiles it.
type Script struct {
	About string `json:"about,omitempty"` // for people
	// Compact: auto (the default) summarises a full context, off stops there.
	Compact string `json:"compact,omitempty"`
	Work    *Work  `json:"work,omitempty"`
	// End is said when nothing is left to do.
	End    string             `json:"end,omitempty"`
	Extras []Extra            `json:"extras,omitempty"`
	Agents map[string]*Script `json:"agents,omitempty"` // sub-agents by name
}

// Work is a list of like files to be rewritten one after the other.
type Work struct {
	Item    string    `json:"item"`           // regexp: what an item looks like
	Find    string    `json:"find,omitempty"` // command that lists all items
	Left    []string  `json:"left,omitempty"` // regexps: text that tells what is left
	Done    []string  `json:"done,omitempty"` // regexps: text that tells what is done
	Next    []string  `json:"next,omitempty"` // regexps: text that tells where to go on
	Replace []Replace `json:"replace"`
	Write   string    `json:"write,omitempty"` // edit (the default) or write
	Verify  *Every    `json:"verify,omitempty"`
	Commit  *Every    `json:"commit,omitempty"`
	Final   []string  `json:"final,omitempty"` // commands when nothing is left

	item             *regexp.Regexp
	left, done, next []*regexp.Regexp
}

// Replace is one step of rewriting an item: every match becomes With, in which
// $1 stands for the first group.
type Replace struct {
	Match string `json:"match"`
	With  string `json:"with"`

	match *regexp.Regexp
}

// Every is a command run after so many rewritten items, and after the last. In
// it {item} is the newest item, {dir} its folder, {n} the items of this context.
type Every struct {
	Items int    `json:"items"`
	Run   string `json:"run"`
}

// Extra is something the model does once in a context, when all of When holds.
type Extra struct {
	Name string `json:"name"`
	When When   `json:"when"`
	Do   Do     `json:"do"`
}

// When is a condition on the context; empty fields hold.
type When struct {
	Match   string `json:"match,omitempty"`   // regexp on what came since its last message
	Item    string `json:"item,omitempty"`    // regexp on the item it has just rewritten
	Items   int    `json:"items,omitempty"`   // it has rewritten at least so many
	Writing string `json:"writing,omitempty"` // regexp on the item it is about to write
	Unless  string `json:"unless,omitempty"`  // regexp: not when its context says this
	Model   string `json:"model,omitempty"`   // only this model

	match, item, writing, unless *regexp.Regexp
}

// Do is what happens: at most one of Run, Call, End and Limit, with any of the
// others.
type Do struct {
	Run   string `json:"run,omitempty"` // a Bash call
	Call  *Use   `json:"call,omitempty"`
	End   string `json:"end,omitempty"`   // it says this and ends its turn
	Limit string `json:"limit,omitempty"` // a rate limit: a duration, an RFC 3339 time, or "unknown"

	Say   string `json:"say,omitempty"`
	Drop  string `json:"drop,omitempty"`  // regexp: left out of the item it writes
	Wait  string `json:"wait,omitempty"`  // a file: it thinks until the file is there
	Crash bool   `json:"crash,omitempty"` // the process dies in the middle of the call
	Times int    `json:"times,omitempty"` // so often in a row; 1 when 0

	drop *regexp.Regexp
}

// Load reads a script. Errors name the field.
func Load(data []byte) (*Script, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	s := &Script{}
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	if err := s.compile(0); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return s, nil
}

// For is the script as one model follows it.
func (s *Script) For(model string) *Script {
	own := *s
	own.Extras = nil
	for _, e := range s.Extras {
		if e.When.Model == "" || e.When.Model == model {
			own.Extras = append(own.Extras, e)
		}
	}
	return &own
}

const maxNesting = 4

func (s *Script) compile(depth int) error {
	if depth > maxNesting {
		return errors.New("agents are nested too deep")
	}
	switch s.Compact {
	case "", "auto", "off":
	default:
		return fmt.Errorf("compact is %q: auto or off", s.Compact)
	}
	if s.End == "" {
		s.End = "Nothing is left to do."
	}
	if s.Work != nil {
		if err := s.Work.compile(); err != nil {
			return fmt.Errorf("work: %w", err)
		}
	}
	names := map[string]bool{}
	for i := range s.Extras {
		e := &s.Extras[i]
		if e.Name == "" || names[e.Name] {
			return fmt.Errorf("extra %d needs a name of its own", i+1)
		}
		names[e.Name] = true
		if err := e.compile(); err != nil {
			return fmt.Errorf("extra %s: %w", e.Name, err)
		}
	}
	for name, a := range s.Agents {
		if a == nil {
			return fmt.Errorf("agent %s is empty", name)
		}
		if err := a.compile(depth + 1); err != nil {
			return fmt.Errorf("agent %s: %w", name, err)
		}
	}
	return nil
}

// What a brief says, when the script does not say otherwise.
func defaultLeft() []string {
	return []string{`(?m)\bleft in (?P<dir>[^:\n]+): (?P<items>[^\n]+)`}
}

func defaultDone() []string {
	return []string{`(?m)\b(?:done|edited) in (?P<dir>[^:\n]+): (?P<items>[^\n]+)`}
}

func defaultNext() []string {
	return []string{`(?m)\bnext: go on in (?P<dir>\S+) with (?P<items>[^\n]+)`, `(?m)\bnext: (?P<items>[^\n]+)`}
}

func (w *Work) compile() (err error) {
	if w.Item == "" || len(w.Replace) == 0 {
		return errors.New("item and replace are needed")
	}
	if w.Write != "" && w.Write != "edit" && w.Write != "write" {
		return fmt.Errorf("write is %q: edit or write", w.Write)
	}
	if w.item, err = regexp.Compile(w.Item); err != nil {
		return fmt.Errorf("item: %w", err)
	}
	for _, p := range []struct {
		name string
		text *[]string
		to   *[]*regexp.Regexp
		or   func() []string
	}{{"left", &w.Left, &w.left, defaultLeft}, {"done", &w.Done, &w.done, defaultDone}, {"next", &w.Next, &w.next, defaultNext}} {
		if *p.text == nil {
			*p.text = p.or()
		}
		if *p.to, err = compileAll(*p.text); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for i := range w.Replace {
		if w.Replace[i].match, err = regexp.Compile(w.Replace[i].Match); err != nil {
			return fmt.Errorf("replace %d: %w", i+1, err)
		}
	}
	for _, e := range []*Every{w.Verify, w.Commit} {
		if e != nil && (e.Items <= 0 || e.Run == "") {
			return errors.New("verify and commit need items and run")
		}
	}
	return nil
}

func (e *Extra) compile() (err error) {
	for _, p := range []struct {
		text string
		to   **regexp.Regexp
	}{{e.When.Match, &e.When.match}, {e.When.Item, &e.When.item}, {e.When.Writing, &e.When.writing},
		{e.When.Unless, &e.When.unless}, {e.Do.Drop, &e.Do.drop}} {
		if p.text == "" {
			continue
		}
		if *p.to, err = regexp.Compile(p.text); err != nil {
			return err
		}
	}
	d := &e.Do
	main := 0
	for _, given := range []bool{d.Run != "", d.Call != nil, d.End != "", d.Limit != ""} {
		if given {
			main++
		}
	}
	switch {
	case main > 1:
		return errors.New("one of run, call, end and limit")
	case main == 0 && d.Say == "" && d.Drop == "" && d.Wait == "" && !d.Crash:
		return errors.New("do says nothing")
	case d.Drop != "" && e.When.Writing == "":
		return errors.New("drop needs when.writing")
	case d.Times < 0 || d.Times > 10_000:
		return fmt.Errorf("times is %d: 1 to 10000", d.Times)
	}
	_, err = d.limit()
	return err
}

// Reset is when a limit ends: a duration from now, or a time; neither is unknown.
type Reset struct {
	In time.Duration
	At time.Time
}

func (d Do) limit() (Reset, error) {
	if d.Limit == "" || d.Limit == "unknown" {
		return Reset{}, nil
	}
	if in, err := time.ParseDuration(d.Limit); err == nil {
		return Reset{In: in}, nil
	}
	at, err := time.Parse(time.RFC3339, d.Limit)
	if err != nil {
		return Reset{}, fmt.Errorf("limit is %q: a duration, an RFC 3339 time, or unknown", d.Limit)
	}
	return Reset{At: at}, nil
}

func compileAll(patterns []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, p := range patterns {
		r, err := regexp.Compile(p)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
